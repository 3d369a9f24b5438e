// @ts-check
/**
 * Joins the app's modules and its styles into few files, for the wheel: a phone's first load waits for each answer.
 *
 * A checkout serves the modules as they are, so that nobody builds anything to see a change. Creates the given folder,
 * which must not exist: joined/ with the modules and one stylesheet, the page and the service worker that name them,
 * and every other file of the app that is neither a module nor a stylesheet.
 *
 *     node join.mjs FOLDER [--modules DIR] [--also NAME…]
 *
 * DIR holds node_modules; without it they lie beside this file. Each NAME is a module that somebody else imports by its
 * address, as tests do: it becomes joined/NAME (a .mjs becomes .js), and the code is not minified.
 */
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const HERE = dirname(fileURLToPath(import.meta.url));
const { positionals: [folder = ""], values: { modules, also } } = parseArgs({
  allowPositionals: true,
  options: { modules: { type: "string", default: HERE }, also: { type: "string", multiple: true, default: [] } },
});
const TARGET = resolve(folder);
const { build } = createRequire(resolve(modules, "node_modules/join.mjs"))("esbuild");

/** The placeholder that the server replaces by the address of the app's files. */
const BASE = "{{static}}";
/** The kinds of files that are copied unchanged. */
const KEPT = new Set([".svg", ".png", ".webp", ".ico", ".woff2", ".webmanifest", ".txt"]);
/** Files that are loaded by their addresses: some by a library, one by a page that is not part of the app. */
const WHOLE = ["vendor/pdf/", "vendor/xterm/", "vendor/docs/"];
/** Loaded into the audio thread by its address. */
const WORKLET = ".worklet.js";
const STYLESHEET = /^ *<link rel="stylesheet" href="\{\{static\}\}\/(.+)">\n/gm;
const COMMON = {
  bundle: true, format: "esm", target: "es2022", minify: !also.length, legalComments: "none", absWorkingDir: HERE,
  logLevel: "warning",
};

/**
 * A module that is imported late, or by a test, first imports app.js. So all that app.js needs stays in one file.
 * Otherwise each part that such a module needs as well would be a file of its own, and the first page would wait for
 * forty files.
 * @type {import("esbuild").Plugin}
 */
const AFTER_THE_FIRST = {
  name: "after the first",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ path, kind, resolveDir }) => (kind === "dynamic-import"
      || (kind === "entry-point" && path !== "./app.js")
      ? { path: resolve(resolveDir, path), namespace: "late" } : undefined));
    onLoad({ filter: /./, namespace: "late" }, ({ path }) => ({ resolveDir: HERE,
      contents: `import "./app.js"; export * from "./${relative(HERE, path)}";` }));
  },
};

await main();

async function main() {
  mkdirSync(TARGET);
  const page = readFileSync(join(HERE, "index.html"), "utf8");
  const first = await joinModules(page);
  await joinStyles(page);
  await build({ ...COMMON, entryPoints: ["sw.js"], outfile: join(TARGET, "sw.js") });
  writeFileSync(join(TARGET, "index.html"), pageOf(page, first));
  for (const name of below(HERE)) {
    if (!KEPT.has(extname(name)) && !isWhole(name)) continue;
    cpSync(join(HERE, name), join(TARGET, name));
  }
}

/**
 * Joins the modules. Modules that are imported late stay in files of their own; so does code that two of them share.
 * @param {string} page
 * @returns {Promise<string[]>} the files that app.js imports at once
 */
async function joinModules(page) {
  const map = /<script type="importmap">(.+?)<\/script>/s.exec(page)?.[1] ?? "";
  const alias = Object.fromEntries(Object.entries(/** @type {Record<string, string>} */ (JSON.parse(map).imports))
    .map(([name, at]) => [name, at.replace(BASE, HERE)]));
  const { metafile } = await build({
    ...COMMON, entryPoints: ["app.js", ...also].map((name) => ({ in: name, out: name.replace(/\.m?js$/, "") })),
    outdir: join(TARGET, "joined"), alias, splitting: true, chunkNames: "[hash]", metafile: true,
    plugins: [AFTER_THE_FIRST],
  });
  /** @type {Record<string, { imports: { path: string, kind: string }[] }>} */
  const outputs = metafile.outputs;
  const found = new Set(Object.keys(outputs).filter((path) => path.endsWith("/app.js")));
  for (const path of found) { // grows while it is walked
    for (const one of outputs[path]?.imports ?? []) if (one.kind === "import-statement") found.add(one.path);
  }
  return [...found].slice(1).map((path) => relative(TARGET, resolve(HERE, path)));
}

/**
 * In the order in which the server links them.
 * @param {string} page
 */
async function joinStyles(page) {
  const linked = [...page.matchAll(STYLESHEET)].map(([, name]) => name ?? "");
  const others = below(HERE).filter((name) => name.endsWith(".css") && !linked.includes(name) && !isWhole(name));
  const contents = [...linked, ...others].map((name) => `@import "./${name}";`).join("\n");
  const stdin = { contents, resolveDir: HERE, loader: "css" };
  await build({ ...COMMON, stdin, outfile: join(TARGET, "joined/app.css") });
}

/**
 * @param {string} page
 * @param {string[]} first
 */
function pageOf(page, first) {
  const preloads = first.map((name) => `    <link rel="modulepreload" href="${BASE}/${name}">\n`).join("");
  return [
    [STYLESHEET, ""],
    [/ *<script type="importmap">.+?<\/script>\n/s, ""],
    [/ *<link rel="modulepreload".+?>\n/g, ""],
    ["    {{stylesheets}}\n", `    <link rel="stylesheet" href="${BASE}/joined/app.css">\n${preloads}`],
    [`${BASE}/app.js`, `${BASE}/joined/app.js`],
  ].reduce((text, [from, to]) => replaced(text, /** @type {string | RegExp} */ (from), String(to)), page);
}

/**
 * @param {string} text
 * @param {string | RegExp} from
 * @param {string} to
 */
function replaced(text, from, to) {
  const after = text.replace(from, to);
  if (after === text) throw new Error(`join.mjs: the page has no ${from}`);
  return after;
}

/** @param {string} name of a file */
function isWhole(name) {
  return name.endsWith(WORKLET) || WHOLE.some((folder) => name.startsWith(folder));
}

/**
 * Files below a folder, by their paths in it; without what is hidden, and what npm laid there.
 * @param {string} folder
 * @returns {string[]}
 */
function below(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => relative(folder, join(one.parentPath, one.name)))
    .filter((name) => !name.split("/").some((part) => part.startsWith(".") || part === "node_modules"))
    .sort();
}
