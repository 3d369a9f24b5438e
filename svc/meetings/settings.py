"""The address of the speech-to-text vendor, and the credentials of the recognisers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from svc.capabilities import ask_service
from svc.capability import Capability, CredentialField, ProbeResult
from svc.config import Setting, http_url, text
from svc.workspace import Workspace

STT_VENDOR: Final = "stt"
STT_SERVER: Final = "stt.server"

STT_API_KEY: Final[Setting[str | None]] = Setting(
    name="STT_API_KEY",
    parse=text,
    default=None,
    type="text",
    secret=True,
    help=f"API key of the speech-to-text service. Seeds the capability `{STT_VENDOR}` once; "
    "Settings > Credentials changes it later.",
)
STT_SERVER_KEY: Final[Setting[str | None]] = Setting(
    name="SVC_STT_SERVER_KEY",
    parse=text,
    default=None,
    type="text",
    secret=True,
    help="Key of a transcription server of your own, where it wants one. "
    f"Seeds the capability `{STT_SERVER}` once; Settings > Credentials changes it later.",
)
STT_URL: Final[Setting[str]] = Setting(
    name="SVC_STT_URL",
    parse=http_url,
    default="https://api.deepgram.com",
    type="URL",
    help="Where the speech-to-text service of STT_API_KEY is asked; any that speaks Deepgram's streaming API will do.",
)

SETTINGS: Final = (STT_API_KEY, STT_SERVER_KEY, STT_URL)


async def _ask_vendor(workspace: Workspace, value: Mapping[str, str]) -> ProbeResult:
    """Test the key: list the projects."""
    headers = {"authorization": f"Token {value['value']}"}
    return await ask_service(workspace, f"{workspace.config[STT_URL]}/v1/projects", headers=headers, value=value)


CAPABILITIES: Final[tuple[Capability, ...]] = (
    Capability(
        name=STT_VENDOR,
        title="Speech to text (Deepgram)",
        purpose="Writes down what is said in meetings, where Settings > Meetings says so.",
        obtain="console.deepgram.com, API keys.",
        fields=(CredentialField(name="value", label="Speech to text (Deepgram)", setting=STT_API_KEY),),
        probe=_ask_vendor,
    ),
    Capability(
        name=STT_SERVER,
        title="Transcription server",
        purpose="Goes along to the transcription server that Settings > Meetings names. Many servers want none.",
        obtain="Whoever runs the server; for OpenAI itself: platform.openai.com, API keys.",
        fields=(CredentialField(name="value", label="Transcription server", setting=STT_SERVER_KEY),),
    ),
)
