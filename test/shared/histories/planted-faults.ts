import type { Plugin } from 'vite';

/** A defect of a kind that real storage systems had. It replaces a text of a source file that occurs there once. */
export interface PlantedFault {
  readonly kind: string;
  readonly file: string;
  readonly text: string;
  readonly replacement: string;
}

/** The run in which nothing is planted, and nothing may be found. */
export const NO_FAULT = 'nothing';

export const PLANTED: readonly PlantedFault[] = [
  {
    kind: 'a dropped condition',
    file: 'shared/aws/book-updates.ts',
    text: 'attribute_not_exists(storage_limit_bytes) AND storage_used_bytes <= :room',
    replacement: 'attribute_not_exists(storage_limit_bytes) AND (storage_used_bytes <= :room OR attribute_exists(id))',
  },
  {
    kind: 'a swapped order',
    file: 'shared/files/delete-file.ts',
    text: "  if (file?.state !== 'ready' || ",
    replacement:
      "  if (file?.state === 'ready') await stores.objects.remove(file.objectKey);\n  if (file?.state !== 'ready' || ",
  },
  {
    kind: 'a retry without its token',
    file: 'shared/aws/settlement-store.ts',
    text: '        ...(claim && isKeyOurs && { record: { Put: claimForFile(claim, settled) } }),\n',
    replacement: '',
  },
  {
    kind: 'a stale read taken as fresh',
    file: 'shared/aws/api-key-store.ts',
    text: 'new GetCommand({ ...keyAt(keyHash), ConsistentRead: true })',
    replacement: 'new GetCommand(keyAt(keyHash))',
  },
  {
    kind: 'a window off by one',
    file: 'shared/rate-limit/window.ts',
    text: 'new Array<number>(policy.slots - 1)',
    replacement: 'new Array<number>(policy.slots)',
  },
  {
    kind: 'a lease not checked',
    file: 'shared/aws/ticket-store.ts',
    text: 'yield tickets.filter(({ endsAt }) => endsAt <= time);',
    replacement: 'yield tickets;',
  },
  {
    kind: 'an event trusted',
    file: 'shared/files/complete-upload.ts',
    text: "    if (ticket && ticket.endsAt > clock()) return 'nothing waits';\n",
    replacement: '',
  },
  {
    kind: 'a late write accepted',
    file: 'shared/aws/api-key-store.ts',
    text: 'attribute_exists(pk) AND (attribute_not_exists(last_used_at) OR last_used_at <= :since)',
    replacement: 'attribute_not_exists(last_used_at) OR last_used_at <= :since',
  },
  {
    kind: 'a cache kept',
    file: 'shared/api-keys/api-key.ts',
    text: 'const key = await keys.find(keyHash);',
    replacement:
      'const cache = ((globalThis as any).keyCache ??= {});\n  const key = (cache[keyHash] ??= await keys.find(keyHash));',
  },
  {
    kind: 'an error swallowed',
    file: 'shared/files/delete-file.ts',
    text: 'stores.releases.releaseFile(file, work, deadline)',
    replacement: "stores.releases.releaseFile(file, work, deadline).catch(() => 'released')",
  },
  {
    kind: 'an object forgotten',
    file: 'shared/files/delete-file.ts',
    text: '  await stores.objects.remove(file.objectKey);\n',
    replacement: '',
  },
  {
    kind: 'an unknown outcome taken for a failure',
    file: 'shared/files/complete-upload.ts',
    text: "if ((await stores.tickets.endAttempt(ref, objectKey)) === 'settled') {",
    replacement: "if ((await stores.tickets.endAttempt(ref, objectKey)) === ('never' as string)) {",
  },
];

export const occursOnce = (code: string, text: string) => code.split(text).length === 2;

/** Plants a fault while the source file loads. */
export function plant({ kind, file, text, replacement }: PlantedFault): Plugin {
  return {
    name: `plant ${kind}`,
    enforce: 'pre',
    transform(code, id) {
      if (!id.split('?', 1)[0]?.endsWith(`/${file}`)) return undefined;
      if (!occursOnce(code, text)) throw new Error(`${file} does not have this text once: ${text}`);
      return code.replace(text, () => replacement);
    },
  };
}
