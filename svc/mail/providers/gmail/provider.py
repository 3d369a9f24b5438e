"""A mailbox at Google, over the Gmail REST API v1.

Theory: every call spends its price at the account's quota limiter, carries an access token, and is repeated once with a
fresh token after a 401. An answer is used only if it is complete and has the documented shape; otherwise all of it is
rejected. Messages are requested as ``raw``, so it does not matter how Google splits them into parts.

Owns the paths, the shapes of the JSON and their translation to the seam's records. It keeps no state of the mailbox,
never retries a call that may have happened, and waits only at the limiter.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeVar
from urllib.parse import urlencode

import msgspec
import trio

from svc.clock import Clock, Millis
from svc.connections import certificate_problem, retry_after_s
from svc.identity import HttpClient
from svc.mail.providers.gmail import shapes
from svc.mail.providers.gmail.ahead import Ahead
from svc.mail.providers.gmail.answers import record_of
from svc.mail.providers.gmail.batch import CONTENT_TYPE, answers_of, request_body
from svc.mail.providers.gmail.call import Call, carrying, segment
from svc.mail.providers.gmail.drafting import GmailDrafts, draft_of
from svc.mail.providers.gmail.faults import fault_of
from svc.mail.providers.gmail.palette import nearest_color, text_color_on
from svc.mail.providers.gmail.quota import COST_UNITS, QuotaLimiter
from svc.mail.providers.seam import (
    Capabilities,
    ChangeKind,
    HistoryChange,
    HistoryExpired,
    HistoryPage,
    Listed,
    ListPage,
    LostAnswer,
    MessageGone,
    MessageRef,
    Profile,
    ProviderFault,
    ProviderLabel,
    Quota,
    RawMessage,
    Refused,
    SendingAddress,
    SentMessage,
    ThreadGone,
    Throttled,
    Unreachable,
)
from svc.protocol.egress import EgressFault, EgressResponse
from svc.store import Store

PAGE_MAX: Final = 500
"""The most ids or history records on one page of Gmail's."""

LIST_FIELDS: Final = "messages(id,threadId),nextPageToken"
MESSAGE_FIELDS: Final = "id,threadId,labelIds,internalDate,raw"
HISTORY_FIELDS: Final = (
    "history(messagesAdded/message(id,threadId),messagesDeleted/message(id,threadId),"
    "labelsAdded(message(id,threadId),labelIds),labelsRemoved(message(id,threadId),labelIds)),nextPageToken,historyId"
)
SENDERS_FIELDS: Final = "sendAs(sendAsEmail,displayName,isPrimary,isDefault,verificationStatus)"
LABELS_FIELDS: Final = "labels(id,name,type,color/backgroundColor)"
"""Like all ``…_FIELDS``: only the fields that we use are requested, so no other field can make an answer invalid."""

HISTORY_TYPES: Final = ("messageAdded", "messageDeleted", "labelAdded", "labelRemoved")
LIST_DEADLINE_S: Final = 30.0
MESSAGE_DEADLINE_S: Final = 180.0
LIST_MAX_BYTES: Final = 16 * 1024 * 1024
MESSAGE_MAX_BYTES: Final = 80 * 1024 * 1024
"""Gmail accepts mails of up to 50 MB; base64 adds a third."""

BATCH_MAX_BYTES: Final = 16 * 1024 * 1024
"""The largest answer to a batch. After a larger one, batches become smaller; at last each message comes alone."""

_NO_BATCHES: Final = frozenset({400, 404, 405, 501})

SEND_PATIENCE_S: Final = 60.0

GMAIL: Final = Capabilities(
    labels=True, colors=True, server_threads=True, bulk_min=11, bulk_max=1_000, max_message_bytes=35 * 1024 * 1024
)
"""A bulk call costs as much as ten single calls (so ``bulk_min`` is 11), and takes at most ``bulk_max`` messages."""

T = TypeVar("T")


class AccessTokens(Protocol):
    async def access_token(self) -> str: ...

    async def refreshed(self, stale: str) -> str: ...


