// @ts-check
/** The feature row of backups: a section of the settings, for admins. */
import { late } from "../late.js";
import { onBackupGap, onBackupNews } from "./news.js";

const later = () => import("./backups.js");
const BackupsSection = late(later, "BackupsSection");

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "backup",
  topics: ["backup"],
  onEvent: onBackupNews,
  refetch: onBackupGap,
  settings: [
    { name: "backups", label: "Backups", title: "Backups", group: "Data & backups",
      icon: "backup", order: 57, adminOnly: true,
      holds: ["Archive", "Restore", "Recovery points", "Recovery code", "Drill"], show: BackupsSection },
  ],
  icons: {
    backup: "M3.5 5h13v3h-13zM4.5 8v7.5h11V8M8 11h4",
  },
};
