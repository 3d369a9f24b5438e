// @ts-check
/** The feature row of credentials: a section of the settings, for admins. */
import { late } from "../late.js";

const later = () => import("./credentials.js");
const CredentialsSection = late(later, "CredentialsSection");

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "capabilities",
  settings: [
    { name: "credentials", label: "Credentials", title: "Credentials", group: "Agents",
      icon: "key", order: 55, adminOnly: true,
      holds: ["API keys", "Who used a key"],
      show: CredentialsSection },
  ],
  icons: {
    key: "M7.5 9.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 10.5l6.5-6.5M13.5 7l2 2",
  },
};
