"""The door to the rebuild. The parser behind it is loaded with the first body that is sanitized: a service at rest, and
all that only names this function, do without it.
"""

from __future__ import annotations

from svc.formats.html.model import CleanHtml


def sanitize(html: str) -> CleanHtml:
    """A body fit for the sandboxed frame. Ask :func:`svc.formats.html.plan` first where it may run."""
    from svc.formats.html.folding import folded_nodes
    from svc.formats.html.rebuild import Rebuild, parsed

    root = parsed(html)
    return Rebuild(folds=folded_nodes(root)).run(root)
