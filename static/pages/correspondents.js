// @ts-check
/** The correspondents that are filed under a page. Shows nothing if there are none. */
import { useEffect, useState } from "preact/hooks";
import { now } from "../now.js";
import { query } from "../rpc.js";
import { listTime, plural } from "../ui/format.js";
import { html } from "../ui/html.js";

/** @param {{ of: PageDetail }} props */
export function Correspondents({ of }) {
  const [filed, setFiled] = useState(/** @type {Correspondent[]} */ ([]));
  useEffect(() => {
    let stays = true;
    query("people.filed", { path: of.path }).then(
      (found) => stays && setFiled(found),
      () => undefined, // the page itself is shown; a failure here is not important
    );
    return () => {
      stays = false;
    };
  }, [of]);
  if (!filed.length) return null;
  return html`<footer class="backlinks">
    <h2>Correspondence</h2>
    <ul>${filed.map((one) => html`<li key=${one.address}>
      <bdi>${one.address}</bdi> · ${plural(one.messages, "mail")} · first ${listTime(one.firstSeenAt, now.value)}
      , last ${listTime(one.lastSeenAt, now.value)}
    </li>`)}</ul>
  </footer>`;
}
