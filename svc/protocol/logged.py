"""What of a request's target may stand in a log. This is the one place that decides it.

Theory. Codes, tickets and tokens travel in addresses: of an invite, of a socket, of the way back from a provider. Also
where they do not belong, since people and programs make mistakes. A pattern that knows secrets by their looks misses
the next kind. So the log shows our own words only: the row that answers, with its parameters by name
(``/files/:id/content``), and names of procedures; of what no row answers, as much as rows begin with; of a query, that
there is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Final

LOGGED_PATH_CHARACTERS: Final = 200
ELSE: Final = "…"


def logged_path(path: str, params: Mapping[str, str], *, known_names: Set[str]) -> str:
    """The path of a row, as a log shows the request that it answers. ``known_names`` may stand for a parameter."""
    segments = [_logged_segment(segment, params, known_names) for segment in path.split("/")]
    return "/".join(segments)[:LOGGED_PATH_CHARACTERS]


def _logged_segment(segment: str, params: Mapping[str, str], known_names: Set[str]) -> str:
    if not segment.startswith((":", "*")):
        return segment
    values = params.get(segment[1:], "").split(",")
    return ",".join(value if value in known_names else segment for value in values)
