"""Adds lines to pages for the mails of one transaction. Many lines for a page make few revisions of it, since each
revision holds the whole text."""

from __future__ import annotations

from dataclasses import dataclass, field

from svc.errors import TooLarge
from svc.pages import MAX_BODY_BYTES, page_body, page_path, page_text, readable_page, save_page
from svc.principal import Principal
from svc.store import Tx


@dataclass(kw_only=True)
class _Text:
    """A page's text with its lines. ``size``: in bytes. ``is_saved``: whether the page has all of it."""

    text: str
    lines: set[str]
    size: int
    is_saved: bool = True


@dataclass(frozen=True, kw_only=True)
class Filing:
    """The first line for a page is saved at once, because only that shows whether the page can be written. The lines
    after it are saved together by :meth:`close`."""

    tx: Tx
    principal: Principal
    _texts: dict[str, _Text] = field(default_factory=dict)

    def add(self, path: str, line: str) -> None:
        """Add the line, unless the page has it. Raises :class:`svc.errors.Refusal`."""
        path, line = page_path(path), page_body(line)
        known = self._texts.get(path)
        if known is None:
            self._texts[path] = self._first(path, line)
        elif line not in known.lines:
            size = known.size + len(line.encode()) + 1
            if size > MAX_BODY_BYTES:
                raise TooLarge(f"A page holds at most {MAX_BODY_BYTES} bytes.")
            known.text, known.size, known.is_saved = f"{known.text}{line}\n", size, False
            known.lines.add(line)

    def close(self) -> None:
        for path, one in self._texts.items():
            if not one.is_saved:
                save_page(self.tx, self.principal, path=path, title=None, body=one.text)

    def _first(self, path: str, line: str) -> _Text:
        page = readable_page(self.tx, self.principal, path)
        before = "" if page is None else page_text(self.tx, page_id=page.id, revision=page.revision)
        lines = set(before.splitlines())
        if line in lines:
            text = f"{before.rstrip()}\n"
        else:
            text = f"{before.rstrip()}\n{line}\n".lstrip()
            save_page(self.tx, self.principal, path=path, title=None, body=text)
        return _Text(text=text, lines=lines | {line}, size=len(text.encode()))
