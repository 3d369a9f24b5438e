// @ts-check
/** The feature row of health: a section of the settings, for admins. */
import { late } from "../late.js";

const later = () => import("./health.js");
const HealthSection = late(later, "HealthSection");

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "health",
  settings: [
    { name: "health", label: "Health", title: "Health", group: "Server", icon: "health", order: 80, adminOnly: true,
      holds: ["Checks", "Disk"], show: HealthSection },
  ],
  icons: {
    health: "M3 10.5h3.5l2-5 3 9 2-4H17",
  },
};
