"""What the archiver says at its socket, in our words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from svc.backup.control import Control
from svc.backup.litestream import ArchiveFault, LogMisread
from svc.protocol.egress import Egress


@pytest.mark.parametrize(
    "body", [b'{"error":"replica sync: no space left on device"}', b"replica sync: no space left on device\n"]
)
async def test_a_refusal_is_told_without_its_form(body: bytes) -> None:
    with pytest.raises(ArchiveFault) as caught:
        await refusing(body).sync()
    assert type(caught.value) is ArchiveFault
    assert str(caught.value) == "the archiver refused: replica sync: no space left on device"


async def test_it_is_known_that_the_archiver_lost_its_place_in_the_log() -> None:
    with pytest.raises(LogMisread, match="page 370"):
        await refusing(b'{"error":"sync database: sync: write ltx from db: read database page 370: EOF"}').sync()


def refusing(body: bytes) -> Control:
    return answering(500, body)


def answering(status: int, body: bytes) -> Control:
    class Answering:
        async def request(self, *words: object, **more: object) -> SimpleNamespace:
            return SimpleNamespace(status=status, body=body)

    return Control(egress=cast(Egress, Answering()), path="db")
