// @ts-check
/**
 * A message while it is written: its fields, and how they get to the server as a draft.
 *
 * Theory. Every change is saved a moment after the fingers rest, one request at a time, under the version that was read
 * last. Somebody else's version (another tab) is never overwritten unasked. Until the server has confirmed a change, a
 * copy lies in this browser (remembered.js), so that a crash, a closed lid or a lost connection takes nothing away.
 * What makes the draft is said again as it was, until it is known what came of it: one message is never two drafts.
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
 * "untouched": nothing worth keeping; "conflict": another tab saved it; "gone": sent or deleted elsewhere.
 * @typedef {"untouched" | "dirty" | "saving" | "saved" | "failed" | "conflict" | "gone"} State
 */

let lastKey = 0;

export class Draft {
  /**
   * @param {Fields} fields
   * @param {{ id?: string | null, version?: number | null, key?: string, dirty?: boolean, notes?: string[],
   * making?: Making | null }} [known] `dirty`: begun in this browser, not saved; `notes`: what the server says of it
   */
  constructor(fields, { id = null, version = null, key, dirty = false, notes = [], making = null } = {}) {
    this.key = key ?? `${Date.now().toString(36)}-${++lastKey}`;
    this.fields = signal(fields);
    this.state = signal(/** @type {State} */ (id === null ? "untouched" : "saved"));
    this.problem = signal("");
    /** Why the last saving failed. @type {unknown} */
    this.failure = null;
    this.id = id;
    this.version = version;
    /** What was said to make the draft, while nobody knows what came of it. */
    this.making = making;
    this.notes = notes;
    /** The files that the text shows, or has shown: not listed beside it, and not sent once they are out of it. */
    this.pictures = picturesIn(fields.html);
    this.closed = false;
    /** Counts the changes; `saved` is the count that the server has. */
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
   * The text as the editor has it, where nobody wrote anything: of an untouched message that is no change.
   * @param {string} html
   */
  settle(html) {
    if (this.changes === this.saved) this.fields.value = { ...this.fields.value, html };
    else this.write({ html });
  }

  /** Have the server know everything that stands here. Resolves to whether it does. */
  async save() {
    clearTimeout(this.timer);
    for (;;) {
      if (this.running) await this.running; // and look again: others wait for it, too
      else if (this.state.value === "conflict" || this.state.value === "gone") return false;
      else if (this.changes === this.saved && this.id !== null) return true;
      else if (!(await this.#once())) return false;
    }
  }

  /** Save what is not saved yet; an untouched message is not worth a draft. */
  async saveIfTouched() {
    return this.changes === this.saved || this.save();
  }

  /** It may not go: where that is because it is another one by now, whoever writes chooses. @param {unknown} error */
  refused(error) {
    const isOther = error instanceof RpcError && error.code === "CONFLICT" && "version" in error.data;
    if (isOther) this.state.value = "conflict";
  }

  /** Take what the other tab saved. */
  async takeTheirs() {
    const theirs = await query("mail.draft", { id: this.id ?? "" });
    this.version = theirs.version;
    this.fields.value = fromDraft(theirs);
    for (const fileId of picturesIn(theirs.html)) this.pictures.add(fileId);
    this.#confirm(this.changes);
  }

  /** Save mine over what the other tab saved. */
  async keepMine() {
    const theirs = await query("mail.draft", { id: this.id ?? "" });
    this.version = theirs.version;
    this.state.value = "dirty";
    await this.save();
  }

  /** The draft is gone at the server, the words are here: begin a new one with them. */
  async keepAsNew() {
    this.id = null;
    this.version = null;
    this.state.value = "dirty";
    await this.save();
  }

  /** Let go of the pictures that were taken out of the text: until now an undo could have brought them back. */
  dropPictures() {
    const { html, attachments } = this.fields.value;
    const shown = picturesIn(html);
    const kept = attachments.filter(({ fileId }) => shown.has(fileId) || !this.pictures.has(fileId));
    if (kept.length < attachments.length) this.write({ attachments: kept });
  }

  /** The page may be about to go: keep a copy in this browser at once. */
  rememberNow() {
    clearTimeout(this.rememberTimer);
    this.rememberTimer = undefined;
    if (!this.closed && this.state.value !== "untouched") remember(this);
  }

  /** It is sent, deleted, or put aside: nothing more is saved. */
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
      this.state.value = "failed"; // also the next time: asking waits for a change
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

  /** Resolves to whether the draft was made of these words, and not of earlier ones. @param {Wanted} wanted */
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

/** Why no server keeps it, in a sentence. @param {Fields} fields */
function tooLarge({ to, cc, bcc }) {
  const most = Math.max(to.length, cc.length, bcc.length);
  return most > MAX_RECIPIENTS ? `At most ${MAX_RECIPIENTS} recipients, and these are ${most}.` : "";
}

/**
 * Whether these words would never be taken. Any other refusal says nothing about an earlier try of the same.
 * @param {unknown} error
 */
function refusesTheWords(error) {
  return error instanceof RpcError && ["BAD_REQUEST", "CONFLICT", "FORBIDDEN", "NOT_FOUND", "PAYLOAD_TOO_LARGE"]
    .includes(error.code);
}

/** Not so once it was sent or deleted; a lost connection says nothing about it. @param {string} id */
async function stillThere(id) {
  try {
    await query("mail.draft", { id });
    return true;
  } catch (error) {
    return !(error instanceof RpcError && error.code === "NOT_FOUND");
  }
}
