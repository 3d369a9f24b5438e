"""Events: the durable record of what happened (``mail-received``, …), written in the same transaction as the change.

The store owns the table; this feature offers it as ``events.recent``. Each feature defines its own types:

- ``mail-received``: a message was stored (``svc/mail/sync/received.py``)
- ``mail-sent``, ``mail-send-failed``: the result of sending a mail (``svc/mail/sending/settling.py``)
- ``mail-account-shared``: the people with whom an account is shared changed (``svc/mail/sharing/actions.py``)
- ``page-changed``: a page was made, written, moved or shared; once for each audience that may read it
  (``svc/pages/news.py``)
- ``person-changed``: a correspondent is filed under another page, or none (``svc/people/actions.py``)
"""

from svc.events.feature import FEATURE

__all__ = ["FEATURE"]
