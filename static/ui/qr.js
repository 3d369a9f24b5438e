// @ts-check
/**
 * A text as a QR code: dark on light in every theme, because cameras need it. The encoder is loaded when first needed.
 */
import { useEffect, useState } from "preact/hooks";
import { html } from "./html.js";

/** The white border in modules, as ISO/IEC 18004 requires. */
const QUIET_ZONE = 4;

/** @param {{ text: string, label: string }} props */
export function QrCode({ text, label }) {
  const [modules, setModules] = useState(/** @type {boolean[][]} */ ([]));
  useEffect(() => {
    let current = true;
    void import("uqr").then(({ encode }) => {
      if (current) setModules(encode(text, { ecc: "M", border: QUIET_ZONE }).data);
    });
    return () => {
      current = false;
    };
  }, [text]);
  const size = modules.length || 1;
  return html`<svg class="qr" role="img" aria-label=${label} viewBox=${`0 0 ${size} ${size}`}
    shape-rendering="crispEdges">
    <rect width=${size} height=${size} /><path d=${outline(modules)} />
  </svg>`;
}

/** A path with a rectangle for each dark run of a row. @param {boolean[][]} modules */
function outline(modules) {
  return modules
    .flatMap((row, y) =>
      row.map((dark, x) => {
        if (!dark || row[x - 1]) return "";
        const end = row.findIndex((one, at) => at > x && !one);
        return `M${x} ${y}h${(end === -1 ? row.length : end) - x}v1H${x}z`;
      }),
    )
    .join("");
}
