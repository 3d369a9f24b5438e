// @ts-check
/**
 * A message while it is being written: its fields, and how they are saved on the server as a draft.
 *
 * Theory. Changes are saved a moment after the last key, one request at a time, with the version that was read last. A
 * version from another tab is never overwritten without asking. Until the server has confirmed a change, this browser
 * keeps a copy (remembered.js), so that a crash, a closed lid or a lost connection loses nothing. The request that
 * creates the draft is repeated unchanged until its result is known: one message never becomes two drafts.
 */
import { signal } from "@preact/signals";
import { RpcError, mutate, newIdempotencyKey, query } from "../../rpc.js";
import { picturesIn } from "./pictures.js";
import { forget, remember } from "./remembered.js";
import { MAX_RECIPIENTS } from "./addresses.js";
import { fromDraft, toWire } from "./wire.js";

const SAVE_AFTER_MS = 800;
const RETRY_AFTER_MS = 10_000;
const REMEMBER_AFTER_MS = 250;

/** @typedef {import("./wire.js").Fields} Fields */
/** @typedef {ReturnType<typeof toWire>} Wanted */
/** @typedef {Wanted & { idempotencyKey: string }} Making */
/**
 * "untouched": nothing worth saving; "conflict": another tab saved it; "gone": sent or deleted elsewhere.
 * @typedef {"untouched" | "dirty" | "saving" | "saved" | "failed" | "conflict" | "gone"} State
 */

let lastKey = 0;

export class Draft {
  /**
   * @param {Fields} fields
   * @param {{ id?: string | null, version?: number | null, key?: string, dirty?: boolean, notes?: string[],
   * making?: Making | null }} [known] `dirty`: begun in this browser, not saved; `notes`: the server's remarks on it
   */
  constructor(fields, { id = null, version = null, key, dirty = false, notes = [], making = null } = {}) {
    this.key = key ?? `${Date.now().toString(36)}-${++lastKey}`;
    this.fields = signal(fields);
    this.state = signal(/** @type {State} */ (id === null ? "untouched" : "saved"));
    this.problem = signal("");
    /** Why the last save failed. @type {unknown} */
    this.failure = null;
    this.id = id;
    this.version = version;
    /** The request that creates the draft, while its result is unknown. */
    this.making = making;
    this.notes = notes;
    /**
     * The files that the text shows or has shown: they are not listed beside the text, and not sent once they are
     * removed from it.
     */
    this.pictures = picturesIn(fields.html);
    /** How often all of it was replaced by what another tab had saved. */
    this.replaced = 0;
    this.closed = false;
    /** The number of changes; `saved` is the number that the server has. */
    this.changes = 0;
    this.saved = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.rememberTimer = undefined;
    /** @type {Promise<boolean> | null} */
    this.running = null;
    if (dirty) this.write({});
  }

  /** @param {Partial<Fields>} patch */
  write(patch) {
    this.fields.value = { ...this.fields.value, ...patch };
    this.changes += 1;
    this.rememberTimer ??= setTimeout(() => this.rememberNow(), REMEMBER_AFTER_MS);
    if (this.state.value === "conflict" || this.state.value === "gone") return;
    if (this.state.value !== "saving") this.state.value = "dirty";
    this.#later(SAVE_AFTER_MS);
  }

  /**
   * Takes the editor's form of a text that nobody changed: in an untouched message that is not a change.
   * @param {string} html
   */
  settle(html) {
    if (this.changes === this.saved) this.fields.value = { ...this.fields.value, html };
    else this.write({ html });
  }

