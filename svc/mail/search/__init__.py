"""Finding mail: the full-text index, the language people search in, and what a search answers.

The index is kept by a subsystem of its own (``tasks.py``), from a queue that a durable consumer of ``mail-received``
fills (``following.py``); whoever stores messages needs to know nothing of it, and who mends one says so (:func:`queue`
in ``actions.py``).

Two triggers remain, for what has no event and must hold in the same transaction. Labels are written, and messages
deleted, by folders that stand before this one and can't call it; and a delete cascades here by a foreign key, where
only the database knows which rows went.
"""
