// @ts-check
/** The parts of identity that are loaded only when first shown: the sections of the settings. */
export { DevicesSection } from "./settings/devices.js";
export { ProfileSection } from "./settings/profile.js";
export { UsersSection } from "./settings/users.js";
