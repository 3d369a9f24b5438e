"""Listening to a provider, beside the polls of its account: who hears something polls at once.

Only while the account is well: who was not let in, or asked to slow down, comes back by the poll alone. A line that
ends is opened anew after a growing pause; nobody is told of it, for the poll is what counts.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import trio

from svc.backoff import Backoff
from svc.log import Log
from svc.mail.providers.seam import Provider, ProviderFault

FIRST_PAUSE_S: Final = 60.0
LONGEST_PAUSE_S: Final = 30 * 60.0
LASTED_S: Final = 10 * 60.0
"""A line that held so long was a good one: the next pause is short again."""


@dataclass(kw_only=True)
class Listening:
    provider: Provider
    heard: Callable[[], None]
    rng: random.Random
    log: Log
    _well: trio.Event = field(default_factory=trio.Event)

    def account_is(self, *, well: bool) -> None:
        """How the last step went."""
        if well:
            self._well.set()
        elif self._well.is_set():
            self._well = trio.Event()

    async def run(self) -> None:
        """Returns where there is nothing to be heard."""
        pauses = Backoff(first_s=FIRST_PAUSE_S, cap_s=LONGEST_PAUSE_S, rng=self.rng)
        while True:
            await self._well.wait()
            began_s = trio.current_time()
            try:
                await self.provider.listen(self.heard)
            except ProviderFault as fault:
                self.log.info("mail.listening_ended", reason=fault.detail)
            else:
                return
            if trio.current_time() - began_s >= LASTED_S:
                pauses.reset()
            await trio.sleep(pauses.next_s())
