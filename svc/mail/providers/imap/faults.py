"""The faults of mail servers, in words for the user whose mailbox it is.

``reason`` is a fault's stable name. A fault says whether anything may have happened at the server: a command whose
answer did not come may have been done.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from svc.mail.providers.imap.servers import Certificate, MailServer

Reason = Literal[
    "auth_failed",
    "app_password",
    "imap_off",
    "oauth_only",
    "tls_failed",
    "unreachable",
    "not_imap",
    "not_smtp",
    "too_many",
    "busy",
    "refused",
    "lost",
]


class MailServerFault(Exception):
    """``detail``: whole sentences for the user. ``said``: the server's own words, if any.

    ``retry_after_s``: the wait that the server asks for.
    """

    def __init__(
        self,
        reason: Reason,
        detail: str,
        *,
        said: str = "",
        certificate: Certificate | None = None,
        may_have_happened: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(detail)
        self.reason: Reason = reason
        self.detail = detail
        self.said = said
        self.certificate = certificate
        self.may_have_happened = may_have_happened
        self.retry_after_s = retry_after_s


_APP_PASSWORD: Final = re.compile(
    r"app(?:lication)?[- ]?(?:specific )?password|app-specific|two[- ]factor|2fa|anwendungsspezifisch"
    r"|authori[sz]ation code",
    re.IGNORECASE,
)
_IMAP_OFF: Final = re.compile(
    r"(?:imap|pop).{0,40}(?:disabled|not enabled|not activated|is off|deaktiviert|nicht aktiviert)"
    r"|(?:not enabled|enable|activate|turn on).{0,20}\bimap|unsafe login|protocol is not allowed",
    re.IGNORECASE,
)
_TOO_MANY: Final = re.compile(
    r"too many (?:simultaneous )?(?:connections|sessions)|maximum number of connections", re.I
)
_OAUTH_ONLY: Final = re.compile(r"basic ?auth(?:entication)? (?:is )?(?:disabled|blocked)|LogonDenied-Basic", re.I)
_OR_WRONG: Final = re.compile(
    r"invalid (?:login or password|credentials)|credentials invalid|wrong password", re.IGNORECASE
)
_PAGE_FIRST: Final = re.compile(r"web ?login required|log ?in via (?:your )?web ?browser", re.IGNORECASE)
_SPENT: Final = re.compile(r"exceeded (?:command or )?bandwidth|bandwidth limit", re.IGNORECASE)
_SMTP_OFF: Final = re.compile(r"SmtpClientAuthentication is disabled", re.IGNORECASE)
_BACKOFF: Final = re.compile(r"Backoff Time: (\d{1,9}) milliseconds", re.IGNORECASE)
_PASSING: Final = frozenset({"UNAVAILABLE", "INUSE", "LIMIT", "SERVERBUG", "CONTACTADMIN"})

MAX_BACKOFF_S: Final = 300.0


def login_fault(*, host: str, code: str, said: str, by: Literal["password", "token"] = "password") -> MailServerFault:
    """The fault for a refused sign-in. ``code``: the server's response code, if it gave one."""
    if (busy := busy_fault(host=host, code=code, said=said)) is not None:
        return busy
    if _SMTP_OFF.search(said):
        return MailServerFault(
            "refused",
            f"{host} lets no mail out for this mailbox: sending by SMTP (SMTP AUTH) is switched off. Its administrator "
            "can switch it on, for the mailbox or for all: https://aka.ms/smtp_auth_disabled",
            said=said,
        )
    if by == "token" and not _IMAP_OFF.search(said):
        return MailServerFault(
            "auth_failed", f"{host} does not accept the sign-in of this mailbox any more.", said=said
        )
    if _APP_PASSWORD.search(said):
        return MailServerFault(
            "app_password",
            f"{host} wants an app password: a password of its own for this program, which you make in the settings of "
            "your mail provider, mostly under Security.",
            said=said,
        )
    if _IMAP_OFF.search(said):
        if _OR_WRONG.search(said):  # Yandex and GMX have one sentence for both causes
            return MailServerFault(
                "imap_off",
                f"{host} lets nobody in: access by IMAP is switched off for this mailbox, or the password is wrong. "
                "Look in the settings of your mail provider whether IMAP is on, and whether it wants an app password.",
                said=said,
            )
        return MailServerFault(
            "imap_off",
            "Access by IMAP is switched off for this mailbox. Switch it on in the settings of your mail provider, then "
            "try again.",
            said=said,
        )
    if _OAUTH_ONLY.search(said):
        return MailServerFault(
            "oauth_only", f"{host} takes no passwords any more: it wants a sign-in on its own page.", said=said
        )
    if _PAGE_FIRST.search(said):
        return MailServerFault(
            "auth_failed",
            f"{host} wants you to sign in on your mail provider's own page first, in a browser, and perhaps to confirm "
            "there that it was you. Then try again, with an app password where the provider has them.",
            said=said,
        )
    if code == "EXPIRED":
        return MailServerFault("auth_failed", f"{host} says that the password has expired.", said=said)
    return MailServerFault(
        "auth_failed",
        f"{host} does not accept this user name with this password. Where your provider has two-step sign-in, it wants "
        "an app password in place of the usual one.",
        said=said,
    )


