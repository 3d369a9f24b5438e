// @ts-check
/**
 * The type of a feature row: what a feature contributes to the web app. static/features.js lists the rows. The router,
 * the navigation, the live updates, the settings, the palette and the icons are built from them. Owns the rows of this
 * run.
 */

/** @typedef {import("./router.js").Route} Route */
/** @typedef {import("./ui/palette.js").Command} Command */

/**
 * A link to a place: a row of the navigation, and a command of the palette.
 * @typedef {object} Nav
 * @property {"places" | "top" | "end"} at its group: the places of mail, the other places of the workspace, or the end
 * @property {string} title
 * @property {string} icon
 * @property {() => string} href
 * @property {string} [bar] its label in a phone's bar, which holds three places; without it, it is in the drawer
 * @property {string} [keys] the name of the command that does the same, as in keys.js
 * @property {string[]} [also] other words that people have for it
 * @property {() => NavCount | null} [count] the number of open items there
 * @property {() => string} [label] the accessible name, if that is more than its title
 * @property {(url: URL) => boolean} [here] whether an address is its own; without it, any of its feature's is
 * @property {() => boolean} [when] whether it is shown to this person, on this server
 * @property {() => unknown} [show] a component that is shown instead of the icon
 */
/** @typedef {{ n: number, words: string, bad?: boolean }} NavCount `words`: for screen readers; `bad`: to be handled */

/** @typedef {(typeof SETTINGS_GROUPS)[number]} SettingsGroup */

/**
 * A section of the settings, at /settings/<name>.
 * @typedef {object} Section
 * @property {string} name "" is the first one, /settings itself
 * @property {readonly string[]} [also] other names that lead here
 * @property {string} label in the list
 * @property {string} title
 * @property {SettingsGroup} group the heading above it
 * @property {string} icon
 * @property {number} order below its heading, smallest first
 * @property {boolean} [adminOnly]
 * @property {readonly string[]} [holds] its content, in the words that people search for
 * @property {() => any} show
 */

/**
 * A template for a new page.
 * @typedef {object} Template
 * @property {string} id
 * @property {string} title
 * @property {string} group where it comes from
 * @property {() => Promise<string>} text
 */

/**
 * @typedef {object} Feature
 * @property {string} name the name of its folder
 * @property {Route[]} [routes] of all rows, the first route that knows an address shows it
 * @property {Nav[]} [nav]
 * @property {(() => unknown)[]} [panels] components below the rows of the navigation, while it shows labels
 * @property {string[]} [topics] of the live updates
 * @property {(event: LiveEvent) => void} [onEvent] called for each event of these topics
 * @property {() => void} [refetch] called after a gap in the live updates: fetched data may be old
 * @property {() => Promise<void>} [leave] called before sign-out: does what would be done later
 * @property {() => Promise<void>} [forget] called at sign-out: deletes this browser's data of the person
 * @property {() => void} [begin] called once, before anything is drawn
 * @property {() => void} [start] called once, unless the app shows only the login page
 * @property {(() => unknown)[]} [overlays] components above every page
 * @property {() => Promise<readonly import("./keys.js").KeyPlace[]>} [keys] all that its pages have keys for
 * @property {Section[]} [settings]
 * @property {() => Command[]} [commands] asked whenever the palette is drawn
 * @property {(text: string) => Promise<Command[]>} [lookup] commands for what was typed, found by asking the server
 * @property {() => Template[]} [templates] asked whenever a page is about to be made
 * @property {() => void} [prepare] called when the palette opens: fetches the data for `commands`
 * @property {Record<string, string>} [icons] name -> path on a 20-unit grid
 */

/** The headings of the settings, in the order of the list: the ones that people change most often come first. */
export const SETTINGS_GROUPS = /** @type {const} */ (
  ["General", "Mail", "People & devices", "Agents", "Data & backups", "Server"]);

/** @type {readonly Feature[]} */
let rows = [];

/** Called once, before anything is drawn. @param {readonly Feature[]} features */
export function useFeatures(features) {
  rows = features;
}

export function features() {
  return rows;
}

/** @param {Nav["at"]} at */
export function navAt(at) {
  return rows.flatMap((row) => row.nav ?? []).filter((one) => one.at === at && (one.when?.() ?? true));
}

/** In the order of the list. */
export function settingsSections() {
  return rows.flatMap((row) => row.settings ?? []).sort((a, b) =>
    SETTINGS_GROUPS.indexOf(a.group) - SETTINGS_GROUPS.indexOf(b.group) || a.order - b.order);
}
