"""The table of every route, socket and procedure: who may call it, one plain call of it, and the answer's status."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import quote

from svc.principal import Principal
from svc.protocol import Access
from tests.support.http import Reply
from tests.support.service import HOST, MIA, Service

MEMBER = Principal(user_id="usr_m", device_id="dev_m", is_admin=False, via="session")


Verb = Literal["GET", "POST", "PATCH", "DELETE", "OPTIONS"]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """``target`` and ``wanted`` are one plain call; ``status`` is what the unclaimed principal gets for it."""

    access: Access
    target: str
    method: Verb = "GET"
    wanted: dict[str, object] = field(default_factory=dict)
    status: int = 200


ROUTES: dict[str, Entry] = {
    "POST /mcp": Entry(
        access="authenticated", target="/mcp", method="POST", wanted={"jsonrpc": "2.0", "id": 1, "method": "ping"}
    ),
    "GET /mcp": Entry(access="authenticated", target="/mcp", status=405),
    "GET /": Entry(access="public", target="/"),
    "GET /login": Entry(access="public", target="/login"),
    "GET /p": Entry(access="public", target="/p"),
    "GET /p/*page": Entry(access="public", target="/p/mail"),
    "GET /settings": Entry(access="public", target="/settings"),
    "GET /settings/*section": Entry(access="public", target="/settings/mail"),
    "GET /plugins/*note": Entry(access="public", target="/plugins/studio/welcome"),
    "GET /static/*path": Entry(access="public", target="/static/app.js"),
    "GET /sw.js": Entry(access="public", target="/sw.js"),
    "GET /trpc/*procedure": Entry(access="public", target="/trpc/health.ping"),
    "POST /trpc/*procedure": Entry(access="public", method="POST", target="/trpc/health.ping", status=405),
    "GET /livez": Entry(access="public", target="/livez"),
    "GET /readyz": Entry(access="public", target="/readyz"),
    "GET /health": Entry(access="public", target="/health"),
    "GET /openapi.json": Entry(access="authenticated", target="/openapi.json"),
    "GET /metrics": Entry(access="public", target="/metrics"),
    "GET /docs": Entry(access="authenticated", target="/docs"),
    "GET /auth/me": Entry(access="public", target="/auth/me"),
    "GET /auth/idp/start": Entry(access="public", target="/auth/idp/start", status=501),
    "GET /auth/idp/callback": Entry(access="public", target="/auth/idp/callback", status=403),
    "POST /auth/dev-login": Entry(access="public", method="POST", target="/auth/dev-login", status=400),
    "POST /auth/claim-link": Entry(access="public", method="POST", target="/auth/claim-link", status=400),
    "POST /auth/logout": Entry(access="authenticated", method="POST", target="/auth/logout", status=401),
    "POST /auth/socket-ticket": Entry(access="authenticated", method="POST", target="/auth/socket-ticket", status=403),
    "POST /pair/claim": Entry(access="public", method="POST", target="/pair/claim", status=400),
    "POST /gitops/webhook": Entry(access="public", method="POST", target="/gitops/webhook", status=403),
    "POST /files": Entry(access="authenticated", method="POST", target="/files", status=201),
    "OPTIONS /files/tus": Entry(access="public", method="OPTIONS", target="/files/tus", status=204),
    "OPTIONS /files/tus/:id": Entry(access="public", method="OPTIONS", target="/files/tus/upl_none", status=204),
    "POST /files/tus": Entry(access="authenticated", method="POST", target="/files/tus", status=412),
    "GET /files/tus/:id": Entry(access="authenticated", target="/files/tus/upl_none", status=412),
    "PATCH /files/tus/:id": Entry(access="authenticated", method="PATCH", target="/files/tus/upl_none", status=412),
    "DELETE /files/tus/:id": Entry(access="authenticated", method="DELETE", target="/files/tus/upl_none", status=412),
    "POST /files/tus/:id": Entry(access="authenticated", method="POST", target="/files/tus/upl_none", status=412),
    "GET /export": Entry(access="admin", target="/export"),
    "GET /files/:id/content": Entry(access="authenticated", target="/files/fil_none/content", status=404),
    "GET /blobs/:sha256": Entry(access="authenticated", target=f"/blobs/{'0' * 64}", status=404),
    "GET /mail/proxy-image": Entry(
        access="authenticated", target="/mail/proxy-image?url=https%3A%2F%2Fpictures.example%2Fa.png", status=404
    ),
    "GET /mail/messages/:id/source": Entry(access="authenticated", target="/mail/messages/msg_none/source", status=404),
    "GET /mail/messages/:id/attachments": Entry(
        access="authenticated", target="/mail/messages/msg_none/attachments", status=404
    ),
    "GET /mail/messages/:id/eml": Entry(access="authenticated", target="/mail/messages/msg_none/eml", status=404),
    "GET /mail/accounts/:id/export": Entry(access="authenticated", target="/mail/accounts/acc_none/export", status=404),
    "GET /oauth/mail/start": Entry(access="authenticated", target="/oauth/mail/start", status=501),
    "GET /oauth/mail/callback": Entry(access="authenticated", target="/oauth/mail/callback", status=403),
    "GET /oauth/mcp/start": Entry(access="authenticated", target="/oauth/mcp/start?server=none", status=404),
    "GET /oauth/mcp/callback": Entry(access="authenticated", target="/oauth/mcp/callback?state=x", status=302),
    "GET /oauth/mcp/client.json": Entry(access="public", target="/oauth/mcp/client.json", status=200),
    "GET /oauth/mail/landing": Entry(access="public", target="/oauth/mail/landing?code=x&state=y", status=302),
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


def query(access: Access, status: int = 200, /, **wanted: object) -> Entry:
    return Entry(access=access, target="", wanted=wanted, status=status)


def mutation(access: Access, status: int = 200, /, **wanted: object) -> Entry:
    return Entry(access=access, target="", method="POST", wanted=wanted, status=status)


PROCEDURES: dict[str, Entry] = {
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


def entries() -> Iterator[tuple[str, Entry]]:
    """Every row as something that can be asked for over HTTP."""
    yield from ROUTES.items()
    for name, entry in PROCEDURES.items():
        yield (
            name,
            Entry(
                access=entry.access,
                method=entry.method,
                target=f"/trpc/{name}",
                wanted=entry.wanted,
                status=entry.status,
            ),
        )


def target_of(entry: Entry) -> str:
    return entry.target + (
        f"?input={quote(json.dumps(entry.wanted))}" if entry.method == "GET" and entry.wanted else ""
    )


async def call_entry(service: Service, entry: Entry, *, host: str = HOST, **fields: str) -> Reply:
    if entry.method == "GET":
        return await service.ask("GET", target_of(entry), host=host, fields=fields)
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    body = json.dumps(entry.wanted).encode()
    fields = {"content-type": "application/json", **named}
    return await service.ask(entry.method, entry.target, body, host=host, fields=fields)
