"""People: the owner's correspondents, the page for each of them, and suggestions while an address is typed.

Owns the tables ``people`` and ``people_*``. A person belongs to the owner of the mailbox that met them; no other user
sees them. The mail feature reports each correspondent (:func:`meet`), and asks for their names. Start reading at
``model.py``.
"""

from svc.people.actions import let_go, meet
from svc.people.feature import FEATURE
from svc.people.model import PERSON_CHANGED, Correspondent, Direction, PageRef, plain_address
from svc.people.queries import filed_under, filing, own_people, pages_of, suggestions, titles
from svc.people.together import met_together
from svc.people.words import typed_words

__all__ = [
    "FEATURE",
    "PERSON_CHANGED",
    "Correspondent",
    "Direction",
    "PageRef",
    "filed_under",
    "filing",
    "let_go",
    "meet",
    "met_together",
    "own_people",
    "pages_of",
    "plain_address",
    "suggestions",
    "titles",
    "typed_words",
]
