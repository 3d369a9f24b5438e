"""Every route, socket and procedure of the service, one row each here too: who may call it, and what it then says.

A row that a feature adds and this table does not know fails the test: nobody opens a door without saying to whom.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import quote

import pytest

from svc.app import FEATURES
from svc.feature import routes_of
from svc.principal import UNCLAIMED, Principal
from svc.protocol import Access, Headers, Request, Response
from svc.protocol.messages import BytesBody
from tests.protocol.socket_client import upgrade_request
from tests.support.http import Reply
from tests.support.service import HOST, MIA, ORIGIN, PORT, Service

MEMBER = Principal(user_id="usr_m", device_id="dev_m", is_admin=False, via="session")
Verb = Literal["GET", "POST", "PATCH", "DELETE", "OPTIONS"]


@dataclass(frozen=True, kw_only=True)
class Door:
    """``target`` and ``wanted`` are one plain call; ``status`` is what the unclaimed principal gets for it."""

    access: Access
    target: str
    method: Verb = "GET"
    wanted: dict[str, object] = field(default_factory=dict)
    status: int = 200


ROUTES: dict[str, Door] = {
    "POST /mcp": Door(
        access="authenticated", target="/mcp", method="POST", wanted={"jsonrpc": "2.0", "id": 1, "method": "ping"}
    ),
    "GET /mcp": Door(access="authenticated", target="/mcp", status=405),
    "GET /": Door(access="public", target="/"),
    "GET /login": Door(access="public", target="/login"),
    "GET /p": Door(access="public", target="/p"),
    "GET /p/*page": Door(access="public", target="/p/mail"),
    "GET /settings": Door(access="public", target="/settings"),
    "GET /settings/*section": Door(access="public", target="/settings/mail"),
    "GET /plugins/*note": Door(access="public", target="/plugins/studio/welcome"),
    "GET /static/*path": Door(access="public", target="/static/app.js"),
    "GET /sw.js": Door(access="public", target="/sw.js"),
    "GET /trpc/*procedure": Door(access="public", target="/trpc/health.ping"),
    "POST /trpc/*procedure": Door(access="public", method="POST", target="/trpc/health.ping", status=405),
    "GET /livez": Door(access="public", target="/livez"),
    "GET /readyz": Door(access="public", target="/readyz"),
    "GET /health": Door(access="public", target="/health"),
    "GET /openapi.json": Door(access="authenticated", target="/openapi.json"),
    "GET /metrics": Door(access="public", target="/metrics"),
    "GET /docs": Door(access="authenticated", target="/docs"),
    "GET /auth/me": Door(access="public", target="/auth/me"),
    "GET /auth/idp/start": Door(access="public", target="/auth/idp/start", status=501),
    "GET /auth/idp/callback": Door(access="public", target="/auth/idp/callback", status=403),
    "POST /auth/dev-login": Door(access="public", method="POST", target="/auth/dev-login", status=400),
    "POST /auth/claim-link": Door(access="public", method="POST", target="/auth/claim-link", status=400),
    "POST /auth/logout": Door(access="authenticated", method="POST", target="/auth/logout", status=401),
    "POST /auth/socket-ticket": Door(access="authenticated", method="POST", target="/auth/socket-ticket", status=403),
    "POST /pair/claim": Door(access="public", method="POST", target="/pair/claim", status=400),
    "POST /gitops/webhook": Door(access="public", method="POST", target="/gitops/webhook", status=403),
    "POST /files": Door(access="authenticated", method="POST", target="/files", status=201),
    "OPTIONS /files/tus": Door(access="public", method="OPTIONS", target="/files/tus", status=204),
    "OPTIONS /files/tus/:id": Door(access="public", method="OPTIONS", target="/files/tus/upl_none", status=204),
    "POST /files/tus": Door(access="authenticated", method="POST", target="/files/tus", status=412),
    "GET /files/tus/:id": Door(access="authenticated", target="/files/tus/upl_none", status=412),
    "PATCH /files/tus/:id": Door(access="authenticated", method="PATCH", target="/files/tus/upl_none", status=412),
    "DELETE /files/tus/:id": Door(access="authenticated", method="DELETE", target="/files/tus/upl_none", status=412),
    "POST /files/tus/:id": Door(access="authenticated", method="POST", target="/files/tus/upl_none", status=412),
    "GET /export": Door(access="admin", target="/export"),
    "GET /files/:id/content": Door(access="authenticated", target="/files/fil_none/content", status=404),
    "GET /blobs/:sha256": Door(access="authenticated", target=f"/blobs/{'0' * 64}", status=404),
    "GET /mail/proxy-image": Door(
        access="authenticated", target="/mail/proxy-image?url=https%3A%2F%2Fpictures.example%2Fa.png", status=404
    ),
    "GET /mail/messages/:id/source": Door(access="authenticated", target="/mail/messages/msg_none/source", status=404),
    "GET /mail/messages/:id/attachments": Door(
        access="authenticated", target="/mail/messages/msg_none/attachments", status=404
    ),
    "GET /mail/messages/:id/eml": Door(access="authenticated", target="/mail/messages/msg_none/eml", status=404),
    "GET /mail/accounts/:id/export": Door(access="authenticated", target="/mail/accounts/acc_none/export", status=404),
    "GET /oauth/mail/start": Door(access="authenticated", target="/oauth/mail/start", status=501),
    "GET /oauth/mail/callback": Door(access="authenticated", target="/oauth/mail/callback", status=403),
    "GET /oauth/mcp/start": Door(access="authenticated", target="/oauth/mcp/start?server=none", status=404),
    "GET /oauth/mcp/callback": Door(access="authenticated", target="/oauth/mcp/callback?state=x", status=302),
    "GET /oauth/mcp/client.json": Door(access="public", target="/oauth/mcp/client.json", status=200),
    "GET /oauth/mail/landing": Door(access="public", target="/oauth/mail/landing?code=x&state=y", status=302),
}
PROBES = frozenset({"GET /livez", "GET /readyz", "GET /health"})
OPEN_TO_ANY_SITE = frozenset({"POST /pair/claim", "POST /gitops/webhook"})
ASKS_FOR_MORE = frozenset(
    {
        *("POST /mcp", "POST /auth/logout", "POST /auth/socket-ticket", "POST /gitops/webhook"),
        *("GET /auth/idp/callback", "GET /oauth/mail/callback"),
    }
)
"""A cookie, a token, a signature or a state of its own."""

SOCKETS: dict[str, Access] = {"/ws": "authenticated", "/meetings/audio": "authenticated", "/pty": "terminal"}

SUBSCRIPTIONS: dict[str, Access] = {"events.live": "authenticated"}
"""They answer 200 to everybody, and in the stream what becomes of it: ``tests/surface/test_live_feed.py``."""


def query(access: Access, status: int = 200, /, **wanted: object) -> Door:
    return Door(access=access, target="", wanted=wanted, status=status)


def mutation(access: Access, status: int = 200, /, **wanted: object) -> Door:
    return Door(access=access, target="", method="POST", wanted=wanted, status=status)


PROCEDURES: dict[str, Door] = {
    "health.check": mutation("admin"),
    "models.usage": query("authenticated"),
    "models.ofRun": query("authenticated", 404, runId="run_none"),
    "models.setCeilings": mutation("admin", dayUsd=1, runUsd=1, dayTokens=1),
    "config.problems": query("authenticated"),
    "meaning.search": query("authenticated", query="boats"),
    "meaning.state": query("authenticated"),
    "meaning.switch": mutation("authenticated", on=False),
    "meaning.index": mutation("authenticated", 409),
    "rules.list": query("authenticated"),
    "rules.save": mutation("authenticated", 400, name="", rule={}),
    "rules.test": mutation("authenticated", 404, path="mail-rules/none"),
    "rules.apply": mutation("authenticated", 404, path="mail-rules/none"),
    "rules.why": query("authenticated", 404, threadId="thr_none"),
    "rules.undo": mutation("authenticated", 404, runId="run_none"),
    "rules.teach": mutation("authenticated", 404, path="mail-rules/none", threadId="thr_none"),
    "rules.suggestions": query("authenticated"),
    "rules.dismissSuggestion": mutation("authenticated", 404, address="ann@example.com", deed="archive"),
    "triage.get": query("authenticated"),
    "triage.set": mutation("authenticated", enabled=False),
    "triage.threads": query("authenticated", kind="reply"),
    "triage.of": query("authenticated", threadIds=["thr_none"]),
    "triage.correct": mutation("authenticated", 404, threadId="thr_none", kind="reply"),
    "triage.forget": mutation("authenticated", 404, address="nobody@example.com"),
    "mail.approveReply": mutation("authenticated", 404, id="rep_none"),
    "mail.dismissReply": mutation("authenticated", 404, id="rep_none"),
    "okf.status": query("admin"),
    "backup.status": query("admin"),
    "backup.now": mutation("admin", 501),
    "backup.drill": mutation("admin", 501),
    "backup.recoveryCode": mutation("admin", 501),
    "backup.confirmRecoveryCode": mutation("admin", 501, code="x"),
    "backup.restore": mutation("admin", 501),
    "inside.look": query("admin"),
    "health.ping": query("public"),
    "auth.createInvite": mutation("admin"),
    "auth.invites": query("admin"),
    "auth.revokeInvite": mutation("admin", 404, id="inv_none"),
    "auth.sessions": query("authenticated"),
    "auth.revokeSession": mutation("authenticated", 404, id="ses_none"),
    "capabilities.list": query("admin"),
    "gitops.status": query("admin"),
    "gitops.sync": mutation("admin", 501),
    "capabilities.set": mutation("admin", name="stt", value="x"),
    "capabilities.remove": mutation("admin", 404, name="llm.a"),
    "capabilities.test": mutation("admin", 404, name="llm.a"),
    "capabilities.audit": query("admin"),
    "users.list": query("admin"),
    "users.directory": query("authenticated"),
    "users.setRole": mutation("admin", 404, id="usr_none", role="member"),
    "devices.list": query("authenticated"),
    "devices.createPairingCode": mutation("authenticated"),
    "devices.revoke": mutation("authenticated", 404, id="dev_none"),
    "pages.tree": query("authenticated"),
    "pages.find": query("authenticated", text="a"),
    "pages.get": query("authenticated", 404, path="none"),
    "pages.save": mutation("authenticated", 409, path="none", body="", revision=7),
    "pages.move": mutation("authenticated", 404, path="none", to="other"),
    "pages.delete": mutation("authenticated", 404, path="none"),
    "pages.trash": query("authenticated"),
    "pages.undelete": mutation("authenticated", 404, id="pag_none"),
    "pages.erase": mutation("authenticated", 404, id="pag_none"),
    "pages.history": query("authenticated", 404, path="none"),
    "pages.restore": mutation("authenticated", 404, path="none", revision=1),
    "pages.setAccess": mutation("authenticated", 404, path="none", access="inherited"),
    "gitops.conflict": query("authenticated", 404, path="none"),
    "gitops.resolve": mutation("authenticated", 404, path="none", keep="here"),
    "events.recent": query("authenticated"),
    "undo.list": query("authenticated"),
    "undo.takeBack": mutation("authenticated"),
    "search.reindex": mutation("admin"),
    "search.state": query("admin"),
    "runs.list": query("authenticated"),
    "runs.get": query("authenticated", 404, id="run_none"),
    "runs.step": query("authenticated", 404, id="run_none", stepId="step"),
    "runs.cancel": mutation("authenticated", 404, id="run_none"),
    "runs.retry": mutation("authenticated", 404, id="run_none"),
    "runs.retryFailed": mutation("authenticated"),
    "mcp.servers": query("authenticated"),
    "mcp.connect": mutation("authenticated", 404, name="none", launch=""),
    "mcp.allow": mutation("authenticated", 404, name="none", tools=[]),
    "mcp.forbid": mutation("authenticated", 404, name="none", tools=[]),
    "mcp.signIn": mutation("authenticated", 404, name="none"),
    "mcp.setClient": mutation("authenticated", 404, name="none", clientId="x"),
    "mcp.signOut": mutation("authenticated", 404, name="none"),
    "tools.list": query("authenticated"),
    "memory.list": query("authenticated"),
    "pages.trust": query("authenticated", 404, path="nowhere"),
    "pages.setTrusted": mutation("authenticated", 404, path="nowhere"),
    "agents.list": query("authenticated"),
    "agents.save": mutation("authenticated", 400, title="", agent={"instructions": "Help."}),
    "agents.run": mutation("authenticated", 404, agent="nobody"),
    "agents.say": mutation("authenticated", 404, runId="run_none", text="Hi"),
    "agents.talk": query("authenticated", 404, runId="run_none"),
    "agents.trust": query("authenticated", 404, runId="run_none"),
    "agents.goOn": mutation("authenticated", 404, runId="run_none", ceilingUsd=1),
    "agents.retry": mutation("authenticated", 404, runId="run_none", stepId="model"),
    "approvals.list": query("authenticated"),
    "approvals.decide": mutation("authenticated", 404, id="apr_none", approve=True),
    "plugins.list": query("admin"),
    "plugins.set": mutation("admin", 404, name="none", on=True),
    "plugins.agree": mutation("admin", 404, name="none", rights=["none"]),
    "plugins.update": mutation("admin"),
    "plugins.status": query("admin"),
    "plugins.offers": query("authenticated"),
    "plugins.page": query("authenticated", 404, plugin="none", name="none"),
    "files.list": query("authenticated"),
    "files.find": query("authenticated", text="a"),
    "files.delete": mutation("authenticated", 404, id="fil_none"),
    "files.get": query("authenticated", 404, id="fil_none"),
    "files.rename": mutation("authenticated", 404, id="fil_none", name="x"),
    "files.restore": mutation("authenticated", 404, id="fil_none"),
    "files.storage": query("authenticated"),
    "people.suggest": query("authenticated", text=""),
    "people.list": query("authenticated"),
    "people.together": query("authenticated", addresses=["nobody@example.com"]),
    "people.get": query("authenticated", 404, address="nobody@example.com"),
    "people.filed": query("authenticated", 404, path="none"),
    "people.setPage": mutation("authenticated", 404, address="nobody@example.com", path=None),
    "people.suggested": query("authenticated"),
    "people.add": mutation("authenticated", 404, address="nobody@example.com"),
    "people.dismiss": mutation("authenticated", addresses=["nobody@example.com"]),
    "people.strangers": query("authenticated"),
    "people.tidy": mutation("authenticated", addresses=["nobody@example.com"]),
    "notifications.settings": query("authenticated"),
    "notifications.key": mutation("authenticated"),
    "notifications.set": mutation("authenticated", 404, accountIds=["none"], words="all", quiet=None),
    "notifications.subscribe": mutation("authenticated", 400, endpoint="http://x", p256dh="", auth=""),
    "notifications.unsubscribe": mutation("authenticated", 404, browserId="psh_none"),
    "notifications.test": mutation("authenticated", 404, browserId="psh_none"),
    "meetings.list": query("authenticated"),
    "meetings.get": query("authenticated", 404, id="mtg_none"),
    "meetings.rename": mutation("authenticated", 404, id="mtg_none", title="Board"),
    "meetings.remove": mutation("authenticated", 404, id="mtg_none"),
    "meetings.settings": query("admin"),
    "meetings.choose": mutation("admin", recogniser="none"),
    "mail.accounts": query("authenticated"),
    "mail.threads": query("authenticated", section="inbox"),
    "mail.thread": query("authenticated", 404, id="thr_none"),
    "mail.open": mutation("authenticated", 404, threadId="thr_none"),
    "mail.markUnread": mutation("authenticated", threadIds=[]),
    "mail.markUnreadFrom": mutation("authenticated", 404, messageId="msg_none"),
    "mail.archive": mutation("authenticated", threadIds=[]),
    "mail.unarchive": mutation("authenticated", threadIds=[]),
    "mail.setLabels": mutation("authenticated", threadIds=[]),
    "mail.labels": query("authenticated"),
    "mail.createLabel": mutation("authenticated", 404, accountId="acc_none", name="Clients"),
    "mail.mute": mutation("authenticated", threadIds=[]),
    "mail.unmute": mutation("authenticated", threadIds=[]),
    "mail.snooze": mutation("authenticated", threadIds=[], until="2026-11-21T08:00:00.000Z"),
    "mail.unsnooze": mutation("authenticated", threadIds=[]),
    "mail.selectAll": mutation("authenticated", section="inbox"),
    "mail.actOnAll": mutation("authenticated", 404, id="none", do="archive"),
    "mail.stopActing": mutation("authenticated", 404, id="none"),
    "mail.acting": query("authenticated"),
    "mail.blockSender": mutation("authenticated", 404, messageId="none"),
    "mail.unblockSender": mutation("authenticated", 404, id="0"),
    "mail.blockedSenders": query("authenticated"),
    "mail.snoozed": query("authenticated"),
    "mail.undo": mutation("authenticated"),
    "mail.undoable": query("authenticated"),
    "mail.health": query("authenticated"),
    "mail.failures": query("authenticated", 404, accountId="acc_none"),
    "mail.damage": query("authenticated", 404, accountId="acc_none"),
    "mail.retryFailures": mutation("authenticated", 404, accountId="acc_none"),
    "mail.pending": query("authenticated", 404, accountId="acc_none"),
    "mail.resync": mutation("authenticated", 404, accountId="acc_none"),
    "mail.discover": query("authenticated", 501, address="a@example.org"),
    "demo.tryOut": mutation("authenticated"),
    "preferences.get": query("authenticated"),
    "preferences.set": mutation("authenticated", hours="24"),
    "mail.signIns": query("authenticated"),
    "mail.imapServers": mutation("authenticated", 404, accountId="acc_none"),
    "mail.connectImap": mutation("authenticated", 501, address="a@example.org", password="secret"),
    "mail.setSenderName": mutation("authenticated", 404, accountId="acc_none", name="Mia"),
    "mail.setAddress": mutation("authenticated", 404, accountId="acc_none", address="a@example.org"),
    "mail.removeAddress": mutation("authenticated", 404, accountId="acc_none", address="a@example.org"),
    "mail.setDefaultAddress": mutation("authenticated", 404, accountId="acc_none", address="a@example.org"),
    "mail.disconnect": mutation("authenticated", 404, accountId="acc_none"),
    "mail.unsubscribeOffer": query("authenticated", 404, messageId="msg_none"),
    "mail.unsubscribe": mutation("authenticated", 404, messageId="msg_none"),
    "mail.unsubscribed": query("authenticated", 404, messageId="msg_none"),
    "mail.invitation": query("authenticated", 404, messageId="msg_none"),
    "mail.answerInvitation": mutation("authenticated", 404, messageId="msg_none", answer="accepted"),
    "mail.trustSender": mutation("authenticated", address="noa@example.org", trusted=True),
    "mail.trustedSenders": query("authenticated"),
    "mail.search": query("authenticated", query="hello"),
    "mail.createLocal": mutation("authenticated", name="Old mail"),
    "mail.import": mutation("authenticated", 404, fileId="fil_none", accountId="acc_none"),
    "mail.imports": query("authenticated"),
    "mail.send": mutation("authenticated", 404, accountId="acc_none", to=["a@example.org"], subject="Hi", html="Hi"),
    "mail.outgoing": query("authenticated"),
    "mail.cancelSend": mutation("authenticated", 404, id="out_none"),
    "mail.outgoingDraft": query("authenticated", 404, id="out_none"),
    "mail.reschedule": mutation("authenticated", 404, id="out_none", sendAt="2030-01-01T08:00:00.000Z"),
    "mail.retrySend": mutation("authenticated", 404, id="out_none"),
    "mail.dismissOutgoing": mutation("authenticated", 404, id="out_none"),
    "mail.drafts": query("authenticated"),
    "mail.draft": query("authenticated", 404, id="drf_none"),
    "mail.saveDraft": mutation("authenticated", 404, accountId="acc_none", to=[], subject="", html=""),
    "mail.deleteDraft": mutation("authenticated", 404, id="drf_none"),
    "mail.takeUpDraft": mutation("authenticated", 404, messageId="msg_none"),
    "mail.signature": query("authenticated", 404, accountId="acc_none"),
    "mail.setSignature": mutation("authenticated", 404, accountId="acc_none", html=""),
    "mail.snippets": query("authenticated"),
    "mail.saveSnippet": mutation("authenticated", name="thanks", html="Thanks"),
    "mail.deleteSnippet": mutation("authenticated", 404, id="snp_none"),
    "mail.shareAccount": mutation("authenticated", 404, accountId="acc_none", userId="usr_none", access="read"),
    "mail.unshareAccount": mutation("authenticated", 404, accountId="acc_none", userId="usr_none"),
    "mail.accountShares": query("authenticated", 404, accountId="acc_none"),
    "mail.prepare": query("authenticated", 404, threadId="thr_none", kind="reply"),
    "terminals.list": query("admin"),
    "terminals.kill": mutation("admin", 404, session="trm_none"),
    "fake.mail.inject": mutation("admin", **{"address": "new@example.org", "from": "a@example.org", "subject": "Hi"}),
    "fake.mail.setLabels": mutation("admin", 404, address=MIA, providerMessageId="none", labels=[]),
    "fake.mail.expireHistory": mutation("admin", address=MIA),
    "fake.mail.syncNow": mutation("admin", address=MIA),
    "fake.mail.sent": query("admin", address=MIA),
    "fake.llm.script": mutation("admin", replies=[{"text": "Hi"}]),
    "fake.llm.calls": query("admin"),
    "fake.mail.fault": mutation("admin", address=MIA, operation="send", fault=500),
}


def doors() -> Iterator[tuple[str, Door]]:
    """Every row as something that can be asked for over HTTP."""
    yield from ROUTES.items()
    for name, door in PROCEDURES.items():
        yield (
            name,
            Door(
                access=door.access, method=door.method, target=f"/trpc/{name}", wanted=door.wanted, status=door.status
            ),
        )


def target_of(door: Door) -> str:
    return door.target + (f"?input={quote(json.dumps(door.wanted))}" if door.method == "GET" and door.wanted else "")


async def knock(service: Service, door: Door, *, host: str = HOST, **fields: str) -> Reply:
    if door.method == "GET":
        return await service.ask("GET", target_of(door), host=host, fields=fields)
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    body = json.dumps(door.wanted).encode()
    fields = {"content-type": "application/json", **named}
    return await service.ask(door.method, door.target, body, host=host, fields=fields)


def test_the_table_knows_every_row_of_the_service() -> None:
    routes = {f"{row.method} {row.path}": row.access for row in routes_of(FEATURES, "public")}
    sockets = {row.path: row.access for feature in FEATURES for row in feature.sockets}
    procedures = {row.name: (row.kind, row.access) for feature in FEATURES for row in feature.procedures}
    assert routes == {name: door.access for name, door in ROUTES.items()}
    assert sockets == SOCKETS
    assert procedures == {
        **{name: ("query" if door.method == "GET" else "mutation", door.access) for name, door in PROCEDURES.items()},
        **{name: ("subscription", access) for name, access in SUBSCRIPTIONS.items()},
    }


def test_what_is_open_to_any_host_or_any_site_is_known_by_name() -> None:
    rows = [row for feature in FEATURES for row in feature.routes]
    assert {f"{row.method} {row.path}" for row in rows if row.host_exempt} == PROBES
    assert {f"{row.method} {row.path}" for row in rows if row.csrf_exempt} == OPEN_TO_ANY_SITE


@pytest.fixture
async def furnished(service: Service) -> Service:
    """With one mailbox and a mail in it."""
    await service.synced("Hello")
    return service


@pytest.mark.thorough
async def test_whoever_reaches_an_unclaimed_instance_gets_what_each_row_declares(furnished: Service) -> None:
    answers = {name: (await knock(furnished, door)).status for name, door in doors()}
    assert answers == {name: door.status for name, door in doors()}


@pytest.mark.thorough
@pytest.mark.parametrize("principal", [None, MEMBER], ids=["nobody", "member"])
async def test_a_row_is_closed_to_whom_it_is_not_for(furnished: Service, principal: Principal | None) -> None:
    application = furnished.application_for(principal)
    for name, door in doors():
        refused = refusal_of(door.access, principal)
        response = await application(request_for(door))
        if refused is not None:
            assert response.status == refused, name
        elif name not in ASKS_FOR_MORE:
            assert response.status not in (401, 403), name


@pytest.mark.parametrize("path", SOCKETS)
async def test_a_socket_is_refused_before_its_handshake_to_whom_it_is_not_for(service: Service, path: str) -> None:
    for principal in (None, MEMBER, UNCLAIMED):
        request = upgrade_request(host=HOST)
        request.target = path
        outcome = await service.application_for(principal).upgrade(request)
        refused = refusal_of(SOCKETS[path], principal)
        assert (outcome.status if isinstance(outcome, Response) else None) == refused


def refusal_of(access: Access, principal: Principal | None) -> int | None:
    if access == "public":
        return None
    if principal is None:
        return 401
    return 403 if access in {"admin", "terminal"} and not principal.is_admin else None


def request_for(door: Door) -> Request:
    fields = [("host", HOST), ("content-type", "application/json")]
    body = BytesBody(json.dumps(door.wanted).encode() if door.method == "POST" else b"")
    return Request(method=door.method, target=target_of(door), headers=Headers(fields), body=body)


@pytest.mark.thorough
async def test_a_foreign_host_reaches_nothing_but_the_probes(furnished: Service) -> None:
    before = await furnished.dump()
    for name, door in doors():
        expected = 200 if name in PROBES else 421
        assert (await knock(furnished, door, host=f"evil.example:{PORT}")).status == expected, name
    for path in SOCKETS:
        assert (await furnished.socket(path, host=f"evil.example:{PORT}")).status == 421
    assert await furnished.dump() == before


async def test_a_name_that_only_looks_like_ours_is_foreign(service: Service) -> None:
    for host in ("127.0.0.1.nip.io", "localhost.evil.example", f"user@{HOST}", "127.0.0.2"):
        assert (await service.ask("GET", "/auth/me", host=host)).status in (400, 421), host
    for host in ("localhost", f"localhost:{PORT}", "127.0.0.1", f"[::1]:{PORT}", f"LOCALHOST:{PORT}", "127.0.0.1:81"):
        assert (await service.ask("GET", "/auth/me", host=host)).status == 200, host


async def test_a_page_of_another_site_can_change_nothing_and_hear_nothing(furnished: Service) -> None:
    before = await furnished.dump()
    for name, door in doors():
        if door.method == "POST":
            expected = door.status if name in OPEN_TO_ANY_SITE else 403
            assert (await knock(furnished, door, origin="https://evil.example")).status == expected, name
    assert await furnished.dump() == before


FOREIGN: dict[str, dict[str, str]] = {
    "another site": {"origin": "https://evil.example"},
    "a sandboxed page": {"origin": "null"},
    "another scheme": {"origin": f"https://{HOST}"},
    "another port": {"origin": "http://127.0.0.1:4781"},
    "no origin, but a browser's word": {"sec-fetch-site": "cross-site"},
    "a neighbour's page": {"sec-fetch-site": "same-site"},
}


async def test_however_another_site_shows_it_is_refused(service: Service) -> None:
    for manner, fields in FOREIGN.items():
        assert (await knock(service, ROUTES["POST /trpc/*procedure"], **fields)).status == 403, manner
        for path in SOCKETS:
            assert (await service.socket(path, fields=fields)).status == 403, manner


@pytest.mark.thorough
async def test_our_own_page_may_do_what_it_is_for(furnished: Service) -> None:
    for name, door in doors():
        if door.method == "POST":
            assert (await knock(furnished, door, origin=ORIGIN)).status == door.status, name
    for path in SOCKETS:
        assert (await furnished.socket(path, origin=ORIGIN)).status == 101


@pytest.mark.thorough
async def test_reading_changes_nothing(furnished: Service) -> None:
    """Not one row, whatever is read, by GET and by HEAD; also of what is there."""
    (thread_id,) = await furnished.synced(
        "With a file", attachments=[{"filename": "a.txt", "mime": "text/plain", "text": "a"}]
    )
    ((file_id,),) = await furnished.rows("select id from files")
    found = [
        f"/trpc/mail.thread?input={quote(json.dumps({'id': thread_id}))}",
        f"/files/{file_id}/content",
        "/oauth/mail/start?email=mia@example.org",
        "/trpc/mail.archive?input=" + quote(json.dumps({"threadIds": [thread_id]})),  # a mutation, asked for by GET
    ]
    await furnished.query("mail.thread", id=thread_id)  # its cleaned HTML is kept once it was read
    before = await furnished.dump()
    for target in [*found, *(target_of(door) for _, door in doors() if door.method == "GET")]:
        for method in ("GET", "HEAD"):
            assert (await furnished.ask(method, target)).status < 502
    assert await furnished.dump() == before


async def test_an_unknown_address_is_not_found_and_says_so_in_its_protocol(service: Service) -> None:
    plain, rpc = await service.get("/nothing"), await service.get("/trpc/mail.nothing")
    assert (plain.status, plain.json["code"]) == (404, "not_found")
    assert plain.header("content-type") == "application/problem+json"
    assert rpc.status == 404
    assert rpc.json["error"]["data"]["code"] == "NOT_FOUND"


@pytest.mark.thorough
async def test_every_answer_carries_its_request_id_and_the_browsers_orders(furnished: Service) -> None:
    seen = set()
    for name, door in doors():
        reply = await knock(furnished, door)
        seen.add(reply.header("x-request-id"))
        assert reply.header("x-content-type-options") == "nosniff", name
        assert reply.header("referrer-policy") == "no-referrer", name
        assert "default-src 'none'" in (reply.header("content-security-policy") or ""), name
    assert None not in seen
    assert len(seen) == len(list(doors()))
