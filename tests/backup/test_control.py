"""What the archiver says at its socket, in our words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from svc.backup.control import Control
from svc.backup.litestream import ArchiveFault
from svc.protocol.egress import Egress


@pytest.mark.parametrize(
    "body", [b'{"error":"replica sync: no space left on device"}', b"replica sync: no space left on device\n"]
)
async def test_a_refusal_is_told_without_its_form(body: bytes) -> None:
    class Refusing:
        async def request(self, *words: object, **more: object) -> SimpleNamespace:
            return SimpleNamespace(status=500, body=body)

    with pytest.raises(ArchiveFault) as caught:
        await Control(egress=cast(Egress, Refusing()), path="db").sync()
    assert str(caught.value) == "the archiver refused: replica sync: no space left on device"
