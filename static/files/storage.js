// @ts-check
/** How much space files use, and how much is free. */
import { useFetched } from "../settings/fetched.js";
import { fileSize, plural } from "../ui/format.js";
import { html } from "../ui/html.js";
import { useFileNews } from "./news.js";

export function Storage() {
  const { data, load } = useFetched("files.storage");
  useFileNews(load);
  if (!data) return null;
  const { mine, all, free, largest } = data;
  const rows = [
    ["Your uploads", `${fileSize(mine.bytes)}, ${plural(mine.files, "file")}`],
    ...(all ? [["All files here, with those of mail", fileSize(all.bytes)]] : []),
    ...(free === null ? [] : [["Free on the disk", fileSize(free)]]),
    ["One file may have", fileSize(largest)],
  ];
  return html`<section class="setting file-storage" aria-labelledby="file-storage-title">
    <h2 id="file-storage-title">Storage</h2>
    <dl>${rows.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
  </section>`;
}
