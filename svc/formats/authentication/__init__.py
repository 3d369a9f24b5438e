"""Checks whether a mail comes from the domain in From: by the own server's results, and by the sender's signatures.

Theory: SPF (RFC 7208) says which machines may send for a domain, DKIM (RFC 6376) signs a mail with a key that the
domain publishes, and DMARC (RFC 7489) requires that one of the two holds for the domain in ``From``. The receiving
server writes its findings into ``Authentication-Results`` (RFC 8601), but anybody else can write that field too.

Pure. ``results`` reads such a field, ``signatures`` checks DKIM with keys that are handed in, ``judging`` combines
both, ``model`` has the records. :mod:`svc.formats.authentication.signatures` is heavy: worker processes load it.
"""

from svc.formats.authentication.heads import Head, read_head
from svc.formats.authentication.judging import aligned, covers, judge
from svc.formats.authentication.model import Authentication, ServerResult, Signature, Unsubscribe
from svc.formats.authentication.signatures import check_signatures

__all__ = [
    "Authentication",
    "Head",
    "ServerResult",
    "Signature",
    "Unsubscribe",
    "aligned",
    "check_signatures",
    "covers",
    "judge",
    "read_head",
]
