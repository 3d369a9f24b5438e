"""Dovecot with folders that another person shares, and with public ones: only the user's own are read."""

from __future__ import annotations

import imaplib
from pathlib import Path
from typing import Final

import pytest

from svc.clock import WallClock
from svc.mail.accounts import actions as account_actions
from svc.mail.model import SENT, UNREAD
from svc.mail.providers.table import Providers
from svc.principal import UNCLAIMED
from tests.mail.imap.dovecot_account import ALL_ABILITIES, DovecotAccount, begun, letter
from tests.peers.dovecot import ADDRESS, Dovecot, dovecot
from tests.peers.needs import DOVECOT, needs
from tests.recorded_log import RecordedLog
from tests.support.service import open_service

pytestmark = [pytest.mark.peer, pytest.mark.wall_clock, needs(DOVECOT)]

BOB: Final = "bob@acme.test"
OTHERS: Final = """
passdb {
  driver = static
  args = password=pw
}
mail_plugins = acl
protocol imap {
  mail_plugins = acl imap_acl
}
plugin {
  acl = vfile
  acl_ignore_namespace = Public/*
  acl_shared_dict = file:%h/../shared.db
}
namespace shared {
  type = shared
  prefix = shared/%%u/
  separator = /
  location = maildir:%%h
  list = yes
  subscriptions = no
}
namespace public {
  type = public
  prefix = Public/
  separator = /
  location = maildir:%h/public
  list = yes
  subscriptions = no
  mailbox Sent {
    special_use = \\Sent
    auto = create
  }
}
"""


def share(server: Dovecot) -> None:
    """Another user shares two folders with a mail in each."""
    with imaplib.IMAP4("127.0.0.1", server.port) as bob:
        bob.authenticate("PLAIN", lambda _: f"\0{BOB}\0pw".encode())
        for folder in ("INBOX", "Sent"):
            assert bob.append(folder, "", "", letter(f"Of Bob in {folder}"))[0] == "OK"
            assert bob.setacl(folder, ADDRESS, "lrswi")[0] == "OK"


async def test_folders_of_others_are_left_out_and_named(tmp_path: Path, log: RecordedLog) -> None:
    with dovecot(extra=OTHERS) as server:
        share(server)
        server.deliver("INBOX", letter("Mine"))
        server.deliver("Sent", letter("Sent by me"), flags="(\\Seen)")
        server.make("Public/News")
        async with open_service(tmp_path, clock=WallClock(), log=log) as service:
            dovecot_account = DovecotAccount(service=service, server=server, without=ALL_ABILITIES)
            service.workspace.service(Providers).replace_all("imap", lambda account: dovecot_account.provider())
            dovecot_account.account_id = await service.workspace.store.write(
                account_actions.connect, UNCLAIMED, address=ADDRESS, provider="imap"
            )
            await begun(dovecot_account)
            assert await dovecot_account.stored() == {"Mine": {"INBOX", UNREAD}, "Sent by me": {SENT}}
            (health,) = await service.query("mail.health")
            names = ["Public/News", "Public/Sent", f"shared/{BOB}", f"shared/{BOB}/Sent"]
            assert (health["leftOut"], health["leftOutFirst"]) == (4, names)
