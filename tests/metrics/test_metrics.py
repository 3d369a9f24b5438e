"""``/metrics``: what a reader of Prometheus understands of it, who may read it, and that nothing private is in it."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from svc.app import FEATURES
from svc.durations import Durations
from svc.exposition import text_of
from svc.metric import Metric
from svc.principal import Principal
from tests.identity.people import pair, sign_in
from tests.quiet import all_quiet
from tests.support.service import MIA, Service

Numbers = dict[tuple[str, tuple[tuple[str, str], ...]], float]
FAR = {"x-forwarded-for": "192.0.2.1"}


def read(text: str) -> Numbers:
    """By an independent reader."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def numbers(service: Service) -> Numbers:
    reply = await service.get("/metrics")
    assert reply.status == 200
    assert (reply.header("content-type") or "").startswith("text/plain; version=0.0.4")
    return read(reply.body.decode())


async def test_every_row_is_there_with_its_kind_and_a_sentence(service: Service) -> None:
    text = (await service.get("/metrics")).body.decode()
    rows = [row for feature in FEATURES for row in feature.metrics]
    assert len(rows) > 15
    for row in rows:
        assert f"# TYPE {row.name} {row.kind}\n" in text
        assert f"# HELP {row.name} {row.help}\n" in text
        assert row.help.endswith(".")
        assert row.name.startswith("svc_")
        assert row.name.endswith("_total") == (row.kind == "counter")


async def test_requests_are_counted_by_row_and_status_with_how_long_they_took(service: Service) -> None:
    for target in ("/livez", "/livez", "/nothing", "/files/fil_secret/content", "/trpc/mail.thread"):
        await service.get(target)
    found = await numbers(service)

    def count(route: str, status: str) -> float:
        return found[("svc_http_requests_total", (("route", route), ("status", status)))]

    assert count("/livez", "200") >= 2
    assert count("none", "404") == 1
    assert count("/files/:id/content", "404") == 1
    assert count("/trpc/*procedure", "400") == 1
    took = ("svc_http_request_seconds_count", (("route", "/files/:id/content"),))
    assert found[took] == 1
    assert found[("svc_http_request_seconds_bucket", (("le", "+Inf"), ("route", "/files/:id/content")))] == 1


async def test_sockets_connections_accounts_and_sizes_are_told(service: Service) -> None:
    await service.synced("Hello")
    socket = await service.socket()
    await socket.hear()
    found = await numbers(service)
    assert found[("svc_sockets_open", (("route", "/ws"),))] == 1
    assert found[("svc_http_connections", ())] >= 2
    assert found[("svc_store_size_bytes", (("file", "database"),))] > 0
    assert sum(value for (name, _), value in found.items() if name == "svc_mail_accounts") >= 1
    assert found[("svc_process_resident_memory_bytes", ())] > 1_000_000
    assert found[("svc_parts", (("phase", "running"),))] > 3
    await socket.leave()
    await all_quiet()
    assert (await numbers(service))[("svc_sockets_open", (("route", "/ws"),))] == 0


async def test_nothing_of_anybodys_is_in_it(service: Service) -> None:
    (thread_id,) = await service.synced("A secret subject")
    await service.get("/auth/me?token=secret")
    await service.get(f"/p/{MIA}/private")
    text = (await service.get("/metrics")).body.decode()
    for word in (thread_id, MIA, "mia", "secret", "private", "acc_"):
        assert word not in text, word


async def test_it_is_for_this_machine_and_for_an_admin_from_anywhere(service: Service) -> None:
    admin = await sign_in(service, MIA)
    member = await sign_in(service, "noa@example.org", invite=(await admin.mutate("auth.createInvite"))["code"])
    device = await pair(admin)
    assert (await service.get("/metrics")).status == 200
    for fields, status in (
        ({}, 401),
        (member.fields, 403),
        (device.fields, 403),
        (admin.fields, 200),
    ):
        assert (await service.ask("GET", "/metrics", fields={**fields, **FAR})).status == status


@pytest.mark.parametrize("principal", [None, Principal(user_id="u", device_id="d", is_admin=False, via="session")])
async def test_a_public_name_is_not_this_machine(service: Service, principal: Principal | None) -> None:
    reply = await service.get_as(principal, "/metrics", x_forwarded_proto="https")
    assert reply.status == (401 if principal is None else 403)


def test_sizes_are_cumulative_and_a_label_can_break_out_of_nothing() -> None:
    durations = Durations((0.1, 1.0))
    for took_s in (0.1, 0.5, 7):
        durations.add(took_s)

    async def nothing(workspace: object) -> dict[tuple[str, ...], float]:
        return {}

    row = Metric(name="svc_x_seconds", kind="histogram", help="H.", read=nothing, labels=("what",))
    odd = 'a"b\\c\nd'
    found = read(text_of([(row, {(odd,): durations})]))
    assert [value for (name, _), value in sorted(found.items()) if name.endswith("_bucket")] == [3, 1, 2]
    assert found[("svc_x_seconds_sum", (("what", odd),))] == pytest.approx(7.6)
