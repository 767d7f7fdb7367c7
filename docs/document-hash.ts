import { createHash } from 'node:crypto';
import { ROUTES } from '../functions/routes.ts';
import { openApiDocument } from '../shared/contract/document.ts';
import { readLimits } from '../shared/contract/limits.ts';

/** What only people read: it changes no client that a generator makes. */
const TEXTS = ['description', 'summary', 'x-codeSamples'];

/** Identifies the document of today, without its texts. */
export function documentHash(): string {
  const document = openApiDocument(Object.values(ROUTES), readLimits({}));
  const read = JSON.stringify(document, (key, value) => (TEXTS.includes(key) ? undefined : value));
  return createHash('sha256').update(read).digest('hex').slice(0, 12);
}
