"""Finds the files of the web app: inside an installed package, or beside it in a checkout."""

from __future__ import annotations

from pathlib import Path


def static_directory() -> Path:
    package = Path(__file__).parent.parent
    installed = package / "_static"
    return installed if installed.is_dir() else package.parent / "static"
