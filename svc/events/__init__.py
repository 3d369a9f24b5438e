"""Events: the durable record of what happened (``mail-received``, …), written in the transaction that made it happen.

The table is the store's; this feature is its face: ``events.recent``. The types are each feature's own:

- ``mail-received``: a message was stored (``svc/mail/sync/received.py``)
- ``mail-sent``, ``mail-send-failed``: what became of a mail (``svc/mail/sending/settling.py``)
- ``mail-account-shared``: with whom an account is shared was changed (``svc/mail/sharing/actions.py``)
- ``page-changed``: a page was made, written, moved or shared; once for each audience that may read it
  (``svc/pages/news.py``)
- ``person-changed``: a correspondent is filed under another page, or none (``svc/people/actions.py``)
"""

from svc.events.feature import FEATURE

__all__ = ["FEATURE"]
