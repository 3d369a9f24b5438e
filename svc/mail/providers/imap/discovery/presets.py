"""The list of large providers: their servers, and what each one requires from a user who connects by IMAP.

A provider is recognized by the domain of the address. For a user's own domain, its MX hosts decide.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from svc.mail.providers.imap.discovery.model import Found
from svc.mail.providers.imap.servers import MailServer, Security

IMAPS: Final = 993
SUBMISSIONS: Final = 465
SUBMISSION: Final = 587


@dataclass(frozen=True, kw_only=True)
class Preset:
    """``domains``: of addresses; ``.*`` at the end stands for any ending. ``exchangers``: the endings of its MX hosts
    that receive mail for users' own domains. ``local_user``: the user name is the part before the @. ``oauth``: the
    kind of provider whose sign-in can connect it, too. Unless ``by_password``, that is the only way."""

    imap: MailServer
    smtp: MailServer
    domains: tuple[str, ...]
    exchangers: tuple[str, ...] = ()
    help: str | None = None
    local_user: bool = False
    oauth: str | None = None
    by_password: bool = True

    def found(self, address: str) -> Found:
        return Found(
            imap=self.imap,
            smtp=self.smtp,
            username=address.rpartition("@")[0] if self.local_user else address,
            source="preset",
            help=self.help,
            oauth=self.oauth,
            by_password=self.by_password,
        )


def by_domain(domain: str) -> Preset | None:
    name = domain.lower()
    stem = f"{name.partition('.')[0]}.*"
    return next((one for one in PRESETS if name in one.domains or stem in one.domains), None)


def by_exchangers(hosts: Iterable[str]) -> Preset | None:
    """``hosts``: the MX hosts of a domain, the preferred one first."""
    for host in hosts:
        name = "." + host.lower().rstrip(".")
        for preset in PRESETS:
            if any(name.endswith(f".{ending}") for ending in preset.exchangers):
                return preset
    return None


def by_server(host: str) -> Preset | None:
    """The provider of a server, among those with a sign-in of their own. A domain that names the server is hosted
    there."""
    own = (one for one in PRESETS if one.oauth is not None)
    return next((one for one in own if host in {one.imap.host, one.smtp.host}), None)


def tls(host: str, port: int) -> MailServer:
    return MailServer(host=host, port=port, security="tls")


def _preset(
    imap: str,
    smtp: str,
    *domains: str,
    exchangers: tuple[str, ...] = (),
    help: str | None = None,
    submission: Security = "tls",
    local_user: bool = False,
    oauth: str | None = None,
    by_password: bool = True,
) -> Preset:
    return Preset(
        imap=tls(imap, IMAPS),
        smtp=MailServer(host=smtp, port=SUBMISSIONS if submission == "tls" else SUBMISSION, security=submission),
        domains=domains,
        exchangers=exchangers,
        help=help,
        local_user=local_user,
        oauth=oauth,
        by_password=by_password,
    )


_MICROSOFT: Final = (
    "Microsoft no longer lets programs sign in with a password, and app passwords do not work either: it wants a "
    "sign-in on its own page."
)
OUTLOOK_COM: Final = _preset(
    "outlook.office365.com",
    "smtp-mail.outlook.com",
    "outlook.*",
    "hotmail.*",
    "live.*",
    "msn.com",
    "passport.com",
    help=_MICROSOFT,
    submission="starttls",
    oauth="outlook",
    by_password=False,
)
MICROSOFT_365: Final = _preset(
    "outlook.office365.com",
    "smtp.office365.com",
    "office365.com",
    exchangers=("mail.protection.outlook.com", "mx.microsoft", "olc.protection.outlook.com"),
    help=_MICROSOFT,
    submission="starttls",
    oauth="outlook",
    by_password=False,
)
_GMX: Final = (
    "Switch on POP3 and IMAP in the mailbox's settings first. With two-step sign-in, make an app-specific password in "
    "the account's security settings."
)
_ZOHO: Final = "Switch on IMAP access in Zoho's settings first; with two-step sign-in make an app-specific password."

PRESETS: Final = (
    _preset(
        "imap.gmail.com",
        "smtp.gmail.com",
        "gmail.com",
        "googlemail.com",
        exchangers=("google.com", "googlemail.com"),
        help="Google wants an app password: switch on 2-Step Verification, then make one at "
        "https://myaccount.google.com/apppasswords",
        oauth="gmail",
    ),
    OUTLOOK_COM,
    MICROSOFT_365,
    _preset(
        "imap.mail.me.com",
        "smtp.mail.me.com",
        "icloud.com",
        "me.com",
        "mac.com",
        exchangers=("mail.icloud.com",),
        help="Apple wants an app-specific password: make one at https://account.apple.com under Sign-In and Security. "
        "For an address of a domain of your own the user name is your iCloud address.",
        submission="starttls",
    ),
    _preset(
        "imap.mail.yahoo.com",
        "smtp.mail.yahoo.com",
        "yahoo.*",
        "ymail.com",
        "rocketmail.com",
        exchangers=("yahoodns.net",),
        help="Yahoo wants an app password: make one at https://login.yahoo.com/account/security",
    ),
    _preset(
        "imap.aol.com",
        "smtp.aol.com",
        "aol.*",
        "aim.com",
        help="AOL wants an app password: make one at https://login.aol.com/account/security",
    ),
    _preset(
        "imap.fastmail.com",
        "smtp.fastmail.com",
        "fastmail.*",
        exchangers=("messagingengine.com",),
        help="Fastmail wants an app password: make one under Settings, Privacy & Security. The user name is your main "
        "address there, also for another address of yours.",
    ),
    _preset("imap.gmx.net", "mail.gmx.net", "gmx.net", "gmx.de", "gmx.at", "gmx.ch", help=_GMX),
    _preset("imap.gmx.com", "mail.gmx.com", "gmx.com", "gmx.us", "gmx.co.uk", "gmx.fr", "gmx.es", help=_GMX),
    _preset("imap.web.de", "smtp.web.de", "web.de", help=_GMX, local_user=True),
    _preset("imap.zoho.com", "smtp.zoho.com", "zoho.com", "zohomail.com", help=_ZOHO),
    _preset("imap.zoho.eu", "smtp.zoho.eu", "zoho.eu", "zohomail.eu", help=_ZOHO),
    _preset("imap.zoho.in", "smtp.zoho.in", "zoho.in", "zohomail.in", help=_ZOHO),
    *(
        _preset(f"imappro.{region}", f"smtppro.{region}", exchangers=(region,), help=_ZOHO)
        for region in ("zoho.com", "zoho.eu", "zoho.in", "zoho.com.au")
    ),
    _preset(
        "imap.yandex.com",
        "smtp.yandex.com",
        "yandex.*",
        "ya.ru",
        exchangers=("yandex.net", "yandex.ru"),
        help="Yandex wants IMAP switched on in the mail settings, under Email clients, and an app password for mail: "
        "make one at https://id.yandex.com/security/app-passwords",
    ),
    _preset(
        "imap.mail.ru",
        "smtp.mail.ru",
        "mail.ru",
        "inbox.ru",
        "list.ru",
        "bk.ru",
        "internet.ru",
        exchangers=("mail.ru",),
        help="Mail.ru wants a password for an external application: make one at "
        "https://account.mail.ru/user/2-step-auth/passwords",
    ),
    _preset(
        "imap.mailbox.org",
        "smtp.mailbox.org",
        "mailbox.org",
        exchangers=("mailbox.org",),
        help="With two-factor sign-in, mailbox.org wants an app password: make one under All settings, Security. The "
        "user name is your main address there, also for another address of yours.",
    ),
    _preset(
        "posteo.de",
        "posteo.de",
        "posteo.*",
        help="Posteo takes your usual password, also with two-factor sign-in. Where its additional mailbox protection "
        "is on, no program gets in: switch that off first, in the settings under Password and security.",
    ),
    *(
        _preset(
            f"imap.{domain}",
            f"smtp.{domain}",
            domain,
            help="NetEase wants IMAP switched on in the settings of the mailbox, under POP3/SMTP/IMAP. The password is "
            "the authorization code that is shown there.",
        )
        for domain in ("163.com", "126.com", "yeah.net")
    ),
    _preset(
        "imap.qq.com",
        "smtp.qq.com",
        "qq.com",
        "foxmail.com",
        help="QQ wants IMAP switched on in the settings of the mailbox, under Account. The password is the "
        "authorization code that is shown there.",
    ),
    _preset(
        "secureimap.t-online.de",
        "securesmtp.t-online.de",
        "t-online.de",
        "magenta.de",
        help="T-Online wants a password of its own for mail programs: make one in the settings of your Telekom login, "
        "under password for e-mail programs.",
    ),
    _preset("imap.ionos.de", "smtp.ionos.de", "ionos.de", exchangers=("kundenserver.de",)),
    _preset("imap.ionos.com", "smtp.ionos.com", "ionos.com", exchangers=("ionos.com", "1and1.com")),
    _preset(
        "imap.mail.att.net",
        "smtp.mail.att.net",
        "att.net",
        "sbcglobal.net",
        "bellsouth.net",
        "pacbell.net",
        "ameritech.net",
        help="AT&T wants a secure mail key in place of the password: make one in your profile there, Sign-in info.",
    ),
    Preset(
        imap=MailServer(host="127.0.0.1", port=1143, security="starttls"),
        smtp=MailServer(host="127.0.0.1", port=1025, security="starttls"),
        domains=("proton.me", "protonmail.com", "protonmail.ch", "pm.me"),
        exchangers=("protonmail.ch",),
        help="Proton is read through its Bridge, a program that has to run on the machine of this server. The password "
        "is the one that the Bridge shows for the mailbox, and its certificate has to be accepted once.",
    ),
)