  /** Saves everything on the server. Resolves to whether that worked. */
  async save() {
    clearTimeout(this.timer);
    for (;;) {
      if (this.running) await this.running; // then check again: other callers wait for it, too
      else if (this.state.value === "conflict" || this.state.value === "gone") return false;
      else if (this.changes === this.saved && this.id !== null) return true;
      else if (!(await this.#once())) return false;
    }
  }

  /** Saves unsaved changes; an untouched message does not become a draft. */
  async saveIfTouched() {
    return this.changes === this.saved || this.save();
  }

  /** Handles a refused send: if the draft has changed elsewhere, the person has to choose. @param {unknown} error */
  refused(error) {
    const isOther = error instanceof RpcError && error.code === "CONFLICT" && "version" in error.data;
    if (isOther) this.state.value = "conflict";
  }

  /** Replaces the content by what the other tab saved. */
  async takeTheirs() {
    const theirs = await query("mail.draft", { id: this.id ?? "" });
    this.version = theirs.version;
    this.replaced += 1;
    this.fields.value = fromDraft(theirs);
    for (const fileId of picturesIn(theirs.html)) this.pictures.add(fileId);
    this.#confirm(this.changes);
  }

  /** Overwrites what the other tab saved. */
  async keepMine() {
    const theirs = await query("mail.draft", { id: this.id ?? "" });
    this.version = theirs.version;
    this.state.value = "dirty";
    await this.save();
  }

  /** Saves the text as a new draft, because the old one no longer exists on the server. */
  async keepAsNew() {
    this.id = null;
    this.version = null;
    this.state.value = "dirty";
    await this.save();
  }

  /** Forgets the pictures that were removed from the text: until now an undo could have restored them. */
  dropPictures() {
    const { html, attachments } = this.fields.value;
    const shown = picturesIn(html);
    const kept = attachments.filter(({ fileId }) => shown.has(fileId) || !this.pictures.has(fileId));
    if (kept.length < attachments.length) this.write({ attachments: kept });
  }

  /** Keeps a copy in this browser at once, because the page may be closing. */
  rememberNow() {
    clearTimeout(this.rememberTimer);
    this.rememberTimer = undefined;
    if (!this.closed && this.state.value !== "untouched") remember(this);
  }

  /** Stops saving: the message was sent, deleted, or put aside. */
  close() {
    this.closed = true;
    clearTimeout(this.timer);
    clearTimeout(this.rememberTimer);
    forget(this.key);
  }

  /** @param {number} pause */
  #later(pause) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.#round(), pause);
  }

  async #round() {
    if (this.closed || this.running || this.changes === this.saved) return;
    await this.#once();
  }

  async #once() {
    this.problem.value = tooLarge(this.fields.value);
    if (this.problem.value) {
      this.failure = null;
      this.state.value = "failed"; // also for the next save: it waits for a change
      return false;
    }
    this.running = this.#exchange();
    try {
      return await this.running;
    } finally {
      this.running = null;
      const retry = this.state.value === "failed";
      if (!this.closed && (retry || this.state.value === "dirty")) this.#later(retry ? RETRY_AFTER_MS : SAVE_AFTER_MS);
    }
  }

  async #exchange() {
    const { changes } = this;
    this.state.value = "saving";
    const wanted = toWire(this.fields.value);
    try {
      if (this.id !== null || !(await this.#make(wanted))) {
        const known = { id: this.id ?? "", version: this.version ?? 0 };
        ({ version: this.version } = await mutate("mail.saveDraft", { ...wanted, ...known }));
      }
      this.#confirm(changes);
      return true;
    } catch (error) {
      await this.#refused(error);
      return false;
    }
  }

  /** Creates the draft. Resolves to whether it has this content, and not an earlier one. @param {Wanted} wanted */
  async #make(wanted) {
    this.making ??= { ...wanted, idempotencyKey: newIdempotencyKey() };
    this.rememberNow();
    try {
      const { id, version } = await mutate("mail.saveDraft", this.making);
      this.id = id;
      this.version = version;
    } catch (error) {
      if (refusesTheWords(error)) this.making = null;
      throw error;
    }
    const { idempotencyKey: _, ...made } = this.making;
    this.making = null;
    return JSON.stringify(made) === JSON.stringify(wanted);
  }

  /** @param {number} changes */
  #confirm(changes) {
    this.saved = changes;
    this.problem.value = "";
    this.state.value = this.changes === changes ? "saved" : "dirty";
    this.rememberNow();
  }

  /** @param {unknown} error */
  async #refused(error) {
    this.failure = error;
    const code = error instanceof RpcError ? error.code : "";
    this.problem.value = error instanceof Error ? error.message : String(error);
    const aboutDraft = this.id !== null && (code === "CONFLICT" || code === "NOT_FOUND");
    if (aboutDraft && !(await stillThere(this.id ?? ""))) this.state.value = "gone";
    else this.state.value = aboutDraft && code === "CONFLICT" ? "conflict" : "failed";
  }
}

/** Why the server can't store it, in a sentence. @param {Fields} fields */
function tooLarge({ to, cc, bcc }) {
  const most = Math.max(to.length, cc.length, bcc.length);
  return most > MAX_RECIPIENTS ? `At most ${MAX_RECIPIENTS} recipients, and these are ${most}.` : "";
}

/**
 * Whether the server would never accept this content. Any other error says nothing about an earlier, identical try.
 * @param {unknown} error
 */
function refusesTheWords(error) {
  return error instanceof RpcError && ["BAD_REQUEST", "CONFLICT", "FORBIDDEN", "NOT_FOUND", "PAYLOAD_TOO_LARGE"]
    .includes(error.code);
}

/**
 * Whether the draft still exists: false once it was sent or deleted; a lost connection does not count.
 * @param {string} id
 */
async function stillThere(id) {
  try {
    await query("mail.draft", { id });
    return true;
  } catch (error) {
    return !(error instanceof RpcError && error.code === "NOT_FOUND");
  }
}
