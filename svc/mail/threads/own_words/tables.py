"""The statements of the migration ``m009_own_words``. Never change what they do.

It adds to a thread's row the newest message that its owner sent and drafted (``columns.py``).
"""

from __future__ import annotations

_TO = """
    select value from json_each(m.headers, '$.to') union all select value from json_each(m.headers, '$.cc')
    union all select value from json_each(m.headers, '$.bcc')
"""


def _fill(name: str, *, label: str, hiding: str) -> str:
    return f"""
        update mail_threads set ({name}, last_{name}_at) = (
            select json_object(
                'sender', m.sender_address,
                'to', (
                    select json_group_array(json_object('name', value ->> '$.name', 'address', value ->> '$.address'))
                    from (select value from ({_TO}) limit 8)
                ),
                'others', max(0, (select count(*) from ({_TO})) - 8),
                'snippet', m.snippet
            ), m.sent_at
            from mail_messages m
            where m.thread_id = mail_threads.id and exists (select 1 from json_each(m.labels) where value = '{label}')
                and not exists (select 1 from json_each(m.labels) where value in ({hiding}))
            order by m.sent_at desc, m.id desc limit 1
        )
        where exists (select 1 from json_each(mail_threads.labels) where value = '{label}')
    """


TABLES = (
    "alter table mail_threads add column sent text",  # JSON: model.Words, of the newest that the owner sent
    "alter table mail_threads add column last_sent_at integer",
    "alter table mail_threads add column draft text",  # the same, of the newest drafted
    "alter table mail_threads add column last_draft_at integer",
    _fill("sent", label="SENT", hiding="'SPAM', 'TRASH', 'DRAFT'"),
    _fill("draft", label="DRAFT", hiding="'SPAM', 'TRASH'"),
    """
    create index mail_threads_sent on mail_threads (account_id, last_sent_at desc, id desc)
        where last_sent_at is not null
    """,
    """
    create index mail_threads_draft on mail_threads (account_id, last_draft_at desc, id desc)
        where last_draft_at is not null
    """,
)
