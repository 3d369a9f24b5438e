// @ts-check
/** The suggestions below all people: people who wrote and never got an answer, to be added or dismissed. */
import { useState } from "preact/hooks";
import { now } from "../now.js";
import { mutate } from "../rpc.js";
import { Pending, useFetched } from "../settings/fetched.js";
import { listTime, plural } from "../ui/format.js";
import { html } from "../ui/html.js";
import { toast } from "../ui/toast.js";

export function Suggestions() {
  const found = useFetched("people.suggested");
  const [busy, setBusy] = useState(false);
  const action = async (/** @type {() => Promise<unknown>} */ run) => {
    setBusy(true);
    try {
      await run();
    } catch (error) {
      toast(`That did not work: ${error instanceof Error ? error.message : error}`, { tone: "error" });
    } finally {
      setBusy(false);
      await found.load();
    }
  };
  const add = (/** @type {Correspondent} */ one) => action(async () => {
    const { page } = await mutate("people.add", { address: one.address });
    if (page) toast(`Added: ${page.title}`);
  });
  const dismiss = (/** @type {Correspondent[]} */ some) =>
    action(() => mutate("people.dismiss", { addresses: some.map((one) => one.address) }));
  const people = found.data?.people ?? [];
  return html`<section aria-labelledby="suggestions-title">
    <h2 id="suggestions-title">Suggestions</h2>
    <p class="fine">They wrote to you, and you never wrote to them. If you answer one of them, they become one of
      your people.${" "}
      <a href="/settings/people">Pages of strangers</a> from before can be taken away.</p>
    <${Pending} of=${found} what="the suggestions" />
    ${found.data && !people.length && html`<p class="quiet-text">Nobody to suggest now.</p>`}
    <ul class="things">${people.map((one) => html`<li key=${one.address} class="thing">
      <div class="thing-text">
        <p class="thing-title"><bdi>${one.name || one.address}</bdi></p>
        <p class="fine contact-facts"><bdi>${one.address}</bdi>
          <span>${plural(one.messages, "mail")}, last ${listTime(one.lastSeenAt, now.value)}</span></p>
      </div>
      <button class="button small" disabled=${busy} aria-label=${`Add ${one.address}`} onClick=${() => void add(one)}>
        Add</button>
      <button class="button small" disabled=${busy} aria-label=${`Dismiss ${one.address}`}
        onClick=${() => void dismiss([one])}>Dismiss</button>
    </li>`)}</ul>
    ${people.length > 1 && html`<button class="button small" disabled=${busy} onClick=${() => void dismiss(people)}>
      Dismiss these ${people.length}</button>`}
    ${found.data?.more && html`<p class="fine">There are more behind these.</p>`}
  </section>`;
}
