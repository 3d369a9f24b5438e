"""A mailbox at Google read in whole: the whole program beside lieer, against the emulator that the tests use.

Both fetch in Google's batches. lieer writes each mail as a file and has notmuch index it (``notmuch_database``'s own
durability); svc has each mail durable, parsed and in its thread, and later in its index, which is a row of its own. The
emulator is one process on the same machine, so that whoever is fast waits for it: its own pace is a row, too, asked for
the same messages with nothing done to them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import urlsplit

from benchmarks.mailroom import some_mails, sync_disks, wait_for_rows
from benchmarks.report import Table, count, median, paired_ratio
from svc.mail.providers.gmail import batch
from tests.peers.cache import emulator_files
from tests.peers.emulator import CLIENT_ID, CLIENT_SECRET, Google, google
from tests.support.process import ServiceProcess

MAILS: Final = 1_500
"""The emulator serves one token 5,000 times: each mail is put there, and read by the limit and by lieer, with one."""
QUICK_MAILS: Final = 300
ROUNDS: Final = 3
QUICK_ROUNDS: Final = 1
LONGEST_S: Final = 600.0
ADDRESS: Final = "mia@acme.test"
TOGETHER: Final = 50
SVC: Final = "svc"
SVC_FINDS: Final = "svc, until search finds all of it"
LIEER: Final = "lieer"
BARE: Final = "limit: the emulator alone, in batches"
LIEER_AT: Final = Path("/usr/share/lieer")
SYSTEM_PYTHON: Final = "/usr/bin/python3"

RUN_LIEER: Final = """
import json, pathlib, sys
sys.path.insert(0, sys.argv.pop(1))
described = pathlib.Path(sys.argv.pop(1))
base = sys.argv.pop(1)
from apiclient import discovery
from lieer import Gmailieer
from lieer.remote import Remote

