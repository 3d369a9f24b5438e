"""Lists the files of the web app's folder that belong to the app: the service serves them, and the build ships them.

The build hook loads this file alone, before anything is installed, so it imports only the standard library. Owns this
one list. It never reads a file's content.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

# The file types of a browser app. Anything else in the folder (package.json, declarations, notes) is left out.
CONTENT_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        ".js": "text/javascript; charset=utf-8",
        ".mjs": "text/javascript; charset=utf-8",
        ".css": "text/css; charset=utf-8",
        ".html": "text/html; charset=utf-8",
        ".txt": "text/plain; charset=utf-8",
        ".svg": "image/svg+xml",
        ".png": "image/png",
        ".webp": "image/webp",
        ".ico": "image/x-icon",
        ".woff2": "font/woff2",
        ".webmanifest": "application/manifest+json",
        ".bcmap": "application/octet-stream",  # read by the PDF viewer: character tables, and fonts
        ".pfb": "application/octet-stream",
        ".ttf": "font/ttf",
    }
)
# At the top of the folder: run by the build, never by a browser.
_BUILD_SCRIPTS: Final = frozenset({"vendor.mjs", "join.mjs"})
_SKIPPED_FOLDERS: Final = frozenset({"node_modules"})


def served_files(root: Path) -> Iterator[Path]:
    """The app's files below ``root``, in order."""
    for path in _files_below(root):
        if path.parent != root or path.name not in _BUILD_SCRIPTS:
            yield path


def _files_below(folder: Path) -> Iterator[Path]:
    """Plain files of a known type. A symbolic link is not followed: it may lead out of the tree."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.is_symlink():
            continue
        if path.is_dir():
            if path.name not in _SKIPPED_FOLDERS:
                yield from _files_below(path)
        elif path.suffix in CONTENT_TYPES:
            yield path
