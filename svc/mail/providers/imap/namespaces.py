"""Which folders of a server are the user's own (``NAMESPACE``, RFC 2342).

A server may also list the folders that other people share with the user, and those of a whole company. They are left
out: their mail is not the user's own, what is done to it is done to others, and a shared folder of sent mail must never
be taken for the user's. A server without the extension lists only own folders, as far as anyone can know.

A folder belongs to the namespace with the longest prefix that its name begins with. For example, Cyrus has ``INBOX.``
for own folders, ``user.`` for those of others, and no prefix at all for shared ones. The inbox is always the user's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from svc.mail.providers.imap.protocol.names import shown_name
from svc.mail.providers.imap.protocol.responses import Folder, Namespaces

_NO_MAIL: Final = frozenset({"\\noselect", "\\nonexistent"})


def own_folders(folders: Iterable[Folder], namespaces: Namespaces) -> tuple[list[Folder], tuple[str, ...]]:
    """The user's own folders, and the names of the others that hold mail, for people, sorted."""
    own: list[Folder] = []
    others: set[str] = set()
    for one in folders:
        if _is_own(one.name, namespaces):
            own.append(one)
        elif not one.attributes & _NO_MAIL:
            others.add(shown_name(one.name))
    return own, tuple(sorted(others))


def _is_own(name: bytes, namespaces: Namespaces) -> bool:
    if name.upper() == b"INBOX" or not namespaces.personal:
        return True
    # Names differ by case, but for the inbox, and some servers write "Inbox." where they said "INBOX.".
    ours = [len(one) for one in namespaces.personal if name.upper().startswith(one.upper())]
    theirs = [len(one) for one in namespaces.foreign if name.startswith(one)]
    return max(ours, default=-1) >= max(theirs, default=-1)
