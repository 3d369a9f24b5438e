// @ts-check
/** The feature row of the inside of the running service: a section of the settings, for admins. */
import { late } from "../late.js";

const later = () => import("./inside.js");
const InsideSection = late(later, "InsideSection");

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "inside",
  settings: [
    { name: "inside", label: "Inside", title: "Inside", group: "Server", icon: "inside", order: 85, adminOnly: true,
      holds: ["Running tasks", "Queues", "Stalls", "Last errors", "Memory", "Connections"], show: InsideSection },
  ],
  icons: {
    inside: "M4 4.5h5v3H4zM11 9h5v3h-5zM11 14h5v3h-5zM6.5 7.5v8h4.5M6.5 10.5h4.5",
  },
};
