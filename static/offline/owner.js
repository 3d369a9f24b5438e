// @ts-check
/**
 * The owner and the build of the data in this browser.
 *
 * Theory. The stored data belongs to one person. Once the server has said who is signed in, another person's data is
 * deleted before anything is stored or sent. While the server is away, the data is shown as the last person's. If the
 * server says that nobody is signed in, the data is hidden until somebody is: then only the queued acts still exist,
 * for the same person only. Another build may use another format: then the data is fetched again.
 */
import { me, meProblem } from "../session.js";
import { heardAt } from "../stand_in.js";
import { clear, get, inStore } from "./store.js";

const LOCK = "svc.offline.locked";
const BUILD = import.meta.url.split("/").slice(0, -2).join("/");
/** @type {import("./store.js").Table[]} */
const READS = ["rows", "threads", "answers"];

/** @typedef {{ person: string, build: string, me: Me, heardAt: number }} Owner */

/** Resolves once the server has said who is signed in, and another person's data is deleted. */
export const confirmed = withResolvers();
/** The person who is signed in, by the server; "": not asked yet. */
let mine = "";
/** The stored session answer that is used instead of the server's. @type {Me | null} */
let stood = null;

/** Whether the stored data may be shown: it is this person's, or the last person's while the server can't be asked. */
export async function mayShow() {
  const owner = /** @type {Owner | undefined} */ (await get("facts", "owner"));
  if (mine) return owner?.person === mine;
  return owner?.build === BUILD && !locked();
}

/** @param {Me} found the server's answer */
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

/** Uses the last person's session, because the server can't be asked. */
export async function standForOwner() {
  const owner = /** @type {Owner | undefined} */ (await get("facts", "owner"));
  if (!owner || me.value || !meProblem.value || !(await mayShow())) return;
  heardAt.value ||= owner.heardAt;
  stood = owner.me;
  me.value = owner.me;
}

/** Whether the data in this browser still is of the person of this page: another may have signed in in another tab.
 * @param {Owner | undefined} owner */
export function isOfThisPage(owner) {
  const person = mine || (stood && personOf(stood));
  return !owner || !person || owner.person === person;
}

/** Whether this is the stored session and not the server's answer. @param {Me | null} found */
export function isKept(found) {
  return found === stood;
}

/** Asks the server whether the same person is still signed in; another tab may have signed in as another person. */
export async function isStillMe() {
  try {
    const response = await fetch("/auth/me", { credentials: "same-origin", cache: "no-store" });
    const owner = /** @type {Owner | undefined} */ (await get("facts", "owner"));
    return response.ok && owner?.person === personOf(await response.json());
  } catch {
    return false;
  }
}

/**
 * Nobody is signed in: hides the data. It does so synchronously, since the page is about to close, and the deletion may
 * not finish.
 */
export function strangerCame() {
  lock(true);
  void clearLocked().catch(() => undefined);
}

/** Finishes the deletion that a closed page did not finish. */
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
