"""What in a message's headers may deceive its reader, put into a sentence. Pure."""

from __future__ import annotations

from svc.mail.model import MessageHeaders, Person
from svc.mail.sanitize.links import same_registrant, shown_host


def misleading_reply(sender: Person, headers: MessageHeaders) -> str | None:
    """Where an answer would go elsewhere than to who seems to ask. Lists and newsletters do that as a rule."""
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
    """A sender whose name is the address, or the host, of another."""
    host = shown_host(sender.name.strip("'\" "))
    domain = sender.address.rpartition("@")[2]
    if host is None or not domain or same_registrant(host, domain):
        return None
    return f"The sender is called {sender.name} but writes from {sender.address}"
