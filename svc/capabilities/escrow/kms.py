"""The key-management service: only Encrypt and Decrypt of AWS KMS.

Each call names the key by its ARN and gives the encryption context; the answer must name the same key. botocore signs,
but its sessions, which read files and metadata services, are not used: credentials are settings. Our own client sends
the requests, like all others.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Final, Literal, TypeVar

import msgspec

from svc.capabilities.escrow.refusals import EscrowRefused, Later
from svc.capabilities.escrow.settings import (
    ACCESS_KEY_ID,
    KMS_KEY_ID,
    KMS_URL,
    SECRET_ACCESS_KEY,
    SESSION_TOKEN,
    TENANT_ID,
    region_of,
)
from svc.config import Config
from svc.protocol.egress import Egress, EgressFault, EgressResponse

T = TypeVar("T")

DEADLINE_S: Final = 10.0
ANSWER_MAX_BYTES: Final = 64 * 1024
PLAINTEXT_MAX_BYTES: Final = 4_096
"""The most that the service encrypts by itself."""
_SERVER_ERROR: Final = 500
_TOO_MANY: Final = 429
_TURNED_AWAY: Final = frozenset({401, 403})
_OK: Final = 200

_CREDENTIALS: Final = (
    ACCESS_KEY_ID.name,
    "the key-management service does not take these credentials",
    "set valid ones in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, for temporary ones, AWS_SESSION_TOKEN",
)
_WORDS: Final[Mapping[str, tuple[str, str, str]]] = {
    "InvalidCiphertextException": (
        TENANT_ID.name,
        "the wrapped key does not open with this tenant's encryption context, or was altered",
        "check that SVC_TENANT_ID and SVC_KMS_KEY_ID are those it was wrapped with",
    ),
    "IncorrectKeyException": (
        KMS_KEY_ID.name,
        "the wrapped key lies under another key",
        "set the key that it was wrapped with",
    ),
    "AccessDeniedException": (
        KMS_KEY_ID.name,
        "these credentials may not use this key with this encryption context",
        "allow kms:Encrypt and kms:Decrypt by it, and check SVC_TENANT_ID",
    ),
    "NotFoundException": (KMS_KEY_ID.name, "there is no such key", "check the ARN, its account and its region"),
    "DisabledException": (KMS_KEY_ID.name, "the key is disabled", "enable it at the key-management service"),
    "KMSInvalidStateException": (
        KMS_KEY_ID.name,
        "the key can't be used in its present state: it may be about to be deleted",
        "cancel its deletion at the key-management service at once, before the key and all under it are lost",
    ),
    "InvalidKeyUsageException": (
        KMS_KEY_ID.name,
        "the key is not one that encrypts",
        "name a symmetric key for encryption",
    ),
    "UnrecognizedClientException": _CREDENTIALS,
    "InvalidClientTokenId": _CREDENTIALS,
    "InvalidSignatureException": _CREDENTIALS,
    "SignatureDoesNotMatch": _CREDENTIALS,
    "IncompleteSignature": _CREDENTIALS,
    "MissingAuthenticationToken": _CREDENTIALS,
    "ExpiredTokenException": _CREDENTIALS,
}
"""By error code. Any other error is shown by its own name."""
_PASSING: Final = frozenset(
    {
        "ThrottlingException",
        "Throttling",
        "LimitExceededException",
        "KMSInternalException",
        "DependencyTimeoutException",
        "KeyUnavailableException",
        "ServiceUnavailable",
        "InternalFailure",
    }
)


class _Error(msgspec.Struct, frozen=True):
    kind: str = msgspec.field(name="__type", default="")


class _Encrypted(msgspec.Struct, frozen=True):
    CiphertextBlob: str
    KeyId: str


class _Decrypted(msgspec.Struct, frozen=True):
    Plaintext: str
    KeyId: str


class Kms:
    """One key, by its ARN."""

    def __init__(self, config: Config, egress: Egress, *, key: str = "") -> None:
        key = key or config[KMS_KEY_ID] or ""
        assert key, "a rule asked for it"
        self.key = key
        self._region = region_of(key)
        suffix = "amazonaws.com.cn" if key.startswith("arn:aws-cn:") else "amazonaws.com"
        self._url = f"{config[KMS_URL] or f'https://kms.{self._region}.{suffix}'}/"
        self._config = config
        self._egress = egress

    async def wrap(self, plaintext: bytes, context: Mapping[str, str]) -> str:
        """The ciphertext, as base64. Raises :class:`EscrowRefused`, or :class:`Later`."""
        asked = {"KeyId": self.key, "Plaintext": _base64(plaintext), "EncryptionContext": dict(context)}
        answer = _read(await self._call("Encrypt", asked), _Encrypted)
        self._check_key(answer.KeyId)
        _bytes(answer.CiphertextBlob)
        return answer.CiphertextBlob

    async def unwrap(self, wrapped: str, context: Mapping[str, str]) -> bytes:
        """The plaintext of ``wrapped``, if it was wrapped by this key with this context. Raises the same."""
        asked = {"KeyId": self.key, "CiphertextBlob": wrapped, "EncryptionContext": dict(context)}
        answer = _read(await self._call("Decrypt", asked), _Decrypted)
        self._check_key(answer.KeyId)
        return _bytes(answer.Plaintext)

    def _check_key(self, key: str) -> None:
        if key != self.key:
            raise EscrowRefused(
                KMS_KEY_ID.name, f"the key-management service used another key ({key})", "set that of this tenant"
            )

    async def _call(self, operation: Literal["Encrypt", "Decrypt"], asked: Mapping[str, object]) -> bytes:
        body = msgspec.json.encode(asked)
        try:
            answer = await self._egress.request(
                "POST",
                self._url,
                headers=self._signed(operation, body),
                body=body,
                deadline_s=DEADLINE_S,
                limit_bytes=ANSWER_MAX_BYTES,
            )
        except EgressFault as fault:
            raise Later(_unreachable(fault)) from None
        if answer.status != _OK:
            raise _refusal(answer)
        return answer.body

    def _signed(self, operation: str, body: bytes) -> dict[str, str]:
        from botocore.auth import SigV4Auth  # late: an extra, and only a hosted cell has it
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials

        headers = {"content-type": "application/x-amz-json-1.1", "x-amz-target": f"TrentService.{operation}"}
        request = AWSRequest("POST", self._url, data=body, headers=headers)
        config = self._config
        credentials = Credentials(config[ACCESS_KEY_ID], config[SECRET_ACCESS_KEY], config[SESSION_TOKEN])
        SigV4Auth(credentials, "kms", self._region).add_auth(request)
        return {str(name): str(value) for name, value in request.headers.items()}


def _refusal(answer: EgressResponse) -> Exception:
    try:
        kind = msgspec.json.decode(answer.body, type=_Error).kind.rpartition("#")[2].partition(":")[0]
    except (msgspec.DecodeError, UnicodeDecodeError):
        kind = ""
    if kind in _WORDS:
        return EscrowRefused(*_WORDS[kind])
    if not kind and answer.status in _TURNED_AWAY:
        return EscrowRefused(
            ACCESS_KEY_ID.name,
            f"the key-management service turned these credentials away ({answer.status})",
            "check them, and that they may use kms:Encrypt and kms:Decrypt with this key",
        )
    named = kind if kind.isalnum() else f"status {answer.status}"
    refusal = EscrowRefused(
        KMS_KEY_ID.name,
        f"the key-management service refused ({named})",
        "see what it says of this key",
        passing=kind in _PASSING or answer.status >= _SERVER_ERROR or answer.status == _TOO_MANY,
    )
    return Later(refusal) if refusal.passing else refusal


def _unreachable(fault: EgressFault) -> EscrowRefused:
    return EscrowRefused(
        KMS_KEY_ID.name,
        f"the key-management service does not answer ({fault.detail})",
        "check the network, and that it is up; then start again",
        passing=True,
    )


def _read(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise _unreadable() from None


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise _unreadable() from None


def _unreadable() -> EscrowRefused:
    return EscrowRefused(
        KMS_URL.name, "what answers is not a key-management service", "set the address of AWS KMS, or unset it"
    )


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
