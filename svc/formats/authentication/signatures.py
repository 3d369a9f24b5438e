"""Checks DKIM signatures (RFC 6376) by dkimpy, with keys that were looked up before. Runs only in worker processes.

The library takes quadratic time on long runs of blanks, and comes with its own resolver. So it is loaded in a process
with a deadline, and makes no DNS requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from svc.formats.authentication.model import MAX_SIGNATURES, MIN_KEY_BITS, Signature, SignatureState
from svc.formats.mime.model import Problems
from svc.formats.mime.parts import header_only

MAX_COVERED: Final = 100


def check_signatures(raw: bytes, keys: Mapping[str, bytes | None]) -> tuple[Signature, ...]:
    """Each signature of a mail, from the top. ``keys``: by DNS name; ``None``: there is no such key. A name that is
    missing could not be looked up."""
    import dkim

    try:
        mail = dkim.DKIM(raw, minkey=MIN_KEY_BITS)
    except (dkim.DKIMException, IndexError, ValueError):
        return ()
    count = sum(name.lower() == b"dkim-signature" for name, _ in mail.headers)
    return tuple(_check(dkim, raw, index, keys) for index in range(min(count, MAX_SIGNATURES)))


def _check(dkim: Any, raw: bytes, index: int, keys: Mapping[str, bytes | None]) -> Signature:
    missing: list[SignatureState] = []

    def key(name: bytes, timeout: float = 0) -> bytes | None:
        found = name.decode("ascii", "replace").rstrip(".").lower()
        if found not in keys:
            missing.append("unchecked")
        elif not keys[found]:
            missing.append("no-key")
        return keys.get(found)

    mail = dkim.DKIM(raw, minkey=MIN_KEY_BITS)
    try:
        is_valid = bool(mail.verify(index, dnsfunc=key))
        state: SignatureState = "valid" if is_valid else missing[0] if missing else "invalid"
    except dkim.KeyFormatError as error:
        state = "weak" if "too small" in str(error) else "unreadable"
    except dkim.ValidationError as error:
        state = "expired" if "value is past" in str(error) else "invalid"
    except Exception:  # an edge: any error of the library on a stranger's signature means that it proves nothing
        state = "unreadable"
    tags: dict[bytes, bytes] = mail.signature_fields or {}
    covers = tuple(name.strip().decode("ascii", "replace").lower() for name in tags.get(b"h", b"").split(b":"))
    if state == "valid":
        state = _strength(mail, raw, tags, covers)
    domain = (mail.domain or b"").decode("ascii", "replace").lower() if isinstance(mail.domain, bytes) else ""
    return Signature(domain=domain.rstrip("."), state=state, covers=covers[:MAX_COVERED])


def _strength(mail: Any, raw: bytes, tags: Mapping[bytes, bytes], covers: tuple[str, ...]) -> SignatureState:
    """The state of a valid signature: it must cover the only From, which is the shown one, and the whole body, by a
    safe algorithm."""
    if tags.get(b"a") == b"rsa-sha1":
        return "weak"
    shown = header_only(raw, problems=Problems()).fields.all("from")
    signed = [value for name, value in mail.headers if name.lower() == b"from"]
    if "from" not in covers or b"l" in tags or len(signed) != 1 or len(shown) != 1:
        return "partial"
    return "valid" if b"".join(signed[0].split()) == b"".join(shown[0].split()) else "partial"
