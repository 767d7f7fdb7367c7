/** The parts of Swagger UI that the dashboard uses. The package has no types. It has its own copy of React. */
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  type Node = unknown;
  type Component = (props: never) => Node;

  interface React {
    createElement(type: unknown, props: object | null, ...children: Node[]): Node;
    useState<Value>(initial: Value): [value: Value, set: (value: Value) => void];
  }

  type Selector = (state: unknown, ...args: readonly string[]) => boolean;

  /** A plugin of Swagger UI: it adds components, wraps existing ones, and wraps selectors of the document. */
  export type Plugin = (system: { readonly React: React }) => {
    readonly components?: Readonly<
      Record<string, (props: { getComponent(name: string, isConnected: boolean): Component }) => Node>
    >;
    readonly wrapComponents?: Readonly<Record<string, (original: Component) => Component>>;
    readonly statePlugins?: {
      readonly spec: { readonly wrapSelectors: Readonly<Record<string, (original: Selector) => Selector>> };
    };
  };

  /** Renders a document in an element. It cannot be removed from the element again. */
  export default function swaggerUi(options: {
    readonly domNode: HTMLElement;
    readonly spec: object;
    readonly layout: string;
    readonly syntaxHighlight: false;
    readonly plugins: readonly Plugin[];
    readonly onComplete: () => void;
  }): void;
}
