"""Triage: the kind of each new mail (needs reply, waiting, reading, receipt, calendar, other), for users who switch it
on.

Owns the tables ``triage_*``. It follows ``mail-received`` as a durable consumer. It labels threads, and never moves,
answers or hides one. Plain rules decide (:mod:`svc.triage.deciding`). A model decides where the owner wants that and
the rules are not sure. A person's correction beats both, and is remembered for the sender.
"""

from svc.triage.actions import bring_back
from svc.triage.feature import FEATURE

__all__ = ["FEATURE", "bring_back"]
