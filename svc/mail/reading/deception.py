"""Warnings, each a sentence, about headers of a message that may deceive its reader. Pure."""

from __future__ import annotations

from typing import Final

from svc.formats.authentication import Authentication
from svc.formats.html.links import mailbox_hosts, same_registrant, shown_host
from svc.formats.person import Person
from svc.mail.model import MessageHeaders

MAX_SHOWN: Final = 3
"""Addresses named in one sentence."""


def misleading_reply(sender: Person, headers: MessageHeaders) -> str | None:
    """Warns where an answer goes to another domain than the sender's. Lists and newsletters are left out: for them this
    is usual."""
    if headers.bulk or headers.list_id is not None:
        return None
    from_domain = sender.address.rpartition("@")[2]
    if not from_domain:
        return None
    for person in headers.reply_to:
        domain = person.address.rpartition("@")[2]
        if domain and not same_registrant(domain, from_domain):
            return f"An answer goes to {person.address}, not to {from_domain}"
    return None


def misleading_name(sender: Person) -> str | None:
    """Warns of a sender whose name is an address or host of somebody else, or holds such an address."""
    domain = sender.address.rpartition("@")[2]
    if not domain:
        return None
    hosts = {shown_host(sender.name.strip("'\" ")), *mailbox_hosts(sender.name)}
    if all(host is None or same_registrant(host, domain) for host in hosts):
        return None
    return f"The sender is called {sender.name} but writes from {sender.address}"


def many_senders(headers: MessageHeaders) -> str | None:
    """Warns of several addresses in ``From``, where one is usual: most programs show only one of them."""
    addresses = list(dict.fromkeys(one.address.lower() for one in headers.senders if "@" in one.address))
    if len(addresses) < 2:
        return None
    shown = ", ".join(addresses[:MAX_SHOWN])
    more = f" and {len(addresses) - MAX_SHOWN} more" if len(addresses) > MAX_SHOWN else ""
    return f"This mail names more than one sender: {shown}{more}"


def failed_origin(sender: Person, origin: Authentication) -> str | None:
    """Warns of mail that failed the check of the sender's domain."""
    if origin.verdict != "failed":
        return None
    domain = sender.address.rpartition("@")[2] or "its sender"
    return f"This mail did not pass the check of {domain}: somebody else may have written it"


def no_address(sender: Person) -> str | None:
    """Warns of a sender with a name but no address: nobody knows who wrote it, and it can't be answered."""
    if "@" in sender.address or not (sender.name or sender.address):
        return None
    return f"This mail does not say from which address {sender.name or sender.address} writes"
