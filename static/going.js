// @ts-check
/** Where the palette leads besides what the keys do: mailboxes, places and labels, pages, people, settings. */
import { accounts } from "./mail/accounts.js";
import { otherCommands } from "./mail/commands.js";
import { composeBlank } from "./mail/compose/compose.js";
import { ownLabels, wantLabels } from "./mail/labels.js";
import { PLACES } from "./mail/places.js";
import { pageHref } from "./pages/paths.js";
import { mailPath, navigate, place } from "./router.js";
import { query } from "./rpc.js";
import { isAdmin } from "./session.js";
import { SECTIONS } from "./settings/page.js";
import { nextTheme } from "./theme.js";
import { paletteOpen, provideCommands, provideLookup } from "./ui/palette.js";

/** @typedef {import("./ui/palette.js").Command} Command */

const MAX_PEOPLE = 4;

/** Called once. */
export function startGoing() {
  paletteOpen.subscribe((open) => {
    if (open) void wantLabels();
  });
  provideCommands(commands);
  provideLookup(pages);
  provideLookup(people);
}

/** @param {string} id @param {string} label @param {string} to @param {string} [group] @returns {Command} */
function going(id, label, to, group = "Go to") {
  return { id, label, group, run: () => navigate(to) };
}

/** @returns {Command[]} */
function commands() {
  const here = place.value.page === "mail" ? place.value.accountId : null;
  return [
    ...PLACES.map(({ title, view, keys }) => ({ ...going(`place ${title}`, title, mailPath(here, null, view)), ...(keys && { keys: [keys] }) })),
    going("unified", "Unified", mailPath(null), "Mailbox"),
    ...(accounts.value ?? []).map(({ id, address }) => going(`account ${id}`, address, mailPath(id), "Mailbox")),
    ...ownLabels(here).map(({ name }) => going(`label ${name}`, name, mailPath(here, null, { kind: "label", name }), "Label")),
    going("tasks", "Tasks", "/p/tasks"),
    going("pages", "Pages", "/p/"),
    ...SECTIONS.filter((one) => !one.adminOnly || isAdmin()).map(({ name, title }) => going(`settings ${name}`, title, name ? `/settings/${name}` : "/settings", "Settings")),
    { id: "theme", label: "Change the colours", run: nextTheme },
    ...otherCommands(),
  ];
}

/** @returns {Promise<Command[]>} */
async function pages() {
  const found = await query("pages.tree", {});
  return found.filter((one) => one.kind === "page").map(({ path, title }) => going(`page ${path}`, title || path, pageHref(path), "Page"));
}

/** @param {string} text @returns {Promise<Command[]>} */
async function people(text) {
  if (text.length < 2) return [];
  const found = await query("people.suggest", { text, limit: MAX_PEOPLE });
  return found.flatMap(({ name, address, title }) => [
    going(`from ${address}`, `Mail from ${title || name || address}`, mailPath(null, null, { kind: "search", query: `from:${address}` }), address),
    { id: `write ${address}`, label: `Write to ${title || name || address}`, group: address, run: () => composeBlank({ to: [{ name, address }] }) },
  ]);
}
