"""Search by meaning: mail and pages are also found by what they are about, mixed with what the words find.

Owns ``meaning_people``, ``meaning_vectors``, ``meaning_queue`` and ``meaning_faults``. Each person switches it on for
the mail and pages that they own, since their text then goes to a model's server; who may read them may find them so.
Vectors are made by a subsystem (``tasks.py``) from a queue, through the broker, and scanned by numpy in a thread
(``vectors.py``), which is an extra. Without numpy, or without a way to a model, all of it is off and says so.
"""

from svc.meaning.feature import FEATURE
from svc.meaning.searching import is_on, search, search_pages

__all__ = ["FEATURE", "is_on", "search", "search_pages"]
