// @ts-check
/** The page of meetings: the recorder, and the recorded meetings, the newest first. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { registerKeys } from "../keys.js";
import { now } from "../now.js";
import { navigate } from "../router.js";
import { query } from "../rpc.js";
import { isAdmin } from "../session.js";
import { Pending, reasonOf } from "../settings/fetched.js";
import { Nothing } from "../ui/empty.js";
import { fullTime, messageTime } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { meetingHref } from "./address.js";
import { news } from "./news.js";
import { Recorder } from "./recorder.js";
import { recording } from "./recording.js";
import { clock, spokenClock, STATE_WORDS } from "./words.js";

/** @typedef {OutputOf<"meetings.list">} Found */

const A_TIME = 50;

/** @type {import("../keys.js").Shortcut[]} */
export const SHORTCUTS = [{ keys: ["u", "Escape"], label: "Back to the inbox", run: () => navigate("/p/mail") }];

export function MeetingsPage() {
  const found = useMeetings();
  useLayoutEffect(() => registerKeys("Meetings", SHORTCUTS), []);
  useEffect(() => {
    document.title = "Meetings – svc";
  }, []);
  const meetings = (found.data?.meetings ?? []).filter(({ id }) => id !== recording.value?.id);
  return html`<main class="panel scrolls"><div class="page-frame">
    <h1>Meetings</h1>
    ${found.data && !found.data.recogniser && html`<${Nobody} />`}
    <${Recorder} />
    <section class="setting" aria-labelledby="recorded-title">
      <h2 id="recorded-title">Recorded</h2>
      <${Pending} of=${found} what="your meetings" />
      ${found.data && !meetings.length && html`<${Nothing} icon="microphone"
        title="Nothing has been recorded yet"><p>What you record is yours alone, until you share its page.</p><//>`}
      <ul class="things">${meetings.map((one) => html`<${Row} key=${one.id} meeting=${one} />`)}</ul>
      ${found.data?.nextCursor && html`<button class="button" onClick=${found.more}>Show more</button>`}
    </section>
  </div></main>`;
}

function Nobody() {
  return html`<div class="notice"><${Icon} name="warning" /><div><p>Meetings are recorded, and not written down: no
    speech to text is chosen. ${isAdmin() ? html`<a href="/settings/meetings">Choose one</a>`
      : "An admin can choose one."}</p></div></div>`;
}

/** @param {{ meeting: Found["meetings"][number] }} props */
function Row({ meeting: { id, title, state, startedAt, seconds, problem } }) {
  return html`<li class="thing">
    <span class="thing-icon"><${Icon} name="microphone" /></span>
    <div class="thing-text">
      <p class="thing-title"><a href=${meetingHref(id)}><bdi>${title}</bdi></a></p>
      <p class="fine"><span title=${fullTime(startedAt)}>${messageTime(startedAt, now.value)}</span>${
        state === "recording" ? "" : html` · <span aria-label=${spokenClock(seconds)}>${clock(seconds)}</span>`}${
        STATE_WORDS[state] && ` · ${STATE_WORDS[state]}`}</p>
      ${problem && html`<p class="fine">${problem}</p>`}
    </div>
  </li>`;
}

/** The pages of the list that were asked for. They are loaded again with each live update. */
function useMeetings() {
  const [data, setData] = useState(/** @type {Found | null} */ (null));
  const [problem, setProblem] = useState("");
  const asked = useRef(0);
  const pages = useRef(1);
  const load = useCallback(async () => {
    const mine = ++asked.current;
    try {
      let all = await query("meetings.list", { limit: A_TIME });
      for (let page = 1; page < pages.current && all.nextCursor; page += 1) {
        const next = await query("meetings.list", { limit: A_TIME, cursor: all.nextCursor });
        all = { ...next, meetings: [...all.meetings, ...next.meetings] };
      }
      if (mine !== asked.current) return;
      setData(all);
      setProblem("");
    } catch (error) {
      if (mine === asked.current) setProblem(reasonOf(error));
    }
  }, []);
  useEffect(() => void load(), [news.value]);
  const more = () => {
    pages.current += 1;
    void load();
  };
  return { data, problem, load, more };
}
