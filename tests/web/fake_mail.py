"""What the stand-in server shows: three accounts of a small studio, their threads and a few messages. Data only."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

NOW = datetime.now(UTC).replace(microsecond=0)
MIA, HELLO, HOME = "acc_mia", "acc_hello", "acc_home"
_numbers = itertools.count(1)

HARBOUR = {"id": "Label_1", "name": "Clients/Harbour", "color": "#16a085"}
INVOICES = {"id": "Label_2", "name": "Invoices", "color": "#b9770e"}
TRAVEL = {"id": "Label_3", "name": "Travel", "color": "#8e44ad"}


def me(**fields: Any) -> dict[str, Any]:
    return {"user": None, "mode": "unclaimed", "devLogin": True, "googleLogin": False, **fields}


def accounts() -> list[dict[str, Any]]:
    common = {
        "provider": "fake",
        "state": "caught-up",
        "progress": None,
        "problem": None,
        "pending": 0,
        "failed": 0,
        "senderName": "Mia Tern",
        "access": "own",
        "owner": None,
        "sharedWith": 0,
        "sends": True,
        "signIn": "oauth",
    }
    synced = {"lastSyncedAt": at(seconds=20), "messages": 1200, "unreadTwins": 0}
    names = {MIA: "mia@ternandtide.example", HELLO: "hello@ternandtide.example", HOME: "mia.tern@post.example"}
    found = [{"id": key, "address": name, "unread": 0, **common, **synced} for key, name in names.items()]
    for account in found:
        account["addresses"] = [own_address(str(account["address"]), source="account", default=True)]
        account["unread"] = sum(t["unread"] and t["inInbox"] and t["accountId"] == account["id"] for t in threads())
    return found


def kept_here() -> dict[str, Any]:
    """What differs in an account that is kept on this server alone."""
    return {"provider": "local", "sends": False, "signIn": None}


def reading(done: int, total: int, *, listing: bool = False) -> dict[str, Any]:
    """How far the first sync of an account is."""
    return {"done": done, "total": total, "listing": listing}


def own_address(address: str, **fields: Any) -> dict[str, Any]:
    return {"address": address, "name": "", "source": "person", "confirmed": True, "default": False, **fields}


def at(**ago: float) -> str:
    return (NOW - timedelta(**ago)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def thread(
    *,
    id: str | None = None,
    account: str = MIA,
    name: str = "Jonas Feld",
    subject: str = "A new thread",
    snippet: str = "",
    when: str | None = None,
    unread: bool = True,
    in_inbox: bool = True,
    labels: tuple[dict[str, str], ...] = (),
    count: int = 1,
    files: bool = False,
) -> dict[str, Any]:
    local = "".join(letter for letter in name.lower().replace(" ", ".") if letter.isascii())
    system = [{"id": "INBOX", "name": "Inbox", "color": None}] if in_inbox else []
    return {
        "id": id or f"thr_new{next(_numbers)}",
        "accountId": account,
        "subject": subject,
        "snippet": snippet,
        "lastMessageAt": when or at(seconds=0),
        "unread": unread,
        "inInbox": in_inbox,
        "labels": [*labels, *system],
        "sender": {"name": name, "address": f"{local or 'someone'}@example.org", "title": None},
        "messageCount": count,
        "draftCount": 0,
        "hasAttachments": files,
        "starred": False,
        "snoozedUntil": None,
        "hidden": any(label["id"] in {"SPAM", "TRASH", "DRAFT"} for label in labels),
        "toMe": True,
        "muted": False,
        "twins": [],
        "leads": True,
        "sent": None,
        "draft": None,
        "writers": [],
    }


def wrote(row: dict[str, Any], words: str, *to: str, others: int = 0, when: str | None = None) -> None:
    """The person of the app sent this in a thread."""
    people = [{"name": name, "address": "somebody@example.org", "title": None} for name in to]
    own = {"sender": "mia@ternandtide.example", "to": people, "others": others, "snippet": words}
    row["sent"] = {**own, "at": when or row["lastMessageAt"], "by": None}
    row["labels"] = [*row["labels"], {"id": "SENT", "name": "Sent", "color": None}]


def labels() -> list[dict[str, Any]]:
    """Each account has the three, under ids that are the same everywhere."""
    own = [HARBOUR, INVOICES, TRAVEL]
    return [{**one, "accountId": account, "system": False} for account in (MIA, HELLO, HOME) for one in own]


def twins(one: dict[str, Any], other: dict[str, Any]) -> None:
    """The same mail in two accounts; Unified shows ``one``."""
    one.update(twins=[{"accountId": other["accountId"], "threadId": other["id"]}], leads=True)
    other.update(twins=[{"accountId": one["accountId"], "threadId": one["id"]}], leads=False)


# sender, subject, snippet, hours ago, unread, account, labels, messages, attachments
_ROWS: list[tuple[str, str, str, float, bool, str, tuple[dict[str, str], ...], int, bool]] = [
    ("Jonas Feld", "Quote for the harbour mural", "Hi Mia, the council came back: they love the tern "
     "silhouettes but ask whether the north wall could wait until spring.", 0.3, True, MIA, (HARBOUR,), 7, True),
    ("Amara Osei", "Paint samples arrived – three of them are wrong", "The teal is a shade too green and the "
     "two greys are the same grey. Photos attached, second one in daylight.", 1.1, True, MIA, (), 2, True),
    ("Nordwind Druck", "Rechnung 2026-1187", "Sehr geehrte Frau Tern, anbei die Rechnung für den Druck der "
     "Plakate, zahlbar innerhalb von 14 Tagen.", 2.4, False, HELLO, (INVOICES,), 1, True),
    ("田中 美咲", "展覧会のご案内と打ち合わせの日程について", "お世話になっております。来月の展覧会の件で、"
     "打ち合わせの日程をご相談させてください。", 3.2, True, HELLO, (), 3, False),
    ("Lena Brandt", "Dinner on Friday?", "Paul is bringing the big pot. Bring nothing, or bring bread.",
     5, False, HOME, (), 4, False),
    ("سارة الخطيب", "شكراً على الرسومات الجميلة", "وصلت الرسومات اليوم وهي أجمل مما توقعنا، شكراً جزيلاً لكم جميعاً.",
     7, True, HELLO, (), 1, False),
    ("The Quiet Press", "Issue 41: rooms without corners", "A letter about round houses, a forgotten plasterer, "
     "and the last lime kiln on the coast.", 9, False, HOME, (), 1, False),
    ("Harbour Office", "Scaffolding permit – one signature missing", "Page three needs the signature of the "
     "building's owner. The counter is open until four.", 26, False, MIA, (HARBOUR,), 5, True),
    ("Railways", "Your seat reservation, Thursday 08:12", "Coach 23, seat 41, by the window, table.",
     30, False, HOME, (TRAVEL,), 1, True),
    ("Ivo Petrov", "Re: Re: typeface for the signs", "I set all twelve in the narrow cut. Number nine still "
     "breaks badly, see the PDF.", 52, False, MIA, (), 12, True),
    ("Ελένη Παππά", "Φωτογραφίες από τα εγκαίνια", "Σας στέλνω τις φωτογραφίες από χθες το βράδυ.", 75, False, HELLO,
     (), 2, True),
    ("Studio Handl", "Minutes of Tuesday's call", "Decided: wooden frames. Open: who drives the van.",
     100, False, MIA, (), 1, False),
    ("Tax Adviser", "Figures for the third quarter", "Everything has arrived but the receipts for the ferry.",
     170, False, HELLO, (INVOICES,), 3, True),
    ("", "", "no subject, no name, only words", 300, False, HOME, (), 1, False),
]  # fmt: skip


def threads() -> list[dict[str, Any]]:
    """The believable ones, with a tail of older ones and some that skipped the inbox."""
    found = []
    for index, (name, subject, snippet, hours, unread, account, labels, count, files) in enumerate(_ROWS):
        fields: dict[str, Any] = {
            "account": account,
            "name": name,
            "subject": subject,
            "snippet": snippet,
            "unread": unread,
        }
        more: dict[str, Any] = {"labels": labels, "count": count, "files": files, "when": at(hours=hours)}
        found.append(thread(id=f"thr_{index:02}", **fields, **more))
    for index in range(30):
        name, subject, snippet, _, _, account, labels, count, files = _ROWS[(index * 5) % 13]
        more = {"labels": labels, "count": count, "files": files, "when": at(days=20 + index * 9)}
        row = thread(id=f"thr_old{index:02}", account=account, name=name, subject=subject, snippet=snippet, **more)
        found.append({**row, "unread": False})
    for index in range(6):
        name, subject, snippet, *_ = _ROWS[(index * 3 + 1) % 13]
        more = {"when": at(hours=4 + index * 31), "in_inbox": False, "unread": False}
        found.append(thread(id=f"thr_skip{index}", name=name, subject=subject, snippet=snippet, **more))
    return found


def many(count: int) -> list[dict[str, Any]]:
    """A very full inbox, newest first."""
    start = NOW.timestamp()
    found = []
    for index in range(count):
        name, subject, snippet, _, _, account, labels, messages, files = _ROWS[index % 13]
        instant = datetime.fromtimestamp(start - index * 611, UTC).isoformat(timespec="milliseconds")
        when = instant.replace("+00:00", "Z")
        more: dict[str, Any] = {
            "labels": labels,
            "count": messages,
            "files": files,
            "when": when,
            "unread": index % 9 == 0,
        }
        title = f"{subject} #{index}"
        found.append(thread(id=f"thr_m{index:06}", account=account, name=name, subject=title, snippet=snippet, **more))
    return found


NEWSLETTER = """
<table width="100%" bgcolor="#f3efe6" cellpadding="0" cellspacing="0"><tr><td align="center" style="padding:24px">
<table width="560" bgcolor="#ffffff" cellpadding="0" cellspacing="0" style="border-radius:8px">
<tr><td style="padding:28px 32px;font-family:Georgia,serif;font-size:26px;color:#22313a">Issue 41: rooms without corners</td></tr>
<tr><td style="padding:0 32px"><img data-remote="0" width="496" height="220" alt="A round house by the sea"></td></tr>
<tr><td style="padding:20px 32px 32px;font-family:Georgia,serif;font-size:16px;line-height:26px;color:#33424a">
<p>Dear reader, the plasterer of the round houses left no drawings. What he left is a bucket, a board, and a way of
turning the wrist that three people in this valley still have in their arms.</p>
<p>We went to see them in October, when the lime sets slowly.</p>
<a href="https://example.org/41" target="_blank" rel="noopener noreferrer">Read on</a></td></tr></table></td></tr></table>
"""  # noqa: E501


def details() -> dict[str, dict[str, Any]]:
    rows = {row["id"]: row for row in threads()}
    long = [message(rows["thr_00"], index, day=7 - index) for index in range(7)]
    plan = {"filename": "harbour-wall-elevations.pdf", "mime": "application/pdf", "sha256": "0" * 64, "size": 1_284_311}
    photo = {"filename": "north wall at low tide.jpg", "mime": "image/jpeg", "sha256": "1" * 64, "size": 734_002}
    long[-1]["attachments"] = [
        {**plan, "fileId": "fil_1", "damaged": False},
        {**photo, "fileId": "fil_2", "damaged": False},
    ]
    long[-1]["html"] = (
        "<p>Hi Mia,</p><p>the council came back: they love the tern silhouettes, but ask whether the north wall could "
        "wait until spring. The scaffolding is the reason; it is booked out until <b>March</b>.</p><p>If we say yes "
        "now, the price of the lift stays as it is. I put both versions of the elevations into one file, the second "
        "half is the one with the smaller birds.</p><p>What do you think?<br>Jonas</p>"
    )
    letter = message(rows["thr_06"], 0, day=0)
    letter.update(html=NEWSLETTER, blockedImages=3, remoteImages=["https://img.example/41.jpg"])
    empty: dict[str, object] = {"filing": None, "proposedReply": None, "acts": []}
    filed = {"pageId": "pag_1", "path": "/crm/jonas-feld", "title": "Jonas Feld"}
    return {
        "thr_00": {**empty, "filing": filed, "messages": long},
        "thr_06": {**empty, "messages": [letter]},
    }


def detail(row: dict[str, Any]) -> dict[str, Any]:
    count = min(3, row["messageCount"])
    return {
        "filing": None,
        "proposedReply": None,
        "acts": [],
        "messages": [message(row, n, day=count - n) for n in range(count)],
    }


def message(row: dict[str, Any], number: int, *, day: float) -> dict[str, Any]:
    people = [
        {"name": row["sender"]["name"], "address": row["sender"]["address"]},
        {"name": "Mia Tern", "address": "mia@ternandtide.example"},
    ]
    own = number % 2 == 1
    text = f"{row['snippet']}\n\nSee you soon,\n{people[own]['name']}\n\n> what was said before\n> and before that"
    body = "".join(f"<p>{line}</p>" for line in text.split("\n") if line and not line.startswith(">"))
    newest = day <= 1
    return {
        "id": f"{row['id']}_{number}",
        "from": people[own],
        "to": [people[not own], {"name": "", "address": "hello@ternandtide.example"}],
        "cc": [],
        "bcc": [],
        "replyTo": [],
        "subject": row["subject"],
        "sentAt": row["lastMessageAt"] if newest else at(days=day, hours=3),
        "html": body,
        "text": text,
        "blockedImages": 0,
        "remoteImages": [],
        "labels": [],
        "attachments": [],
        "inline": [],
        "own": own,
        "unread": False,
        "imagesAllowed": False,
        "warnings": [],
        "canUnsubscribe": False,
        "folds": False,
        "foldedLine": None,
        "authentication": None if own else origin(people[0]["address"].partition("@")[2]),
    }


def origin(domain: str) -> dict[str, Any]:
    """Of a mail that is known to come from there."""
    return {
        "verdict": "verified",
        "summary": f"Signed by {domain}",
        "domain": domain,
        "server": "mx.fake.invalid",
        "results": [{"method": "dmarc", "result": "pass", "domain": domain}],
        "signatures": [{"domain": domain, "state": "valid"}],
    }


def found_pages() -> list[dict[str, Any]]:
    """What ``pages.find`` looks through."""
    return [
        {
            "id": "pag_1",
            "path": "crm/jonas-feld",
            "title": "Jonas Feld",
            "snippet": "Harbour office",
            "updatedAt": at(),
        },
        {
            "id": "pag_2",
            "path": "plans/council",
            "title": "Council meeting",
            "snippet": "What the council wants of the north wall",
            "updatedAt": at(),
        },
    ]


def found_files() -> list[dict[str, Any]]:
    """What ``files.find`` looks through."""
    plan = {"name": "council-plan.pdf", "mime": "application/pdf", "size": 1_284_311}
    return [{"id": "fil_plan", "sha256": "0" * 64, **plan, "createdAt": at()}]
