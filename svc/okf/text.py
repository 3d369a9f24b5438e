"""Converts a page to the text of a file, and back. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from svc.clock import rfc3339
from svc.errors import Invalid
from svc.gitops import (
    FrontMatterRefused,
    front_matter_body,
    front_matter_head,
    front_matter_in_lf,
    front_matter_quoted,
    front_matter_tree,
    front_matter_with_body,
    front_matter_with_key,
)
from svc.okf.rows import FilePage
from svc.pages import page_path

ENDING: Final = ".md"
CONFLICT: Final = ".conflict-"
"""Marks the name of a copy that keeps a person's text, where the page had changed as well."""
MAX_NAME_BYTES: Final = 255
_MARK: Final = "fromOutside"
"""The key that a copy of the file takes with it, so that its text is not mistaken for its person's own."""


@dataclass(frozen=True, kw_only=True)
class Read:
    """The parsed text of a file. ``title`` is ``None`` if the file has none. ``from_outside``: the mark, if it is the
    file, or a copy of the file, of a page with text from outside.
    """

    title: str | None
    body: str
    from_outside: str | None = None


def file_of(path: str) -> str:
    """The file of a page, relative to ``okf/``. Raises `Invalid` if no disk accepts such a name."""
    file = path + ENDING
    if any(len(part.encode()) > MAX_NAME_BYTES for part in file.split("/")):
        raise Invalid(f"A part of its path has more than {MAX_NAME_BYTES} bytes, which no file's name may.")
    if CONFLICT in path:
        raise Invalid(f"Its path holds {CONFLICT!r}, which names copies of files.")
    return file


def path_of(file: str) -> str:
    """The path of the page that belongs to a file. Raises `Invalid`."""
    path = page_path(file.removesuffix(ENDING))
    if path + ENDING != file:
        raise Invalid(
            "Its name is not spelled as a page's path is: composed (NFC), each part without blanks around it."
        )
    return path


def written(page: FilePage) -> str:
    """The text of a page's file. The page's own front matter follows our fields in the same block."""
    lines = [
        f"id: {page.id}",
        f"title: {front_matter_quoted(page.title)}",
        f"owner: {front_matter_quoted(page.owner) if page.owner is not None else ''}".rstrip(),
        f"access: {page.access}",
        "grants:" if page.grants else "grants: []",
        *(f"  - to: {front_matter_quoted(to)}\n    level: {level}" for to, level in page.grants),
        f"revision: {page.revision}",
        f"updatedAt: {rfc3339(page.updated_at)}",
    ]
    head = "---\n" + "\n".join(lines) + "\n---\n\n"
    fields, _, moment = head.rpartition("updatedAt: ")
    block = front_matter_with_body(f"{fields}---\n\n", page.body)
    block = front_matter_with_key(block, "updatedAt", [f"updatedAt: {moment.partition(chr(10))[0]}\n"])
    if page.from_outside is None:
        return block
    return front_matter_with_key(block, _MARK, [f"{_MARK}: {page.from_outside}\n"])


def read(data: bytes) -> Read:
    """Parses the text of a file that a person has written. Raises `Invalid`, with a message for people."""
    try:
        text = front_matter_in_lf(data.decode())
    except UnicodeDecodeError:
        raise Invalid("It is not UTF-8 text.") from None
    try:
        head, _ = front_matter_head(text)
        tree = front_matter_tree(head) if head else None
    except FrontMatterRefused as refused:
        raise Invalid(f"Line {refused.broken.line}: {refused}.") from None
    keys = tree.value if tree is not None and isinstance(tree.value, dict) else {}
    title, mark = keys.get("title"), keys.get(_MARK)
    text = front_matter_with_key(front_matter_with_key(text, "updatedAt", None), _MARK, None)
    return Read(
        title=title.value.strip() or None if title is not None and isinstance(title.value, str) else None,
        body=front_matter_body(text),
        from_outside=None if mark is None else str(mark.value),
    )
