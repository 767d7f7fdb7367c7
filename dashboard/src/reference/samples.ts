import type { Plugin } from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import { strings } from '../strings.ts';
import { announce } from '../ui/announce.ts';

const words = strings.reference;

interface Sample {
  readonly label: string;
  readonly source: string;
}

/** An operation of a document, with or without samples. */
export interface Sampled {
  readonly 'x-codeSamples'?: readonly Sample[];
}

type Paths = Readonly<Record<string, Readonly<Record<string, Sampled>>>>;

/** Shows the samples of each operation before its answers. @param paths  the paths of the document that is rendered. */
export const samplesOf =
  (paths: Paths): Plugin =>
  ({ React: { createElement: element, useState } }) => ({
    wrapComponents: {
      responses: (Original) => {
        function Samples({ samples }: { readonly samples: readonly Sample[] }) {
          const [at, show] = useState(0);
          const { label = '', source = '' } = samples[at] ?? {};
          const tabs = samples.map((sample, index) =>
            element(
              'button',
              { key: sample.label, type: 'button', 'aria-pressed': index === at, onClick: () => show(index) },
              sample.label,
            ),
          );
          const onCopy = () => void navigator.clipboard.writeText(source).then(() => announce(strings.copied));
          return element(
            'section',
            { className: 'samples', 'aria-label': words.samples },
            element('div', { className: 'samples-tabs' }, ...tabs),
            element('pre', { tabIndex: 0, 'aria-label': label }, element('code', null, source)),
            element('button', { type: 'button', className: 'samples-copy', onClick: onCopy }, words.copy),
          );
        }

        return ({ path, method, ...props }: { readonly path: string; readonly method: string }) => {
          const { 'x-codeSamples': samples = [] } = paths[path]?.[method] ?? {};
          return element(
            'div',
            null,
            samples.length > 0 && element(Samples, { samples }),
            element(Original, { path, method, ...props }),
          );
        };
      },
    },
  });
