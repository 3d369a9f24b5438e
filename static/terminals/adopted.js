// @ts-check
/**
 * Lets a library that writes <style> elements work under a content security policy that forbids them.
 *
 * The policy forbids inline styles in markup. It allows style sheets that a script constructs and the document adopts.
 * So while `make` runs, each <style> that it creates is another element instead: its text goes into an adopted sheet,
 * which is removed together with the element.
 */

/**
 * @template T
 * @param {() => T} make must be synchronous
 * @returns {T}
 */
export function withAdoptedStyles(make) {
  const create = document.createElement;
  document.createElement = (/** @type {string} */ name, /** @type {ElementCreationOptions | undefined} */ options) =>
    name === "style" ? standIn(create.call(document, "template")) : create.call(document, name, options);
  try {
    return make();
  } finally {
    Reflect.deleteProperty(document, "createElement"); // the one of the prototype is used again
  }
}

/** @param {HTMLElement} element */
function standIn(element) {
  const sheet = new CSSStyleSheet();
  let text = "";
  document.adoptedStyleSheets.push(sheet);
  Object.defineProperty(element, "textContent", {
    get: () => text,
    set: (value) => {
      text = String(value);
      sheet.replaceSync(text);
    },
  });
  Object.defineProperty(element, "remove", { value: () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    Element.prototype.remove.call(element);
  } });
  return element;
}
