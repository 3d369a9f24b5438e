"""The variables that seed the secrets store at first boot. Insert-only: later only the store counts, not the
variables.
"""

from __future__ import annotations

from typing import Final

from svc.config import Setting, http_url, text


def _seed(name: str, capability: str, what: str, *, secret: bool = True) -> Setting[str | None]:
    return Setting(
        name=name,
        parse=text,
        default=None,
        type="text",
        secret=secret,
        help=f"{what} Seeds the capability `{capability}` once; Settings > Credentials changes it later.",
    )


LLM_A_API_KEY: Final = _seed("LLM_A_API_KEY", "llm.a", "API key of model vendor A (Anthropic's Messages API).")
LLM_B_API_KEY: Final = _seed("LLM_B_API_KEY", "llm.b", "API key of model vendor B (OpenAI's API).")
IM_A_BOT_TOKEN: Final = _seed("IM_A_BOT_TOKEN", "im-a.send", "Slack bot token.")
IM_A_APP_TOKEN: Final = _seed("IM_A_APP_TOKEN", "im-a.socket", "Slack app-level token.")
IM_B_BOT_TOKEN: Final = _seed("IM_B_BOT_TOKEN", "im-b", "Telegram bot token.")
IM_B_API_ID: Final = _seed("IM_B_API_ID", "im-b", "Telegram API id of a user session.", secret=False)
IM_B_API_HASH: Final = _seed("IM_B_API_HASH", "im-b", "Telegram API hash of a user session.")
IM_B_SESSION: Final = _seed("IM_B_SESSION", "im-b", "Telegram user session, as its client exports it.")
MLOPS_A_API_KEY: Final = _seed("MLOPS_A_API_KEY", "mlops-a.api", "API key of MLOps service A.")
MLOPS_B_API_TOKEN: Final = _seed("MLOPS_B_API_TOKEN", "mlops-b.api", "API token of MLOps service B.")
CODING_AGENT_API_KEY: Final = _seed("CODING_AGENT_API_KEY", "coding-agent.api", "API key of the coding agent.")
DRIVE_B_ACCESS_TOKEN: Final = _seed("DRIVE_B_ACCESS_TOKEN", "provider.drive-b", "Dropbox access token.")
DRIVE_C_ACCESS_TOKEN: Final = _seed("DRIVE_C_ACCESS_TOKEN", "provider.drive-c", "OneDrive access token.")
DRIVE_C_DRIVE_ID: Final = _seed("DRIVE_C_DRIVE_ID", "provider.drive-c", "OneDrive drive id.", secret=False)
GITOPS_TOKEN: Final = _seed("SVC_GITOPS_TOKEN", "gitops.git.token", "Access token for the configuration repository.")
GITOPS_WEBHOOK_SECRET: Final = _seed(
    "SVC_GITOPS_WEBHOOK_SECRET", "gitops.webhook.secret", "Secret that the forge signs its webhook with."
)

LLM_A_URL: Final[Setting[str]] = Setting(
    name="SVC_LLM_A_URL",
    parse=http_url,
    default="https://api.anthropic.com",
    type="URL",
    help="Base URL of model vendor A's API.",
)
LLM_B_URL: Final[Setting[str]] = Setting(
    name="SVC_LLM_B_URL",
    parse=http_url,
    default="https://api.openai.com",
    type="URL",
    help="Base URL of model vendor B's API, or of any other server with the same API.",
)

SETTINGS: Final = (
    LLM_A_API_KEY,
    LLM_B_API_KEY,
    LLM_A_URL,
    LLM_B_URL,
    IM_A_BOT_TOKEN,
    IM_A_APP_TOKEN,
    IM_B_BOT_TOKEN,
    IM_B_API_ID,
    IM_B_API_HASH,
    IM_B_SESSION,
    MLOPS_A_API_KEY,
    MLOPS_B_API_TOKEN,
    CODING_AGENT_API_KEY,
    DRIVE_B_ACCESS_TOKEN,
    DRIVE_C_ACCESS_TOKEN,
    DRIVE_C_DRIVE_ID,
    GITOPS_TOKEN,
    GITOPS_WEBHOOK_SECRET,
)
