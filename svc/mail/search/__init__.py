"""Search in mail: the full-text index, the query language, and the search itself.

A subsystem (``tasks.py``) keeps the index up to date, from a queue that a durable consumer of ``mail-received`` fills
(``following.py``). Code that stores messages does not need to know of the index. Code that repairs a message calls
:func:`queue` in ``actions.py``.

Two triggers handle what has no event and must change in the same transaction. Labels are written, and messages deleted,
by packages below this one, which can't call it; and a delete cascades by a foreign key, so only the database knows
which rows were deleted.
"""
