// @ts-check
/**
 * Whose it is, what this browser keeps, and of which build.
 *
 * Theory. What is kept belongs to one person. Once the server has said who is here, whatever is another's is gone
 * before anything is kept or told; while the server is away, what is kept is shown as the person's who was here last.
 * Where the server said that nobody is signed in, it is shown to nobody until somebody is: then only what waits to be
 * told is still there, for the same person alone. Another build may read its records otherwise: they are fetched anew.
 */
import { me, meProblem } from "../session.js";
import { heardAt } from "../stand_in.js";
import { clear, get, inStore } from "./store.js";

const LOCK = "svc.offline.locked";
const BUILD = import.meta.url.split("/").slice(0, -2).join("/");
/** @type {import("./store.js").Table[]} */
const READS = ["rows", "threads", "answers"];

/** @typedef {{ person: string, build: string, me: Me, heardAt: number }} Owner */

/** Resolves once the server has said who is here, and what is another's is gone. */
export const confirmed = withResolvers();
/** Who the server says is here; "": not asked yet. */
let mine = "";
/** The kept answer that stands for the server's. @type {Me | null} */
let stood = null;

/** Whether what is kept may be shown: it is this person's, or the last person's while nobody can be asked. */
export async function mayShow() {
  const owner = /** @type {Owner | undefined} */ (await get("facts", "owner"));
  if (mine) return owner?.person === mine;
  return owner?.build === BUILD && !locked();
}

/** @param {Me} found as the server says */
export async function adopt(found) {
  const person = personOf(found);
  const owner = /** @type {Owner | undefined} */ (await get("facts", "owner"));
  if (owner && owner.person !== person) await clear(...READS, "queue");
  else if (owner?.build !== BUILD || locked()) await clear(...READS);
  /** @type {Owner} */
  const fresh = { person, build: BUILD, me: found, heardAt: Date.now() };
  await inStore(["facts"], "readwrite", (of) => of("facts").put(fresh, "owner"));
  lock(false);
  mine = person;
  confirmed.resolve();
}

/** The server can't be asked who is here: the person who was. */
export async function standForOwner() {
  const owner = /** @type {Owner | undefined} */ (await get("facts", "owner"));
  if (!owner || me.value || !meProblem.value || !(await mayShow())) return;
  heardAt.value ||= owner.heardAt;
  stood = owner.me;
  me.value = owner.me;
}

/** Whether that is no word of the server's. @param {Me | null} found */
export function isKept(found) {
  return found === stood;
}

/** Whether the server says that the same person is still here; another tab may have signed in as somebody else. */
export async function isStillMe() {
  try {
    const response = await fetch("/auth/me", { credentials: "same-origin", cache: "no-store" });
    const owner = /** @type {Owner | undefined} */ (await get("facts", "owner"));
    return response.ok && owner?.person === personOf(await response.json());
  } catch {
    return false;
  }
}

/** Nobody is signed in: shown to nobody. At once; the page is about to go, and may take the clearing with it. */
export function strangerCame() {
  lock(true);
  void clearLocked().catch(() => undefined);
}

/** What a page that had to go did not come to. */
export async function clearLocked() {
  if (locked()) await clear(...READS);
}

/** @param {Me} found */
function personOf({ user, mode }) {
  return user?.id ?? (mode === "claimed" ? "a stranger" : "everybody");
}

function locked() {
  return localStorage.getItem(LOCK) !== null;
}

/** @param {boolean} on */
function lock(on) {
  if (on) localStorage.setItem(LOCK, "1");
  else localStorage.removeItem(LOCK);
}

function withResolvers() {
  /** @type {() => void} */
  let resolve = () => {};
  const promise = /** @type {Promise<void>} */ (new Promise((done) => { resolve = () => done(); }));
  return { promise, resolve };
}
