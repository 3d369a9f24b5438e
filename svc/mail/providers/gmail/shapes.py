"""The shapes of Gmail's JSON. Field names are the API's; Gmail leaves out a list that is empty."""

from __future__ import annotations

from typing import Annotated

import msgspec

Id = Annotated[str, msgspec.Meta(min_length=1)]


class Profile(msgspec.Struct):
    emailAddress: Id  # noqa: N815  the API's name
    historyId: Id  # noqa: N815
    messagesTotal: int = 0  # noqa: N815


class Sender(msgspec.Struct):
    sendAsEmail: Id  # noqa: N815
    displayName: str | None = None  # noqa: N815
    isPrimary: bool = False  # noqa: N815
    isDefault: bool = False  # noqa: N815
    verificationStatus: str | None = None  # noqa: N815


class Senders(msgspec.Struct):
    sendAs: list[Sender] | None = None  # noqa: N815


class Ref(msgspec.Struct):
    id: Id
    threadId: Id  # noqa: N815


class List(msgspec.Struct):
    messages: list[Ref] | None = None
    nextPageToken: str | None = None  # noqa: N815


class Message(msgspec.Struct):
    id: Id
    threadId: Id  # noqa: N815
    labelIds: list[str] | None = None  # noqa: N815
    internalDate: str | int | None = None  # noqa: N815
    raw: str | None = None


class Modified(msgspec.Struct):
    id: Id


class Sent(msgspec.Struct):
    id: Id
    threadId: Id  # noqa: N815
    labelIds: list[str] | None = None  # noqa: N815


class MessageChange(msgspec.Struct):
    message: Ref


class LabelChange(msgspec.Struct):
    message: Ref
    labelIds: list[str] | None = None  # noqa: N815


class HistoryRecord(msgspec.Struct):
    messagesAdded: list[MessageChange] | None = None  # noqa: N815
    messagesDeleted: list[MessageChange] | None = None  # noqa: N815
    labelsAdded: list[LabelChange] | None = None  # noqa: N815
    labelsRemoved: list[LabelChange] | None = None  # noqa: N815


class History(msgspec.Struct):
    historyId: Id  # noqa: N815
    history: list[HistoryRecord] | None = None
    nextPageToken: str | None = None  # noqa: N815


class Color(msgspec.Struct):
    backgroundColor: str | None = None  # noqa: N815


class Label(msgspec.Struct):
    id: Id
    name: str
    type: str | None = None
    color: Color | None = None


class Labels(msgspec.Struct):
    labels: list[Label] | None = None


class Draft(msgspec.Struct):
    id: Id
    message: Ref


class Drafts(msgspec.Struct):
    drafts: list[Draft] | None = None
    nextPageToken: str | None = None  # noqa: N815
