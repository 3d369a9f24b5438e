// @ts-check
/** The feature row of people. */
import { late } from "../late.js";
import { mailPath } from "../mail/address.js";
import { composeBlank } from "../mail/compose/compose.js";
import { navigate } from "../router.js";
import { pageHref } from "../pages/paths.js";
import { query } from "../rpc.js";
import { html } from "../ui/html.js";
import { Shell } from "../ui/shell.js";
import { parsePeopleAddress, peopleHref } from "./address.js";

const later = () => import("./later.js");
const PeopleSection = late(later, "PeopleSection");
const PeoplePage = late(later, "PeoplePage");

const MAX_FOUND = 4;

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "people",
  keys: async () => [{ title: "People", shortcuts: (await later()).SHORTCUTS }],
  routes: [{ parse: parsePeopleAddress,
    show: ({ text }) => html`<${Shell}><${PeoplePage} text=${text} /></${Shell}>` }],
  nav: [{ at: "top", title: "People", icon: "people", href: () => peopleHref("") }],
  settings: [{ name: "people", label: "People", title: "People", group: "People & devices", icon: "people", order: 40,
    holds: ["Pages of strangers", "Suggestions"], show: PeopleSection }],
  lookup,
  icons: {
    people: "M7.5 4.5a2.6 2.6 0 1 0 0 5.2 2.6 2.6 0 0 0 0-5.2zM2.5 15.5c.3-2.6 2.3-4 5-4s4.7 1.4 5 4M13 4.8a2.3 2.3 " +
      "0 " +
      "0 1 0 4.4M14.5 11.8c1.7.5 2.8 1.8 3 3.7",
  },
};

/** @param {string} text @returns {Promise<import("../feature.js").Command[]>} */
async function lookup(text) {
  if (text.length < 2) return [];
  const found = await query("people.suggest", { text, limit: MAX_FOUND });
  return found.flatMap(({ name, address, title, path }) => {
    const called = title || name || address;
    const href = path ? pageHref(path) : mailPath(null, null, { kind: "search", query: `from:${address}` });
    return [
      { id: `person ${address}`, label: called, group: "Person", hint: address, thing: /** @type {const} */ ("person"),
        href, run: () => navigate(href) },
      { id: `from ${address}`, label: `Mail from ${called}`, group: address,
        run: () => navigate(mailPath(null, null, { kind: "search", query: `from:${address}` })) },
      { id: `write ${address}`, label: `Write to ${called}`, group: address,
        run: () => composeBlank({ to: [{ name, address }] }) },
    ];
  });
}
