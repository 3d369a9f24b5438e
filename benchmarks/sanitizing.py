"""Sanitizing: how fast on real mail, and how its time grows on shapes that were made to be slow.

Beside it, html5lib's parse alone and nh3 (Rust), which sanitizes as well but by other rules. The exponent is the slope
of time over size, both as logarithms: 1 is linear, 2 quadratic. Sizes double until a shape takes too long, so that no
library holds up the run. What is measured is processor time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from typing import Final

from benchmarks.mailroom import some_mails
from benchmarks.report import Table, milliseconds, percentile
from svc.formats.html import plan, sanitize, text_fallback
from svc.formats.mime import parse_message

MAILS: Final = 6_046
QUICK_MAILS: Final = 400
MAX_BODY_CHARS: Final = 256 * 1024
FIRST_CHARS: Final = 1024
MIN_SIZES: Final = 3
LAST_CHARS: Final = 1024 * 1024
TOO_LONG_S: Final = 0.7
QUICK_TOO_LONG_S: Final = 0.15

SHAPES: Final[dict[str, Callable[[int], str]]] = {
    "nested div": lambda size: "<div>" * (size // 5),
    "attributes of one tag": lambda size: "<p " + " ".join(f"a{n}=1" for n in range(size // 9)) + ">",
    "only <": lambda size: "<" * size,
    "<table><td>": lambda size: "<table><td>" * (size // 11),
    "<svg>": lambda size: "<svg>" * (size // 5),
    "misnested <a><b><i>": lambda size: "<a><b><i>" * (size // 9),
    "<ul><li>": lambda size: "<ul><li>" * (size // 8),
    "</b> after <p><b>": lambda size: "<p><b>" * (size // 10) + "</b>" * (size // 10),
    "styles": lambda size: f"<p style='{'color:red;' * 1_000}'>x</p>" * max(1, size // 10_026),
    "links that show a host": lambda size: "<a href=//b.example>a.example</a>" * (size // 33),
}

Clean = Callable[[str], object]


def run(quick: bool) -> Iterable[Table]:
    libraries = _libraries()
    yield _on_real_mail(libraries, QUICK_MAILS if quick else MAILS)
    yield _on_hostile_shapes(libraries, QUICK_TOO_LONG_S if quick else TOO_LONG_S)


def _libraries() -> dict[str, Clean]:
    found: dict[str, Clean] = {"svc": sanitize}
    if find_spec("nh3"):
        from nh3 import clean

        found["nh3"] = clean
    if find_spec("html5lib"):
        from html5lib import parse

        found["html5lib, parse only"] = lambda html: parse(html, treebuilder="etree")
    return found


def _on_real_mail(libraries: dict[str, Clean], wanted: int) -> Table:
    mails, what = some_mails(wanted)
    bodies = [html for mail in mails if (html := parse_message(mail).html) and len(html) <= MAX_BODY_CHARS]
    times: dict[str, list[float]] = {name: [] for name in libraries}
    for html in bodies:
        for name, clean in libraries.items():
            times[name].append(_seconds(clean, html))
    size = sum(len(html.encode("utf-8", "replace")) for html in bodies)
    table = Table(title="Sanitizing real mail", columns=("by", "MB/s", "x svc", "p50, ms", "p99, ms", "slowest, ms"))
    for name, each in times.items():
        table.add(
            name,
            f"{size / sum(each) / 1e6:.1f}",
            f"{sum(times['svc']) / sum(each):.2f}",
            *(milliseconds(percentile(each, percent)) for percent in (50, 99, 100)),
        )
    table.notes.append(f"{len(bodies):,} HTML bodies, {size / 1e6:.1f} MB: {what}")
    return table


def _on_hostile_shapes(libraries: dict[str, Clean], too_long_s: float) -> Table:
    columns = ["shape", *(f"{name}: exponent" for name in libraries), *(f"{name}: s/MB" for name in libraries)]
    table = Table(title="Hostile shapes: how time grows", columns=(*columns, "svc takes 1 MB as"))
    for shape, make in SHAPES.items():
        grown = {name: _growth(clean, make, too_long_s) for name, clean in libraries.items()}
        table.add(
            shape,
            *(_exponent(points) for points in grown.values()),
            *(_at_the_end(points) for points in grown.values()),
            plan(make(LAST_CHARS)),
        )
    as_text = max(_seconds(text_fallback, make(LAST_CHARS)) for make in SHAPES.values())
    table.notes += [
        f"s/MB: at the largest size tried; sizes double from {FIRST_CHARS // 1024} KB to {LAST_CHARS // 1024} KB,",
        f"or until one takes {too_long_s:g} s; without three sizes there is no exponent",
        "process: in a worker that is killed after 5 s; text: not parsed. Either way the reader gets the text",
        f"the text of 1 MB of the worst shape takes {as_text:.2f} s",
    ]
    return table


def _growth(clean: Clean, make: Callable[[int], str], too_long_s: float) -> list[tuple[int, float]]:
    points = []
    size = FIRST_CHARS
    while size <= LAST_CHARS:
        html = make(size)
        points.append((len(html), _seconds(clean, html)))
        if points[-1][1] > too_long_s:
            break
        size *= 2
    return points


def _exponent(points: Sequence[tuple[int, float]]) -> str:
    """Over the larger half: the smaller sizes are start-up."""
    if len(points) < MIN_SIZES:
        return ""
    logs = [(math.log(size), math.log(seconds)) for size, seconds in points[-max(MIN_SIZES, len(points) // 2) :]]
    mean_x, mean_y = (sum(values) / len(logs) for values in zip(*logs, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _ in logs)
    return f"{sum((x - mean_x) * (y - mean_y) for x, y in logs) / spread:.2f}"


def _at_the_end(points: Sequence[tuple[int, float]]) -> str:
    size, seconds = points[-1]
    return f"{seconds / size * 1e6:.2f} at {size // 1024} KB"


def _seconds(clean: Clean, html: str) -> float:
    began = time.process_time()
    try:
        clean(html)
    except RecursionError:
        return math.inf
    return max(time.process_time() - began, 1e-6)