@dataclass(frozen=True, kw_only=True)
class GmailProvider:
    """One account's mailbox; ``base_url`` without a trailing slash. See :class:`svc.mail.providers.seam.Provider`."""

    address: str
    base_url: str
    http: HttpClient
    tokens: AccessTokens
    quota: QuotaLimiter
    clock: Clock
    account_id: str | None = None
    store: Store | None = None  # notes which drafts are ours; without it no drafts are kept at Gmail
    capabilities: Capabilities = GMAIL
    _ahead: Ahead = field(default_factory=Ahead)
    _drafts: GmailDrafts | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.store is not None and self.account_id is not None:
            drafts = GmailDrafts(account_id=self.account_id, store=self.store, asking=self)
            object.__setattr__(self, "_drafts", drafts)

    @property
    def drafts(self) -> GmailDrafts | None:
        return self._drafts

    async def profile(self, *, listed: Listed | None = None) -> Profile:
        wire = await self.record(Call(name="getProfile", path="profile"), shapes.Profile)
        hidden = 0 if self._drafts is None else await self._drafts.hidden()
        total = max(0, wire.messagesTotal - hidden)
        return Profile(address=wire.emailAddress, cursor=wire.historyId, messages_total=total)

    async def addresses(self) -> tuple[SendingAddress, ...]:
        call = Call(name="settings.sendAs.list", path="settings/sendAs", query=(("fields", SENDERS_FIELDS),))
        return tuple(_sending_address(one) for one in (await self.record(call, shapes.Senders)).sendAs or ())

    async def list_messages(
        self, *, label: str | None = None, page_token: str | None = None, limit: int = 100
    ) -> ListPage:
        query = [("includeSpamTrash", "true"), ("maxResults", str(min(limit, PAGE_MAX))), ("fields", LIST_FIELDS)]
        if label is not None:
            query.append(("labelIds", label))
        if page_token is not None:
            query.append(("pageToken", page_token))
        wire = await self.record(Call(name="messages.list", path="messages", query=tuple(query)), shapes.List)
        refs = (MessageRef(id=message.id, thread_id=message.threadId) for message in wire.messages or ())
        return ListPage(messages=tuple(refs), next_page_token=wire.nextPageToken or None)

    def expect(self, message_ids: Sequence[str]) -> None:
        self._ahead.expect(message_ids)

    async def get(self, message_id: str) -> RawMessage:
        """For an expected message, one request also fetches the expected messages after it (``ahead.py``)."""
        call = _get_call(message_id)
        at_most = self.quota.free_in_background() // COST_UNITS[call.name]
        come = await self._ahead.take(message_id, self._get_many, at_most=at_most)
        wire = None if come is None else record_of(come.body, shapes.Message)
        if wire is None or wire.id != message_id:
            wire = await self.record(call, shapes.Message)
        raw = _raw_of(wire, call, message_id)
        labels = frozenset(wire.labelIds or ())
        return RawMessage(
            id=wire.id,
            thread_id=wire.threadId,
            labels=labels,
            received_at=_millis(wire.internalDate),
            raw=raw,
            draft_of=await draft_of(self._drafts, message_id, labels, raw),
        )

    async def raw(self, message_id: str) -> bytes:
        """The raw bytes of any message, also of our copies among the drafts. Raises :class:`MessageGone`."""
        call = _get_call(message_id)
        return _raw_of(await self.record(call, shapes.Message), call, message_id)

    async def _get_many(self, message_ids: list[str]) -> dict[str, EgressResponse]:
        """The answers with status 200. For the others (gone, refused, rate limit) the caller makes a single request
        later, after the longest pause that any part asks for."""
        calls = [_get_call(message_id) for message_id in message_ids]
        answer = await self._batch(calls)
        if answer is None:
            return {}
        if answer.status != 200:
            if answer.status in _NO_BATCHES:
                self._ahead.never()
            self._heed_pause(answer)
            return {}
        parts = answers_of(answer, requests=len(calls))
        for part in parts.values():
            self._heed_pause(part)
        return {message_ids[place]: part for place, part in parts.items() if part.status == 200}

    async def _batch(self, calls: Sequence[Call]) -> EgressResponse | None:
        """One answer to all of ``calls``; each spends its price. ``None`` where no usable answer came."""
        body = request_body([self._target(call) for call in calls])
        stale: str | None = None
        while True:
            await self.quota.spend(sum(COST_UNITS[call.name] for call in calls))
            token = await (self.tokens.access_token() if stale is None else self.tokens.refreshed(stale))
            try:
                answer = await self.http.request(
                    "POST",
                    f"{self.base_url}/batch/gmail/v1",
                    headers={"authorization": f"Bearer {token}", "content-type": CONTENT_TYPE},
                    body=body,
                    deadline_s=MESSAGE_DEADLINE_S,
                    limit_bytes=BATCH_MAX_BYTES,
                )
            except EgressFault as fault:
                if fault.kind == "too_large":
                    self._ahead.less()
                return None
            if answer.status != 401 or stale is not None:
                return answer
            stale = token

    async def history(self, *, since: str, page_token: str | None = None) -> HistoryPage:
        query = [("startHistoryId", since), ("maxResults", str(PAGE_MAX)), ("fields", HISTORY_FIELDS)]
        query.extend(("historyTypes", kind) for kind in HISTORY_TYPES)
        if page_token is not None:
            query.append(("pageToken", page_token))
        call = Call(name="history.list", path="history", query=tuple(query), not_found=_history_expired)
        wire = await self.record(call, shapes.History)
        changes = tuple(change for record in wire.history or () for change in _changes(record))
        return HistoryPage(changes=changes, next_page_token=wire.nextPageToken or None, cursor=wire.historyId)

    async def modify(self, message_id: str, *, add: frozenset[str], remove: frozenset[str]) -> None:
        if not add and not remove:
            return  # Gmail refuses an empty change
        call = Call(
            name="messages.modify",
            method="POST",
            path=f"messages/{segment(message_id)}/modify",
            query=(("fields", "id"),),
            body={"addLabelIds": sorted(add), "removeLabelIds": sorted(remove)},
            writes=True,
            urgent=True,
            large=True,
            not_found=_message_gone,
        )
        wire = await self.record(call, shapes.Modified)
        if wire.id != message_id:
            raise _nonsense(call)

    async def modify_many(self, message_ids: Sequence[str], *, add: frozenset[str], remove: frozenset[str]) -> None:
        if not message_ids or (not add and not remove):
            return
        call = Call(
            name="messages.batchModify",
            method="POST",
            path="messages/batchModify",
            body={"ids": list(message_ids), "addLabelIds": sorted(add), "removeLabelIds": sorted(remove)},
            writes=True,
            urgent=True,
            large=True,
            answers=False,
        )
        await self._answer(call)

    async def labels(self) -> tuple[ProviderLabel, ...]:
        wire = await self.record(
            Call(name="labels.list", path="labels", query=(("fields", LABELS_FIELDS),)), shapes.Labels
        )
        return tuple(_label(label) for label in wire.labels or ())

    async def create_label(self, name: str, *, color: str | None = None) -> ProviderLabel:
        body: dict[str, object] = {"name": name, "labelListVisibility": "labelShow", "messageListVisibility": "show"}
        if color is not None:
            background = nearest_color(color)
            body["color"] = {"backgroundColor": background, "textColor": text_color_on(background)}
        call = Call(name="labels.create", method="POST", path="labels", body=body, writes=True, urgent=True)
        return _label(await self.record(call, shapes.Label))

    async def aclose(self) -> None:
        self._ahead.expect(())

    async def listen(self, heard: Callable[[], None]) -> None:
        """Gmail sends no notifications here."""

    def quota_used(self) -> Quota:
        return Quota(used=self.quota.used(), limit=self.quota.units_per_minute)

    def left_out(self) -> tuple[str, ...]:
        return ()

    async def send(self, raw: bytes, *, thread_id: str | None = None) -> SentMessage:
        """Sends small mails as JSON, and larger ones through Gmail's upload endpoint.

        The wait at the limiter is bounded: the user was told that the mail is leaving, so a long delay must be a fault.
        """
        call = Call(
            name="messages.send",
            method="POST",
            path="messages/send",
            query=(("fields", "id,threadId,labelIds"),),
            writes=True,
            urgent=True,
            large=True,
            not_found=ThreadGone,
            patience_s=SEND_PATIENCE_S,
        )
        wire = await self.record(carrying(call, raw, thread_id=thread_id), shapes.Sent)
        return SentMessage(id=wire.id, thread_id=wire.threadId, labels=frozenset(wire.labelIds or ()))

    async def record(self, call: Call, kind: type[T]) -> T:
        record = record_of((await self._answer(call)).body, kind)
        if record is None:
            raise _nonsense(call)
        return record

    async def done(self, call: Call) -> None:
        """Makes a call whose answer is empty."""
        await self._answer(call)

    async def _answer(self, call: Call) -> EgressResponse:
        answer, token = await self._request(call)
        if answer.status == 401:
            answer, _ = await self._request(call, stale=token)
        if not _is_done(call, answer):
            raise self._fault(call, answer)
        return answer

    async def _request(self, call: Call, *, stale: str | None = None) -> tuple[EgressResponse, str]:
        """The answer, and the token that was used. With ``stale``, the token is another one than that."""
        with trio.move_on_after(call.patience_s) as wait:
            await self.quota.spend(COST_UNITS[call.name], urgent=call.urgent)
        if wait.cancelled_caught:
            raise Throttled("Google's quota for this account is used up at the moment.")
        # Only after the limiter: the wait there may be longer than a token is valid.
        token = await (self.tokens.access_token() if stale is None else self.tokens.refreshed(stale))
        return await self._send(call, token), token

    async def _send(self, call: Call, token: str) -> EgressResponse:
        headers = {"authorization": f"Bearer {token}", "accept": "application/json"}
        body = call.upload
        if call.upload is not None:
            headers["content-type"] = call.upload_type
        elif call.body is not None:
            headers["content-type"] = "application/json"
            body = msgspec.json.encode(call.body)
        try:
            return await self.http.request(
                call.method,
                f"{self.base_url}{self._target(call)}",
                headers=headers,
                body=body,
                deadline_s=MESSAGE_DEADLINE_S if call.large else LIST_DEADLINE_S,
                limit_bytes=MESSAGE_MAX_BYTES if call.large else LIST_MAX_BYTES,
            )
        except EgressFault as fault:
            raise _not_answered(call, fault) from fault

    def _target(self, call: Call) -> str:
        """Path and query."""
        service = "gmail/v1" if call.upload is None else "upload/gmail/v1"
        query = f"?{urlencode(call.query)}" if call.query else ""
        return f"/{service}/users/{segment(self.address)}/{call.path}{query}"

    def _fault(self, call: Call, answer: EgressResponse) -> ProviderFault:
        self._heed_pause(answer)
        return fault_of(answer, writes=call.writes, not_found=call.not_found, now=self.clock.now())

    def _heed_pause(self, answer: EgressResponse) -> None:
        """An answer with ``Retry-After`` pauses all calls of the account."""
        wait_s = retry_after_s(answer.headers, now=self.clock.now()) if answer.status in {403, 429, 503} else None
        if wait_s is not None:
            self.quota.pause(wait_s)


