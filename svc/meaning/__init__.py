"""Search by meaning: mail and pages are also found by their subject matter, mixed with the results of the search by
words.

Owns ``meaning_people``, ``meaning_vectors``, ``meaning_queue`` and ``meaning_faults``. Each user switches it on for the
mail and pages that they own, because their text then goes to a model's server. Every user who may read an item may then
find it by meaning. A subsystem (``tasks.py``) makes the vectors from a queue, through the broker. numpy, which is an
extra, scans them in a thread (``vectors.py``). Without numpy, or without access to a model, the search is off and says
so.
"""

from svc.meaning.feature import FEATURE
from svc.meaning.searching import is_on, search, search_pages

__all__ = ["FEATURE", "is_on", "search", "search_pages"]
