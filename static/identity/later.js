// @ts-check
/** The parts of identity that are loaded only when first shown: the login page and the sections of the settings. */
export { LoginPage } from "./login.js";
export { DevicesSection } from "./settings/devices.js";
export { ProfileSection } from "./settings/profile.js";
export { UsersSection } from "./settings/users.js";
