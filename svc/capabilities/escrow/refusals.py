"""The reasons why a hosted cell does not get its master key: each with its own message and remedy."""

from __future__ import annotations

from svc.store import KeyRefused


class EscrowRefused(KeyRefused):
    """``name`` is the setting that it is about. ``passing``: it may work later, with nothing changed."""

    def __init__(self, name: str, problem: str, remedy: str, *, passing: bool = False) -> None:
        super().__init__(f"{name}: {problem}; {remedy}")
        self.passing = passing


class Later(Exception):
    """Retry within the same boot. ``refusal`` is raised if that does not help; ``after_s`` is the wait that the service
    asks for."""

    def __init__(self, refusal: EscrowRefused, *, after_s: float = 0.0) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal
        self.after_s = after_s
