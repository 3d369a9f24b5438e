// @ts-check
/**
 * Lays the browser's modules into vendor/: single ES modules from node_modules, no bundler.
 *
 * What is copied stands in package.json under "vendor" (name in vendor/ -> file in node_modules, or a folder, with a
 * slash at the end, for the files in it). Owns the folder
 * vendor/: it is made anew each time, in one rename, and ends with a stamp of what it was made from. Imports nothing
 * but Node itself, downloads nothing.
 *
 *     node vendor.mjs [folder that holds node_modules, default: beside this file]
 */
import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const TARGET = join(HERE, "vendor");
const STAMP = ".made-from";
/** What the stamp covers; hatch_build.py computes the same. */
const SOURCES = ["package.json", "package-lock.json", "vendor.mjs"];

main(resolve(process.argv[2] ?? HERE, "node_modules"));

/** @param {string} modules the node_modules folder to copy from */
function main(modules) {
  const manifest = JSON.parse(readFileSync(join(HERE, "package.json"), "utf8"));
  const wanted = Object.entries(/** @type {Record<string, string>} */ (manifest.vendor));
  const missing = wanted.map(([, from]) => from).filter((from) => !existsSync(join(modules, from)));
  if (missing.length) {
    console.error(`vendor.mjs: not found in ${modules}: ${missing.join(", ")}; run npm ci first.`);
    process.exit(1);
  }
  const fresh = `${TARGET}.new-${process.pid}`;
  mkdirSync(fresh);
  for (const [name, from] of wanted) copy(join(modules, from), join(fresh, name));
  writeFileSync(join(fresh, "LICENSES.txt"), licences(modules, wanted.map(([, from]) => from)));
  writeFileSync(join(fresh, STAMP), `${stamp()}\n`);
  rmSync(TARGET, { recursive: true, force: true });
  renameSync(fresh, TARGET);
}

/**
 * @param {string} from a file, or a folder whose files are meant
 * @param {string} to
 */
function copy(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  if (statSync(from).isDirectory()) cpSync(from, to, { recursive: true, filter: (path) => !isNotice(basename(path)) });
  else if (/\.m?js$/.test(from)) writeFileSync(to, withoutSourceMap(from));
  else copyFileSync(from, to);
}

/** @param {string} name of a file */
function isNotice(name) {
  return /^licen[cs]e/i.test(name);
}

/**
 * The maps are not shipped: a browser's developer tools would ask for them in vain.
 * @param {string} path
 */
function withoutSourceMap(path) {
  return readFileSync(path, "utf8").replace(/\n?\/\/# sourceMappingURL=.*\s*$/, "\n");
}

/**
 * The notices that the packages' licences ask to be kept with the copies, and those of what a copy may have in it: of
 * other packages, and of others' work that lies in a folder of the package with its own notice.
 * @param {string} modules
 * @param {string[]} files
 */
function licences(modules, files) {
  const packages = withDependencies(modules, files.map(packageOf)).sort();
  const texts = packages.map((name) => {
    const folder = join(modules, name);
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return `${name} ${version} (${license})\n\n${notices(folder)[0]?.text ?? ""}\n`;
  });
  const folders = new Set(files.map((file) => (file.endsWith("/") ? file.slice(0, -1) : dirname(file))));
  for (const folder of [...folders].filter((one) => !packages.includes(one)).sort()) {
    for (const { name, text } of notices(join(modules, folder))) texts.push(`${folder}/${name}\n\n${text}\n`);
  }
  return texts.join(`\n${"-".repeat(72)}\n\n`);
}

/** @param {string} folder */
function notices(folder) {
  const names = readdirSync(folder).filter(isNotice).sort();
  return names.map((name) => ({ name, text: readFileSync(join(folder, name), "utf8").trim() }));
}

/**
 * @param {string} modules
 * @param {string[]} names
 */
function withDependencies(modules, names) {
  const found = new Set(names);
  for (const name of found) { // grows while it is walked
    const { dependencies = {} } = JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8"));
    for (const one of Object.keys(dependencies)) found.add(one);
  }
  return [...found];
}

/** @param {string} file */
function packageOf(file) {
  return file.split("/").slice(0, file.startsWith("@") ? 2 : 1).join("/");
}

function stamp() {
  const digest = createHash("sha256");
  for (const name of SOURCES) digest.update(readFileSync(join(HERE, name)));
  return digest.digest("hex");
}
