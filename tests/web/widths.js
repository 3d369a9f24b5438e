// What does not fit: parts beyond the window or their box, and words over words. A function of the browser's page. It
// waits until the page is drawn at its new size.
async () => {
  const SLACK_PX = 2;
  const LEAST_OVERLAP_PX = 4;
  const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  document.documentElement.style.opacity = "0"; // measured, and not painted: nobody looks at it
  await drawn();
  const moving = document.getAnimations().filter((one) => one.effect.getComputedTiming().endTime < Infinity);
  await Promise.allSettled(moving.map((one) => one.finished));
  await drawn();

  /** Keeps the answer for each element: most are asked for once for each part in them. */
  const once = (find) => {
    const known = new Map();
    return (one) => {
      if (!known.has(one)) known.set(one, find(one));
      return known.get(one);
    };
  };
  const isTop = (one) => !one || one === document.documentElement;
  const style = once((one) => getComputedStyle(one));
  const edge = once((one) => one.getBoundingClientRect());
  const hides = once((one) => style(one).overflowX !== "visible" || style(one).clipPath !== "none");
  const floats = once((one) => {
    if (!one || one === document.body) return false;
    const { position } = style(one);
    return position === "fixed" || position === "sticky" || one.matches("[popover], .sr-only, .heard")
      || floats(one.parentElement);
  });
  const within = (one, other) => ({
    left: Math.max(one.left, other.left), right: Math.min(one.right, other.right),
    top: Math.max(one.top, other.top), bottom: Math.min(one.bottom, other.bottom),
  });
  const EVERYWHERE = { left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity };
  /** What an element and all around it leave to see of what is in it. */
  const opening = once((at) => {
    if (isTop(at)) return EVERYWHERE;
    const around = opening(at.parentElement);
    return hides(at) ? within(around, edge(at)) : around;
  });
  /** What is seen of a box, inside all that cut it. */
  const seen = (box, from) => {
    const part = within(box, opening(from));
    return part.right - part.left > 1 && part.bottom - part.top > 1 ? part : null;
  };
  /** How far to the right there is room: the window, or what cuts it before. */
  const room = once((at) => {
    if (isTop(at)) return innerWidth;
    return hides(at) ? edge(at).right : room(at.parentElement);
  });
  const name = (one) => `${one.tagName.toLowerCase()}.${one.className}: ${one.textContent.trim().slice(0, 40)}`;
  const found = [];
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page scrolls sideways");
  const root = document.querySelector("dialog[open]") ?? document.querySelector("#app");
  const all = [...root.querySelectorAll("*")]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest("svg, .lists-probe, [inert]"));
  const words = [];
  for (const one of all) {
    const box = edge(one);
    if (box.width < 2 || box.height < 2) continue;
    const part = seen(box, one.parentElement);
    if (part && (part.left < -SLACK_PX || part.right > innerWidth + SLACK_PX)) {
      found.push(`beyond the window: ${name(one)}`);
    }
    const { overflowX, display } = style(one);
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
  words.sort((a, b) => a.top - b.top);
  for (const [index, a] of words.entries()) {
    for (let next = index + 1; next < words.length && words[next].top < a.bottom - LEAST_OVERLAP_PX; next += 1) {
      const b = words[next];
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - b.top;
      if (across <= SLACK_PX || down <= LEAST_OVERLAP_PX) continue;
      if (a.one === b.one || a.one.contains(b.one) || b.one.contains(a.one)) continue;
      found.push(`over each other: ${name(a.one)} | ${name(b.one)}`);
    }
  }
  return [...new Set(found)].slice(0, 12);
}
