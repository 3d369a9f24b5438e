// @ts-check
/** The templates of plugins, which are offered when a page is made. */
import { query } from "../rpc.js";
import { offers, wantOffers } from "./offers.js";

/** @returns {import("../feature.js").Template[]} */
export function templates() {
  wantOffers();
  const all = offers.value?.pages ?? [];
  return all.filter((one) => one.kind === "template").map(({ plugin, pluginTitle, name, title }) => ({
    id: `${plugin}/${name}`, title, group: pluginTitle,
    text: async () => (await query("plugins.page", { plugin, name })).body,
  }));
}
