// @ts-check
/** The way to the page that shows what programs may ask for. It is a page apart from the app: `/docs`. */

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "description",
  commands: () => [{ id: "docs", label: "Routes and procedures, for programs", group: "Go to",
    also: ["API", "OpenAPI", "Swagger", "developers", "tRPC"], run: () => location.assign("/docs") }],
};