def _get_call(message_id: str) -> Call:
    return Call(
        name="messages.get",
        path=f"messages/{segment(message_id)}",
        query=(("format", "raw"), ("fields", MESSAGE_FIELDS)),
        large=True,
        not_found=_message_gone,
    )


def _raw_of(wire: shapes.Message, call: Call, message_id: str) -> bytes:
    if wire.id != message_id:
        raise _nonsense(call)
    raw = _base64url_decoded(wire.raw or "")
    if not raw:  # the answer is complete, so a retry won't help: this message is broken at Gmail
        raise Refused("Gmail gave this message without its content.")
    return raw


def _is_done(call: Call, answer: EgressResponse) -> bool:
    """Whether the answer is a success. If an empty answer is due, one with content came from another server."""
    if call.answers:
        return answer.status == 200
    return answer.status in {200, 204} and answer.body.strip() in {b"", b"{}"}


# Faults


def _not_answered(call: Call, fault: EgressFault) -> ProviderFault:
    if call.writes and fault.may_have_happened:
        return LostAnswer(f"Gmail's answer was lost: {fault.detail}")
    if fault.kind == "too_large" and not call.writes and call.large:
        return Refused(f"The message is larger than {MESSAGE_MAX_BYTES >> 20} MiB.")
    wrong = certificate_problem(fault.detail, service="Google", what="mail") if fault.kind == "tls" else None
    if wrong is not None:
        return Unreachable(wrong, trouble="clock")
    return Unreachable(f"Gmail can't be reached: {fault.detail}")


