// @ts-check
/** The labels: each account has its own. Fetched on first use and again after a while. Owns that list. */
import { signal } from "@preact/signals";
import { mutate, query } from "../rpc.js";

const FRESH_MS = 30_000;
/** Unknown labels of mail that arrives within this time are fetched once. */
const GATHERED_MS = 500;

/** null: not known yet. */
export const labels = signal(/** @type {AccountLabel[] | null} */ (null));
export const labelsProblem = signal("");

let askedAt = -Infinity;
/** Unknown ids that were already looked up because a thread arrived with them: they are not looked up again. */
const met = new Set();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let gathering;
/** @type {Promise<void> | null} */
let asking = null;

/** Fetches the labels unless they are recent. */
export async function wantLabels() {
  if (performance.now() - askedAt > FRESH_MS) await loadLabels();
}

export function loadLabels() {
  asking ??= fetchLabels().finally(() => {
    asking = null;
  });
  return asking;
}

async function fetchLabels() {
  try {
    labels.value = await query("mail.labels", {});
    labelsProblem.value = "";
    askedAt = performance.now();
  } catch (error) {
    labelsProblem.value = error instanceof Error ? error.message : String(error);
  }
}

/**
 * A thread arrived: if a label of it is unknown, it was created elsewhere, so the labels are fetched again.
 * @param {Thread} thread
 */
export function meetLabels(thread) {
  if (labels.value === null) return;
  const known = new Set(labels.value.map(({ id }) => id));
  const strange = thread.labels.filter(({ id }) => !known.has(id) && !met.has(id));
  for (const { id } of strange) met.add(id);
  if (strange.length) {
    clearTimeout(gathering);
    gathering = setTimeout(() => void loadLabels(), GATHERED_MS);
  }
}

/** The labels that people created, each name once, of one account or all. @param {string | null} [accountId] */
export function ownLabels(accountId = null) {
  /** @type {Map<string, AccountLabel>} */
  const byName = new Map();
  for (const one of labels.value ?? []) {
    if (one.system || (accountId !== null && one.accountId !== accountId)) continue;
    const key = one.name.toLowerCase();
    if (!byName.get(key)?.color) byName.set(key, one);
  }
  return [...byName.values()].sort((a, b) => a.name.localeCompare(b.name));
}

/** @param {string} accountId @param {string} name @returns {Label | null} */
export function labelNamed(accountId, name) {
  const wanted = name.toLowerCase();
  return labels.value?.find((one) => one.accountId === accountId && !one.system && one.name.toLowerCase() === wanted)
    ?? null;
}

/**
 * The colour of a new label: that of the same label in another account, if none is wanted.
 * @param {string} name
 * @param {string} [wanted]
 */
export function colourOf(name, wanted) {
  return wanted ?? ownLabels().find((one) => one.name.toLowerCase() === name.toLowerCase())?.color ?? null;
}

/**
 * The account's label of that name; created if it does not exist.
 * @param {string} accountId
 * @param {string} name
 * @param {string} [color]
 * @returns {Promise<Label>}
 */
export async function makeLabel(accountId, name, color) {
  const known = labelNamed(accountId, name);
  if (known) return known;
  const wanted = colourOf(name, color);
  const made = await mutate("mail.createLabel", { accountId, name, ...(wanted && { color: wanted }) });
  const added = { ...made, accountId, system: false, color: wanted };
  labels.value = [...(labels.value ?? []), added];
  void loadLabels();
  return added;
}
