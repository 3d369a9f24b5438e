// @ts-check
/** The entry of meetings in the app's list of features. */
import { late } from "../late.js";
import { html } from "../ui/html.js";
import { Shell } from "../ui/shell.js";
import { MEETINGS_HREF, parseMeetingsAddress } from "./address.js";
import { onMeetingNews, refetchMeetings } from "./news.js";
import { isRecording } from "./recording.js";

const later = () => import("./later.js");
const MeetingsPage = late(later, "MeetingsPage");
const MeetingPage = late(later, "MeetingPage");
const MeetingsSection = late(later, "MeetingsSection");

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "meetings",
  async keys() {
    const { PLAYER_SHORTCUTS, SHORTCUTS } = await later();
    return [{ title: "Meetings", shortcuts: SHORTCUTS }, { title: "A meeting", shortcuts: PLAYER_SHORTCUTS }];
  },
  routes: [{ parse: parseMeetingsAddress, show: ({ id, at }) => html`<${Shell}>${
    id ? html`<${MeetingPage} key=${id} id=${id} at=${at} />` : html`<${MeetingsPage} />`}</${Shell}>` }],
  nav: [{ at: "top", title: "Meetings", icon: "microphone", href: () => MEETINGS_HREF,
    also: ["Record", "Transcript", "Speech"],
    count: () => (isRecording.value ? { n: 1, words: "1 is being recorded", bad: true } : null) }],
  topics: ["meetings"],
  onEvent: onMeetingNews,
  refetch: refetchMeetings,
  settings: [{ name: "meetings", label: "Meetings", title: "Meetings", group: "Server",
    icon: "microphone", order: 45, adminOnly: true,
    holds: ["Speech to text", "Transcription server", "Recogniser"], show: MeetingsSection }],
  icons: {
    microphone: "M10 3a2.2 2.2 0 0 0-2.2 2.2v4.3a2.2 2.2 0 0 0 4.4 0V5.2A2.2 2.2 0 0 0 10 3zM5.2 9.2a4.8 4.8 0 0 0 " +
      "9.6 0M10 14v3M7.5 17h5",
  },
};
