/** What an element holds: text, a number, nested elements; an array repeats the element, `undefined` leaves it out. */
export type XmlContent = string | number | boolean | undefined | XmlElements | readonly XmlContent[];
export interface XmlElements {
  readonly [name: string]: XmlContent;
}

const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';

/** An XML document as S3 writes it. S3's errors alone have no namespace. */
export function renderXml(root: string, content: XmlElements, { namespace = true } = {}): string {
  const open = namespace ? `<${root} xmlns="${NAMESPACE}">` : `<${root}>`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${open}${renderElements(content)}</${root}>`;
}

function renderElements(elements: XmlElements): string {
  return Object.entries(elements)
    .flatMap(([name, content]) => (Array.isArray(content) ? content : [content]).map((one) => renderElement(name, one)))
    .join('');
}

function renderElement(name: string, content: XmlContent): string {
  if (content === undefined) return '';
  const inner = typeof content === 'object' ? renderElements(content as XmlElements) : escapeText(String(content));
  return `<${name}>${inner}</${name}>`;
}

// Control characters are written as references, as S3 does, though XML 1.0 allows few of them even so.
const escapeText = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: keys may hold any character
  text.replace(/[&<>"\u0000-\u001f\u007f]/g, (character) => ESCAPES[character] ?? `&#${character.charCodeAt(0)};`);
const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** An element that was read: its text, and its children by name in their order. */
export interface XmlNode {
  readonly name: string;
  readonly text: string;
  readonly children: readonly XmlNode[];
}

interface OpenNode {
  name: string;
  text: string;
  children: XmlNode[];
}

// In this order: declaration or comment, closing tag, opening tag (perhaps empty), text. Attributes carry nothing in S3.
const TOKEN = /<\?[^>]*\?>|<!--[\s\S]*?-->|<\/([\w:.-]+)\s*>|<([\w:.-]+)(?:\s+[^<>]*?)?(\/?)>|([^<]+)/gy;

/** The root element of a small document, or `undefined` when it is not well-formed. Knows no DTD and no CDATA. */
export function parseXml(document: string): XmlNode | undefined {
  const root: OpenNode = { name: '', text: '', children: [] };
  const open: OpenNode[] = [root];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < document.length) {
    const token = TOKEN.exec(document);
    const parent = open.at(-1);
    if (!token || !parent) return undefined;
    const [, closed, opened, empty, text] = token;
    if (text !== undefined) parent.text += unescapeText(text);
    if (closed !== undefined && open.pop()?.name !== closed) return undefined;
    if (opened !== undefined) {
      const node: OpenNode = { name: opened, text: '', children: [] };
      parent.children.push(node);
      if (!empty) open.push(node);
    }
  }
  return open.length === 1 && root.children.length === 1 && root.text.trim() === '' ? root.children[0] : undefined;
}

/** The text of the first child of that name. */
export const childText = (node: XmlNode, name: string): string | undefined =>
  node.children.find((child) => child.name === name)?.text;

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const unescapeText = (text: string): string =>
  text.replace(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return NAMED[name] ?? whole;
    const codePoint = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : whole;
  });
