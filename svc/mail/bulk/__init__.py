"""Bulk steps: one action on all threads of a list or a search, which can be undone as one.

Theory. The selection is fixed when its count is shown: its threads are stored (``choosing.py``), so that no thread that
comes later is ever changed, and a thread that gets new mail in the meantime is left alone. The step itself is a row
with its progress. Each transaction handles one batch of the stored threads (``actions.py``), as an ordinary ``Step`` of
labelling, so its changes reach the provider through the same queue. The changes of each batch are stored; undoing the
step reverses them, newest batch first. The progress is written in the transaction of the batch, so after a kill the
step goes on behind the last finished batch.

Owns the tables ``mail_bulk_steps``, ``mail_bulk_threads`` and ``mail_bulk_changes``.
"""
