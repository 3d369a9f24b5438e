// @ts-check
/** The parts of mail that are loaded only when first shown: its sections of the settings. */
export { AccountsSection } from "./settings/accounts.js";
export { FirstStepsSection } from "./settings/first_steps.js";
export { BlockedSection } from "./settings/blocked.js";
export { ImagesSection } from "./settings/images.js";
export { ImportSection } from "./settings/import.js";
export { SearchSection } from "./settings/search.js";
export { SignInsSection } from "./settings/sign_ins.js";
export { SnippetsSection } from "./settings/snippets.js";
export { SignaturesSection } from "./settings/signatures.js";
