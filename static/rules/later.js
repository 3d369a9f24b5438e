// @ts-check
/** The parts of rules, triage and models that are loaded only when first shown: the sections of the settings. */
export { ModelsSection } from "./models.js";
export { RulesSection } from "./settings.js";
export { TriageSection } from "./triage.js";
