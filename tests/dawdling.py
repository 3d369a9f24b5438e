"""Tasks that pause at random wherever they wait for the database, an outside service, a stream or a channel.

trio runs what is ready in random order, one turn each: whoever needs one turn more is overtaken only by who needs one
less. With ``SVC_SLOW=1`` each such call takes up to three turns more before and after, so that every order comes up.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Final

import pytest
import trio
from trio.testing import MemoryReceiveStream, MemorySendStream

from svc.protocol.egress import Egress
from svc.store import Store

_TURNS: Final = (0, 0, 1, 2, 3)
_CALLS: Final[tuple[tuple[type[Any], str], ...]] = (
    (Store, "read"),
    (Store, "write"),
    (Egress, "request"),
    (MemorySendStream, "send_all"),
    (MemoryReceiveStream, "receive_some"),
    (trio.MemorySendChannel, "send"),
    (trio.MemoryReceiveChannel, "receive"),
)


def dawdle(monkeypatch: pytest.MonkeyPatch, chance: random.Random) -> None:
    """Until the end of the test."""
    for owner, name in _CALLS:
        monkeypatch.setattr(owner, name, _slowly(getattr(owner, name), chance))


def _slowly(call: Callable[..., Awaitable[Any]], chance: random.Random) -> Callable[..., Awaitable[Any]]:
    @wraps(call)
    async def take_turns(*args: Any, **kwargs: Any) -> Any:
        for _ in range(chance.choice(_TURNS)):
            await trio.lowlevel.checkpoint()
        result = await call(*args, **kwargs)
        for _ in range(chance.choice(_TURNS)):
            await trio.lowlevel.cancel_shielded_checkpoint()  # it is done: nobody hears otherwise
        return result

    return take_turns
