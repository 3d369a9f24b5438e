/**
 * Reads `{ asks: [{ text, now, dayFirst, weekStart }], presets: [now] }` as JSON from standard input, `now` as local time
 * of the zone in TZ, and writes `{ read, presets }`: what each text becomes, as local time and as milliseconds after now.
 *
 *     TZ=Europe/Berlin node time_reader.mjs < questions.json
 */
import { readFileSync } from "node:fs";

const STATIC = new URL("../../static/mail/times/", import.meta.url);
const { parseTime } = await import(new URL("parse.js", STATIC).href);
const { presets } = await import(new URL("presets.js", STATIC).href);
const given = JSON.parse(readFileSync(0, "utf8"));

const two = (value) => String(value).padStart(2, "0");
const local = (at) => `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${
  two(at.getMinutes())}`;

const read = given.asks.map(({ text, now, dayFirst, weekStart }) => {
  const { at, problem } = parseTime(text, new Date(now), { dayFirst, weekStart });
  return { at: at && local(at), ahead: at && at.getTime() - new Date(now).getTime(), problem };
});
const offered = given.presets.map((now) => presets(new Date(now)).map(({ name, at }) => ({ name, at: local(at),
  ahead: at.getTime() - new Date(now).getTime() })));
process.stdout.write(JSON.stringify({ read, presets: offered }));
