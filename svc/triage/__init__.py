"""Triage: what kind of mail has come (needs reply, waiting, reading, receipt, calendar, other), for who switched it on.

Owns the tables ``triage_*``. It follows ``mail-received`` as a durable consumer; it says what a thread is and never
moves, answers or hides one. Plain rules decide (:mod:`svc.triage.deciding`), a model where its owner wants that and the
rules are not sure, and a person's word beats both: it is remembered for the sender.
"""

from svc.triage.feature import FEATURE

__all__ = ["FEATURE"]
