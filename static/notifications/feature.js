// @ts-check
/** The feature row of notifications. */
import { late } from "../late.js";
import { effect } from "@preact/signals";
import { me } from "../session.js";
import { onArrived, startOpening } from "./arriving.js";
import { refreshState } from "./browser.js";

const later = () => import("./settings.js");
const NotificationsSection = late(later, "NotificationsSection");

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "notifications",
  topics: ["notifications"],
  onEvent: onArrived,
  start() {
    startOpening();
    const stop = effect(() => {
      if (!me.value) return;
      queueMicrotask(() => stop());
      void refreshState();
    });
  },
  settings: [
    { name: "notifications", label: "Notifications", title: "Notifications", group: "General", icon: "bell", order: 15,
      holds: ["Quiet hours", "Push", "New mail"], show: NotificationsSection },
  ],
  icons: {
    bell: "M5 13.8c.9-.8 1.6-1.8 1.6-4.8a3.4 3.4 0 0 1 6.8 0c0 3 .7 4 1.6 4.8zM8.5 16.4h3",
  },
};
