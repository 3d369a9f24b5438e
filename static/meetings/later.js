// @ts-check
/** The parts of meetings that are loaded only when first shown: the pages, and the section of the settings. */
export { MeetingsPage, SHORTCUTS } from "./list.js";
export { MeetingPage, PLAYER_SHORTCUTS } from "./meeting.js";
export { MeetingsSection } from "./settings.js";
