"""Maps names in the repository to page paths: ``pages/a/b.md`` is page ``a/b``, ``pages/a/index.md`` is ``a``. Pure.

A name is a stranger's bytes. A file whose name can't be a page's path, or that is no plain file, gets a problem with
the reason; a name that begins with a dot (``.gitkeep``) is ignored.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from svc.errors import Invalid
from svc.gitops.git import Entry
from svc.gitops.git.reading import SYMLINK_MODE
from svc.gitops.model import MAX_FILE_BYTES, MAX_PAGE_BYTES, Found
from svc.pages import SHARED_SURFACES, page_path

PAGES: Final = "pages"
PLUGINS: Final = "plugins.json"
ENDING: Final = ".md"
INDEX: Final = "index"
_RESERVED: Final = frozenset(path for path, _ in SHARED_SURFACES)
_MAX_SHOWN: Final = 300
_MAX_NAME_BYTES: Final = 2_000


def found(entry: Entry) -> Found | None:
    """What an entry below ``pages/`` shall become; ``None`` if it is ignored."""
    file = f"{PAGES}/{shown_name(entry.name)}"
    name = _text(entry.name)
    if name is not None and any(part.startswith(".") and part not in {".", ".."} for part in name.split("/")):
        return None
    reason = _no_file(entry, name)
    if reason is not None or name is None:
        return _other(file, entry, reason or "its name is not UTF-8")
    if not name.endswith(ENDING):
        return _beside(file, name, entry)
    try:
        path = page_of(name)
    except Invalid as error:
        return _other(file, entry, f"its name is no path of a page: {error.detail}")
    if path in _RESERVED:
        return _other(file, entry, f"{path} is a place of the workspace's own")
    if entry.size > MAX_PAGE_BYTES:
        return Found(
            file=file,
            kind="page",
            blob=entry.id,
            size=entry.size,
            path=path,
            problem=f"a page holds at most {MAX_PAGE_BYTES} bytes",
        )
    return Found(file=file, kind="page", blob=entry.id, size=entry.size, path=path)


def page_of(name: str) -> str:
    """The page path of a file below ``pages/``. Raises :class:`svc.errors.Invalid`."""
    path = page_path(name.removesuffix(ENDING))
    above, _, last = path.rpartition("/")
    return above if above and last == INDEX else path


def key_of(path: str) -> str:
    """Two paths with the same key are the same file on a disk that ignores case and Unicode normalization."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def shown_name(name: bytes) -> str:
    """Any name as a printable text; a name that is printable stays the same."""
    text = name.decode("utf-8", "backslashreplace")
    safe = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text)
    return safe if len(safe) <= _MAX_SHOWN else f"{safe[:_MAX_SHOWN]}… ({len(name)} bytes)"


def _text(name: bytes) -> str | None:
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _no_file(entry: Entry, name: str | None) -> str | None:
    if entry.kind == "commit":
        return "it is a submodule, which is not followed"
    if entry.mode == SYMLINK_MODE:
        return "it is a symbolic link, which is not followed"
    if not entry.is_file:
        return "it is no plain file"
    if name is None:
        return "its name is not UTF-8"
    if not name.isprintable():
        return "its name holds control characters"
    if len(entry.name) > _MAX_NAME_BYTES:
        return "its name is too long"
    if any(part in {"", ".", ".."} for part in name.split("/")):
        return "its name leads out of its folder"
    return None


def _beside(file: str, name: str, entry: Entry) -> Found:
    if name != unicodedata.normalize("NFC", name):
        return _other(file, entry, "its name is not composed (NFC): pages could not name it")
    if entry.size > MAX_FILE_BYTES:
        return _other(file, entry, f"a file beside pages has at most {MAX_FILE_BYTES} bytes")
    return Found(file=file, kind="file", blob=entry.id, size=entry.size)


def _other(file: str, entry: Entry, reason: str) -> Found:
    return Found(file=file, kind="other", blob=entry.id, size=entry.size, problem=reason)
