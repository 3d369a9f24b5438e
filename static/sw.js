// @ts-check
/**
 * The service worker: what runs of the app where none of its pages is open, or where the server is away.
 *
 * It only names its parts. The server fills in the marks and serves it as /sw.js, so that a page anywhere stands in its
 * scope; its text names the build, and a browser that finds it changed takes the new build. The parts are modules of
 * that build, imported here and nowhere later: a worker may not import once it runs. Web Push has its place here too,
 * as a module of its own.
 */
import { takePushes } from "./notifications/worker.js";
import { keepApp } from "./offline/worker/kept_app.js";

keepApp({ base: "{{static}}", names: "{{files}}".split(" ") });
takePushes();
