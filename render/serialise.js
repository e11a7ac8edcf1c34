// Returns the document as HTML, with open shadow trees in place of their hosts' children. It
// runs in a world of its own, in which the page's scripts have changed nothing.
most => {
  const empty = new Set(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]);
  const raw = new Set(["script", "style", "xmp", "iframe", "noembed", "noframes", "plaintext", "noscript"]);
  const entities = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\u00a0": "&nbsp;"};
  // A field of a form, or an image of the document, hides the property that has its name. So
  // properties are read as those of the class.
  const read = (of, name) => {
    const {get} = Object.getOwnPropertyDescriptor(of.prototype, name);
    return node => get.call(node);
  };
  const rootOf = read(Document, "documentElement"), typeOf = read(Node, "nodeType"), childrenOf = read(Node, "childNodes");
  const nameOf = read(Element, "localName"), attributesOf = read(Element, "attributes"), shadowOf = read(Element, "shadowRoot");
  const escapeText = s => s.replace(/[&<>\u00a0]/g, c => entities[c]);
  const escapeValue = s => s.replace(/[&"\u00a0]/g, c => entities[c]);
  const out = [];
  let length = 0;
  const put = s => {
    length += s.length;
    if (length > most) throw new RangeError("large");
    out.push(s);
  };
  // A stack instead of recursion: scripts can build trees of any depth.
  const stack = [];
  const push = nodes => { for (let i = nodes.length - 1; i >= 0; i--) stack.push(nodes[i]); };
  const children = node => {
    if (shadowOf(node)) return [...childrenOf(shadowOf(node))];
    if (nameOf(node) === "slot" && node.getRootNode() instanceof ShadowRoot) {
      const assigned = node.assignedNodes();
      if (assigned.length > 0) return assigned;
    }
    return [...childrenOf(nameOf(node) === "template" && node.content || node)];
  };
  if (rootOf(document)) stack.push(rootOf(document));
  put("<!DOCTYPE html>");
  while (stack.length > 0) {
    const node = stack.pop();
    if (typeof node === "string") {
      put(node);
    } else if (typeOf(node) === Node.TEXT_NODE) {
      const parent = node.parentElement;
      put(parent && raw.has(nameOf(parent)) ? node.data : escapeText(node.data));
    } else if (typeOf(node) === Node.ELEMENT_NODE) {
      const name = nameOf(node);
      put("<" + name);
      for (const a of attributesOf(node)) put(` ${a.name}="${escapeValue(a.value)}"`);
      put(">");
      if (empty.has(name)) continue;
      stack.push(`</${name}>`);
      push(children(node));
    }
  }
  return out.join("");
}
