"""The entry to the rebuild. The parser is loaded with the first body that is sanitized: until then, an idle service and
modules that only import this function save its memory.
"""

from __future__ import annotations

from svc.formats.html.model import CleanHtml


def sanitize(html: str) -> CleanHtml:
    """A body fit for the sandboxed frame. First ask :func:`svc.formats.html.plan` where it may run."""
    from svc.formats.html.folding import folded_nodes
    from svc.formats.html.rebuild import Rebuild, parsed

    root = parsed(html)
    return Rebuild(folds=folded_nodes(root)).run(root)
