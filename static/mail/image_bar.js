// @ts-check
/** The bar above a message with remote images: how many are blocked, and buttons to load them (spec 1.1, rule 17). */
import { mutate } from "../rpc.js";
import { plural } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";

/** @param {{ message: Message, remote: ReturnType<typeof import("./images.js").useRemoteImages> }} props */
export function ImageBar({ message, remote }) {
  if (!message.blockedImages) return null;
  if (remote.state === "loading") {
    return html`<div class="blocked" role="status">
      <${Icon} name="image" size=${16} />
      <span>Loading images: ${remote.done} of ${remote.total}</span>
      <button class="button small" onClick=${remote.stop}>Stop</button>
    </div>`;
  }
  const left = remote.total - (remote.images.size - remote.failed);
  if (remote.state === "shown" && !left) return null;
  if (remote.state === "shown") {
    return html`<div class="blocked" role="note">
      <${Icon} name="warning" size=${16} />
      <span><b>${plural(left, "image")} not loaded.</b>
        ${remote.failed > 0 && " The reason is shown in place of each image."}</span>
      <button class="button small" onClick=${remote.load}>Try again</button>
    </div>`;
  }
  return html`<div class="blocked" role="note">
    <${Icon} name="blocked" size=${16} />
    <span><b>${plural(message.blockedImages, "image")} blocked</b>, so that the sender can’t see that you read this.
    </span>
    ${remote.total > 0 ? html`<span class="blocked-actions">
      <button class="button small"
        title=${remote.hasOnlyTrackers ? "Invisible images: they only tell the sender that you read this" : ""}
          onClick=${remote.load}>Load images</button>
      ${isProved(message) && !message.imagesAllowed && !remote.hasOnlyTrackers
        && html`<button class="button small" title=${`Always load images of ${message.from.address}`}
          onClick=${() => always(message.from.address, remote.load)}>Always for this sender</button>`}
    </span>` : " Backgrounds and pictures of videos are never loaded."}
  </div>`;
}

/** Whether the sender is verified: a trusted sender counts only for such mail. @param {Message} message */
function isProved({ from, authentication }) {
  return Boolean(from.address) && authentication?.verdict === "verified";
}

/** @param {string} address @param {() => void} load */
async function always(address, load) {
  load();
  try {
    await mutate("mail.trustSender", { address, trusted: true });
    toast(`Images of ${address} are loaded from now on.`, {
      action: { label: "Undo", run: () => void mutate("mail.trustSender", { address, trusted: false }).catch(told) },
    });
  } catch (error) {
    told(error);
  }
}

/** @param {unknown} error */
function told(error) {
  toast(error instanceof Error ? error.message : String(error), { tone: "error" });
}
