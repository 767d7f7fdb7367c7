import { useQuery } from '@tanstack/react-query';
import { untilLoaded } from '../api/queries.ts';
import { strings } from '../strings.ts';
import { Attempts } from '../ui/attempts.tsx';
import type { ReferencePage } from './reference-page.tsx';

/** The code of the API reference is loaded only when it is shown, because it is larger than the rest of the dashboard. */
export const referencePageQuery = untilLoaded(['reference-page'], importReferencePage);

/** Shows the API reference as soon as its code is there. */
export function LoadReferencePage() {
  const { data: Page } = useQuery(referencePageQuery);
  return Page ? <Page /> : <Attempts query={referencePageQuery} words={strings.pageNotLoaded} />;
}

/** The style sheet that could not be loaded. Vite asks for the style sheets of a module only once. */
let missingStyles: string | undefined;

/** Browsers before 2026 remember that a module could not be loaded, so then it is imported under another address (whatwg/html#6768). */
async function importReferencePage(): Promise<typeof ReferencePage> {
  if (missingStyles !== undefined) await addStyleSheet(missingStyles);
  missingStyles = undefined;
  try {
    return (await import('./reference-page.tsx')).ReferencePage;
  } catch (error) {
    const [url = ''] = /https?:\S+$/.exec(String(error)) ?? [];
    if (url.endsWith('.css')) missingStyles = url;
    if (!url.endsWith('.js')) throw error;
    return (await import(/* @vite-ignore */ `${url}?${Date.now()}`)).ReferencePage;
  }
}

function addStyleSheet(href: string): Promise<unknown> {
  const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href });
  return new Promise((onload, onerror) => document.head.append(Object.assign(link, { onload, onerror })));
}
