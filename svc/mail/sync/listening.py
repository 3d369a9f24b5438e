"""Listens for a provider's notifications, beside the polls of its account. A notification starts a poll at once.

It connects only while the account is well: after a refused sign-in or a request to slow down, a poll has to succeed
first. A connection that fails is opened again after a growing pause. That is only logged, since the polls go on.
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
"""After a connection that lasted this long, the next pause is short again."""


@dataclass(kw_only=True)
class Listening:
    provider: Provider
    heard: Callable[[], None]
    rng: random.Random
    log: Log
    _well: trio.Event = field(default_factory=trio.Event)

    def account_is(self, *, well: bool) -> None:
        """Notes whether the last sync step went well."""
        if well:
            self._well.set()
        elif self._well.is_set():
            self._well = trio.Event()

    async def run(self) -> None:
        """Returns where the provider sends no notifications."""
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
