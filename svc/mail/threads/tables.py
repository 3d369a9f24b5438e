"""The tables and columns of threads that later migrations add: ``m016_references``, ``m017_drafts_apart``,
``m019_joined``, ``m022_filters``, ``m023_mutes``, ``m052_marked_addresses``, ``m053_writers`` and
``m061_blocked_senders``; and the statements of ``m011_drafts_not_received``. Never change what these statements do."""

from __future__ import annotations

REFERENCES_TABLES = (
    """
    create table mail_references (              -- the thread of each message id, if the provider has no threads
        account_id text not null references mail_accounts (id) on delete cascade,
        message_id_header text not null,        -- of a stored message, or of one that a stored message refers to
        thread_id text not null references mail_threads (id) on delete cascade,
        primary key (account_id, message_id_header)
    ) strict, without rowid
    """,
    "create index mail_references_thread on mail_references (thread_id)",
)

DRAFTS_APART = (
    "alter table mail_threads add column drafts integer not null default 0",  # of its messages: they are not sent yet
    """
    update mail_threads set drafts = (
        select count(*) from mail_messages m where m.thread_id = mail_threads.id
            and exists (select 1 from json_each(m.labels) where value = 'DRAFT')
    )
    where exists (select 1 from json_each(labels) where value = 'DRAFT')
    """,
)

JOINED_TABLES = (
    """
    create table mail_joined_threads (          -- ids of threads that were joined with another one, and its id
        thread_id text primary key,
        became text not null references mail_threads (id) on delete cascade
    ) strict, without rowid
    """,
    "create index mail_joined_threads_became on mail_joined_threads (became)",
)

_PLAIN = """
    lower(iif(
        instr(value ->> '$.address', '+') between 2 and instr(value ->> '$.address', '@'),
        substr(value ->> '$.address', 1, instr(value ->> '$.address', '+') - 1)
            || substr(value ->> '$.address', instr(value ->> '$.address', '@')),
        value ->> '$.address'
    ))
"""

FILTERED_TABLES = (
    "alter table mail_messages add column to_me integer not null default 0",  # 1: To or Cc names the account itself
    f"""
    update mail_messages set to_me = 1 where exists (
        select 1 from (
            select value from json_each(mail_messages.headers, '$.to')
            union all select value from json_each(mail_messages.headers, '$.cc')
        ) where {_PLAIN} = (select address from mail_accounts where id = mail_messages.account_id)
    )
    """,
    "alter table mail_threads add column to_me integer not null default 0",  # so many of its messages
    """
    update mail_threads set to_me = coalesce(
        (select sum(to_me) from mail_messages where thread_id = mail_threads.id), 0
    )
    """,
    """
    create table mail_filtered_threads (        -- the threads of each list for each filter, newest first
        account_id text not null references mail_accounts (id) on delete cascade,
        list text not null,                     -- 'in:' a section, 'own:' sent or draft, 'label:' and the label's id
        filter text not null,                   -- model.Filter
        at integer not null,                    -- the thread's place in that list
        thread_id text not null,
        primary key (account_id, list, filter, at desc, thread_id desc)
    ) strict, without rowid
    """,
    """
    insert into mail_filtered_threads (account_id, list, filter, at, thread_id)
    with listed (account_id, list, at, thread_id) as (
        select account_id, iif(in_inbox > 0, 'in:inbox', 'in:skipped'), last_message_at, id from mail_threads
        where in_inbox > 0 or visible > 0
        union all
        select account_id, 'own:sent', last_sent_at, id from mail_threads where last_sent_at is not null
        union all
        select account_id, 'own:draft', last_draft_at, id from mail_threads where last_draft_at is not null
        union all
        select t.account_id, 'label:' || l.value, t.last_message_at, t.id from mail_threads t, json_each(t.labels) l
        where l.value not in ('INBOX', 'UNREAD', 'SENT', 'DRAFT') and substr(l.value, 1, 9) <> 'CATEGORY_'
            and (t.visible > 0 or l.value in ('SPAM', 'TRASH'))
    ), passed (thread_id, filter) as (
        select id, 'unread' from mail_threads where unread > 0
        union all select id, 'to-me' from mail_threads where to_me > 0
        union all select id, 'attachment' from mail_threads where attachments > 0
        union all select id, 'starred' from mail_threads
        where exists (select 1 from json_each(labels) where value = 'STARRED')
    )
    select account_id, list, filter, at, thread_id from listed join passed using (thread_id)
    """,
)

MUTES_TABLES = (
    """
    create table mail_mutes (                   -- threads whose new messages skip the inbox
        thread_id text primary key,             -- derived from the provider's id; may be here before the thread is
        account_id text not null references mail_accounts (id) on delete cascade,
        created_at integer not null
    ) strict, without rowid
    """,
    "create index mail_mutes_account on mail_mutes (account_id)",
)

