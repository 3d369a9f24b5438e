// @ts-check
/** Takes files that are dragged into the window from outside. */
import { useState } from "preact/hooks";
import { toast } from "../ui/toast.js";

/**
 * The listeners for an element that takes dropped files. `over`: whether files are dragged over it now.
 * @param {(files: File[], event: DragEvent) => void} send
 */
export function useDrop(send) {
  const [over, setOver] = useState(false);
  const carries = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files") ?? false;
  return {
    over,
    listeners: {
      onDragOver: (/** @type {DragEvent} */ event) => {
        if (!carries(event)) return;
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: (/** @type {DragEvent} */ event) => {
        const inside = event.relatedTarget instanceof Node && /** @type {Element} */ (event.currentTarget)
          .contains(event.relatedTarget);
        if (!inside) setOver(false);
      },
      onDrop: (/** @type {DragEvent} */ event) => {
        setOver(false);
        if (!carries(event)) return;
        event.preventDefault();
        send(filesOf(event.dataTransfer), event);
      },
    },
  };
}

/** The dropped files without folders, since browsers do not upload those. @param {DataTransfer | null} carried */
function filesOf(carried) {
  const items = [...(carried?.items ?? [])].filter(({ kind }) => kind === "file");
  const files = items.filter((one) => !one.webkitGetAsEntry()?.isDirectory).map((one) => one.getAsFile());
  if (files.length < items.length) toast("A folder is not uploaded. Drop the files in it.", { tone: "error" });
  return files.filter((one) => one !== null);
}
