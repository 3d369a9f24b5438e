// @ts-check
/** The page of one meeting: a player for its sound, and the transcript. A click on a line's time plays from there. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { registerKeys } from "../keys.js";
import { pageHref } from "../pages/paths.js";
import { fromHere, navigate } from "../router.js";
import { mutate, query, RpcError } from "../rpc.js";
import { Pending, reasonOf } from "../settings/fetched.js";
import { ConfirmButton } from "../ui/confirm.js";
import { fullTime } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";
import { MEETINGS_HREF } from "./address.js";
import { news } from "./news.js";
import { clock, spokenClock, STATE_WORDS } from "./words.js";

/** @typedef {OutputOf<"meetings.get">} Found */

const STEP_S = 10;

/** @type {import("../keys.js").Shortcut[]} */
export const PLAYER_SHORTCUTS = [
  { keys: ["k"], label: "Play, or stop", run: () => withPlayer(toggle), when: () => playerHere() !== null },
  { keys: ["j"], label: `${STEP_S} seconds back`, run: () => withPlayer((player) => step(player, -STEP_S)),
    repeats: true },
  { keys: ["l"], label: `${STEP_S} seconds on`, run: () => withPlayer((player) => step(player, STEP_S)),
    repeats: true },
  { keys: ["u", "Escape"], label: "Back to the meetings", run: () => navigate(MEETINGS_HREF) },
];

/** @param {{ id: string, at: number | null }} props */
export function MeetingPage({ id, at }) {
  const found = useMeeting(id);
  useLayoutEffect(() => registerKeys("A meeting", PLAYER_SHORTCUTS), []);
  const title = found.data?.meeting.title ?? "Meeting";
  useEffect(() => {
    document.title = `${title} – svc`;
  }, [title]);
  return html`<main class="panel scrolls"><div class="page-frame">
    <nav aria-label="Where this meeting stands"><a href=${MEETINGS_HREF}>Meetings</a></nav>
    ${found.isMissing ? html`<div class="empty"><h1 class="empty-title">There is no such meeting of yours</h1></div>`
      : html`<${Pending} of=${found} what="this meeting" />`}
    ${found.data && html`<${Head} found=${found.data} load=${found.load} />
      <${Transcript} found=${found.data} at=${at} />`}
  </div></main>`;
}

/** @param {{ found: Found, load: () => Promise<void> }} props */
function Head({ found: { meeting }, load }) {
  const { id, title, state, startedAt, seconds, fileId, path, problem } = meeting;
  const remove = async () => {
    const go = fromHere();
    await mutate("meetings.remove", { id });
    toast("The recording was deleted.");
    go(MEETINGS_HREF);
  };
  return html`<header class="meeting-head">
      <h1><bdi>${title}</bdi></h1>
      <p class="fine">${fullTime(startedAt)}${state !== "recording" && html` · <span aria-label=${
        spokenClock(seconds)}>${clock(seconds)}</span>`}${STATE_WORDS[state] && ` · ${STATE_WORDS[state]}`}</p>
    </header>
    ${problem && html`<div class="notice bad"><${Icon} name="warning" /><p>${problem}</p></div>`}
    <p class="meeting-buttons">
      ${path && html`<a class="button small" href=${pageHref(path)}>Open its page</a>`}
      ${fileId && html`<a class="button small" href=${soundOf(fileId)} download>Download the sound</a>`}
      <${Rename} id=${id} title=${title} load=${load} />
      ${state === "done" && html`<${ConfirmButton} label="Delete" what=${title} sure="Delete it" run=${remove}
        question="Its sound and transcript go for good; its page stays." />`}
    </p>`;
}

