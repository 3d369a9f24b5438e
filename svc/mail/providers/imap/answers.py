"""The answer to an IMAP command: all responses until the command was done, or a refusal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from svc.mail.providers.imap.protocol.responses import Response, State

_Kind = TypeVar("_Kind", bound=Response)


class CommandRefused(Exception):
    """The server said NO or BAD. The connection stays usable."""

    def __init__(self, state: State) -> None:
        super().__init__(state.words)
        self.state = state

    @property
    def code(self) -> str:
        return self.state.code.name if self.state.code else ""


@dataclass(frozen=True)
class Answer:
    """``done`` is its last response, with the command's own tag."""

    responses: Sequence[Response]
    done: State

    def all(self, kind: type[_Kind]) -> Iterator[_Kind]:
        return (one for one in self.responses if isinstance(one, kind))

    def codes(self) -> dict[str, tuple[bytes, ...]]:
        """The response codes by name, from all responses of the answer."""
        return {one.code.name: one.code.arguments for one in self.all(State) if one.code is not None}
