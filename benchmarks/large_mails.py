"""Memory while large mails come in: what the real ``svc serve`` holds at its peak, and what it keeps afterwards.

The mails are of 25 MiB each, the largest that most providers take in, behind the Gmail API of the emulator of
``tests/peers``: a process of its own, so that what it holds is not counted. The limit is what an account may hold at a
time (``HELD_BYTES``); the ratio says how many times that the process grew over what it needs at rest.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass
from email.message import EmailMessage
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import urlsplit

from benchmarks.processes import Server, svc_serve
from benchmarks.report import Table, ratio
from svc.mail.sync.memory_budget import HELD_BYTES
from tests.peers.cache import emulator_files
from tests.peers.emulator import CLIENT_ID, CLIENT_SECRET, Google, google

ADDRESS: Final = "alice@acme.test"
MAILS: Final = 24
QUICK_MAILS: Final = 8
ATTACHED_BYTES: Final = 18 * 1024 * 1024
"""As base64 in lines, and with the head: 25 MiB."""

PATIENCE_S: Final = 900.0
LOOK_S: Final = 0.02
SETTLE_S: Final = 10.0
MIB: Final = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class _Told:
    rest: int
    peak: int
    after: int
    seconds: float


def run(quick: bool) -> Iterable[Table]:
    mails = QUICK_MAILS if quick else MAILS
    table = Table(title=f"{mails} mails of 25 MiB come in", columns=("resident memory", "MiB", "over rest x held"))
    if emulator_files() is None:
        table.notes.append("the emulator is not in the cache: see .ci/peers")
        yield table
        return
    told = _measure(mails)
    for name, value in (("at rest", told.rest), ("at the peak", told.peak), ("afterwards", told.after)):
        table.add(name, f"{value / MIB:.0f}", ratio(value - told.rest, HELD_BYTES))
    table.notes.append(f"held: {HELD_BYTES // MIB} MiB of raw mails an account; {told.seconds:.0f} s for all of them")
    yield table


def _measure(mails: int) -> _Told:
    port = _free_port()
    back = f"http://127.0.0.1:{port}/oauth/mail/callback"
    with TemporaryDirectory() as directory, google(users=[ADDRESS], redirect_uris=[back]) as provider:
        for number in range(mails):
            provider.insert(ADDRESS, _mail(number))
        settings = {
            "PROVIDERS": "",
            "SVC_PORT": str(port),
            "IDP_CLIENT_ID": CLIENT_ID,
            "IDP_CLIENT_SECRET": CLIENT_SECRET,
            "SVC_IDP_ISSUER": provider.base,
            "SVC_MAIL_API_URL": provider.base,
        }
        with svc_serve(Path(directory) / "home", settings=settings) as server:
            rest = _resident(server)
            began = time.perf_counter()
            _connect(server, provider)
            peak = _watch(server, mails)
            seconds = time.perf_counter() - began
            time.sleep(SETTLE_S)
            return _Told(rest=rest, peak=peak, after=_resident(server), seconds=seconds)


def _free_port() -> int:
    """The provider has to know where it sends browsers back before we serve there."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _mail(number: int) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Ben <ben@sea.example>", ADDRESS, f"Plans {number}"
    message["Message-ID"] = f"<large.{number}@sea.example>"
    message.set_content("The plans are attached.")
    message.add_attachment(os.urandom(ATTACHED_BYTES), maintype="image", subtype="tiff", filename=f"{number}.tiff")
    return message.as_bytes()


def _connect(server: Server, provider: Google) -> None:
    """As a browser goes to the provider and back."""
    asked = _answer(server, "/oauth/mail/start")
    back = urlsplit(provider.authorize(asked.headers["location"], ADDRESS))
    cookie = asked.headers["set-cookie"].partition(";")[0]
    assert _answer(server, f"{back.path}?{back.query}", cookie=cookie).status == 302


def _watch(server: Server, mails: int) -> int:
    """The most it held until all mails were stored."""
    peak, deadline = 0, time.perf_counter() + PATIENCE_S
    asked = 0.0
    while time.perf_counter() < deadline:
        peak = max(peak, _resident(server))
        if time.perf_counter() - asked > 1:
            asked = time.perf_counter()
            accounts = _accounts(server)
            if accounts and accounts[0]["messages"] == mails and accounts[0]["state"] == "caught-up":
                return peak
        time.sleep(LOOK_S)
    raise RuntimeError(f"not all mails came in: {_accounts(server)}")


def _accounts(server: Server) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(_answer(server, "/trpc/mail.accounts").body)["result"]["data"]
    return found


@dataclass(frozen=True, kw_only=True)
class _Answer:
    status: int
    headers: dict[str, str]
    body: bytes


def _answer(server: Server, target: str, *, cookie: str = "") -> _Answer:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", target, headers={"cookie": cookie} if cookie else {})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return _Answer(status=answer.status, headers={k.lower(): v for k, v in answer.getheaders()}, body=body)


def _resident(server: Server) -> int:
    """Of the process itself: parsing by worker processes ends with them."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS:")).split()[1]) * 1024
