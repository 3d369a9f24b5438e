// @ts-check
/** The way to the task queue, in the frame around every page. */
import { approvals } from "../runs/approvals.js";
import { plural } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { troubled, waiting } from "./outgoing.js";

/** The way to what is scheduled, on its way or waits for a decision, with how much there is. */
export function TasksLink() {
  const asked = approvals.value?.length ?? 0;
  const count = waiting.value.length + asked;
  const bad = troubled.value.length + asked;
  const parts = [count - bad > 0 && `${count - bad} scheduled`, bad > 0 && `${plural(bad, "needs", "need")} your word`]
    .filter(Boolean);
  const title = count ? `Tasks, ${count}: ${parts.join(", ")}` : "Tasks";
  return html`<a class="icon-button tasks-link" href="/p/tasks" aria-label=${title} title=${title}>
    <${Icon} name="tasks" />${count > 0 && html`<span class=${`tasks-count${bad ? " bad" : ""}`} aria-hidden="true">
      ${count}</span>`}
  </a>`;
}
