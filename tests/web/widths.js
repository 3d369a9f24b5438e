// What does not fit: parts beyond the window or their box, and words over words. A function of the browser's page.
() => {
  const SLACK_PX = 2;
  const hides = (style) => style.overflowX !== "visible" || style.clipPath !== "none";
  const floats = (one) => {
    for (let at = one; at && at !== document.body; at = at.parentElement) {
      const { position } = getComputedStyle(at);
      if (position === "fixed" || position === "sticky" || at.matches("[popover], .sr-only, .heard")) return true;
    }
    return false;
  };
  /** What is seen of a box, inside all that cut it. */
  const seen = (box, from) => {
    let { left, right, top, bottom } = box;
    for (let at = from; at && at !== document.documentElement; at = at.parentElement) {
      if (!hides(getComputedStyle(at))) continue;
      const edge = at.getBoundingClientRect();
      [left, right, top, bottom] = [Math.max(left, edge.left), Math.min(right, edge.right), Math.max(top, edge.top),
        Math.min(bottom, edge.bottom)];
    }
    return right - left > 1 && bottom - top > 1 ? { left, right, top, bottom } : null;
  };
  /** How far to the right there is room: the window, or what cuts it before. */
  const room = (from) => {
    for (let at = from; at && at !== document.documentElement; at = at.parentElement) {
      if (hides(getComputedStyle(at))) return at.getBoundingClientRect().right;
    }
    return innerWidth;
  };
  const name = (one) => `${one.tagName.toLowerCase()}.${one.className}: ${one.textContent.trim().slice(0, 40)}`;
  const found = [];
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page scrolls sideways");
  const root = document.querySelector("dialog[open]") ?? document.querySelector("#app");
  const all = [...root.querySelectorAll("*")]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest("svg, .lists-probe, [inert]"));
  const words = [];
  for (const one of all) {
    const box = one.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    const part = seen(box, one.parentElement);
    if (part && (part.left < -SLACK_PX || part.right > innerWidth + SLACK_PX)) {
      found.push(`beyond the window: ${name(one)}`);
    }
    const { overflowX, display } = getComputedStyle(one);
    const inBlock = display !== "inline" && display !== "contents";
    const wider = inBlock && overflowX === "visible" && one.clientWidth && one.scrollWidth > one.clientWidth + SLACK_PX;
    if (wider && box.left + one.scrollWidth > room(one) + SLACK_PX) { // a strip may go to the edge of the page
      found.push(`wider than its box (${one.scrollWidth} in ${one.clientWidth}): ${name(one)}`);
    }
    if (floats(one)) continue;
    for (const text of one.childNodes) {
      if (text.nodeType !== Node.TEXT_NODE || !text.data.trim()) continue;
      const range = document.createRange();
      range.selectNodeContents(text);
      for (const line of range.getClientRects()) {
        const shown = seen(line, one);
        if (shown) words.push({ one, ...shown });
      }
    }
  }
  for (const [index, a] of words.entries()) {
    for (const b of words.slice(index + 1)) {
      if (a.one === b.one || a.one.contains(b.one) || b.one.contains(a.one)) continue;
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > SLACK_PX && down > 4) found.push(`over each other: ${name(a.one)} | ${name(b.one)}`);
    }
  }
  return [...new Set(found)].slice(0, 12);
}
