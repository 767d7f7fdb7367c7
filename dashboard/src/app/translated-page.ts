/** What a translator has put in the place of each text node that it has removed. */
const replacements = new WeakMap<Node, ChildNode>();

/**
 * Keeps the dashboard working while the browser translates the page. Google Translate puts each text node into a `<font>`, or replaces it
 * by one. React knows only its own nodes: it would throw when it removes such a node, and a changed text would stay invisible.
 */
export function surviveTranslation(): void {
  const { insertBefore, removeChild } = Node.prototype;
  Node.prototype.removeChild = function <Child extends Node>(this: Node, child: Child): Child {
    const stand = standInFor(child, this);
    // A node without a parent is already removed.
    if (stand || child.parentNode) removeChild.call(this, stand ?? child);
    return child;
  };
  Node.prototype.insertBefore = function <Child extends Node>(this: Node, child: Child, before: Node | null): Child {
    return insertBefore.call(
      this,
      child,
      before && (standInFor(before, this) ?? (before.parentNode && before)),
    ) as Child;
  };
  const texts = new MutationObserver((changes) => {
    for (const { target } of changes) {
      const replacement = replacements.get(target);
      replacements.delete(target);
      if (replacement?.isConnected) replacement.replaceWith(target);
    }
  });
  new MutationObserver((changes) => {
    for (const { removedNodes, addedNodes, previousSibling, nextSibling } of changes) {
      const font = [...addedNodes, previousSibling, nextSibling].find((node) => node?.nodeName === 'FONT');
      for (const node of font ? removedNodes : []) {
        if (!(node instanceof Text)) continue;
        replacements.set(node, font as ChildNode);
        texts.observe(node, { characterData: true });
      }
    }
  }).observe(document, { childList: true, subtree: true });
}

/** The child of `parent` that is, or contains, or has replaced a node that React takes for a child of `parent`. */
function standInFor(node: Node, parent: Node): Node | undefined {
  for (const start of [node, replacements.get(node)]) {
    let stand: Node | null | undefined = start;
    while (stand && stand.parentNode !== parent) stand = stand.parentNode;
    if (stand) return stand;
  }
  return undefined;
}
