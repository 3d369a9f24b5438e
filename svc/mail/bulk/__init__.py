"""A step on all that match: a list or a search is chosen as a whole, and one step changes all of it, taken back as one.

Theory. What is chosen is fixed in the moment its count is told: its threads are written down (``choosing.py``), so that
nothing that comes later is ever acted on, and a thread that gets new mail meanwhile is left alone. The step itself is
a row and a place in what is written down: one batch of threads a transaction (``actions.py``), each an ordinary
``Step`` of labelling, so that the provider hears of it through the same queue. What a batch changed is kept with it;
taking the step back walks those in reverse. Where it is stands in the same transaction as what it did, so that a kill
anywhere goes on behind the last batch.

Owns the tables ``mail_bulk_steps``, ``mail_bulk_threads`` and ``mail_bulk_changes``.
"""