api = json.loads(described.read_text()) | {"rootUrl": base, "baseUrl": base}
discovery.build = lambda *_, http=None, **__: discovery.build_from_document(api, base=base, http=http)
Remote.query = ""  # the emulator takes "-in:chats" for words to look for
Gmailieer().main()
"""


def run(quick: bool) -> Iterable[Table]:
    table = Table(title="First full pull from Google's emulator", columns=("program", "mails/s", "s", "x lieer"))
    missing = [
        name
        for name, there in (
            ("the emulator (.ci/peers)", emulator_files()),
            ("lieer", LIEER_AT.exists()),
            ("notmuch", shutil.which("notmuch")),
            ("Google's description of its API", _description()),
        )
        if not there
    ]
    if missing:
        table.notes.append(f"not measured: {' and '.join(missing)} not here")
        table.notes.append("apt-get install lieer notmuch; pip install --no-deps google-api-python-client")
        yield table
        return
    mails, what = some_mails(QUICK_MAILS if quick else MAILS)
    rounds = QUICK_ROUNDS if quick else ROUNDS
    seconds: dict[str, list[float]] = {}
    with TemporaryDirectory() as directory:
        for number in range(rounds):
            for name, took_s in _round(Path(directory) / str(number), mails):
                seconds.setdefault(name, []).append(took_s)
    others = [len(mails) / one for one in seconds[LIEER]]
    for name in (SVC, SVC_FINDS, LIEER, BARE):
        rates = [len(mails) / one for one in seconds[name]]
        table.add(name, count(median(rates)), f"{median(seconds[name]):.1f}", paired_ratio(rates, others))
    table.notes.append(f"{len(mails)} mails: {what}; medians of {rounds} interleaved round(s)")
    yield table


def _round(directory: Path, mails: list[bytes]) -> Iterator[tuple[str, float]]:
    """An emulator of its own for each round: it serves a token only so often. What a round leaves in ``directory``
    stays there for the next (:func:`sync_disks`)."""
    with ServiceProcess(directory / "svc") as service:
        (directory / "svc").mkdir(parents=True)
        with google(users=[ADDRESS], redirect_uris=[f"{service.base}/oauth/mail/callback"]) as peer:
            for raw in mails:
                peer.insert(ADDRESS, raw)
            sync_disks()
            yield BARE, _bare(peer)
            sync_disks()
            yield LIEER, _by_lieer(directory / "lieer", peer, len(mails))
            sync_disks()
            yield from _by_svc(service, peer, len(mails))


def _bare(peer: Google) -> float:
    began = time.perf_counter()
    ids = peer.message_ids(ADDRESS)
    headers = {"authorization": f"Bearer seed-{ADDRESS}", "content-type": batch.CONTENT_TYPE}
    for start in range(0, len(ids), TOGETHER):
        targets = [f"/gmail/v1/users/me/messages/{one}?format=raw" for one in ids[start : start + TOGETHER]]
        answer = peer.request("POST", "/batch/gmail/v1", batch.request_body(targets), headers)
        assert answer.status == 200, answer.body
    return time.perf_counter() - began


def _by_lieer(folder: Path, peer: Google, mails: int) -> float:
    for name in ("cur", "new", "tmp"):
        (folder / "mail" / name).mkdir(parents=True)
    (folder / "notmuch").write_text(
        f"[database]\npath={folder}\n[user]\nname=Mia\nprimary_email={ADDRESS}\n[new]\ntags=new\n"
        "ignore=/.*[.](json|lock|bak)$/\n"
    )
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment = inherited | {"NOTMUCH_CONFIG": str(folder / "notmuch"), "HOME": str(folder)}
    subprocess.run(["notmuch", "new"], env=environment, check=True, capture_output=True, timeout=LONGEST_S)
    (folder / ".gmailieer.json").write_text(json.dumps({"account": ADDRESS}))
    (folder / ".credentials.gmailieer.json").write_text(json.dumps(_credentials(peer)))
    command = [SYSTEM_PYTHON, "-c", RUN_LIEER, str(LIEER_AT), str(_description()), f"{peer.base}/", "pull"]
    began = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LONGEST_S)
    took_s = time.perf_counter() - began
    written = sum(1 for _ in (folder / "mail" / "cur").iterdir())
    assert (done.returncode, written) == (0, mails), (written, done.stdout[-2_000:], done.stderr[-2_000:])
    return took_s


def _description() -> Path | None:
    """Some systems' lieer comes without it."""
    found = find_spec("googleapiclient")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "discovery_cache/documents/gmail.v1.json"


def _credentials(peer: Google) -> dict[str, object]:
    return {
        "access_token": f"seed-{ADDRESS}",
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "refresh_token": "none",
        "token_expiry": "2099-01-01T00:00:00Z",
        "token_uri": f"{peer.base}/oauth2/token",
        "user_agent": None,
        "revoke_uri": None,
        "id_token": None,
        "token_response": None,
        "scopes": [],
        "token_info_uri": None,
        "invalid": False,
        "_class": "OAuth2Credentials",
        "_module": "oauth2client.client",
    }


def _by_svc(service: ServiceProcess, peer: Google, mails: int) -> Iterator[tuple[str, float]]:
    """From the person's consent, as lieer begins with it given."""
    service.start(
        SVC_IDP_ISSUER=peer.base,
        SVC_MAIL_API_URL=peer.base,
        IDP_CLIENT_ID=CLIENT_ID,
        IDP_CLIENT_SECRET=CLIENT_SECRET,
        SVC_MAIL_QUOTA_PER_MINUTE="1000000",
    )
    begun = service.request("GET", f"/oauth/mail/start?email={ADDRESS}")
    location, cookie = begun.header("location"), begun.header("set-cookie")
    assert location
    assert cookie
    back = urlsplit(peer.authorize(location, ADDRESS))
    began = time.perf_counter()
    service.request("GET", f"{back.path}?{back.query}", headers={"cookie": cookie.partition(";")[0]})
    for name, table in ((SVC, "mail_messages"), (SVC_FINDS, "mail_search")):
        wait_for_rows(service, table, mails, deadline_s=LONGEST_S)
        yield name, time.perf_counter() - began
    service.stop()
