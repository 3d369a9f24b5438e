// @ts-check
/** The feature row of git: the state of the followed repository, for admins. */
import { late } from "../late.js";
import { onGitopsNews } from "./news.js";

const later = () => import("./settings.js");
const GitSection = late(later, "GitSection");

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "gitops",
  topics: ["gitops"],
  onEvent: onGitopsNews,
  refetch: onGitopsNews,
  settings: [
    { name: "git", label: "Git", title: "Git", group: "Data & backups", icon: "git", order: 56, adminOnly: true,
      holds: ["Repository", "Webhook", "Sync now"], show: GitSection },
  ],
  icons: {
    git: "M6 5.5v9M14 8.5c0 3-8 2-8 6M6 5.5a1.75 1.75 0 1 0 0-.01M6 16.25a1.75 1.75 0 1 0 0-.01" +
      "M14 7.5a1.75 1.75 0 1 0 0-.01",
  },
};
