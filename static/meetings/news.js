// @ts-check
/** Live updates of meetings from /ws: a number that grows with each, so that open views load again. */
import { signal } from "@preact/signals";

export const news = signal(0);

/** @param {LiveEvent} _event */
export function onMeetingNews(_event) {
  news.value += 1;
}

export function refetchMeetings() {
  news.value += 1;
}
