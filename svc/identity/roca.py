"""Detects RSA keys of a faulty library, which can be factored: ROCA, CVE-2017-15361.

Theory. That library made each prime as ``k * M + (65537 ** a mod M)``, ``M`` the product of the first primes, at least
those up to 167. So the modulus, taken modulo each of these small primes, is a power of 65537 there. A modulus from
another source passes that test for all of them once in some 10**8 times or less (Nemec, Sys, Svenda, Klinec, Matyas:
"The Return of Coppersmith's Attack", CCS 2017, section 3).
"""

from __future__ import annotations

from typing import Final

_GENERATOR: Final = 65_537
_SMALL_PRIMES: Final = tuple(
    number for number in range(3, 168) if all(number % divisor for divisor in range(2, int(number**0.5) + 1))
)


def _powers(prime: int) -> frozenset[int]:
    """The group that 65537 generates modulo ``prime``."""
    found, power = set(), 1
    while power not in found:
        found.add(power)
        power = power * _GENERATOR % prime
    return frozenset(found)


_MARKS: Final = tuple((prime, _powers(prime)) for prime in _SMALL_PRIMES)


def has_roca_mark(modulus: int) -> bool:
    """Whether ``modulus`` looks like one made by that library."""
    return all(modulus % prime in powers for prime, powers in _MARKS)
