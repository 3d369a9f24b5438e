"""Mail: accounts connected by OAuth, every thread synced, and the unified inbox.

Owns the tables ``mail_*``, the provider seam and its two implementations, one loop an account, the parser and the
sanitizer of what strangers write. It never sends unsanitized HTML to a browser, and never counts over messages to show
a list. Start reading at ``model.py``, ``provider.py`` and ``sync.py``.

This face is empty on purpose: the parser and the sanitizer run in worker processes, which import nothing else. The
feature's row is in ``feature.py``.
"""
