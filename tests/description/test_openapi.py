"""The description of the service: nothing is missing, no reference is broken, and each entry says who may call it."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from svc.app import FAKES, FEATURES
from svc.description.openapi import RPC_ROW, openapi
from svc.description.routes import CSP
from svc.feature import routes_of
from tests.identity.people import sign_in
from tests.support.service import MIA, Service
from tests.surface.every_row import PROCEDURES, ROUTES, SOCKETS, SUBSCRIPTIONS


@pytest.fixture(scope="module")
def document() -> Any:
    """As a client reads it."""
    return json.loads(json.dumps(openapi(FEATURES, version="1", origin="http://127.0.0.1:4780")))


def operations(document: Any) -> Iterator[tuple[str, str, Any]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


@pytest.mark.thorough
def test_every_row_of_the_golden_table_is_described_and_no_other(document: Any) -> None:
    described = {(method.upper(), path) for method, path, _ in operations(document)}
    routes = {tuple(name.split(" ")) for name in ROUTES if not name.endswith(RPC_ROW)}
    routes |= {("HEAD", path) for method, path in routes if method == "GET"}
    assert described == {
        *((method, "/".join(map(written, path.split("/")))) for method, path in routes),
        *(("GET", path) for path in SOCKETS),
        *((entry.method, f"/trpc/{name}") for name, entry in PROCEDURES.items()),
        *(("GET", f"/trpc/{name}") for name in SUBSCRIPTIONS),
    }


def test_every_public_route_says_what_it_takes_and_answers() -> None:
    silent = [f"{row.method} {row.path}" for row in routes_of(FEATURES, "public") if row.says is None]
    assert [name for name in silent if not name.endswith(RPC_ROW)] == []


def written(segment: str) -> str:
    return f"{{{segment[1:]}}}" if segment[:1] in (":", "*") else segment


def test_who_may_ask_is_said_as_the_rows_say_it(document: Any) -> None:
    access = {f"/trpc/{name}": entry.access for name, entry in PROCEDURES.items()}
    for _, path, operation in operations(document):
        if path in access:
            assert (operation["security"] == []) == (access[path] == "public"), path
            assert ("Only an admin" in operation.get("description", "")) == (access[path] == "admin"), path


def test_every_operation_has_a_name_of_its_own_and_says_what_comes_back(document: Any) -> None:
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(names) == len(set(names))
    for method, path, operation in operations(document):
        assert operation["summary"], path
        assert "default" in operation["responses"], path
        wants = {part[1:-1] for part in path.split("/") if part.startswith("{")}
        assert {one["name"] for one in operation.get("parameters", []) if one["in"] == "path"} == wants, (method, path)


def test_every_reference_leads_to_a_schema_and_every_schema_is_used(document: Any) -> None:
    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert set(references(document)) == known


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        mapping = part.get("mapping")
        yield from mapping.values() if isinstance(mapping, dict) else ()
    for one in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from references(one)


def test_a_query_has_its_input_in_the_address_and_a_mutation_in_the_body(document: Any) -> None:
    search = document["paths"]["/trpc/mail.search"]["get"]
    (given,) = search["parameters"]
    assert (given["name"], given["in"], given["required"]) == ("input", "query", True)
    assert "$ref" in given["content"]["application/json"]["schema"]
    archive = document["paths"]["/trpc/mail.archive"]["post"]
    assert archive["requestBody"]["required"] is True
    assert document["paths"]["/trpc/mail.threads"]["get"]["parameters"][0]["required"] is False


def test_a_head_has_no_bodies(document: Any) -> None:
    look = document["paths"]["/files/tus/{id}"]["head"]
    assert look["operationId"] == "head_files_tus_id"
    assert set(look["responses"]) == {"200", "default"}
    assert not any("content" in answer for answer in look["responses"].values())


@pytest.mark.thorough
async def test_it_is_told_to_whoever_is_signed_in_and_says_where_the_service_is(service: Service) -> None:
    mia = await sign_in(service, MIA)
    for path in ("/openapi.json", "/docs"):
        assert (await service.get(path)).status == 401
    reply = await mia.ask("GET", "/openapi.json")
    assert (reply.status, reply.header("content-type")) == (200, "application/json")
    found = json.loads(reply.body)
    assert found["openapi"] == "3.1.0"
    assert found["servers"] == [{"url": "http://127.0.0.1:4780"}]
    assert "/trpc/fake.mail.inject" in found["paths"]
    names = [tag["name"] for tag in found["tags"]]
    assert FAKES.name in names


@pytest.mark.thorough
async def test_it_is_sent_compressed_and_only_to_those_who_do_not_have_it_yet(service: Service) -> None:
    plain = await service.get("/openapi.json")
    packed = await service.get("/openapi.json", accept_encoding="gzip")
    assert (plain.header("content-encoding"), packed.header("content-encoding")) == (None, "gzip")
    assert gzip.decompress(packed.body) == plain.body
    assert plain.header("vary") == packed.header("vary") == "Accept-Encoding"
    assert packed.header("cache-control") == "private, no-cache"
    tag = str(packed.header("etag"))
    assert plain.header("etag") not in (tag, None)
    known = await service.get("/openapi.json", accept_encoding="gzip", if_none_match=tag)
    assert (known.status, known.body, known.header("vary")) == (304, b"", "Accept-Encoding")


def test_records_are_called_by_names_that_read_well(document: Any) -> None:
    names = document["components"]["schemas"]
    assert {"RulesRunOut", "RunsRunOut", "ThreadOut", "Problem"} <= set(names)
    assert [name for name in names if not re.fullmatch(r"[A-Z][A-Za-z0-9]+", name)] == []
    referred = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)))
    assert referred <= set(names)


async def test_a_person_who_has_not_signed_in_is_shown_where_and_a_program_told_in_json(service: Service) -> None:
    await sign_in(service, MIA)
    for accept, media_type in (("text/html,*/*;q=0.8", "text/html"), ("*/*", "application/problem+json")):
        reply = await service.get("/docs", accept=accept)
        assert reply.status == 401
        assert str(reply.header("content-type")).startswith(media_type)
    page = await service.get("/docs", accept="text/html")
    assert b'href="/login?next=/docs"' in page.body
    assert (await service.get("/openapi.json", accept="text/html")).json["code"] == "unauthenticated"


async def test_the_page_that_shows_it_runs_nothing_from_elsewhere_and_loosens_nothing_else(service: Service) -> None:
    page = await service.get("/docs")
    assert page.header("content-security-policy") == CSP
    assert "unsafe-eval" not in CSP
    assert "http" not in CSP
    shell = await service.get("/")
    assert "swagger" not in shell.body.decode()
    assert shell.header("content-security-policy") != CSP
