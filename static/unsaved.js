// @ts-check
/**
 * The unsaved texts of this tab, by what each is a text of: a page, a signature. They stay when the person goes to
 * another page, and are stored in this browser (stored_texts.js). Sometimes one can't be stored: the browser stores
 * nothing for us, or the signed-in person is not known yet. Then the browser warns before the tab closes.
 */
import { effect } from "@preact/signals";
import { StoredTexts } from "./stored_texts.js";
import { isLeaving, newIdempotencyKey } from "./rpc.js";
import { me } from "./session.js";

const STORE_AFTER_MS = 250;

/** Whose texts they are: "" where nobody signs in, null: not known yet. */
export function personId() {
  return me.value && (me.value.user?.id ?? "");
}

/** The texts of one kind. `path` is the page's path, or another name of what a text is of. @template {object} Draft */
export class UnsavedTexts {
  /** @param {string} kind */
  constructor(kind) {
    /** @type {StoredTexts<import("./stored_texts.js").StoredText & { path: string }>} */
    this.stored = new StoredTexts(kind);
    /** `key`: of the stored text. @type {Map<string, { key: string, draft: Draft }>} */
    this.drafts = new Map();
    /** The paths whose newest text is not stored. @type {Set<string>} */
    this.behind = new Set();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    effect(() => {
      if (personId() !== null) this.#store();
    });
    addEventListener("beforeunload", (event) => {
      if (!this.#store() && !isLeaving()) event.preventDefault(); // the browser asks the person
    });
    addEventListener("pagehide", () => this.#store());
  }

  /** @param {string} path */
  of(path) {
    return this.drafts.get(path)?.draft ?? null;
  }

  /**
   * @param {string} path
   * @param {Draft} draft
   */
  keep(path, draft) {
    this.drafts.set(path, { key: this.drafts.get(path)?.key ?? newIdempotencyKey(), draft });
    this.behind.add(path);
    this.timer ??= setTimeout(() => this.#store(), STORE_AFTER_MS);
  }

  /** @param {string} path */
  drop(path) {
    const text = this.drafts.get(path);
    this.drafts.delete(path);
    this.behind.delete(path);
    if (text) this.stored.drop(text.key);
  }

  /**
   * Takes over the newest text of a path that was left in this browser, unless this tab has one. Resolves to whether it
   * did.
   * @param {string} path
   */
  async takeLeft(path) {
    const found = this.drafts.has(path) ? [] : await this.#free();
    for (const { key } of found.filter((one) => one.path === path)) {
      const text = this.drafts.has(path) ? null : await this.stored.take(key);
      if (!text || this.drafts.has(path)) continue;
      const { key: _key, user: _user, at: _at, path: _path, ...draft } = text;
      this.drafts.set(path, { key, draft: /** @type {Draft} */ (/** @type {unknown} */ (draft)) });
      return true;
    }
    return false;
  }

  /** The paths of all texts that are not saved, but for those of other tabs. */
  async paths() {
    return [...new Set([...this.drafts.keys(), ...(await this.#free()).map(({ path }) => path)])].sort();
  }

  async #free() {
    const user = personId();
    return user === null ? [] : this.stored.free(user);
  }

  /** Stores what is not stored. Returns whether everything is. */
  #store() {
    clearTimeout(this.timer);
    this.timer = undefined;
    const user = personId();
    for (const path of [...this.behind]) {
      const text = this.drafts.get(path);
      if (text && user !== null && this.stored.keep({ ...text.draft, key: text.key, user, path, at: Date.now() })) {
        this.behind.delete(path);
      }
    }
    return this.behind.size === 0;
  }
}
