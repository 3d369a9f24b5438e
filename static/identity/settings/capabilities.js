// @ts-check
/** What a device can be allowed beyond reading and writing, in the words that users see when they decide. */

/** @type {{ flag: Capability, title: string, note: string, short: string, adminOnly?: boolean }[]} */
export const CAPABILITIES = [
  { flag: "mobilePush", title: "Get notifications", note: "Push messages to a phone.", short: "get notifications" },
  { flag: "extensionAutomation", title: "Automate its browser",
    note: "For the browser extension: agents act in its tabs.", short: "automate its browser" },
  { flag: "approve", title: "Decide for you",
    note: "Let through, or decline, what runs ask you for.", short: "decide what runs may do" },
  {
    flag: "admin",
    title: "Act as an admin",
    note:
      "All that you may do as an admin here: invite people, make others admins, revoke their devices. " +
      "Only for a device that you trust like your own browser.",
    short: "act as an admin",
    adminOnly: true,
  },
  { flag: "terminal", title: "Use terminals", note: "Open a shell on this server and type into it. Admins only.",
    short: "use terminals", adminOnly: true },
  { flag: "shell", title: "Open a shell", note: "Run any command on this server. Admins only.", short: "open a shell",
    adminOnly: true },
];
