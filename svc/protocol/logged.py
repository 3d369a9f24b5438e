"""Decides what a log may show of a request's target. No other module decides it.

Theory. Codes, tickets and tokens travel in addresses: those of an invite, of a socket, of the redirect back from a
provider. They also appear where they do not belong, since people and programs make mistakes. A pattern that knows
secrets by their look misses the next kind. So the log shows only our own words: the row that answers, with its
parameters by name (``/files/:id/content``), and names of procedures. Of a path without a row it shows the beginning
that is shared with rows; of a query, only that there is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Final

LOGGED_PATH_CHARACTERS: Final = 200
ELSE: Final = "…"


def logged_path(path: str, params: Mapping[str, str], *, known_names: Set[str]) -> str:
    """The path of a row, as a log shows the request that it answers. A parameter's value is shown if it is one of
    ``known_names``."""
    segments = [_logged_segment(segment, params, known_names) for segment in path.split("/")]
    return "/".join(segments)[:LOGGED_PATH_CHARACTERS]


def _logged_segment(segment: str, params: Mapping[str, str], known_names: Set[str]) -> str:
    if not segment.startswith((":", "*")):
        return segment
    values = params.get(segment[1:], "").split(",")
    return ",".join(value if value in known_names else segment for value in values)
