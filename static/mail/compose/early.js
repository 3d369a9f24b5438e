// @ts-check
/** What a person types before the editor has loaded: the block takes plain text until then, and none of it is lost. */

/** The typed lines as blocks of the editor; "" if there are none. @param {HTMLElement} root of an editor to come */
export function earlyHtml(root) {
  const typed = root.innerText;
  if (!typed.trim()) return "";
  const block = document.createElement("div");
  return typed.replace(/\n$/, "").split("\n").map((line) => {
    block.textContent = line.replace(/ (?= |$)/g, "\u00a0"); // HTML joins spaces, and drops the last
    return `<div>${block.innerHTML || "<br>"}</div>`;
  }).join("");
}

/** How many blocks it has. @param {string} early of `earlyHtml` */
export const blocksOf = (early) => early.split("</div>").length - 1;