BLOCKED_SENDERS = (
    """
    create table mail_blocked_senders (         -- whose new mail goes to spam or to the trash
        id integer primary key autoincrement,
        owner_id text,                          -- null: everybody's, until the instance is claimed
        account_id text references mail_accounts (id) on delete cascade,    -- null: in all accounts of the owner
        address text not null,                  -- in lower case
        place text not null check (place in ('spam', 'trash')),
        since integer not null
    ) strict
    """,
    """
    create unique index mail_blocked_senders_once
    on mail_blocked_senders (address, coalesce(owner_id, ''), coalesce(account_id, ''))
    """,
    "create index mail_blocked_senders_owner on mail_blocked_senders (owner_id, address)",
    "create index mail_blocked_senders_account on mail_blocked_senders (account_id)",
)

MARKED_ADDRESSES = (
    """
    create table mail_marked_addresses (        -- the addresses by which an account's mail is marked as "to me"
        account_id text primary key references mail_accounts (id) on delete cascade,
        addresses text not null,                -- JSON array, sorted; empty while mail is being marked anew
        goal text not null,                     -- the addresses by which mail is being marked
        after text not null                     -- the id of the last marked message
    ) strict, without rowid
    """,
)

WRITERS = (
    "alter table mail_threads add column writers text not null default '[]'",  # JSON: model.Writer, if several wrote
    """
    update mail_threads set writers = (
        select iif(count(*) < 2, '[]', json_group_array(json_object(
            'name', name, 'address', address, 'own', json(iif(own, 'true', 'false')),
            'bulk', json(iif(bulk, 'true', 'false'))
        ))) from (
            select name, address, own, bulk from (
                select sender_name as name, sender_address as address, own, coalesce(headers ->> '$.bulk', 0) as bulk,
                    min(printf('%020d', sent_at) || id) as first, count(*) over () as total,
                    row_number() over (order by min(printf('%020d', sent_at) || id)) as place
                from mail_messages where thread_id = mail_threads.id and (visible or mail_threads.visible = 0)
                group by lower(sender_address)
            ) where place <= 8 or place > total - 8 order by place
        )
    )
    where messages > 1
    """,
)

UNREAD_TWINS = """
    create index mail_threads_unread_twins on mail_threads (account_id)
        where twins is not null and in_inbox > 0 and unread > 0
"""

DRAFTS_NOT_RECEIVED = (
    """
    update mail_messages set in_inbox = 0
    where in_inbox and exists (select 1 from json_each(labels) where value = 'DRAFT')
    """,
    """
    update mail_threads set in_inbox = (select sum(in_inbox) from mail_messages where thread_id = mail_threads.id)
    where in_inbox and exists (select 1 from json_each(labels) where value = 'DRAFT')
    """,
    """
    update mail_accounts set
        unread_threads = (
            select count(*) from mail_threads where account_id = mail_accounts.id and in_inbox > 0 and unread > 0
        ),
        unread_twins = (
            select count(*) from mail_threads
            where account_id = mail_accounts.id and in_inbox > 0 and unread > 0 and not leads
        )
    """,
)

MET_TOGETHER = (
    # Fills `people_together` from mail that was stored before that table was kept. A higher number that is there stays:
    # it also counted mail that is deleted by now.
    """
    with mine as materialized (
        select m.id, m.sent_at, m.headers, a.owner_id from mail_messages m join mail_accounts a on a.id = m.account_id
        where m.own = 1 and not coalesce(m.headers ->> '$.bulk', 0)
            and not exists (select 1 from json_each(m.labels) where value in ('SPAM', 'TRASH', 'DRAFT'))
    ),
    named as (
        select mine.id, sent_at, owner_id, value from mine, json_each(headers, '$.to')
        union all select mine.id, sent_at, owner_id, value from mine, json_each(headers, '$.cc')
        union all select mine.id, sent_at, owner_id, value from mine, json_each(headers, '$.bcc')
    ),
    addressed as (
        select distinct named.id, named.sent_at, p.id as person_id, p.sent
        from named
        join people p on p.owner_id is named.owner_id and p.address = lower(trim(named.value ->> '$.address'))
        where p.sent > 0 and not exists (
            select 1 from mail_accounts a where a.owner_id is named.owner_id and a.address = p.address
        )
    ),
    grouped as (select id from addressed group by id having count(*) between 2 and 10)
    insert into people_together (person_id, other_id, mails, last_at)
    select one.person_id, other.person_id, min(count(*), one.sent, other.sent), max(one.sent_at)
    from grouped join addressed one using (id) join addressed other using (id)
    where one.person_id <> other.person_id
    group by one.person_id, other.person_id
    on conflict do update set mails = max(mails, excluded.mails), last_at = max(last_at, excluded.last_at)
    """,
)
"""The statements of `m063_met_together`."""