def _nonsense(call: Call) -> ProviderFault:
    detail = "Gmail's answer can't be understood, or something between here and Gmail answered in its place."
    return LostAnswer(detail) if call.writes else Unreachable(detail)


def _message_gone(_: str) -> ProviderFault:
    return MessageGone("The message no longer exists at Gmail.")


def _history_expired(_: str) -> ProviderFault:
    return HistoryExpired("Gmail no longer knows what changed since the last visit.")


def _sending_address(sender: shapes.Sender) -> SendingAddress:
    """Only addresses outside Gmail have a ``verificationStatus``."""
    return SendingAddress(
        address=sender.sendAsEmail,
        name=sender.displayName or "",
        own=sender.isPrimary,
        default=sender.isDefault,
        confirmed=sender.isPrimary or sender.verificationStatus in {None, "accepted"},
    )


def _changes(record: shapes.HistoryRecord) -> Iterator[HistoryChange]:
    """The changes of one record: first added, then changes of labels, then deleted."""
    yield from (_change("added", item.message) for item in record.messagesAdded or ())
    yield from (_change("labels-added", item.message, item.labelIds or ()) for item in record.labelsAdded or ())
    yield from (_change("labels-removed", item.message, item.labelIds or ()) for item in record.labelsRemoved or ())
    yield from (_change("deleted", item.message) for item in record.messagesDeleted or ())


def _change(kind: ChangeKind, ref: shapes.Ref, labels: Iterable[str] = ()) -> HistoryChange:
    return HistoryChange(kind=kind, message_id=ref.id, thread_id=ref.threadId, labels=frozenset(labels))


def _label(wire: shapes.Label) -> ProviderLabel:
    color = wire.color.backgroundColor if wire.color else None
    return ProviderLabel(id=wire.id, name=wire.name, system=wire.type == "system", color=color or None)


def _base64url_decoded(text: str) -> bytes | None:
    """Decodes RFC 4648, section 5 (section 4, too), padded or not; ``None`` if there are other characters in it."""
    unpadded = text.rstrip("=")
    try:
        return base64.b64decode(unpadded + "=" * (-len(unpadded) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None


def _millis(internal_date: str | int | None) -> Millis | None:
    try:
        return None if internal_date is None else int(internal_date)
    except ValueError:
        return None
