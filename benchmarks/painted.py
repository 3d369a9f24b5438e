"""Measures in the page from a key to the frame that shows its effect."""

from __future__ import annotations

from typing import Final

WATCH: Final = """only => {
    window.painted = [];
    window.isShown = () => true;
    addEventListener("keydown", event => {
        if (!event.isTrusted || (only && event.key !== only)) return;
        const look = () => requestAnimationFrame(() => {
            if (!isShown()) {
                look();
                return;
            }
            const after = new MessageChannel();
            after.port1.onmessage = () => painted.push(performance.now() - event.timeStamp);
            after.port2.postMessage(0);
        });
        look();
    }, { capture: true });
}"""
"""Adds the milliseconds of each key, or of the key ``only``, to ``painted``: from its time stamp to the first task
after the frame in which ``isShown`` holds."""
