"""The generated pages say what the code says, and the golden schema shows a review what changed."""

from __future__ import annotations

from svc.generate import pages


def test_every_generated_file_is_fresh() -> None:
    stale = [path.name for path, content in pages().items() if not path.exists() or path.read_text() != content]
    assert stale == [], "run `make gen`"
