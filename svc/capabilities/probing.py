"""Tests whether a real service accepts a credential: one harmless call, and the service's own message.

The value is sent only in a header. An answer is shown shortened, and never with the value in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from svc.capabilities.settings import LLM_A_URL, LLM_B_URL
from svc.capability import ProbeResult
from svc.protocol.egress import EgressFault, EgressResponse
from svc.workspace import Workspace

DEADLINE_S: Final = 15.0
ANSWER_MAX_BYTES: Final = 1 << 20
WORDS_MAX_CHARS: Final = 300


async def ask_llm_a(workspace: Workspace, value: Mapping[str, str]) -> ProbeResult:
    """List the models, in the Messages API's form of that call."""
    headers = {"x-api-key": value["value"], "anthropic-version": "2023-06-01"}
    return await ask(workspace, f"{workspace.config[LLM_A_URL]}/v1/models", headers=headers, value=value)


async def ask_llm_b(workspace: Workspace, value: Mapping[str, str]) -> ProbeResult:
    """List the models."""
    headers = {"authorization": f"Bearer {value['value']}"}
    return await ask(workspace, f"{workspace.config[LLM_B_URL]}/v1/models", headers=headers, value=value)


async def ask(workspace: Workspace, url: str, *, headers: Mapping[str, str], value: Mapping[str, str]) -> ProbeResult:
    """``GET url``: status 200 is a success; for any other, the service's message is shown."""
    try:
        answer = await workspace.egress.request(
            "GET",
            url,
            headers={"accept": "application/json", **headers},
            deadline_s=DEADLINE_S,
            limit_bytes=ANSWER_MAX_BYTES,
        )
    except EgressFault as fault:
        return ProbeResult(ok=False, message=f"The service could not be asked: {without(value, fault.detail)}.")
    if answer.status == 200:
        return ProbeResult(ok=True, message="The service accepts it.")
    return ProbeResult(ok=False, message=f"The service answered {answer.status}: {without(value, words_of(answer))}")


class _Error(msgspec.Struct):
    message: str = ""


class _Answer(msgspec.Struct):
    error: _Error | str = ""
    error_description: str = ""


def words_of(answer: EgressResponse) -> str:
    """The message of an error answer in the form that most services use; else the beginning of its text."""
    try:
        told = msgspec.json.decode(answer.body, type=_Answer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        text = answer.body[: 4 * WORDS_MAX_CHARS].decode("utf-8", "replace")
    else:
        error = told.error.message if isinstance(told.error, _Error) else told.error
        text = f"{error}: {told.error_description}" if told.error_description else error
    return " ".join(text.split())[:WORDS_MAX_CHARS] or "nothing more"


def without(value: Mapping[str, str], text: str) -> str:
    """``text`` without any part of the credential: a service may quote what it was given."""
    for part in sorted(value.values(), key=len, reverse=True):
        if part:
            text = text.replace(part, "********")
    return text
