"""The capabilities of features that do not exist yet, declared here so that their credentials can be stored already.

When a feature is added, its rows move there. A credential that a person connects through a consent screen or by a mail
server's password (``idp.oauth.<address>``, ``mail.imap.<address>``) has no row: no admin sets it.
"""

from __future__ import annotations

from typing import Final

from svc.capabilities import settings
from svc.capabilities.probing import ask_llm_a, ask_llm_b
from svc.capability import Capability, CredentialField, Probe, Reach
from svc.config import Setting


def _single(
    name: str,
    title: str,
    setting: Setting[str | None],
    *,
    purpose: str,
    obtain: str,
    probe: Probe | None = None,
    reach: Reach | None = None,
) -> Capability:
    value = CredentialField(name="value", label=title, setting=setting)
    return Capability(name=name, title=title, purpose=purpose, obtain=obtain, fields=(value,), probe=probe, reach=reach)


CAPABILITIES: Final[tuple[Capability, ...]] = (
    _single(
        "llm.a",
        "Model vendor A (Anthropic)",
        settings.LLM_A_API_KEY,
        purpose="Agents, mail rules and proposed replies ask its models.",
        obtain="console.anthropic.com, API keys.",
        probe=ask_llm_a,
    ),
    _single(
        "llm.b",
        "Model vendor B (OpenAI)",
        settings.LLM_B_API_KEY,
        purpose="Search by meaning uses its embeddings; agents may ask its models.",
        obtain="platform.openai.com, API keys.",
        probe=ask_llm_b,
    ),
    _single(
        "im-a.send",
        "Slack, bot token",
        settings.IM_A_BOT_TOKEN,
        purpose="Sends messages to Slack as your bot.",
        obtain="api.slack.com/apps, your app, OAuth & Permissions: the token that begins with xoxb-.",
        reach=Reach(hosts=("slack.com",)),
    ),
    _single(
        "im-a.socket",
        "Slack, app token",
        settings.IM_A_APP_TOKEN,
        purpose="Receives messages from Slack without a public address.",
        obtain="api.slack.com/apps, your app, Basic Information: an app-level token that begins with xapp-.",
    ),
    Capability(
        name="im-b",
        title="Telegram",
        purpose="Sends and receives Telegram messages, as a bot or as a user session.",
        obtain="A bot token from @BotFather in Telegram; API id and hash from my.telegram.org.",
        fields=(
            CredentialField(name="botToken", label="Bot token", setting=settings.IM_B_BOT_TOKEN),
            CredentialField(name="apiId", label="API id", setting=settings.IM_B_API_ID),
            CredentialField(name="apiHash", label="API hash", setting=settings.IM_B_API_HASH),
            CredentialField(name="session", label="Session", setting=settings.IM_B_SESSION),
        ),
        complete=(("botToken",), ("apiId", "apiHash", "session")),
    ),
    _single(
        "mlops-a.api",
        "MLOps service A",
        settings.MLOPS_A_API_KEY,
        purpose="Follows training runs.",
        obtain="The settings of your account there.",
    ),
    _single(
        "mlops-b.api",
        "MLOps service B",
        settings.MLOPS_B_API_TOKEN,
        purpose="Follows training runs.",
        obtain="The settings of your account there.",
    ),
    _single(
        "coding-agent.api",
        "Coding agent",
        settings.CODING_AGENT_API_KEY,
        purpose="Starts and follows coding sessions.",
        obtain="The settings of your account there.",
    ),
    _single(
        "provider.drive-b",
        "Dropbox",
        settings.DRIVE_B_ACCESS_TOKEN,
        purpose="Keeps files in step with Dropbox.",
        obtain="www.dropbox.com/developers/apps, your app: Generated access token.",
        reach=Reach(hosts=("api.dropboxapi.com", "content.dropboxapi.com"), passes=("dropbox-api-arg",)),
    ),
    Capability(
        name="provider.drive-c",
        title="OneDrive",
        purpose="Keeps files in step with OneDrive.",
        obtain="An access token for Microsoft Graph with Files.ReadWrite, and the id of the drive.",
        fields=(
            CredentialField(name="token", label="Access token", setting=settings.DRIVE_C_ACCESS_TOKEN),
            CredentialField(name="driveId", label="Drive id", setting=settings.DRIVE_C_DRIVE_ID),
        ),
        complete=(("token",), ("token", "driveId")),
        reach=Reach(hosts=("graph.microsoft.com",), form="Bearer {token}"),
    ),
    _single(
        "gitops.git.token",
        "Configuration repository",
        settings.GITOPS_TOKEN,
        purpose="Fetches and pushes the pages that are kept in git.",
        obtain="Your forge: an access token for that repository alone, which may read (and, for write-back, write) it.",
    ),
    _single(
        "gitops.webhook.secret",
        "Webhook of the forge",
        settings.GITOPS_WEBHOOK_SECRET,
        purpose="Proves that a push notice comes from your forge.",
        obtain="Make up a long random text, and enter it at the forge, too.",
    ),
)
