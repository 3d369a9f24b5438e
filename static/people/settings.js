// @ts-check
/** Pages that were made for people to whom the person never wrote: shown first, then deleted if the person confirms. */
import { mutate } from "../rpc.js";
import { ConfirmButton } from "../ui/confirm.js";
import { plural } from "../ui/format.js";
import { html } from "../ui/html.js";
import { toast } from "../ui/toast.js";
import { Pending, useFetched } from "../settings/fetched.js";

/** The most that the server accepts in one call. */
const MAX_A_CALL = 200;

export function PeopleSection() {
  const strangers = useFetched("people.strangers");
  const found = strangers.data ?? [];
  const tidy = async () => {
    let removed = 0;
    try {
      for (let at = 0; at < found.length; at += MAX_A_CALL) {
        const addresses = found.slice(at, at + MAX_A_CALL).map((one) => one.address);
        removed += (await mutate("people.tidy", { addresses })).removed;
      }
      toast(`${plural(removed, "page")} taken away.`);
    } finally {
      await strangers.load();
    }
  };
  return html`<section class="setting" aria-labelledby="strangers-title">
    <h2 id="strangers-title">Pages of strangers</h2>
    <p class="fine">People you write to get a page. People who only write to you are suggested in${" "}
      <a href="/p/people">People</a>. The pages below were made for people you never wrote to, and nobody has
      edited them. If you take them away, these people are suggested; adding one makes the same page again.</p>
    <${Pending} of=${strangers} what="the pages" />
    ${strangers.data && !found.length && html`<p class="quiet-text">There are none.</p>`}
    ${found.length > 0 && html`<p><${ConfirmButton} label=${`Take away ${plural(found.length, "page")}`}
      what="pages of strangers"
      question="Pages that somebody edited, shared, moved or linked to stay." sure="Take them away" run=${tidy} /></p>`}
    <ul class="things">${found.map(({ address, page }) => html`<li key=${page.id} class="thing">
      <div class="thing-text">
        <p class="thing-title"><a href=${`/p/${page.path}`}><bdi>${page.title}</bdi></a></p>
        <p class="fine"><bdi>${address}</bdi></p>
      </div>
    </li>`)}</ul>
  </section>`;
}
