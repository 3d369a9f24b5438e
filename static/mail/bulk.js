// @ts-check
/**
 * The bar that takes the place of the list's own while threads are picked: how many, and what can be done with them.
 */
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { plural } from "../ui/format.js";
import { archiveThese, muteThese, openPicker, readThese, spamThese, starThese, toInbox, trashThese, unreadThese
  } from "./commands.js";
import { clearPicks, openLists, picked, pickedThreads } from "./selection.js";

/**
 * @type {{ icon: string, label: string, keys: string, run: (threads: Thread[]) => void, when?: (threads: Thread[]) =>
 * boolean }[]}
 */
const TOOLS = [
  { icon: "archive", label: "Archive", keys: "e", run: archiveThese, when: (threads) =>
    threads.some((one) => one.inInbox) },
  { icon: "inbox", label: "Move to the inbox", keys: "i", run: toInbox, when: (threads) =>
    threads.every((one) => !one.inInbox) },
  { icon: "read", label: "Mark as read", keys: "Shift+u", run: readThese, when: (threads) =>
    threads.some((one) => one.unread) },
  { icon: "unread", label: "Mark as unread", keys: "Shift+u", run: unreadThese, when: (threads) =>
    threads.every((one) => !one.unread) },
  { icon: "label", label: "Labels", keys: "l", run: (threads) => openPicker("label", threads) },
  { icon: "clock", label: "Snooze", keys: "h", run: (threads) => openPicker("snooze", threads) },
  { icon: "mute", label: "Mute", keys: "m", run: muteThese },
  { icon: "trash", label: "Delete", keys: "#", run: trashThese },
  { icon: "star", label: "Star", keys: "s", run: starThese },
  { icon: "spam", label: "Report as spam", keys: "!", run: spamThese },
];

export function BulkBar() {
  if (picked.value.size) for (const list of openLists()) void list.version.value; // what is picked may leave
  const threads = pickedThreads();
  const words = threads.length ? `${plural(threads.length, "thread")} picked` : "";
  return html`<span class="sr-only" role="status">${words}</span>
    ${threads.length > 0 && html`<div class="bulk" role="toolbar" aria-label="Picked threads">
      <button class="icon-button" aria-label="Pick nothing" title="Pick nothing (Esc)" onClick=${clearPicks}>
        <${Icon} name="close" /></button>
      <b class="bulk-count" aria-hidden="true">${threads.length}<span> picked</span></b>
      ${TOOLS.filter((one) => one.when?.(threads) ?? true).map(
        ({ icon, label, keys, run }) => html`<button key=${label} class="icon-button" aria-label=${label}
          title=${`${label} (${keys})`} onClick=${() => run(threads)}>
          <${Icon} name=${icon} />
        </button>`,
      )}
    </div>`}`;
}
