// @ts-check
/** Takes files that are dragged into the window from outside. */
import { useState } from "preact/hooks";
import { toast } from "../ui/toast.js";

/**
 * The listeners for an element that takes dropped files. `over`: whether files are dragged over it now. `folders` gets
 * the dropped folders, which browsers do not upload; without it, a notice says so.
 * @param {(files: File[], event: DragEvent) => void} send
 * @param {(folders: FileSystemDirectoryEntry[]) => void} [folders]
 */
export function useDrop(send, folders = refuse) {
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
        const items = [...(event.dataTransfer?.items ?? [])].filter(({ kind }) => kind === "file");
        const found = items.map((one) => one.webkitGetAsEntry()).filter((one) => one?.isDirectory);
        const files = items.filter((one) => !one.webkitGetAsEntry()?.isDirectory).map((one) => one.getAsFile());
        if (found.length) folders(/** @type {FileSystemDirectoryEntry[]} */ (found));
        send(files.filter((one) => one !== null), event);
      },
    },
  };
}

function refuse() {
  toast("A folder is not uploaded. Drop the files in it.", { tone: "error" });
}
