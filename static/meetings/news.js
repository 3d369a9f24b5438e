// @ts-check
/** News of meetings from /ws: a number that grows with each, for what is on the screen to look again. */
import { signal } from "@preact/signals";

export const news = signal(0);

/** @param {LiveEvent} _event */
export function onMeetingNews(_event) {
  news.value += 1;
}

export function refetchMeetings() {
  news.value += 1;
}
