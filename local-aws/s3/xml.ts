import { parseXML, XmlNode, XmlText } from '@aws-sdk/xml-builder';

/** What an element holds: text, a number, nested elements. An array repeats the element; `undefined` leaves it out. */
type XmlContent = string | number | boolean | undefined | XmlElements | readonly XmlContent[];
interface XmlElements {
  readonly [name: string]: XmlContent;
}

/** The namespace of S3's documents. Only its errors have none. */
const S3_NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';

/** An XML document as AWS writes it. */
export function renderXml(
  root: string,
  content: XmlElements,
  { namespace = S3_NAMESPACE }: { namespace?: string | null } = {},
): string {
  const document = new XmlNode(root, childNodes(content)).a('xmlns', namespace);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${document}`;
}

function childNodes(elements: XmlElements): XmlNode[] {
  return Object.entries(elements).flatMap(([name, content]) =>
    [content]
      .flat()
      .filter((item) => item !== undefined)
      .map((item) => new XmlNode(name, typeof item === 'object' ? childNodes(item as XmlElements) : [textOf(item)])),
  );
}

const textOf = (value: string | number | boolean) => new XmlText(String(value));

/**
 * A time as S3 writes it in documents: in whole seconds, with three digits that are always zero.
 * Source: LocalStack, tests of `.000Z` in answers of AWS (`test_s3_timestamp_precision`, `test_s3_list_operations.py`).
 */
export const timestamp = (milliseconds: number) => new Date(Math.floor(milliseconds / 1_000) * 1_000).toISOString();

/** An element that was read: its text, or its children and attributes by name. */
export type ReadElement = string | { readonly [name: string]: ReadElement | readonly ReadElement[] };

/** @returns the root element; `undefined` when the document is not well-formed or its root has another name. */
export function parseXml(document: string, root: string): ReadElement | undefined {
  // The parser stops after the root, so text after the root is refused here.
  if (!document.trimEnd().endsWith(`</${root}>`)) return undefined;
  try {
    return (parseXML(document) as Record<string, ReadElement>)[root];
  } catch {
    return undefined;
  }
}

/** The children of that name, in their order. */
export function childrenOf(element: ReadElement, name: string): readonly ReadElement[] {
  if (typeof element === 'string' || !Object.hasOwn(element, name)) return [];
  return [element[name] ?? []].flat();
}

/** The text of the first child of that name; `undefined` when there is none, or it has children itself. */
export function childText(element: ReadElement, name: string): string | undefined {
  const [first] = childrenOf(element, name);
  return typeof first === 'string' ? first : undefined;
}
