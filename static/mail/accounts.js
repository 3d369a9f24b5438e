// @ts-check
/**
 * The connected accounts: their state, their badges, and the speed of a backfill.
 *
 * Fetched at the start, updated by live events, and fetched again now and then, because a poll that finds nothing new
 * changes only "last synced", which is not worth an event.
 */
import { computed, signal } from "@preact/signals";
import { query } from "../rpc.js";

const REFRESH_MS = 30_000;
const RATE_WINDOW_MS = 90_000;
const RATE_MIN_MS = 4_000;

/** null: not known yet. */
export const accounts = signal(/** @type {Account[] | null} */ (null));
/** Why the accounts could not be fetched, while there are none to show. */
export const accountsProblem = signal(/** @type {string | null} */ (null));
/** One mail that several accounts received counts once. */
export const unifiedUnread =
  computed(() => (accounts.value ?? []).reduce((sum, one) => sum + one.unread - one.unreadTwins, 0));

/**
 * The progress of each backfill over time: account id -> samples, oldest first.
 * @type {Map<string, { at: number, done: number }[]>}
 */
const samples = new Map();

/** Called once. */
export function startAccounts() {
  void loadAccounts();
  setInterval(() => {
    if (document.visibilityState === "visible") void loadAccounts();
  }, REFRESH_MS);
}

export async function loadAccounts() {
  try {
    const found = await query("mail.accounts");
    found.forEach(sample);
    accounts.value = found;
    accountsProblem.value = null;
  } catch (error) {
    accountsProblem.value = error instanceof Error ? error.message : String(error);
  }
}

/** @param {Account} account */
export function accountChanged(account) {
  sample(account);
  const known = accounts.value ?? [];
  accounts.value = known.some((one) => one.id === account.id)
    ? known.map((one) => (one.id === account.id ? account : one))
    : [...known, account];
}

/** @param {string} id */
export function accountRemoved(id) {
  accounts.value = accounts.value?.filter((one) => one.id !== id) ?? null;
}

/**
 * Changes a badge before the server confirms it.
 * @param {string} accountId
 * @param {number} by
 * @param {number} [duplicates] how many of these the unified inbox counts under another account
 */
export function moveUnread(accountId, by, duplicates = 0) {
  if (!by || !accounts.value) return;
  accounts.value = accounts.value.map((one) =>
    one.id === accountId ? { ...one, unread: Math.max(0, one.unread + by),
      unreadTwins: Math.max(0, one.unreadTwins + duplicates) } : one,
  );
}

/** @param {string | null} accountId */
export function accountOf(accountId) {
  return accounts.value?.find((one) => one.id === accountId) ?? null;
}

/** Whether the account belongs to another person who shares it. @param {Account} account */
export function isShared(account) {
  return account.access !== "own";
}

/** Whether the person may change anything in the account, and send from it. @param {string} accountId */
export function mayAct(accountId) {
  return accountOf(accountId)?.access !== "read";
}

/** Seconds until a backfill is done, at its recent rate; null while the rate is not known. @param {Account} account */
export function secondsLeft(account) {
  const seen = samples.get(account.id);
  const first = seen?.[0];
  const last = seen?.at(-1);
  if (!account.progress || !first || !last || last.at - first.at < RATE_MIN_MS || last.done <= first.done) return null;
  const perSecond = ((last.done - first.done) / (last.at - first.at)) * 1000;
  return Math.max(0, (account.progress.total - account.progress.done) / perSecond);
}

/** @param {Account} account */
function sample(account) {
  if (!account.progress || account.progress.listing) {
    samples.delete(account.id);
    return;
  }
  const at = Date.now();
  const { done } = account.progress;
  const seen = (samples.get(account.id) ?? []).filter((one) => at - one.at < RATE_WINDOW_MS && one.done <= done);
  if (seen.at(-1)?.done !== done) seen.push({ at, done });
  samples.set(account.id, seen);
}
