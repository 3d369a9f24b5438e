// @ts-check
/** The link to `/docs`, the page that describes the API for programs. It is separate from the app. */

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "description",
  commands: () => [{ id: "docs", label: "Routes and procedures, for programs", group: "Go to",
    also: ["API", "OpenAPI", "Swagger", "developers", "tRPC"], run: () => location.assign("/docs") }],
};
