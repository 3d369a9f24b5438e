// @ts-check
/**
 * Lets a library that writes <style> elements work under a policy that takes none of them.
 *
 * The policy is about markup: sheets that a script makes and the document adopts are not inline styles. So while `make`
 * runs, a <style> that it creates is another element, whose text goes into an adopted sheet, and goes with the element.
 */

/**
 * @template T
 * @param {() => T} make waits for nothing
 * @returns {T}
 */
export function withAdoptedStyles(make) {
  const create = document.createElement;
  document.createElement = (/** @type {string} */ name, /** @type {ElementCreationOptions | undefined} */ options) =>
    name === "style" ? standIn(create.call(document, "template")) : create.call(document, name, options);
  try {
    return make();
  } finally {
    Reflect.deleteProperty(document, "createElement"); // the prototype has its own
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
