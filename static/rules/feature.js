// @ts-check
/** The entry of mail rules, triage and models in the app's list of features. */
import { late } from "../late.js";

const later = () => import("./later.js");
const ModelsSection = late(later, "ModelsSection");
const RulesSection = late(later, "RulesSection");
const TriageSection = late(later, "TriageSection");

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "rules",
  settings: [
    { name: "rules", label: "Rules", title: "Mail rules", group: "Mail", icon: "rules", order: 28,
      holds: ["Mail rules", "Filters", "Sort mail", "Auto-archive", "Draft replies"], show: RulesSection },
    { name: "triage", label: "Triage", title: "Triage", group: "Mail", icon: "filter", order: 29,
      holds: ["Needs reply", "Waiting for an answer", "Reading", "Receipts", "Kinds of mail"], show: TriageSection },
    { name: "models", label: "Models", title: "Language models", group: "Agents", icon: "model", order: 57,
      holds: ["Model", "Ceiling", "What models cost", "Tokens"], show: ModelsSection },
  ],
  icons: {
    rules: "M3 10h4.5c2.5 0 2-4.5 4.5-4.5h4.5M7.5 10c2.5 0 2 4.5 4.5 4.5h4.5" +
      "M14.3 3.3l2.2 2.2-2.2 2.2M14.3 12.3l2.2 2.2-2.2 2.2",
    model: "M5.5 5.5h9v9h-9zM8.3 8.3h3.4v3.4H8.3zM8 3v2.5M12 3v2.5M8 14.5V17M12 14.5V17M3 8h2.5M3 12h2.5M14.5 8H17" +
      "M14.5 12H17",
  },
};
