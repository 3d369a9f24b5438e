// @ts-check
/**
 * The service worker: the part of the app that runs when none of its pages is open, or when the server is away.
 *
 * It only imports its parts. The server fills in the placeholders and serves it as /sw.js, so that its scope covers
 * every page. Its text names the build, so a browser that finds it changed installs the new build. The parts are
 * modules of that build and all imported here: a worker can't import once it runs. Web Push is one of the parts, as a
 * module of its own.
 */
import { takePushes } from "./notifications/worker.js";
import { keepApp } from "./offline/worker/kept_app.js";

keepApp({ base: "{{static}}", names: "{{files}}".split(" ") });
takePushes();
