"""Finds the current recogniser: the one that an admin chose, with its credential, or a stand-in for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from svc.capabilities import Door
from svc.meetings import queries
from svc.meetings.model import Choice
from svc.meetings.recognisers.local import Local
from svc.meetings.recognisers.seam import Listener, RecogniserFault
from svc.meetings.recognisers.server import DEADLINE_S, MAX_ANSWER_BYTES, Answer, TranscriptionServer
from svc.meetings.recognisers.vendor import Vendor
from svc.meetings.settings import STT_SERVER, STT_URL, STT_VENDOR
from svc.protocol.egress import EgressFault
from svc.protocol.pinned import PinnedEgress, PinnedFault
from svc.settings import PROFILE
from svc.workspace import Workspace

_PURPOSE: Final = "meeting"


@dataclass(kw_only=True)
class Recognisers:
    """``door`` gives only the credentials of speech to text."""

    workspace: Workspace
    door: Door
    _stand_in: Listener | None = field(default=None, init=False)

    def replace_all(self, stand_in: Listener | None) -> None:
        """Use ``stand_in`` instead of the chosen recogniser; ``None``: use the chosen one."""
        self._stand_in = stand_in

    @property
    def stand_in_title(self) -> str | None:
        return None if self._stand_in is None else self._stand_in.title

    async def title(self) -> str | None:
        """The name of the recogniser; ``None`` if none is chosen."""
        if self._stand_in is not None:
            return self._stand_in.title
        choice = await self.workspace.store.read(queries.choice)
        return TITLES[choice.recogniser] if choice.recogniser != "none" else None

    async def chosen(self) -> Listener | None:
        """The recogniser; ``None`` if none is chosen. Raises :class:`RecogniserFault` where the chosen one
        can't work."""
        if self._stand_in is not None:
            return self._stand_in
        choice = await self.workspace.store.read(queries.choice)
        match choice.recogniser:
            case "vendor":
                return await self._vendor(choice)
            case "server":
                return await self._server(choice)
            case "local":
                return Local(directory=self.workspace.home.spool)
        return None

    async def _vendor(self, choice: Choice) -> Vendor:
        key = await self.door.acquire(STT_VENDOR, purpose=_PURPOSE)
        if key is None:
            raise RecogniserFault("has no key: an admin sets one under Settings > Credentials", lasting=True)
        url = self.workspace.config[STT_URL]
        return Vendor(url=url, key=key.decode(), model=choice.model, language=choice.language, title=TITLES["vendor"])

    async def _server(self, choice: Choice) -> TranscriptionServer:
        key = await self.door.acquire(STT_SERVER, purpose=_PURPOSE)
        return TranscriptionServer(
            url=choice.server_url,
            key=(key or b"").decode(),
            model=choice.model,
            language=choice.language,
            post=self._post,
            title=TITLES["server"],
        )

    async def _post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Send a request. Only a service on its user's own machine may call a server in that machine's network."""
        try:
            if self.workspace.config[PROFILE] == "local":
                return await self.workspace.egress.request(
                    "POST", url, headers=headers, body=body, deadline_s=DEADLINE_S, limit_bytes=MAX_ANSWER_BYTES
                )
            return await PinnedEgress().request(
                "POST", url, headers=headers, body=body, deadline_s=DEADLINE_S, limit_bytes=MAX_ANSWER_BYTES
            )
        except (EgressFault, PinnedFault) as fault:
            raise RecogniserFault(f"can't be asked: {fault.detail}") from fault


TITLES: Final = {
    "none": "Nobody",
    "vendor": "The speech-to-text service",
    "server": "The transcription server",
    "local": "The recogniser of this machine",
}
