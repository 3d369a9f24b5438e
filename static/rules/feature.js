// @ts-check
/** Mail rules and models, as the app's list has them. */
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
    { name: "models", label: "Models", title: "Language models", group: "Agents", icon: "rules", order: 57,
      holds: ["Model", "Ceiling", "What models cost", "Tokens"], show: ModelsSection },
  ],
  icons: { rules: "M3 5h9M15 5h2M13.5 3.5v3M3 10h3M9 10h8M7.5 8.5v3M3 15h7M13 15h4M11.5 13.5v3" },
};
