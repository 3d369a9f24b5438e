// @ts-check
/** The text and the buttons of a notice of new mail, for the page and for the service worker. Pure. */

/**
 * A new mail as the server sends it; fields that the person does not want to see are empty.
 * @typedef {object} Arrived
 * @property {string} threadId "" for a test
 * @property {string} sender
 * @property {string} subject
 * @property {string} snippet
 */

/** The notice of a mail; it replaces an earlier notice of the same thread. @param {Partial<Arrived>} told */
export function noticeOf({ threadId = "", sender = "", subject = "", snippet = "" }) {
  return {
    title: sender || "New mail",
    options: {
      body: [subject, snippet].filter(Boolean).join("\n"),
      tag: threadId ? `mail ${threadId}` : "svc",
      data: { threadId },
    },
  };
}

const ACTIONS = [{ action: "archive", title: "Archive" }, { action: "reply", title: "Reply" }];

/**
 * The options for a notice that the service worker answers for: only such a notice can have buttons.
 * @param {ReturnType<typeof noticeOf>["options"]} options
 * @returns {NotificationOptions}
 */
export function withActions(options) {
  const actions = options.data.threadId ? ACTIONS : [];
  return /** @type {NotificationOptions} */ ({ ...options, actions });
}

/** The address that a notice opens. @param {string} threadId @param {boolean} [replies] */
export function noticePath(threadId, replies = false) {
  if (!threadId) return "/p/mail";
  return `/p/mail/t/${encodeURIComponent(threadId)}${replies ? "?answer=reply" : ""}`;
}
