// @ts-check
/** Loads the editor (richtext.js) on first use. */

/** @type {Promise<typeof import("./richtext.js").RichText> | null} */
let loading = null;

/** A failed load is tried again at the next call. */
export function loadRichText() {
  loading ??= import("./richtext.js").then(
    (module) => module.RichText,
    (error) => {
      loading = null;
      throw error;
    },
  );
  return loading;
}
