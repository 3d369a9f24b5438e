/**
 * Reads `{ texts, pages }` as JSON from standard input and writes `{ html, steps, spec }`: the HTML of each text, how
 * many steps of the program each page takes, and CommonMark's own examples with what becomes of them here.
 *
 *     node markdown_reader.mjs < questions.json
 *
 * A step is one run of one stretch of code, as V8 counts them: nearly the same on each machine, however busy.
 */
import { readFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { createRequire } from "node:module";

const STATIC = new URL("../../static/", import.meta.url);
const { texts, pages } = JSON.parse(readFileSync(0, "utf8"));
const { toHtml } = await import(new URL("pages/grammar.js", STATIC).href);
const { tests } = createRequire(new URL("package.json", STATIC))("commonmark-spec");

const html = texts.map(toHtml);
const spec = tests.map(({ number, section, markdown, html: theirs }) => {
  const text = markdown.replaceAll("→", "\t");
  return { number, section, text, html: theirs.replaceAll("→", "\t"), ours: toHtml(text) };
});
process.stdout.write(JSON.stringify({ html, steps: await countEach(pages), spec }));

/** @param {string[]} given */
async function countEach(given) {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  const counts = [];
  for (const text of given) {
    await session.post("Profiler.takePreciseCoverage"); // the next one begins at zero
    toHtml(text);
    const { result } = await session.post("Profiler.takePreciseCoverage");
    counts.push(stepsIn(result.filter(({ url }) => url.startsWith("file:") && url !== import.meta.url)));
  }
  return counts;
}

/** @param {import("node:inspector").Profiler.ScriptCoverage[]} scripts */
function stepsIn(scripts) {
  const ranges = scripts.flatMap(({ functions }) => functions).flatMap(({ ranges }) => ranges);
  return ranges.reduce((sum, { count }) => sum + count, 0);
}