def busy_fault(*, host: str, code: str, said: str) -> MailServerFault | None:
    """The fault if the server says that the cause is temporary and not the user's data; ``None`` otherwise."""
    if _TOO_MANY.search(said):
        return MailServerFault(
            "too_many",
            f"{host} takes no more connections from you at the moment: other programs use this mailbox, too.",
            said=said,
        )
    if _SPENT.search(said):
        return MailServerFault(
            "busy",
            f"{host} gives out no more today: programs have fetched as much of this mailbox as it allows. That mostly "
            "ends within a day.",
            said=said,
        )
    if found := _BACKOFF.search(said):
        wait_s = min(int(found[1]) / 1_000, MAX_BACKOFF_S)
        return MailServerFault("busy", f"{host} asks to slow down.", said=said, retry_after_s=wait_s)
    if code in _PASSING:
        return MailServerFault("busy", f"{host} has trouble of its own at the moment.", said=said)
    return None


def in_the_clear(fault: MailServerFault, *, host: str) -> MailServerFault:
    """A fault from before TLS began: anyone on the way may have said it. So it has none of the server's words, and
    decides nothing for good: neither a mail nor a change counts as refused by it."""
    if fault.reason == "refused":
        return MailServerFault("tls_failed", f"{host} refuses the connection before TLS begins.")
    if fault.reason == "busy":
        return MailServerFault("busy", f"{host} takes no connections at the moment.")
    return MailServerFault(fault.reason, fault.detail)


def later(fault: MailServerFault) -> str | None:
    """Advice for a user when a server is busy; ``None`` if waiting does not help."""
    if fault.reason == "too_many":
        return "Close some of them, or try again in a few minutes."
    return "Try again later." if fault.reason == "busy" else None


def unreachable(host: str) -> MailServerFault:
    return MailServerFault("unreachable", f"{host} can't be reached.")


def silent(host: str, *, may_have_happened: bool) -> MailServerFault:
    return MailServerFault("lost", f"{host} stopped answering.", may_have_happened=may_have_happened)


def says_nothing(server: MailServer) -> MailServerFault:
    """The fault of a server that accepted the connection and sent nothing until the deadline."""
    hint = (
        " Perhaps it speaks TLS from the beginning there: choose TLS in place of STARTTLS."
        if server.security == "starttls"
        else ""
    )
    return MailServerFault("unreachable" if hint else "lost", f"{server} stopped answering.{hint}")


def hung_up(host: str, *, may_have_happened: bool, said: str = "") -> MailServerFault:
    return MailServerFault("lost", f"{host} ended the connection.", said=said, may_have_happened=may_have_happened)
