// @ts-check
/** Search by meaning, as the app's list has it: best matches, the switch, and a way there by the palette. */
import { navigate } from "../router.js";
import { html } from "../ui/html.js";
import { Shell } from "../ui/shell.js";
import { BestPage, SHORTCUTS, bestHref } from "./page.js";
import { MeaningSection } from "./settings.js";

const BEST = /^\/p\/mail\/best\/?$/;
const MIN_WORDS = 2;

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "meaning",
  keys: [{ title: "Best match", shortcuts: SHORTCUTS }],
  routes: [{
    parse: ({ pathname, searchParams }) => (BEST.test(pathname) ? { text: searchParams.get("q") ?? "" } : null),
    show: ({ text }) => html`<${Shell}><${BestPage} text=${text} /></${Shell}>`,
  }],
  settings: [
    { name: "meaning", label: "By meaning", title: "Search by meaning", group: "Mail", icon: "search", order: 31,
      holds: ["Search by meaning", "Semantic search", "Best match", "Embeddings", "Vectors"], show: MeaningSection },
  ],
  async lookup(text) {
    if (text.trim().split(/\s+/).length < MIN_WORDS) return [];
    return [{ id: "best match", label: `Best match: ${text}`, group: "Search", run: () => navigate(bestHref(text)) }];
  },
};
