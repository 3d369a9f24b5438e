// @ts-check
/** The feature row of the export: a section of the settings, for admins. */
import { late } from "../late.js";

const later = () => import("./section.js");
const ExportSection = late(later, "ExportSection");

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "export",
  settings: [
    { name: "export", label: "Export", title: "Export", group: "Data & backups",
      icon: "export", order: 70, adminOnly: true,
      holds: ["Download everything", "Pages as files"], show: ExportSection },
  ],
  icons: {
    export: "M4 8.5v7.5h12V8.5M10 12.5v-9M6.5 6.5 10 3l3.5 3.5",
  },
};
