"""A forge tells of a push: signed, small, about the followed branch, and as often as it likes."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import pytest
import trio

from svc.clock import VirtualClock
from tests.gitops.followed import following, page, status, synced
from tests.gitops.upstream import Upstream
from tests.recorded_log import RecordedLog
from tests.support.http import Reply
from tests.support.service import Service, open_service

SECRET = "a secret of the forge"
PUSH = json.dumps({"ref": "refs/heads/main", "after": "1" * 40}).encode()


def signature(body: bytes, secret: str = SECRET) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def signed(body: bytes) -> dict[str, str]:
    return {"x-hub-signature-256": f"sha256={signature(body)}"}


async def call(service: Service, body: bytes, fields: Mapping[str, str]) -> Reply:
    return await service.ask("POST", "/gitops/webhook", body, fields=dict(fields))


@pytest.mark.parametrize(
    "fields",
    [
        signed(PUSH),
        {"x-gitea-signature": signature(PUSH)},
        {"x-forge-token": SECRET},
        {"x-gitlab-token": SECRET},
        {**signed(PUSH), "x-gitea-signature": signature(PUSH), "x-github-event": "push"},
    ],
)
async def test_a_push_is_here_at_once(
    tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog, fields: Mapping[str, str]
) -> None:
    upstream.push({"pages/a.md": "one"})
    async with following(
        tmp_path, upstream.url, clock=wall, log=log, poll_s=0, SVC_GITOPS_WEBHOOK_SECRET=SECRET
    ) as service:
        commit = upstream.push({"pages/a.md": "two"})
        reply = await call(service, PUSH, fields)
        assert (reply.status, reply.json) == (202, {"queued": True})
        await synced(service, commit)
        assert (await page(service, "a"))["body"] == "two"


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"x-hub-signature-256": f"sha256={signature(PUSH, 'another secret')}"},
        {"x-hub-signature-256": "sha256="},
        {"x-hub-signature-256": "sha1=" + "0" * 40},
        {"x-forge-token": SECRET[:-1]},
        {"x-gitlab-token": "é"},
        {"authorization": f"Bearer {SECRET}"},
    ],
)
async def test_who_does_not_hold_the_secret_is_refused(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, fields: Mapping[str, str]
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, SVC_GITOPS_WEBHOOK_SECRET=SECRET) as service:
        assert (await call(service, PUSH, fields)).status == 403


async def test_without_a_secret_everybody_is_refused(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with open_service(tmp_path, clock=wall, log=log) as service:
        assert (await call(service, PUSH, {"x-forge-token": ""})).status == 403
        assert (await call(service, PUSH, {"x-hub-signature-256": f"sha256={signature(PUSH, '')}"})).status == 403


async def test_a_secret_that_an_admin_sets_or_takes_away_counts_at_once(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    """Whoever sets it up tries again right after a refusal."""
    async with open_service(tmp_path, clock=wall, log=log) as service:
        assert (await call(service, PUSH, signed(PUSH))).status == 403
        for secret, status in (("an earlier one", 403), (SECRET, 202)):
            await service.mutate("capabilities.set", name="gitops.webhook.secret", value=secret)
            assert (await call(service, PUSH, signed(PUSH))).status == status
        await service.mutate("capabilities.remove", name="gitops.webhook.secret")
        assert (await call(service, PUSH, signed(PUSH))).status == 403


async def test_a_body_has_its_bound(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with open_service(tmp_path, clock=wall, log=log, SVC_GITOPS_WEBHOOK_SECRET=SECRET) as service:
        body = b" " * (1024 * 1024) + PUSH
        assert (await call(service, body, signed(body))).status == 413


@pytest.mark.parametrize(
    ("body", "queued"),
    [
        (PUSH, True),
        (b'{"ref": "refs/heads/other"}', False),
        (b'{"ref": "refs/tags/main"}', False),
        (b'{"zen": "a ping"}', True),
        (b"no JSON", True),
        (b'{"ref": 7}', True),
        (b"[" * 100_000, True),
        (b"payload=" + quote('{"ref": "refs/heads/other"}').encode(), False),
    ],
)
async def test_only_pushes_to_the_followed_branch_count(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog, body: bytes, queued: bool
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, SVC_GITOPS_WEBHOOK_SECRET=SECRET) as service:
        form = {"content-type": "application/x-www-form-urlencoded"} if body.startswith(b"payload") else {}
        reply = await call(service, body, {**signed(body), **form})
        assert (reply.status, reply.json) == (202, {"queued": queued})


async def test_strangers_fill_neither_the_audit_nor_the_log(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, SVC_GITOPS_WEBHOOK_SECRET=SECRET) as service:
        for _ in range(30):
            await call(service, PUSH, {"x-forge-token": "guess"})
        ((count,),) = await service.rows("select count(*) from capability_audit where name = 'gitops.webhook.secret'")
        assert count <= 1
    assert SECRET not in log.text


async def test_a_replay_is_harmless(tmp_path: Path, upstream: Upstream, wall: VirtualClock, log: RecordedLog) -> None:
    upstream.push({"pages/a.md": "one"})
    async with following(
        tmp_path, upstream.url, clock=wall, log=log, poll_s=0, SVC_GITOPS_WEBHOOK_SECRET=SECRET
    ) as service:
        before = await service.dump()
        for _ in range(20):
            assert (await call(service, PUSH, signed(PUSH))).status == 202
        await trio.sleep(60)
        after = await service.dump()
        same = {"pages", "page_revisions", "gitops_files", "outbox", "events"}
        assert {name: before[name] for name in same} == {name: after[name] for name in same}
        assert (await status(service))["problem"] is None
