// @ts-check
/**
 * Fits wide mail into a narrow window. Newsletters are tables with a fixed width, about 600 pixels, that their own
 * style sheets make narrower on a phone; but those sheets are removed. So an element that is wider than the window gets
 * the full width of the window instead.
 *
 * A `max-width` alone is not enough: in a table cell it does not reduce the minimum width of the content.
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
