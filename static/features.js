// @ts-check
/** Every feature of the web app, in order: if two know an address, the first shows it. */
import { FEATURE as backup } from "./backup/feature.js";
import { FEATURE as capabilities } from "./capabilities/feature.js";
import { FEATURE as description } from "./description/feature.js";
import { FEATURE as exporting } from "./export/feature.js";
import { FEATURE as files } from "./files/feature.js";
import { FEATURE as gitops } from "./gitops/feature.js";
import { FEATURE as health } from "./health/feature.js";
import { FEATURE as identity } from "./identity/feature.js";
import { FEATURE as inside } from "./inside/feature.js";
import { FEATURE as mail } from "./mail/feature.js";
import { FEATURE as mcp } from "./mcp/feature.js";
import { FEATURE as meaning } from "./meaning/feature.js";
import { FEATURE as meetings } from "./meetings/feature.js";
import { FEATURE as notifications } from "./notifications/feature.js";
import { FEATURE as offline } from "./offline/feature.js";
import { FEATURE as pages } from "./pages/feature.js";
import { FEATURE as people } from "./people/feature.js";
import { FEATURE as plugins } from "./plugins/feature.js";
import { FEATURE as rules } from "./rules/feature.js";
import { FEATURE as runs } from "./runs/feature.js";
import { FEATURE as settings } from "./settings/feature.js";
import { FEATURE as tasks } from "./tasks/feature.js";
import { FEATURE as terminals } from "./terminals/feature.js";

/** @type {readonly import("./feature.js").Feature[]} */
export const FEATURES = [identity, offline, capabilities, mail, meaning, rules, tasks, runs, mcp, people, plugins,
  gitops, backup, meetings, files, terminals, pages, exporting, health, inside, description, notifications, settings];
