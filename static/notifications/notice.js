// @ts-check
/** What a notice of new mail says and offers; for the page and for the service worker alike. Pure. */

/**
 * As the server tells it; empty fields are what the person wants left unsaid.
 * @typedef {object} Arrived
 * @property {string} threadId "" where it is only a test
 * @property {string} sender
 * @property {string} subject
 * @property {string} snippet
 */

/**
 * The newest mail of a thread takes the place of the one before.
 * @param {Partial<Arrived>} told
 */
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

/** Where a notice leads. @param {string} threadId @param {boolean} [replies] */
export function noticePath(threadId, replies = false) {
  if (!threadId) return "/p/mail";
  return `/p/mail/t/${encodeURIComponent(threadId)}${replies ? "?answer=reply" : ""}`;
}
