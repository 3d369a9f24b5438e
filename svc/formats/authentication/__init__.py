"""Whether a mail comes from whom it names: what the own server found, and the sender's signatures, checked here.

Theory: SPF (RFC 7208) says which machines may send for a domain, DKIM (RFC 6376) signs a mail with a key that the
domain publishes, and DMARC (RFC 7489) asks that one of the two holds for the domain in ``From``. The receiving server
writes what it found into ``Authentication-Results`` (RFC 8601), which anybody else can write, too.

Pure. ``results`` reads such a field, ``signatures`` checks DKIM with keys that are handed in, ``judging`` puts both
together, ``model`` has the records. :mod:`svc.formats.authentication.signatures` is heavy: worker processes load it.
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