/** @param {{ id: string, title: string, load: () => Promise<void> }} props */
function Rename({ id, title, load }) {
  const [text, setText] = useState(/** @type {string | null} */ (null));
  const [problem, setProblem] = useState("");
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const opener = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const isOpen = text !== null;
  const wasOpen = useRef(false);
  useLayoutEffect(() => {
    if (isOpen) field.current?.select();
    else if (wasOpen.current) opener.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  if (text === null) return html`<button class="button small" ref=${opener} onClick=${() => setText(title)}>Rename
    </button>`;
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      await mutate("meetings.rename", { id, title: text.trim() || title });
      setText(null);
      await load();
    } catch (error) {
      setProblem(reasonOf(error));
    }
  };
  return html`<form class="meeting-rename" onSubmit=${save}>
    <input type="text" aria-label="Title" maxlength="160" ref=${field} value=${text}
      onInput=${(/** @type {Event} */ event) => setText(/** @type {HTMLInputElement} */ (event.target).value)}
      onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        setText(null);
      }} />
    <button type="submit" class="button small">Save</button>
    ${problem && html`<span class="form-problem" role="alert">${problem}</span>`}
  </form>`;
}

/** @param {{ found: Found, at: number | null }} props */
function Transcript({ found: { meeting, lines }, at }) {
  const player = useRef(/** @type {HTMLAudioElement | null} */ (null));
  const [heard, setHeard] = useState(-1);
  const seek = (/** @type {number} */ seconds) => {
    const { current } = player;
    if (!current) return;
    current.currentTime = seconds;
    void current.play().catch(() => undefined);
  };
  useEffect(() => {
    const { current } = player;
    if (current && at !== null) current.currentTime = at;
  }, [at, meeting.fileId]);
  const onTime = () => {
    const time = player.current?.currentTime ?? 0;
    setHeard(lines.findLastIndex(({ start }) => start <= time + 0.05));
  };
  return html`
    ${meeting.fileId && html`<audio class="meeting-player" ref=${player} controls preload="metadata"
      aria-label=${`The sound of ${meeting.title}`} src=${soundOf(meeting.fileId)} onTimeUpdate=${onTime} />`}
    <section class="setting" aria-labelledby="transcript-title">
      <h2 id="transcript-title">What was said</h2>
      ${!lines.length && html`<p class="quiet-text">${meeting.state === "done" ? "Nothing was written down."
        : "Nothing is written down yet."}</p>`}
      <ol class="meeting-lines">${lines.map((line, index) => html`<li key=${index}
        aria-current=${index === heard ? "true" : undefined}>
        ${meeting.fileId ? html`<button class="meeting-time" aria-label=${`${clock(line.start)}, play from there`}
          onClick=${() => seek(line.start)}>${clock(line.start)}</button>`
          : html`<span class="meeting-time">${clock(line.start)}</span>`}
        <p>${line.speaker && html`<b>${line.speaker}: </b>`}${line.text}</p></li>`)}</ol>
    </section>`;
}

/** @param {string} id */
function useMeeting(id) {
  const [data, setData] = useState(/** @type {Found | null} */ (null));
  const [problem, setProblem] = useState("");
  const [isMissing, setMissing] = useState(false);
  const load = useCallback(async () => {
    try {
      setData(await query("meetings.get", { id }));
      setProblem("");
    } catch (error) {
      if (error instanceof RpcError && error.code === "NOT_FOUND") setMissing(true);
      else setProblem(reasonOf(error));
    }
  }, [id]);
  useEffect(() => void load(), [load, news.value]);
  return { data: isMissing ? null : data, problem, isMissing, load };
}

/** @param {string} fileId */
function soundOf(fileId) {
  return `/files/${encodeURIComponent(fileId)}/content`;
}

/** @param {(player: HTMLAudioElement) => void} act */
function withPlayer(act) {
  const player = playerHere();
  if (player) act(player);
}

/** A recording that is still under way has none. */
function playerHere() {
  const player = document.querySelector(".meeting-player");
  return player instanceof HTMLAudioElement ? player : null;
}

/** @param {HTMLAudioElement} player */
function toggle(player) {
  if (player.paused) void player.play().catch(() => undefined);
  else player.pause();
}

/** @param {HTMLAudioElement} player @param {number} seconds */
function step(player, seconds) {
  player.currentTime = Math.max(0, player.currentTime + seconds);
}
