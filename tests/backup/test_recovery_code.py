"""The recovery code: the written code opens the copy, a typing error is located, and nothing else opens it."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.capabilities import CodeRefused, code_opens, new_code
from svc.capabilities.recovery import GROUPS, read_code, seal, seal_to
from svc.store import Keyring, Secrets
from tests.sizes import examples

HOME = "home_00000000000000000000"
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def test_the_code_opens_the_copy_however_it_is_typed_and_after_each_rotation() -> None:
    keyring = Keyring.random()
    code = new_code()
    sealed = seal(Secrets(keyring), code, home=HOME, now=0)
    typed = code.lower().replace("-", "  ").replace("0", "o").replace("1", "l")
    assert code_opens(sealed, typed) == keyring
    renewed = keyring.renewed()
    later = seal_to(Secrets(renewed), sealed.public, home=HOME, now=1)
    assert code_opens(later, code) == renewed


@pytest.mark.thorough
@given(place=st.integers(0, 5 * GROUPS - 1), letter=st.sampled_from(CROCKFORD))
def test_a_slip_is_told_with_its_group_or_opens_nothing(place: int, letter: str) -> None:
    code = new_code()
    letters = list(code.replace("-", ""))
    if letters[place] == letter:
        return
    letters[place] = letter
    wrong = "".join(letters)
    sealed = seal(Secrets(Keyring.random()), code, home=HOME, now=0)
    with pytest.raises(CodeRefused) as refusal:
        code_opens(sealed, wrong)
    group = f"group {place // 5 + 1} ({wrong[place // 5 * 5 :][:5]})"
    assert group in str(refusal.value) or "not the one of this archive" in str(refusal.value)


@given(data=st.binary(min_size=1, max_size=3), place=st.integers(0, 10_000))
def test_a_copy_that_was_touched_or_is_of_another_home_opens_nothing(data: bytes, place: int) -> None:
    code = new_code()
    sealed = seal(Secrets(Keyring.random()), code, home=HOME, now=0)
    at = place % len(sealed.ciphertext)
    touched = sealed.ciphertext[:at] + data + sealed.ciphertext[at + len(data) :]
    if touched != sealed.ciphertext:
        with pytest.raises(CodeRefused):
            code_opens(msgspec.structs.replace(sealed, ciphertext=touched), code)
    with pytest.raises(CodeRefused):
        code_opens(msgspec.structs.replace(sealed, home="home_11111111111111111111"), code)


@pytest.mark.parametrize(
    ("typed", "words"), [("", "40 letters, and this has 0"), ("U" * 40, "no 'U'"), ("A" * 39, "this has 39")]
)
def test_what_is_no_code_is_told_so(typed: str, words: str) -> None:
    with pytest.raises(CodeRefused, match=words):
        read_code(typed)


def test_each_code_is_new_and_shows_nothing_of_the_key() -> None:
    assert len({new_code() for _ in range(examples(100))}) == examples(100)
    keyring = Keyring.random()
    shown = msgspec.json.encode(seal(Secrets(keyring), new_code(), home=HOME, now=0))
    assert keyring.as_text().strip().encode() not in shown
    assert keyring.current.material not in shown
