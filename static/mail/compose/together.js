// @ts-check
/** People to whom one usually writes together with the recipients in To: offered one by one, or all at once. */
import { useEffect, useState } from "preact/hooks";
import { query } from "../../rpc.js";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { isAddress } from "./addresses.js";

/** With more recipients than this the group is considered complete. */
const MOST_NAMED = 2;
const MOST_OFFERED = 3;

/**
 * @param {{ to: Person[], others: Person[], add: (people: Person[]) => void }} props
 *   `others`: the recipients in Cc and Bcc
 */
export function Together({ to, others, add }) {
  const named = to.map(({ address }) => address.toLowerCase());
  const wanted = named.length <= MOST_NAMED && named.every(isAddress) ? named : [];
  const offered = useTogether(wanted);
  const there = new Set([...to, ...others].map(({ address }) => address.toLowerCase()));
  const shown = offered.filter(({ address }) => !there.has(address.toLowerCase())).slice(0, MOST_OFFERED);
  if (!shown.length) return null;
  const press = (/** @type {Suggestion[]} */ ...people) => {
    add(people.map(({ name, address }) => ({ name, address })));
    document.getElementById("compose-to")?.focus();
  };
  return html`<div class="together" role="group" aria-label="Usually written to together">
    <span aria-hidden="true">Add:</span>
    ${shown.map((one) => html`<button type="button" key=${one.address} class="together-person" title=${one.address}
      aria-label=${`Add ${wordsOf(one)}`} onClick=${() => press(one)}>
      <${Icon} name="plus" size=${12} /><bdi>${wordsOf(one)}</bdi></button>`)}
    ${shown.length > 1 && html`<button type="button" class="together-person" onClick=${() => press(...shown)}
      aria-label=${`Add all ${shown.length}`}><${Icon} name="plus" size=${12} />All ${shown.length}</button>`}
    <p class="sr-only" role="status">Usually written to as well: ${shown.map(wordsOf).join(", ")}. Shift and Tab lead to
      them.</p>
  </div>`;
}

/** @param {string[]} named */
function useTogether(named) {
  const key = named.join(" ");
  const [found, setFound] = useState({ key: "", people: /** @type {Suggestion[]} */ ([]) });
  useEffect(() => {
    let newest = true;
    const asked = key ? query("people.together", { addresses: named }) : Promise.resolve([]);
    asked.then((people) => newest && setFound({ key, people }), () => undefined); // offline nobody is offered
    return () => {
      newest = false;
    };
  }, [key]);
  return found.key === key ? found.people : [];
}

/** @param {Suggestion} one */
function wordsOf({ title, name, address }) {
  return title || name || address;
}
