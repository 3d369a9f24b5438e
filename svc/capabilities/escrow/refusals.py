"""Why a hosted cell does not get its master key: each in words of its own, with what to do."""

from __future__ import annotations

from svc.store import KeyRefused


class EscrowRefused(KeyRefused):
    """``name`` is the variable that it is about. ``passing``: it may work later, with nothing changed."""

    def __init__(self, name: str, problem: str, remedy: str, *, passing: bool = False) -> None:
        super().__init__(f"{name}: {problem}; {remedy}")
        self.passing = passing


class Later(Exception):
    """Tried again within the same boot. ``refusal`` is what is said when that does not help; ``after_s`` what the
    service asks for."""

    def __init__(self, refusal: EscrowRefused, *, after_s: float = 0.0) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal
        self.after_s = after_s
