// @ts-check
/** A tab: a terminal of the server with its link and its screen; and the list of all tabs of this window. */
import { signal } from "@preact/signals";
import { query } from "../rpc.js";
import { loadMe } from "../session.js";
import { Link } from "./link.js";
import { loadLibrary, Screen } from "./screen.js";
import { noteShown, shownHere } from "./shown_here.js";

/** @typedef {import("./link.js").LinkState} LinkState */
/** Phones have no Ctrl key: the Ctrl button of the page counts for the next key, by this mask. */
const CONTROL_MASK = 0x1f;
const CAN_BE_CONTROLLED = /^[@a-z[\\\]^_]$/i;

/** The tabs of this window, in their order. */
export const tabs = signal(/** @type {readonly Tab[]} */ ([]));
/** The tab in front. */
export const front = signal(/** @type {Tab | null} */ (null));

let lastKey = 0;

export class Tab {
  key = ++lastKey;
  state = signal(/** @type {LinkState} */ ("connecting"));
  words = signal("");
  title = signal("");
  /** Whether Ctrl is held for the next key. */
  control = signal(false);
  searching = signal(false);
  found = signal({ at: 0, of: 0 });
  session = signal(/** @type {string | null} */ (null));
  /** @type {Screen | null} */
  screen = null;
  /** @type {Link | null} */
  #link = null;
  #isClosed = false;
  #waits;

  /**
   * @param {string | null} session null: a new terminal
   * @param {{ title?: string, waits?: boolean }} [how] `waits`: another window shows it; do not connect unasked
   */
  constructor(session, { title = "Terminal", waits = false } = {}) {
    this.session.value = session;
    this.title.value = title;
    this.#waits = waits;
    if (waits) {
      this.state.value = "taken";
      this.words.value = "Another window shows this terminal.";
    }
  }

  /** Draws the terminal in an element, which must be visible. @param {HTMLElement} element */
  async mount(element) {
    try {
      const library = await loadLibrary();
      if (this.#isClosed) return;
      this.screen = new Screen(library, element, {
        typed: (data) => this.#type(data),
        resized: (size) => this.#link?.resize(size),
        titled: (title) => {
          this.title.value = title || this.title.value;
        },
        search: () => {
          this.searching.value = true;
        },
        found: (found) => {
          this.found.value = found;
        },
      });
      if (!this.#waits) this.connect();
      if (front.value === this) this.screen.focus();
    } catch {
      this.#say("refused", "The terminal could not be loaded. Reload the page.");
    }
  }

  /** Connects to the terminal. Also takes it back from another window. */
  connect() {
    const screen = this.screen;
    if (!screen) return;
    this.#link ??= new Link(this.session.value, () => screen.size, {
      state: (state, words) => this.#say(state, words),
      ready: (session, replayed) => {
        this.session.value = session;
        noteShown(session, true);
        screen.begin(replayed);
      },
      output: (data) => screen.draw(data, () => this.#link?.drew(data.length)),
      signedOut: () => void loadMe(),
    });
    this.#link.connect();
    if (front.value === this) screen.focus();
  }

  kill() {
    this.#link?.kill();
  }

  /** Closes the tab. Its terminal goes on. */
  close() {
    this.#isClosed = true;
    this.#link?.close();
    this.screen?.dispose();
  }

  /** @param {LinkState} state @param {string} words */
  #say(state, words) {
    this.state.value = state;
    this.words.value = words;
    if (this.session.value && (state === "taken" || state === "ended")) noteShown(this.session.value, false);
  }

  /** @param {Uint8Array} data */
  #type(data) {
    const [first] = data;
    if (this.control.value && data.length === 1 && first !== undefined) {
      this.control.value = false;
      if (CAN_BE_CONTROLLED.test(String.fromCharCode(first))) data[0] = first & CONTROL_MASK;
    }
    this.#link?.type(data);
  }
}

/**
 * Opens a tab for each of the person's running terminals, and a new terminal where there is none.
 * @param {string | null} wanted the session of the tab to put in front
 * @returns {Promise<TerminalsTerminalOut[]>} the terminals of other admins
 */
export async function openTabs(wanted) {
  const found = await query("terminals.list");
  const mine = found.filter((one) => one.mine);
  const here = shownHere();
  tabs.value = mine.map((one) =>
    new Tab(one.session, { title: one.program, waits: one.shown && !here.has(one.session) }));
  if (!tabs.value.length) addTab();
  else front.value = tabs.value.find((one) => one.session.value === wanted) ?? tabs.value[0] ?? null;
  return found.filter((one) => !one.mine);
}

export function addTab() {
  const tab = new Tab(null);
  tabs.value = [...tabs.value, tab];
  front.value = tab;
}

/** @param {Tab} tab */
export function removeTab(tab) {
  const at = tabs.value.indexOf(tab);
  tab.close();
  if (tab.session.value) noteShown(tab.session.value, false);
  tabs.value = tabs.value.filter((one) => one !== tab);
  if (front.value === tab) front.value = tabs.value[Math.min(at, tabs.value.length - 1)] ?? null;
}

export function closeTabs() {
  for (const tab of tabs.value) tab.close();
  tabs.value = [];
  front.value = null;
}
