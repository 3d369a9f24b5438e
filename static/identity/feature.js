// @ts-check
/** Identity as an entry in the app's list of features: the login page, and settings for profile, users and devices. */
import { late } from "../late.js";
import { html } from "../ui/html.js";

const later = () => import("./later.js");
const DevicesSection = late(later, "DevicesSection");
const LoginPage = late(() => import("./login.js"), "LoginPage");
const ProfileSection = late(later, "ProfileSection");
const UsersSection = late(later, "UsersSection");

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "identity",
  routes: [{
    parse: ({ pathname }) => (pathname === "/login" ? {} : null),
    show: () => html`<${LoginPage} />`,
    bare: true,
  }],
  settings: [
    { name: "", label: "Profile", title: "Profile", group: "General", icon: "person", order: 0,
      holds: ["Sign out", "Your role"], show: ProfileSection },
    { name: "users", label: "Users", title: "Users and invites", group: "People & devices",
      icon: "member", order: 50, adminOnly: true,
      holds: ["Invite somebody", "Roles"], show: UsersSection },
    { name: "devices", also: ["sessions"], label: "Devices", title: "Devices and sessions", group: "People & devices",
      icon: "device", order: 60,
      holds: ["Pair a phone or program", "Revoke", "Signed-in browsers", "Sessions", "Sign out elsewhere"],
      show: DevicesSection },
  ],
  icons: {
    person: "M10 3.5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM4 16.5c.4-3.2 2.8-5 6-5s5.6 1.8 6 5",
    member: "M3 4.5h14v11H3zM7.3 7a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2zM4.9 13c.3-1.2 1.2-1.8 2.4-1.8s2.1.6 2.4 " +
      "1.8M12 8h2.5M12 11.5h2.5",
    device: "M6 3h8v14H6zM9 14.5h2",
    browser: "M3 4.5h14v11H3zM3 7.8h14M5.3 6.2h.01M7.3 6.2h.01",
  },
};
