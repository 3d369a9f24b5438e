// @ts-check
/**
 * Lays the browser's modules into vendor/: single ES modules from node_modules, no bundler.
 *
 * What is copied stands in package.json under "vendor" (name in vendor/ -> file in node_modules). Owns the folder
 * vendor/: it is made anew each time, in one rename, and ends with a stamp of what it was made from. Imports nothing
 * but Node itself, downloads nothing.
 *
 *     node vendor.mjs [folder that holds node_modules, default: beside this file]
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
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
  for (const [name, from] of wanted) writeFileSync(join(fresh, name), withoutSourceMap(join(modules, from)));
  writeFileSync(join(fresh, "LICENSES.txt"), licences(modules, wanted.map(([, from]) => from)));
  writeFileSync(join(fresh, STAMP), `${stamp()}\n`);
  rmSync(TARGET, { recursive: true, force: true });
  renameSync(fresh, TARGET);
}

/**
 * The maps are not shipped: a browser's developer tools would ask for them in vain.
 * @param {string} path
 */
function withoutSourceMap(path) {
  return readFileSync(path, "utf8").replace(/\n?\/\/# sourceMappingURL=.*\s*$/, "\n");
}

/**
 * The notices that the packages' licences ask to be kept with the copies, and those of what a copy may have in it.
 * @param {string} modules
 * @param {string[]} files
 */
function licences(modules, files) {
  const packages = withDependencies(modules, files.map(packageOf)).sort();
  const texts = packages.map((name) => {
    const folder = join(modules, name);
    const found = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return `${name} ${version} (${license})\n\n${found ? readFileSync(join(folder, found), "utf8").trim() : ""}\n`;
  });
  return texts.join(`\n${"-".repeat(72)}\n\n`);
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
