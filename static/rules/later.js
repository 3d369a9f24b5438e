// @ts-check
/** What comes late of rules and models: the sections of the settings. */
export { ModelsSection } from "./models.js";
export { RulesSection } from "./settings.js";
export { TriageSection } from "./triage.js";
