// @ts-check
/**
 * The results of a search besides mail: pages, people and files, each a section below the list of mail. The sections
 * are folded to a line with their counts, and unfolded if no mail was found.
 */
import { useEffect, useState } from "preact/hooks";
import { html } from "../ui/html.js";
import { plural } from "../ui/format.js";
import { Icon } from "../ui/icons.js";
import { listsOf } from "./lists.js";
import { plainWords } from "./query_words.js";
import { rememberSearch } from "./recent_searches.js";
import { useThings } from "./search_offers.js";

/** @typedef {import("../ui/palette.js").Command} Command */

/** @type {{ thing: NonNullable<Command["thing"]>, title: string, icon: string, one: string, many: string }[]} */
const SECTIONS = [
  { thing: "page", title: "Pages", icon: "page", one: "page", many: "pages" },
  { thing: "person", title: "People", icon: "people", one: "person", many: "people" },
  { thing: "file", title: "Files", icon: "file", one: "file", many: "files" },
];

/** @param {{ accountId: string | null, view: import("./address.js").SearchView }} props */
export function AlsoFound({ accountId, view }) {
  const { query } = view;
  const things = useThings(plainWords(query));
  const [list] = listsOf(view, accountId);
  void list?.version.value;
  const noMail = list?.complete === true && !list.rows.length;
  const [unfolded, setUnfolded] = useState(false);
  useEffect(() => setUnfolded(noMail), [noMail, query]);
  const sections = SECTIONS.map((one) => ({ ...one, found: things.filter(({ thing }) => thing === one.thing) }))
    .filter(({ found }) => found.length);
  if (!sections.length) return null;
  return html`<details class="also-found" open=${unfolded}
    onToggle=${(/** @type {{ currentTarget: HTMLDetailsElement }} */ event) => setUnfolded(event.currentTarget.open)}>
    <summary><${Icon} name="chevron" size=${14} /> Also found: ${sections.map(({ found, one, many }) =>
      plural(found.length, one, many)).join(", ")}</summary>
    ${sections.map(({ title, icon, found }) => html`<section key=${title} aria-label=${title}>
      <h2>${title}</h2>
      <ul>${found.map((thing) => html`<li key=${thing.id}>
        <a href=${thing.href} onClick=${(/** @type {MouseEvent} */ event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          rememberSearch(query);
          thing.run();
        }}><${Icon} name=${icon} size=${16} /><span class="also-found-text"><bdi>${thing.label}</bdi></span>
          <span class="quiet-text"><bdi>${thing.hint}</bdi></span></a>
      </li>`)}</ul>
    </section>`)}
  </details>`;
}
