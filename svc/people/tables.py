"""The table of people who are written to together, as migration ``m003_together`` makes it. Never change its meaning
here.
"""

from __future__ import annotations

from typing import Final

TABLES: Final = (
    """
    create table people_together (              -- people who got the same mail
        person_id integer not null references people (id) on delete cascade,
        other_id integer not null references people (id) on delete cascade,
        mails integer not null,
        last_at integer not null,
        primary key (person_id, other_id)
    ) strict, without rowid
    """,
    "create index people_together_most on people_together (person_id, mails desc, last_at desc)",
    "create index people_together_other on people_together (other_id)",
)
