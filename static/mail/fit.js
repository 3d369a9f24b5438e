// @ts-check
/**
 * Wide mail in a narrow room. Newsletters are tables of a fixed width, about 600 pixels, that their own style sheets
 * make narrower on a phone; those sheets are not let in. So what asks for more than there is gets all there is instead.
 *
 * A `max-width` alone would not do: within a table's cell it takes nothing from the least width of what is in it.
 */

/** @param {HTMLElement} body from placeImages, changed @param {number} room in pixels */
export function fit(body, room) {
  for (const element of body.querySelectorAll("[width], [style]")) {
    if (!(element instanceof HTMLElement)) continue;
    const { style } = element;
    if (Number(element.getAttribute("width")) > room) element.setAttribute("width", "100%");
    if (pixels(style.width) > room) style.width = "100%";
    if (pixels(style.minWidth) > room) style.minWidth = "0";
  }
  return body;
}

/** @param {string} length */
function pixels(length) {
  return length.endsWith("px") ? Number.parseFloat(length) : 0;
}
