"""What a hosted cell refuses at boot: each with its own words and nothing created; and who is given the token."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from svc.capabilities import EscrowRefused
from svc.config import ConfigError
from svc.preflight import serve_rules
from svc.protocol import Request, Response, json_response
from tests.capabilities.escrow.cells import KEY, TOKEN, config_of, keys_of
from tests.capabilities.escrow.stubs import Answer, Stub, said, stub
from tests.recorded_log import RecordedLog

pytestmark = pytest.mark.wall_clock

MATERIAL: Final = b"k" * 32
CONTEXT: Final = {"svc:tenant": "acme", "svc:cell": "cell-1", "svc:purpose": "master-key"}
RECORD: Final[dict[str, Any]] = {
    "tenantId": "acme",
    "version": 3,
    "wrappedKey": base64.b64encode(b"wrapped" + MATERIAL).decode(),
    "kmsKeyId": KEY,
    "context": CONTEXT,
    "createdAt": "2026-11-25T20:00:00.000Z",
}


def honest_kms(request: Request, body: Any) -> Response:
    """Wraps by writing a word before it, and checks what a real one would."""
    operation = request.headers.get("x-amz-target")
    if body["KeyId"] != KEY or body["EncryptionContext"] != CONTEXT:
        return said("InvalidCiphertextException")
    if operation == "TrentService.Encrypt":
        wrapped = base64.b64encode(b"wrapped" + base64.b64decode(body["Plaintext"])).decode()
        return json_response({"CiphertextBlob": wrapped, "KeyId": KEY})
    plaintext = base64.b64decode(body["CiphertextBlob"]).removeprefix(b"wrapped")
    return json_response({"Plaintext": base64.b64encode(plaintext).decode(), "KeyId": KEY})


def record(**changes: Any) -> Answer:
    return lambda request, body: json_response(RECORD | changes)


def status(number: int, **fields: str) -> Answer:
    headers = list(fields.items())
    return lambda request, body: json_response({"code": "x"}, status=number, headers=headers)


def nothing(request: Request, body: Any) -> Response:
    return json_response({"cellId": "cell-1"}, status=404)


@dataclass(frozen=True, kw_only=True)
class Case:
    words: str
    name: str
    escrow: Answer = field(default_factory=record)
    kms: Answer = honest_kms
    passing: bool = False
    more: dict[str, str] = field(default_factory=dict)


def kms_says(kind: str, words: str, *, name: str = "SVC_KMS_KEY_ID", code: int = 400, passing: bool = False) -> Case:
    return Case(words=words, name=name, kms=lambda request, body: said(kind, status=code), passing=passing)


URL, TENANT, KMS = "SVC_KEY_ESCROW_URL", "SVC_TENANT_ID", "SVC_KMS_KEY_ID"
CASES: Final = (
    Case(words="another tenant", name=TENANT, escrow=record(tenantId="other")),
    Case(words="another tenant", name=TENANT, escrow=record(context=CONTEXT | {"svc:tenant": "Acme"})),
    Case(words="for the cell 'cell-1'", name="SVC_CELL_ID", more={"SVC_CELL_ID": "cell-2"}),
    Case(words="another purpose", name=URL, escrow=record(context=CONTEXT | {"svc:purpose": "blobs"})),
    Case(words="more or less in it", name=URL, escrow=record(context=CONTEXT | {"more": "x"})),
    Case(words="was wrapped by", name=KMS, escrow=record(kmsKeyId=KEY.replace("1111", "9999", 1))),
    Case(words="was wrapped by alias/x", name=KMS, escrow=record(kmsKeyId="alias/x")),
    Case(words="no version", name=URL, escrow=record(version=0)),
    Case(words="or half its answer", name=URL, escrow=record(wrappedKey=None)),
    Case(
        words="or half its answer",
        name=URL,
        escrow=lambda request, body: Response(
            headers=[("content-type", "application/json")], body=msgspec.json.encode(RECORD)[:60]
        ),
    ),
    Case(words="(401)", name="SVC_KEY_ESCROW_TOKEN", escrow=status(401)),
    Case(words="(403)", name="SVC_KEY_ESCROW_TOKEN", escrow=status(403)),
    Case(words="sends elsewhere (302)", name=URL, escrow=status(302, location="/v1/keys/other")),
    Case(words="refused (418)", name=URL, escrow=status(418)),
    Case(words="can't answer now (503)", name=URL, escrow=status(503), passing=True),
    Case(words="can't answer now (429)", name=URL, escrow=status(429), passing=True),
    Case(words="404 is not the escrow service", name=URL, escrow=lambda request, body: Response(status=404, body=b"?")),
    Case(words="does not answer", name=URL, more={URL: "http://127.0.0.1:1"}, passing=True),
    Case(words="does not answer", name=KMS, more={"SVC_KMS_URL": "http://127.0.0.1:1"}, passing=True),
    Case(words="is no master key", name=URL, escrow=record(wrappedKey=base64.b64encode(b"wrappedshort").decode())),
    kms_says("InvalidCiphertextException", "does not open with this tenant's encryption context", name=TENANT),
    kms_says("com.amazonaws.kms#IncorrectKeyException", "lies under another key"),
    kms_says("AccessDeniedException", "may not use this key"),
    kms_says("NotFoundException", "no such key"),
    kms_says("DisabledException", "is disabled"),
    kms_says("KMSInvalidStateException", "about to be deleted"),
    kms_says("InvalidKeyUsageException", "not one that encrypts"),
    kms_says("UnrecognizedClientException", "does not take these credentials", name="AWS_ACCESS_KEY_ID"),
    kms_says("ExpiredTokenException", "does not take these credentials", name="AWS_ACCESS_KEY_ID", code=403),
    Case(
        words="turned these credentials away (403)",
        name="AWS_ACCESS_KEY_ID",
        kms=lambda request, body: Response(status=403, body=b"<Error/>"),
    ),
    kms_says("ThrottlingException", "refused (ThrottlingException)", passing=True),
    kms_says("KMSInternalException", "refused (KMSInternalException)", code=500, passing=True),
    kms_says("\u202eodd; words", "refused (status 400)"),
    Case(
        words="used another key",
        name=KMS,
        kms=lambda request, body: json_response({"Plaintext": "", "KeyId": KEY.replace("1111", "9999", 1)}),
    ),
    Case(words="is not a key-management service", name="SVC_KMS_URL", kms=lambda request, body: json_response([])),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}: {case.words}")
async def test_a_boot_is_refused_in_words_and_leaves_nothing(case: Case, tmp_path: Path, log: RecordedLog) -> None:
    home = tmp_path / "home"
    async with stub(case.escrow, log=log) as escrow, stub(case.kms, log=log) as kms:
        config = config_of(home, escrow=escrow.url, kms=kms.url, **case.more)
        with pytest.raises(EscrowRefused) as caught:
            await keys_of(config, home).fetch(may_create=True)
    assert str(caught.value).startswith(f"{case.name}: ")
    assert case.words in str(caught.value)
    assert caught.value.passing == case.passing
    assert not home.exists()
    assert TOKEN.partition(".")[2] not in str(caught.value) + repr(kms.asked)
    if case.passing and case.words != "does not answer":
        assert max(len(escrow.asked), len(kms.asked)) == 5


def test_in_a_public_cell_identity_is_never_off_and_a_first_admin_needs_a_token(tmp_path: Path) -> None:
    """Though it listens on loopback: its proxy passes on all callers."""
    away = {"escrow": "http://127.0.0.1:1", "kms": "http://127.0.0.1:1", "SVC_PORT": "0", "SVC_INTERNAL_PORT": "0"}
    with pytest.raises(ConfigError, match="SVC_AUTH: identity can't be off in a public cell"):
        config_of(tmp_path / "home", **away, SVC_AUTH="off")
    config = config_of(tmp_path / "home", **away)
    (fault,) = [fault for rule in serve_rules("all") for fault in rule(config)]
    assert str(fault).startswith(
        "SVC_CLAIM_TOKEN: this instance is unclaimed and a public cell can be reached by others"
    )
    assert not (tmp_path / "home").exists()


async def test_a_version_never_goes_backwards_and_none_is_replaced(tmp_path: Path, log: RecordedLog) -> None:
    home = tmp_path / "home"
    home.mkdir()
    answers: list[Answer] = [record()]

    async def refusal() -> str:
        with pytest.raises(EscrowRefused) as caught:
            await keys_of(config, home).fetch(may_create=True)
        return str(caught.value)

    async with (
        stub(lambda request, body: answers[-1](request, body), log=log) as escrow,
        stub(honest_kms, log=log) as kms,
    ):
        config = config_of(home, escrow=escrow.url, kms=kms.url)
        keys = keys_of(config, home)
        await keys.fetch(may_create=True)
        assert keys.load(may_create=False).current.material == MATERIAL
        keys.opened()
        assert MATERIAL not in (home / "escrow.json").read_bytes()
        kms.asked.clear()
        answers.append(record(version=2))
        assert "has version 2 of the key, and this home has seen 3" in await refusal()
        answers.append(record(wrappedKey=base64.b64encode(b"wrapped" + b"j" * 32).decode()))
        assert "another key as version 3" in await refusal()
        answers.append(nothing)
        assert "has no key of the tenant 'acme'" in await refusal()
        assert [asked[0] for asked in escrow.asked] == ["GET"] * 4
        assert kms.asked == []  # nothing of it was tried, nothing wrapped anew
        config = config_of(home, escrow=escrow.url, kms=kms.url, SVC_TENANT_ID="beta")
        answers.append(record(tenantId="beta", context=CONTEXT | {"svc:tenant": "beta"}))
        assert "is that of the tenant 'acme'" in await refusal()
        (home / "escrow.json").write_text("{")
        assert "can't be read" in await refusal()


async def test_a_lost_answer_is_asked_for_again_and_a_busy_service_is_asked_later(
    tmp_path: Path, log: RecordedLog
) -> None:
    """The key is stored, and the answer says 503: what is there then is our own."""
    stored: list[dict[str, Any]] = []

    def forgetful(request: Request, body: Any) -> Response:
        if request.method == "PUT" and not stored:
            stored.append({"tenantId": "acme", **body})
            return json_response({"code": "unavailable"}, status=503)
        if request.method == "PUT":
            return json_response({"code": "conflict"}, status=409)
        return json_response(stored[0]) if stored else nothing(request, body)

    busy = iter([said("ThrottlingException"), said("ThrottlingException"), None])

    def throttled(request: Request, body: Any) -> Response:
        return next(busy, None) or honest_kms(request, body)

    home = tmp_path / "home"
    async with stub(forgetful, log=log) as escrow, stub(throttled, log=log) as kms:
        keys = keys_of(config_of(home, escrow=escrow.url, kms=kms.url), home)
        await keys.fetch(may_create=True)
        assert [asked[0] for asked in escrow.asked] == ["GET", "PUT", "PUT", "GET"]
    wrapped = base64.b64decode(stored[0]["wrappedKey"]).removeprefix(b"wrapped")
    assert keys.load(may_create=False).current.material == wrapped
    assert stored[0]["context"] == CONTEXT
    _token_went_nowhere_else(escrow, kms)


def _token_went_nowhere_else(escrow: Stub, kms: Stub) -> None:
    assert {asked[2]["authorization"] for asked in escrow.asked} == {f"Bearer {TOKEN}"}
    assert TOKEN.partition(".")[2] not in repr(kms.asked)
