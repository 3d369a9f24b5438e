"""The recovery code: a person writes it down, and can open a copy of the master key with it if the key is lost.

Theory. The master key is outside home and archive, so a lost laptop takes it away. A copy is stored in the archive,
sealed to a public key (X25519, HKDF, AES-256-GCM). The private key is derived from the code, which is written down and
stored nowhere. So after each rotation the copy can be made again without the code. The archive without the code reveals
nothing: the code has 160 random bits, so no slow hash is needed.

The code is 8 groups of 5 letters in Crockford's base 32: 4 letters of content and one that checks the group. So a
typing error is reported with its group, and the code never guesses the right letter. The seal is bound to the home and
to the key's version.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from svc.capabilities.keys import key_source
from svc.clock import Millis, rfc3339
from svc.config import Config
from svc.store import KeyRefused, Keyring, Ledger, MasterKeySource, Secrets

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

SEALED: Final = "recovery/sealed"
"""The name of the copy in the ledger, which is archived."""

GROUPS: Final = 8
_CONTENT: Final = 4
_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_READ_AS: Final = str.maketrans("OIL", "011")
_BYTES: Final = GROUPS * _CONTENT * 5 // 8
_NONCE: Final = bytes(12)  # each seal has its own key


class CodeRefused(Exception):
    """The code is wrong: one sentence says where."""


class Sealed(msgspec.Struct, frozen=True, rename="camel"):
    """The sealed copy in the archive. ``key``: the id of the newest master key in it. ``confirmed``: a person has typed
    the code again."""

    home: str
    key: str
    public: bytes
    ephemeral: bytes
    ciphertext: bytes
    at: str
    confirmed: bool = False


def new_code() -> str:
    """A new code, in the form that is shown: ``ABCDE-…``."""
    bits = int.from_bytes(secrets.token_bytes(_BYTES), "big")
    letters = [_ALPHABET[(bits >> (5 * place)) & 31] for place in reversed(range(GROUPS * _CONTENT))]
    groups = ["".join(letters[start : start + _CONTENT]) for start in range(0, len(letters), _CONTENT)]
    return "-".join(group + _check(number, group) for number, group in enumerate(groups))


def read_code(text: str) -> bytes:
    """The bits of a typed code. Raises :class:`CodeRefused`."""
    letters = "".join(text.upper().replace("-", " ").split()).translate(_READ_AS)
    wanted = GROUPS * (_CONTENT + 1)
    if strange := next((letter for letter in letters if letter not in _ALPHABET), None):
        raise CodeRefused(f"A recovery code has no {strange!r}.")
    if len(letters) != wanted:
        raise CodeRefused(f"A recovery code has {wanted} letters, and this has {len(letters)}.")
    groups = [letters[start : start + _CONTENT + 1] for start in range(0, wanted, _CONTENT + 1)]
    wrong = [number for number, group in enumerate(groups) if _check(number, group[:-1]) != group[-1]]
    if wrong:
        told = ", ".join(f"{number + 1} ({groups[number]})" for number in wrong)
        raise CodeRefused(f"There is a slip in group {told} of the recovery code.")
    bits = 0
    for letter in "".join(group[:-1] for group in groups):
        bits = bits << 5 | _ALPHABET.index(letter)
    return bits.to_bytes(_BYTES, "big")


def seal(keys: Secrets, code: str, *, home: str, now: Millis) -> Sealed:
    """All master keys of ``home``, sealed so that ``code`` opens them."""
    from cryptography.hazmat.primitives import serialization

    public = _private(code, home).public_key()
    raw = public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return seal_to(keys, raw, home=home, now=now)


def seal_to(keys: Secrets, public: bytes, *, home: str, now: Millis, confirmed: bool = False) -> Sealed:
    """The same for a code that is unknown here, by its public key."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    ephemeral = X25519PrivateKey.generate()
    shown = ephemeral.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    shared = ephemeral.exchange(X25519PublicKey.from_public_bytes(public))
    key_id, _ = keys.derived(b"svc recovery")
    place = _place(home, key_id, public, shown)
    ciphertext = AESGCM(_key(shared, place)).encrypt(_NONCE, keys.keys_as_text().encode(), place)
    return Sealed(home, key_id, public, shown, ciphertext, rfc3339(now), confirmed)


def sealed_of(ledger: Ledger) -> Sealed | None:
    """The copy in the archive; blocks."""
    found = ledger.get(SEALED)
    return None if found is None else msgspec.json.decode(found, type=Sealed)


def code_opens(sealed: Sealed, code: str) -> Keyring:
    """The master keys in the copy. Raises :class:`CodeRefused`."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    place = _place(sealed.home, sealed.key, sealed.public, sealed.ephemeral)
    shared = _private(code, sealed.home).exchange(X25519PublicKey.from_public_bytes(sealed.ephemeral))
    try:
        text = AESGCM(_key(shared, place)).decrypt(_NONCE, sealed.ciphertext, place).decode()
    except InvalidTag:
        raise CodeRefused(
            f"This is a recovery code, but not the one of this archive: that was made on {sealed.at[:10]}."
        ) from None
    keyring = Keyring.from_text(text)
    if keyring is None:
        raise CodeRefused("The copy of the master key is damaged.")
    return keyring


def put_back(sealed: Sealed, code: str, *, config: Config, home: Path, environ: Mapping[str, str]) -> None:
    """Store the keys where the home's configuration looks for them. Existing keys there stay.

    Raises what :func:`fits` raises. Blocks.
    """
    keyring, source = fits(sealed, code, config=config, home=home, environ=environ)
    if not source.exists():
        source.load(may_create=True)  # makes its folder and file, private from the first byte on
        source.replace(keyring)


def fits(
    sealed: Sealed, code: str, *, config: Config, home: Path, environ: Mapping[str, str]
) -> tuple[Keyring, MasterKeySource]:
    """The keys that the code opens, and the place where they belong; changes nothing.

    Raises :class:`CodeRefused`, and :class:`svc.store.KeyRefused` where another key is at that place. Blocks.
    """
    keyring = code_opens(sealed, code)
    source = key_source(config, home_id=sealed.home, home=home, environ=environ)
    if source.exists() and source.load(may_create=False).find(keyring.current.id) is None:
        raise KeyRefused("another master key lies where this home's belongs; move it away")
    return keyring, source


def _private(code: str, home: str) -> X25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey as PrivateKey
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    hkdf = HKDF(algorithm=SHA256(), length=32, salt=home.encode(), info=b"svc recovery code")
    return PrivateKey.from_private_bytes(hkdf.derive(read_code(code)))


def _key(shared: bytes, place: bytes) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(algorithm=SHA256(), length=32, salt=None, info=b"svc recovery seal" + place).derive(shared)


def _place(home: str, key: str, public: bytes, ephemeral: bytes) -> bytes:
    return msgspec.json.encode([home, key, public, ephemeral])


def _check(number: int, content: str) -> str:
    return _ALPHABET[hashlib.sha256(f"{number}{content}".encode()).digest()[0] & 31]


def encode(sealed: Sealed) -> bytes:
    return msgspec.json.encode(sealed)
