"""Numbers, codes and signs are found as they are typed, among neighbours that are not meant."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from svc.mail.search import procedures
from svc.mail.search.find import LIMITS
from svc.mail.search.wire import SearchInput
from tests.support.mailbox import MailSync, mail

KEPT = (
    "C++", "C++17", "C#", "F#", ".NET", "node.js", "R&D", "AC/DC", "24/7", "O'Brien", "v2.0.1", "x²", "T-Shirt",
    "$50", "$500", "€1.234,56", "50 €", "€ 70", "99 %", "100%", "§ 12", "5°C", "1'000", "10:30", "3½", "№ 5",
    "#123", "#1234", "INV-2024/117", "INV-2024/1178", "INV 2024 118", "CVE-2024-12345", "ISO/IEC 27001", "ref:4711",
    "report_v2.final.pdf", "report v3 final.pdf", "~/.bashrc", "__init__", "--force", "snake_case_name", "key=value",
    "+49 30 1234567", "(030) 765 43 21", "0043/1/5811234", "1Z999AA10123456784", "1Z 999 BB1 01 2345 6784",
    "DE89 3704 0044 0532 0130 00", "978-3-16-148410-0", "192.168.0.1", "2001:db8::1", "https://x.org/a?b=c&d=1",
    "ann+list@x.org", "@ann", "#harbour", "a1b2c3d4e5", "12.11.2026", r"C:\Users\ann",
)  # fmt: skip
BESIDE = {
    "C++": {"C++17"},  # a longer word of it, as the last one may be
    "#123": {"#1234"},
    "INV-2024/117": {"INV-2024/1178"},
}


async def found(mail_sync: MailSync, query: str) -> list[str]:
    wanted = SearchInput(query=query, limit=200)
    answer = await mail_sync.store.read(procedures.answer, mail_sync.principal, wanted=wanted, limits=LIMITS)
    return [thread.subject for thread in answer.threads]


async def kept(mail_sync: MailSync, texts: Sequence[str]) -> None:
    for number, text in enumerate(texts):
        await mail_sync.inject(raw=mail(f"Mail {number}", text=f"It says {text} there."))
    await mail_sync.synced()
    await mail_sync.indexer().catch_up()


async def test_what_is_typed_as_it_stands_in_a_mail_finds_that_mail_first_and_nothing_beside(
    mail_sync: MailSync,
) -> None:
    await kept(mail_sync, KEPT)
    for typed in KEPT:
        for query in (typed, f"{typed} ", f'"{typed}"', f"says {typed}"):
            first, *others = [KEPT[int(subject.removeprefix("Mail "))] for subject in await found(mail_sync, query)]
            assert first == typed or typed == "C++", query
            assert set(others) <= BESIDE.get(typed, set()) | {typed}, query


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("50€", "50 €"),
        ("50 €", "50€"),
        ("€ 50", "€50"),
        ("§12", "§ 12"),
        ("99%", "99\u00a0%"),
        ("inv-2024", "INV-2024/117"),
        ("2024/117", "INV-2024/117"),
        ("INV-2024/117", "INV-2024/1178"),
        ("INV 2024 117", "INV-2024/117"),
        ("filename:pdf", ""),
        ("final.pdf", "report_v2.final.pdf"),
        ("report_v2", "report_v2.final.pdf"),
        ("1234567", "+49 30 1234567"),
        ("49 30 1234567", "+49-30-1234567"),
        ("10123456784", "10123456784"),
        ("--force", "git push --force"),
        ("x.org/a", "https://x.org/a?b=c"),
    ],
)
async def test_a_part_or_another_spacing_finds_it_too(mail_sync: MailSync, typed: str, text: str) -> None:
    await kept(mail_sync, (text,))
    assert await found(mail_sync, typed) == (["Mail 0"] if text else [])


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("$50", "50 €"),
        ("50 €", "50 %"),
        ("50€", "150 €"),
        ("§ 12", "12"),
        ("C++", "C--"),
        ("#123", "123"),
        ("INV-2024/117", "INV 117 of 2024"),
        ("report_v2.pdf", "report_v2.final.pdf"),
        ('"40%"', "40 per cent"),
    ],
)
async def test_what_only_looks_like_it_is_not_found(mail_sync: MailSync, typed: str, text: str) -> None:
    await kept(mail_sync, (text,))
    assert await found(mail_sync, typed) == []
