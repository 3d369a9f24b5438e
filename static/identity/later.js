// @ts-check
/** What comes late of who asks: the sections of the settings. */
export { DevicesSection } from "./settings/devices.js";
export { ProfileSection } from "./settings/profile.js";
export { UsersSection } from "./settings/users.js";
