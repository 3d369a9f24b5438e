// @ts-check
/** The feature row of search by meaning: best matches, the switch, and a command of the palette. */
import { late } from "../late.js";
import { navigate } from "../router.js";
import { html } from "../ui/html.js";
import { Shell } from "../ui/shell.js";
import { bestHref } from "./page.js";

const later = () => import("./later.js");
const BestPage = late(later, "BestPage");
const MeaningSection = late(later, "MeaningSection");

const BEST = /^\/p\/mail\/best\/?$/;
const MIN_WORDS = 2;

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "meaning",
  keys: async () => [{ title: "Best match", shortcuts: (await later()).SHORTCUTS }],
  routes: [{
    parse: ({ pathname, searchParams }) => (BEST.test(pathname) ? { text: searchParams.get("q") ?? "" } : null),
    show: ({ text }) => html`<${Shell}><${BestPage} text=${text} /></${Shell}>`,
  }],
  settings: [
    { name: "meaning", label: "Search by meaning", title: "Search by meaning", group: "Mail", icon: "meaning",
      order: 31, holds: ["Semantic search", "Best match", "Embeddings", "Vectors"], show: MeaningSection },
  ],
  icons: {
    meaning: "M9 3.5c.6 4.2 2 5.6 6 6.3-4 .7-5.4 2.1-6 6.3-.6-4.2-2-5.6-6-6.3 4-.7 5.4-2.1 6-6.3zM15.5 3v3M14 4.5h3" +
      "M15.5 14v3M14 15.5h3",
  },
  async lookup(text) {
    if (text.trim().split(/\s+/).length < MIN_WORDS) return [];
    return [{ id: "best match", label: `Best match: ${text}`, group: "Search", run: () => navigate(bestHref(text)) }];
  },
};
