// @ts-check
/** The feature row of offline use. */
import { effect } from "@preact/signals";
import { liveState } from "../live.js";
import { isLeaving } from "../rpc.js";
import { loadMe, me, meProblem } from "../session.js";
import { useStandIn } from "../stand_in.js";
import { removeWorker, startWorker } from "./installed.js";
import { answer, fetchKept, heard, noteEvent } from "./kept.js";
import { adopt, clearLocked, confirmed, isKept, standForOwner, strangerCame } from "./owner.js";
import { allStored, settle, startQueue } from "./queue.js";
import { dropStore } from "./store.js";

/** Background fetches wait until the visible page is loaded. */
const KEEP_AFTER_MS = 1_500;
let isOn = false;

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "offline",
  topics: ["mail", "accounts"],
  onEvent: (event) => {
    if (isOn) void noteEvent(event).catch(() => undefined);
  },
  start() {
    startWorker(() => void begin().catch(() => useStandIn(null))); // a private window stores nothing
  },
  async forget() {
    useStandIn(null);
    isOn = false;
    await Promise.all([dropStore(), removeWorker()]);
  },
};

/** The connection may be back: asks the server for the session, and sends the queued acts. */
function back() {
  const asks = me.peek() === null || isKept(me.peek());
  void (asks ? loadMe() : Promise.resolve()).then(settle).catch(() => undefined); // the next call tries again
}

async function begin() {
  useStandIn({ heard, answer, strangerCame: async () => {
    strangerCame();
    await allStored();
  } });
  isOn = true;
  await clearLocked();
  await startQueue();
  effect(() => {
    if (me.value && !isKept(me.value) && !isLeaving()) void adopt(me.value);
    else if (meProblem.value) void standForOwner();
  });
  addEventListener("online", back);
  addEventListener("focus", back);
  effect(() => {
    if (liveState.value === "live") back();
  });
  await confirmed.promise;
  setTimeout(() => void fetchKept(), KEEP_AFTER_MS);
}
