import 'swagger-ui-dist/swagger-ui.css';
import swaggerUi, { type Plugin } from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import { API } from '../api/client.ts';
import { strings } from '../strings.ts';
import { type Sampled, samplesOf } from './samples.ts';
import './swagger-ui.css';

/** The parts of an OpenAPI document that this page reads. */
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses: Readonly<Record<string, Answer>> };
}

interface Operation extends Sampled {
  readonly responses: Readonly<Record<string, Answer | { readonly $ref: string }>>;
}

interface Answer {
  readonly description: string;
}

export const DOCUMENT_PATH = `${API}/openapi.json`;

/** The element with the rendered operations. It is made once and kept, because Swagger UI cannot be unmounted. */
let rendered: Promise<HTMLElement> | undefined;

/** Renders the service's own document. @throws Error when it cannot be loaded; the next call tries again. */
export function renderOperations(): Promise<HTMLElement> {
  rendered ??= render().catch((error: unknown) => {
    rendered = undefined;
    throw error;
  });
  return rendered;
}

async function render(): Promise<HTMLElement> {
  const answer = await fetch(DOCUMENT_PATH);
  if (!answer.ok) throw new Error(`${DOCUMENT_PATH}: ${answer.status}`);
  const document = shortened((await answer.json()) as Document);
  const domNode = window.document.createElement('div');
  await new Promise<void>((resolve) => {
    swaggerUi({
      domNode,
      spec: document,
      layout: 'OperationsOnly',
      // The colours of the highlighting have too little contrast.
      syntaxHighlight: false,
      plugins: [ownPage, samplesOf(document.paths)],
      onComplete: resolve,
    });
  });
  return domNode;
}

/**
 * Leaves out parts that make the page long without saying anything new. HEAD is like GET on every path. The headers and bodies of errors
 * are the same for all operations, except the body of the 503 of `/health`.
 */
function shortened({ paths, components, ...rest }: Document): Document {
  const answer = (given: Answer | { readonly $ref: string }): Answer =>
    '$ref' in given ? (components.responses[given.$ref.split('/').at(-1) ?? ''] ?? { description: '' }) : given;
  const operation = ({ responses, ...others }: Operation): Operation => ({
    ...others,
    responses: mapValues(responses, (given, status) =>
      Number(status) < 400 ? given : { description: answer(given).description },
    ),
  });
  const operations = mapValues(paths, ({ head: _, ...methods }) => mapValues(methods, operation));
  return { ...rest, components, paths: operations };
}

const mapValues = <From, To>(record: Readonly<Record<string, From>>, map: (value: From, key: string) => To) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));

const ownPage: Plugin = ({ React: { createElement: element } }) => ({
  components: {
    // Leaves out title, servers and authorization: the page has a title, and its requests go to its own origin with the session.
    OperationsOnly: ({ getComponent }) =>
      element(
        'div',
        { className: 'swagger-ui', id: 'api-operations' },
        element(getComponent('operations', true), null),
      ),
  },
  wrapComponents: {
    authorizeOperationBtn: () => () => null,
    // Swagger UI gives its inputs no accessible names, so this adds a label.
    JsonSchemaForm: (Original) => (props) =>
      element(
        'label',
        null,
        element('span', { className: 'hidden-label' }, strings.reference.value),
        element(Original, props),
      ),
  },
  statePlugins: {
    spec: {
      wrapSelectors: {
        // A login redirects to another site, and a request of this page cannot follow that redirect.
        allowTryItOutFor:
          () =>
          (_state, path = '') =>
            !path.startsWith(`${API}/auth/google`),
      },
    },
  },
});
