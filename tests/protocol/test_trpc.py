"""The tRPC wire: envelopes, statuses and messages, access before input, batches and streams."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.errors import ERRORS, Refusal, Unavailable
from svc.principal import Principal
from svc.protocol.envelope import trpc_error_response
from svc.protocol.messages import Request, Response, pour
from svc.protocol.streaming import PING_S
from svc.protocol.trpc import BATCH_MAX_CALLS, BODY_MAX_BYTES, CONCURRENT_QUERIES, RpcLayer
from tests.recorded_log import RecordedLog, StoppedClock
from tests.sizes import examples

from .some_procedures import ADMIN, MEMBER, SomeProcedures, body_of, mutation, pieces_of, query


@pytest.fixture
def procedures(log: RecordedLog) -> SomeProcedures:
    return SomeProcedures(log)


def error(code: str, message: str, path: str | None = None, **data: object) -> dict[str, Any]:
    row = ERRORS[code]
    where = {} if path is None else {"path": path}
    return {
        "error": {
            "message": message,
            "code": row.rpc_number,
            "data": {"code": row.rpc_name, "httpStatus": row.status, **where, **data},
        }
    }


# Single calls.


async def test_a_query_answers_its_data_with_camel_case_and_null_for_not_a_number(procedures: SomeProcedures) -> None:
    status, body = await procedures.ask(query("greet", {"name": "a", "timesOver": 2, "unknown": 1}))
    assert (status, body) == (200, {"result": {"data": {"helloText": "a a", "odd": None}}})


async def test_every_answer_says_that_it_is_json_and_not_to_be_kept(procedures: SomeProcedures) -> None:
    for request in (query("health.ping"), query("no.such"), query("health.ping,mine", batch=True)):
        response = await procedures.layer.respond("context", request, None)
        assert response.header("content-type") == "application/json"
        assert response.header("cache-control") == "no-store"
        assert response.header("vary") == "trpc-accept, accept"


@pytest.mark.parametrize("request_", [query("list"), query("list", raw=""), query("list", {})])
async def test_input_may_be_absent_where_every_field_is_optional(procedures: SomeProcedures, request_: Request) -> None:
    assert await procedures.ask(request_) == (200, {"result": {"data": ["inbox"]}})


async def test_a_mutation_takes_its_input_from_the_body(procedures: SomeProcedures) -> None:
    assert await procedures.ask(mutation("add", b'{"amount":1}')) == (200, {"result": {"data": 2}})
    assert await procedures.ask(mutation("touch")) == (200, {"result": {"data": {}}})
    assert await procedures.ask(mutation("touch", content_type="Application/JSON; charset=utf-8")) == (
        200,
        {"result": {"data": {}}},
    )


async def test_a_procedure_that_returns_nothing_answers_null(procedures: SomeProcedures) -> None:
    assert await procedures.ask(query("nothing")) == (200, {"result": {"data": None}})


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("{}", "Object missing required field `name`"),
        ('{"name":5}', "Expected `str`, got `int` - at `$.name`"),
        ("null", "Expected `object`, got `null`"),
        ("[]", "Expected `object`, got `array`"),
        ('{"name":', "Input data was truncated"),
        ('{"name":"a"} x', None),
        ('{"name":"\\ud800"}', None),
        ("[" * 3000, None),
        ('{"x":' + "[" * 2000, None),
        ("1e999", None),
        ("NaN", None),
    ],
)
async def test_wrong_input_is_a_bad_request_in_words_a_client_can_use(
    procedures: SomeProcedures, raw: str, message: str | None
) -> None:
    status, body = await procedures.ask(query("greet", raw=raw))
    assert status == 400
    found = body["error"]["message"]
    assert found == message if message else found
    assert body == error("invalid", found, "greet")


async def test_bytes_that_are_not_utf_8_are_a_bad_request(procedures: SomeProcedures) -> None:
    for data in (b'{"section":"\xff"}', b'{"section":"\xed\xa0\x80"}', b"\xff"):
        status, body = await procedures.ask(mutation("touch", data))
        assert (status, body["error"]["data"]["code"]) == (400, "BAD_REQUEST")
    assert procedures.seen == []


@pytest.mark.parametrize("path", ["no.such", "", "health", "__proto__", "health/ping", "greet,list"])
async def test_an_unknown_procedure_is_not_found_and_named(procedures: SomeProcedures, path: str) -> None:
    expected = error("not_found", f'No procedure found on path "{path}"', path)
    assert await procedures.ask(query(path), ADMIN) == (404, expected)


async def test_a_method_that_does_not_fit_is_405_and_says_which_does(procedures: SomeProcedures) -> None:
    response = await procedures.layer.respond("context", query("add", {"amount": 1}), MEMBER)
    assert (response.status, response.header("allow")) == (405, "POST")
    message = 'Unsupported GET-request to mutation procedure at path "add"'
    assert json.loads(await body_of(response)) == error("method_not_allowed", message, "add")
    response = await procedures.layer.respond("context", mutation("greet"), MEMBER)
    assert (response.status, response.header("allow")) == (405, "GET")


@pytest.mark.parametrize(
    ("content_type", "message"),
    [
        ("", "Missing content-type header"),
        ("text/plain", 'Unsupported content-type "text/plain'),
        ("multipart/form-data; boundary=x", 'Unsupported content-type "multipart/form-data; boundary=x'),
        ("application/x-www-form-urlencoded", 'Unsupported content-type "application/x-www-form-urlencoded'),
    ],
)
async def test_what_a_form_could_send_is_never_a_call(
    procedures: SomeProcedures, content_type: str, message: str
) -> None:
    status, body = await procedures.ask(mutation("touch", content_type=content_type))
    assert (status, body) == (415, error("unsupported_media_type", message))
    assert procedures.seen == []


async def test_head_is_204_without_a_body(procedures: SomeProcedures) -> None:
    request = query("no.such")
    request.method = "HEAD"
    response = await procedures.layer.respond("context", request, None)
    assert (response.status, response.body) == (204, b"")


# Access.


@pytest.mark.parametrize(
    ("path", "principal", "status"),
    [
        ("health.ping", None, 200),
        ("mine", None, 401),
        ("mine", MEMBER, 200),
        ("theirs", None, 401),
        ("theirs", MEMBER, 403),
        ("theirs", ADMIN, 200),
    ],
)
async def test_access_is_what_the_row_says(
    procedures: SomeProcedures, path: str, principal: Principal | None, status: int
) -> None:
    found, body = await procedures.ask(query(path), principal)
    assert found == status
    if status != 200:
        assert body["error"]["data"]["code"] == {401: "UNAUTHORIZED", 403: "FORBIDDEN"}[status]


async def test_nobody_reads_the_body_of_who_may_not_call(procedures: SomeProcedures) -> None:
    class Untouchable:
        declared_length = None

        def chunks(self) -> AsyncIterator[bytes]:
            raise AssertionError("the body was read")

    request = mutation("add")
    request.body = Untouchable()
    assert (await procedures.ask(request, None))[0] == 401


# Failures.


async def test_a_refusal_carries_its_row_and_data_and_can_not_overwrite_the_envelope(
    procedures: SomeProcedures,
) -> None:
    status, body = await procedures.ask(query("conflict"))
    assert (status, body) == (409, error("conflict", "Somebody was faster ?.", "conflict", revision=7))


async def test_a_refusal_keeps_its_headers(procedures: SomeProcedures) -> None:
    response = await procedures.layer.respond("context", query("busy"), None)
    assert (response.status, response.header("retry-after")) == (429, "3")


async def test_a_batch_with_a_call_that_is_to_come_later_says_when(procedures: SomeProcedures) -> None:
    response = await procedures.layer.respond("context", query("health.ping,busy", batch=True), None)
    assert (response.status, response.header("retry-after")) == (207, "3")
    response = await procedures.layer.respond("context", query("health.ping,mine", batch=True), None)
    assert response.header("retry-after") is None


async def test_a_call_that_is_to_come_later_says_when_in_its_own_data_where_no_header_can(
    procedures: SomeProcedures,
) -> None:
    """The head of a stream has left before its calls are refused, and a batch has one header for all of them."""
    _, body = await procedures.ask(query("busy"))
    assert body["error"]["data"]["retryAfter"] == 3
    _, (ping, busy) = await procedures.ask(query("health.ping,busy", batch=True))
    assert "error" not in ping
    assert busy["error"]["data"]["retryAfter"] == 3
    request = query("health.ping,busy", batch=True, trpc_accept="application/jsonl")
    response = await procedures.layer.respond("context", request, None)
    lines = [json.loads(line) for line in (await body_of(response)).splitlines()]
    (refused,) = [line[2][0][0]["error"] for line in lines[1:] if "error" in line[2][0][0]]
    assert refused["data"]["retryAfter"] == 3


@pytest.mark.parametrize("name", ["bug", "unsayable"])
async def test_a_bug_is_logged_whole_and_shown_as_internal(
    procedures: SomeProcedures, log: RecordedLog, name: str
) -> None:
    status, body = await procedures.ask(query(name))
    assert (status, body["error"]["data"]["code"]) == (500, "INTERNAL_SERVER_ERROR")
    assert "secret" not in json.dumps(body)
    record = log.records[-1]
    assert (record["event"], record["request_id"], record["procedure"]) == ("procedure failed", "r1", name)
    assert "Traceback" in json.dumps(record)


async def test_of_inputs_that_no_call_has_nothing_is_kept(procedures: SomeProcedures) -> None:
    many = ",".join(f'"{at}":{{"name":"{at}"}}' for at in (*range(100), "x", "1", "00", "-1", "1e0"))
    _, body = await procedures.ask(query("greet,greet", raw=f'{{{many},"0":{{"name":"last"}}}}', batch=True))
    assert [one["result"]["data"]["helloText"] for one in body] == ["last", "1"]


async def test_a_body_over_the_limit_is_413(procedures: SomeProcedures) -> None:
    status, body = await procedures.ask(mutation("touch", b'"' + b"x" * BODY_MAX_BYTES))
    assert (status, body["error"]["data"]) == (
        413,
        {"code": "PAYLOAD_TOO_LARGE", "httpStatus": 413, "path": "touch"},
    )
    status, body = await procedures.ask(mutation("touch,touch", b"x" * (BODY_MAX_BYTES + 1), batch=True))
    assert (status, body["error"]["code"]) == (413, -32013)


async def test_cancelling_a_call_is_not_an_answer(procedures: SomeProcedures) -> None:
    with trio.move_on_after(1) as scope:
        await procedures.ask(mutation("add", b'{"amount":1,"delayS":5}'))
    assert scope.cancelled_caught
    assert procedures.seen == ["begin 1"]


HALF = "The input has half of a surrogate pair."


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'{"section":"\\ud83d"}', HALF),
        (b'{"section":"a\\uD83D!"}', HALF),
        (b'{"section":"\\ud83d\\n"}', HALF),
        (b'{"section":"\\\\ud83d', "Input data was truncated"),
        (b'{"section":"\\ud83d', "Input data was truncated"),
        (b'{"section":"\\ud83d\\ude', "Input data was truncated"),
        (b'{"section":"x', "Input data was truncated"),
    ],
)
async def test_half_a_character_is_told_from_a_cut_input(procedures: SomeProcedures, raw: bytes, message: str) -> None:
    status, answer = await procedures.ask(mutation("touch", raw))
    assert (status, answer["error"]["message"]) == (400, message)


async def test_the_pause_is_told_however_its_header_is_spelled() -> None:
    response = trpc_error_response(Unavailable("Draining.", headers={"Retry-After": "7"}), path="a")
    assert json.loads(await body_of(response)) == error("unavailable", "Draining.", "a", retryAfter=7)


async def test_what_outer_layers_refuse_is_shaped_the_same() -> None:
    response = trpc_error_response(Unavailable("Draining.", headers={"retry-after": "1"}), path="a")
    assert (response.status, response.header("retry-after")) == (503, "1")
    assert json.loads(await body_of(response)) == error("unavailable", "Draining.", "a", retryAfter=1)


def test_an_answer_of_http_itself_has_its_reason_phrase_as_its_code() -> None:
    itself = {408, 412, 414, 416, 421, 431, 502, 504, 507}
    rows = {code: row for code, row in ERRORS.items() if row.status in itself}
    assert {row.status for row in rows.values()} == itself
    assert list(rows) == [row.title.lower().replace(" ", "_") for row in rows.values()]


@pytest.mark.parametrize("code", ERRORS)
def test_every_code_has_an_envelope_the_client_accepts(code: str) -> None:
    response = trpc_error_response(Refusal(code=code))
    assert isinstance(response.body, bytes)
    assert json.loads(response.body) == error(code, ERRORS[code].title)


def test_two_rows_of_one_name_are_refused_at_boot(procedures: SomeProcedures, log: RecordedLog) -> None:
    rows = procedures.layer.rows()
    with pytest.raises(ValueError, match="taken"):
        RpcLayer([*rows, rows[0]], log=log)


# Batches.


async def test_a_batch_answers_in_order_with_the_common_status_or_207(procedures: SomeProcedures) -> None:
    request = query("greet,health.ping,mine", {"0": {"name": "a"}}, batch=True)
    status, body = await procedures.ask(request, None)
    assert status == 207
    assert [list(item) for item in body] == [["result"], ["result"], ["error"]]
    assert body[2] == error("unauthenticated", body[2]["error"]["message"], "mine")
    assert (await procedures.ask(query("mine,mine", {}, batch=True), None))[0] == 401
    assert await procedures.ask(query("health.ping", {}, batch=True), None) == (200, [{"result": {"data": "pong"}}])


async def test_mutations_of_a_batch_take_effect_one_after_the_other(procedures: SomeProcedures) -> None:
    body = b'{"0":{"amount":1,"delayS":3},"1":{"amount":2},"2":{"amount":"x"},"3":{"amount":3}}'
    status, answer = await procedures.ask(mutation("add,add,add,add", body, batch=True))
    assert status == 207
    assert [item.get("result") for item in answer] == [{"data": 2}, {"data": 3}, None, {"data": 4}]
    assert procedures.seen == [f"{what} {number}" for number in (1, 2, 3) for what in ("begin", "end")]


async def test_queries_of_a_batch_run_side_by_side_within_a_bound(procedures: SomeProcedures) -> None:
    count = CONCURRENT_QUERIES * 2
    given_ = {str(i): {"amount": i, "delayS": 1} for i in range(count)}
    began = trio.current_time()
    _, body = await procedures.ask(query(",".join(["slow"] * count), given_, batch=True))
    assert [item["result"]["data"] for item in body] == list(range(count))
    assert procedures.most_running == CONCURRENT_QUERIES
    assert trio.current_time() - began == pytest.approx(2)


async def test_unreadable_inputs_fail_the_calls_that_want_one(procedures: SomeProcedures) -> None:
    status, body = await procedures.ask(query("greet,health.ping,list", raw="{", batch=True))
    assert status == 207
    assert [item.get("result") for item in body] == [None, {"data": "pong"}, None]
    _, body = await procedures.ask(query("greet,list", raw="[1]", batch=True))
    assert {item["error"]["message"] for item in body} == {'"input" needs to be an object when doing a batch call'}
    _, body = await procedures.ask(query("list,list", batch=True))
    assert body == [{"result": {"data": ["inbox"]}}] * 2


async def test_a_batch_of_both_kinds_or_of_too_many_calls_is_refused_whole(procedures: SomeProcedures) -> None:
    message = "Cannot mix procedure types in call: query, mutation"
    assert await procedures.ask(query("greet,add", {}, batch=True)) == (400, error("invalid", message))
    names = ",".join(["health.ping"] * (BATCH_MAX_CALLS + 1))
    status, body = await procedures.ask(query(names, batch=True))
    assert (status, body["error"]["data"]["code"]) == (400, "BAD_REQUEST")
    assert (await procedures.ask(query(names.removesuffix(",health.ping"), batch=True)))[0] == 200


# Streams.


async def test_a_batch_stream_answers_line_by_line(procedures: SomeProcedures) -> None:
    request = query("health.ping,mine,list", {}, batch=True, trpc_accept="application/jsonl")
    response = await procedures.layer.respond("context", request, None)
    assert response.status == 200
    lines = [json.loads(line) for line in (await body_of(response)).splitlines()]
    assert lines[0] == {"0": [[0], [None, 0, 0]], "1": [[0], [None, 0, 1]], "2": [[0], [None, 0, 2]]}
    assert lines[1:] == [
        [0, 0, [[{"result": 0}], ["result", 0, 3]]],
        [3, 0, [[{"data": 0}], ["data", 0, 4]]],
        [4, 0, [["pong"]]],
        [1, 0, [[error("unauthenticated", "Sign in first.", "mine")]]],
        [2, 0, [[{"result": 0}], ["result", 0, 5]]],
        [5, 0, [[{"data": 0}], ["data", 0, 6]]],
        [6, 0, [[["inbox"]]]],
    ]


async def test_a_stream_sends_each_answer_as_soon_as_it_is_there(procedures: SomeProcedures) -> None:
    body = b'{"0":{"amount":1,"delayS":5},"1":{"amount":2,"delayS":5}}'
    request = mutation("add,add", body, batch=True, accept="application/jsonl")
    response = await procedures.layer.respond("context", request, MEMBER)
    assert await arrivals_of(response) == pytest.approx([0, 5, 10])


async def test_a_stream_of_queries_answers_the_quick_before_the_slow(procedures: SomeProcedures) -> None:
    given = {"0": {"amount": 1, "delayS": 9}, "1": {"amount": 2, "delayS": 1}}
    request = query("slow,slow,health.ping", given, batch=True, trpc_accept="application/jsonl")
    response = await procedures.layer.respond("context", request, MEMBER)
    lines = [json.loads(line) for line in (await body_of(response)).splitlines()]
    assert [line[0] for line in lines[1:] if line[0] < 3] == [2, 1, 0]
    assert procedures.most_running == 2


async def test_a_silent_stream_gives_signs_of_life_that_mean_nothing(procedures: SomeProcedures) -> None:
    request = query("slow", {"0": {"amount": 1, "delayS": 3 * PING_S}}, batch=True, accept="application/jsonl")
    response = await procedures.layer.respond("context", request, MEMBER)
    pieces = await pieces_of(response)
    assert pieces[1:3] == [b" ", b" "]
    assert [json.loads(line) for line in b"".join(pieces).splitlines()][-1] == [2, 0, [[1]]]


async def test_a_stream_of_queries_is_given_up_once_its_client_has_gone(procedures: SomeProcedures) -> None:
    request = query("slow", {"0": {"amount": 1, "delayS": 9_000}}, batch=True, accept="application/jsonl")
    request.gone = partial(trio.sleep, 1)
    response = await procedures.layer.respond("context", request, MEMBER)
    assert len(await pieces_of(response)) == 1
    assert trio.current_time() < 100


async def arrivals_of(response: Response) -> list[float]:
    assert not isinstance(response.body, bytes)
    began, arrivals = trio.current_time(), []

    async def write(piece: bytes) -> None:
        arrivals.append(trio.current_time() - began)

    await pour(response.body, write)
    return arrivals


async def test_a_stream_is_always_a_batch(procedures: SomeProcedures) -> None:
    status, body = await procedures.ask(query("health.ping", trpc_accept="application/jsonl"))
    message = "Streaming requests must be batched (you can do a batch of 1)"
    assert (status, body) == (400, error("invalid", message))


# Anything at all.


@pytest.mark.thorough
@settings(max_examples=examples(200))
@given(
    path=st.lists(
        st.sampled_from(["greet", "list", "mine", "bug", "add", "x", "", "%00", "%ff"]), min_size=1, max_size=4
    ),
    suffix=st.sampled_from(["", "?batch=1", "?batch=1&batch=2", "?batch=0"]),
    raw=st.text(max_size=30) | st.sampled_from(['{"0":{"name":"a"}}', '{"0":1}', "null", '{"0":{"name":"a"},"0":2}']),
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE"]),
    accept=st.sampled_from(["", "application/jsonl"]),
)
async def test_whatever_is_sent_the_answer_is_trpc_shaped(
    path: list[str], suffix: str, raw: str, method: str, accept: str
) -> None:
    procedures = SomeProcedures(RecordedLog(StoppedClock()))
    request = mutation(",".join(path), raw.encode(), trpc_accept=accept)
    request.method = method
    request.target += suffix
    response = await procedures.layer.respond("context", request, None)
    answer = await body_of(response)
    if response.status == 200 and accept:
        assert all(json.loads(line) for line in answer.splitlines())
        return
    body = json.loads(answer)
    for item in body if isinstance(body, list) else [body]:
        assert set(item) <= {"result", "error"}
        if "error" in item:
            assert response.status in {207, item["error"]["data"]["httpStatus"]}
