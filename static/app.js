// @ts-check
/** The web app's boot: starts everything that runs once, and shows the page of the current address. */
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { features, useFeatures } from "./feature.js";
import { FEATURES } from "./features.js";
import { startFrame, toggleNav } from "./frame.js";
import { startHints } from "./hints.js";
import { knowPlaces, registerKeys, startKeys } from "./keys.js";
import { dropOldTexts } from "./stored_texts.js";
import { listen } from "./live.js";
import { startClock } from "./now.js";
import { startPaletteCommands } from "./palette_commands.js";
import { place, startRouter } from "./router.js";
import { askedBefore } from "./rpc.js";
import { startScrolled } from "./scrolled.js";
import { loadMe, me, meProblem, startForgetting } from "./session.js";
import { startTheme } from "./theme.js";
import { Announcements } from "./ui/announce.js";
import { keepFocus } from "./ui/focus.js";
import { HelpOverlay, helpOpen } from "./ui/help.js";
import { html } from "./ui/html.js";
import { addIcons } from "./ui/icons.js";
import { Palette, paletteOpen } from "./ui/palette.js";
import { Shell } from "./ui/shell.js";
import { Toasts } from "./ui/toast.js";

/** @type {import("./keys.js").Shortcut[]} */
const EVERYWHERE = [
  { keys: ["?"], label: "Show these shortcuts", run: () => { helpOpen.value = true; } },
  { keys: ["Mod+k"], label: "Find a command", run: () => { paletteOpen.value = true; }, when: () => !isBare() },
  { keys: ["v n"], label: "Fold the navigation, or show it", run: toggleNav, when: () => !isBare() },
];

/** So long the first draw waits for what index.html has asked: one draw takes less time than two. */
const FIRST_ANSWER_MS = 100;

boot();

function boot() {
  useFeatures(FEATURES);
  for (const { icons } of features()) addIcons(icons ?? {});
  for (const row of features()) row.begin?.();
  startForgetting();
  dropOldTexts();
  startTheme();
  startFrame();
  startScrolled();
  startRouter(features().flatMap((row) => row.routes ?? []));
  startClock();
  startKeys();
  startHints();
  registerKeys("Everywhere", EVERYWHERE);
  knowPlaces(async () => [{ title: "Everywhere", shortcuts: EVERYWHERE },
    ...(await Promise.all(features().map((row) => row.keys?.() ?? []))).flat()]);
  startPaletteCommands();
  void loadMe().then(listenOnce);
  if (!isBare()) for (const row of features()) row.start?.();
  const inTime = new Promise((done) => setTimeout(done, FIRST_ANSWER_MS));
  void Promise.race([askedBefore(), inTime]).then(() => setTimeout(draw)); // once the answer is where it belongs
}

function draw() {
  const root = /** @type {HTMLElement} */ (document.getElementById("app"));
  root.replaceChildren(); // remove the placeholder
  render(html`<${App} />`, root);
}

/** Whether the page has no frame around it, like the login page. */
function isBare() {
  return place.value.route?.bare ?? false;
}

/** Connects the live updates once. A person who is not signed in is being sent to the login page, and needs none. */
function listenOnce() {
  if (isBare() || (!me.value && !meProblem.value)) return;
  const topics = new Set(features().flatMap((row) => row.topics ?? []));
  listen([...topics], { event: onEvent, refetch, signedOut: () => void loadMe() });
}

/** @param {LiveEvent} event */
function onEvent(event) {
  for (const row of features()) if (row.topics?.includes(event.topic)) row.onEvent?.(event);
}

function refetch() {
  for (const row of features()) row.refetch?.();
}

function App() {
  const { route, params } = place.value;
  const came = useRef(false);
  useEffect(() => {
    if (came.current) keepFocus({ told: true });
    came.current = true;
  }, [route]);
  if (route?.bare) return route.show(params);
  // The announcements are first: below the rest they would make the page a pixel longer.
  return html`<${Announcements} />
    ${route ? route.show(params) : html`<${Shell}><${Missing} /></${Shell}>`}
    ${features().flatMap((row) => row.overlays ?? []).map((Overlay) => html`<${Overlay} key=${Overlay.name} />`)}
    <${HelpOverlay} />
    <${Palette} />
    <${Toasts} />`;
}

function Missing() {
  useEffect(() => {
    document.title = "Nothing here – svc";
  }, []);
  return html`<main class="panel"><div class="empty">
    <h1 class="empty-title">There is nothing at this address</h1>
    <p><a class="button" href="/p/mail">Go to the inbox</a></p>
  </div></main>`;
}
