// @ts-check
/** Describes a rule in one line of plain words. */

/** @typedef {import("./editor.js").Rule} Rule */

/** @type {readonly [keyof Rule["when"], (values: string) => string][]} */
const CONDITIONS = [
  ["from", (values) => `from ${values}`],
  ["to", (values) => `to ${values}`],
  ["subject", (values) => `the subject has ${values}`],
  ["words", (values) => `it says ${values}`],
  ["list", (values) => (values === "anybody" ? "sent to a list" : `sent to the list ${values}`)],
  ["label", (values) => `labelled ${values}`],
  ["has", () => "with an attachment"],
];
/** @type {Record<Rule["then"][number]["what"], (value: string) => string>} */
const ACTIONS = {
  "archive": () => "skip the inbox",
  "star": () => "star",
  "mark-read": () => "mark as read",
  "label": (value) => `put the label ${value}`,
  "file": (value) => `file on the page ${value}`,
  "task": (value) => `make the task ${value}`,
  "draft": () => "draft a reply",
  "stop": () => "no later rule",
};

/** "from shop.example, with an attachment: skip the inbox, star". @param {Rule} rule */
export function ruleWords({ account, when, ask, then, except }) {
  const conditions = CONDITIONS.filter(([name]) => when[name].length > 0)
    .map(([name, words]) => words(when[name].map((one) => (one === "*" ? "anybody" : one))
      .join(name === "words" ? " and " : " or ")));
  if (account) conditions.push(`in ${account}`);
  if (except.length > 0) conditions.push(`but not from ${except.join(" or ")}`);
  if (ask) conditions.push(`the model says yes to “${ask}”`);
  return `${conditions.join(", ") || "all mail"}: ${
    then.map(({ what, value }) => ACTIONS[what](value)).join(", ")}`;
}
