// @ts-check
/**
 * What a feature contributes to the web app: one row, which static/features.js lists. The router, the navigation, the
 * live updates, the settings, the palette and the icons are built from the rows. Owns the rows of this run.
 */

/** @typedef {import("./router.js").Route} Route */
/** @typedef {import("./ui/palette.js").Command} Command */

/**
 * A way to somewhere: a row of the navigation, and a command of the palette.
 * @typedef {object} Nav
 * @property {"places" | "top" | "end"} at among the places of mail, the other places of the workspace, or at the foot
 * @property {string} title
 * @property {string} icon
 * @property {() => string} href
 * @property {string} [bar] its word in the bar of a phone, which holds three places; without it, it is in the drawer
 * @property {string} [keys] the name of the command that does the same, as in keys.js
 * @property {string[]} [also] other words that people have for it
 * @property {() => NavCount | null} [count] how much waits there
 * @property {() => string} [label] what is said of it, where that is more than its title
 * @property {(url: URL) => boolean} [here] whether an address is there; without it, any that its feature shows
 * @property {() => boolean} [when] whether it is there for this person, on this server
 * @property {() => unknown} [show] a component that stands there instead of the icon
 */
/** @typedef {{ n: number, words: string, bad?: boolean }} NavCount `words` are heard; `bad`: a person is needed */

/** @typedef {(typeof SETTINGS_GROUPS)[number]} SettingsGroup */

/**
 * A section of the settings, at /settings/<name>.
 * @typedef {object} Section
 * @property {string} name "": the first one, /settings itself
 * @property {readonly string[]} [also] other names that lead here
 * @property {string} label in the list
 * @property {string} title
 * @property {SettingsGroup} group the heading that it stands below
 * @property {string} icon
 * @property {number} order below its heading, smallest first
 * @property {boolean} [adminOnly]
 * @property {readonly string[]} [holds] what one finds there, in the words in which people look for it
 * @property {() => any} show
 */

/**
 * A text that a new page may begin with.
 * @typedef {object} Template
 * @property {string} id
 * @property {string} title
 * @property {string} group where it comes from
 * @property {() => Promise<string>} text
 */

/**
 * @typedef {object} Feature
 * @property {string} name as the folder is called
 * @property {Route[]} [routes] the first row's that knows an address shows it
 * @property {Nav[]} [nav]
 * @property {(() => unknown)[]} [panels] components that stand below the rows of the navigation, where it has words
 * @property {string[]} [topics] of the live updates
 * @property {(event: LiveEvent) => void} [onEvent] called for each event of these topics
 * @property {() => void} [refetch] the live updates have a gap: whatever was fetched may be old
 * @property {() => Promise<void>} [forget] somebody signed out: what this browser keeps of them goes
 * @property {() => void} [begin] called once, before anything is drawn
 * @property {() => void} [start] called once, where the app is more than the login page
 * @property {(() => unknown)[]} [overlays] components that stand above every page
 * @property {() => Promise<readonly import("./keys.js").KeyPlace[]>} [keys] all that its pages have keys for
 * @property {Section[]} [settings]
 * @property {() => Command[]} [commands] asked whenever the palette is drawn
 * @property {(text: string) => Promise<Command[]>} [lookup] commands for what was typed, found by asking the server
 * @property {() => Template[]} [templates] asked whenever a page is about to be made
 * @property {() => void} [prepare] the palette opens: fetch what `commands` tells of
 * @property {Record<string, string>} [icons] name -> path on a 20-unit grid
 */

/** The headings of the settings, in the order of the list: what one changes often stands first. */
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
