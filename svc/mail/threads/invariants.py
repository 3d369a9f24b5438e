"""The invariants of mail, checked by ``svc fsck``: the stored columns agree with the messages."""

from __future__ import annotations

from collections.abc import Iterable

from svc.mail.threads.writers import AT_EACH_END
from svc.store import Invariant, ReadTx, json_array

_SHOWN = 20


def _thread_columns(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select t.id from mail_threads t left join (
            select thread_id, count(*) as messages, sum(in_inbox) as in_inbox, sum(unread) as unread,
                sum(visible) as visible, sum(attachments) as attachments, sum(to_me) as to_me,
                max(iif(visible, sent_at, null)) as newest,
                max(sent_at) as newest_at_all
            from mail_messages group by thread_id
        ) m on m.thread_id = t.id
        where m.messages is not t.messages or m.in_inbox is not t.in_inbox or m.unread is not t.unread
            or m.visible is not t.visible or m.attachments is not t.attachments or m.to_me is not t.to_me
            or coalesce(m.newest, m.newest_at_all) is not t.last_message_at
        limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"thread {thread_id} shows other numbers than its messages have" for (thread_id,) in rows]


def _references(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select distinct m.id from mail_references r join mail_messages m on m.account_id = r.account_id and (
            m.message_id_header = r.message_id_header
        ) where m.thread_id <> r.thread_id
        union
        select m.id from mail_messages m, json_each(m.headers, '$.references') one
            join mail_references r on r.account_id = m.account_id and r.message_id_header = one.value
        where m.thread_id <> r.thread_id limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"message {message_id} is in another thread than its references say" for (message_id,) in rows]


def _account_counters(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select id from mail_accounts a
        where messages <> (select count(*) from mail_messages where account_id = a.id)
            or unread_threads <> (
                select count(*) from mail_threads where account_id = a.id and in_inbox > 0 and unread > 0
            )
            or unread_twins <> (
                select count(*) from mail_threads
                where account_id = a.id and in_inbox > 0 and unread > 0 and not leads
            )
        limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"account {account_id} shows other counters than its threads have" for (account_id,) in rows]


def _message_flags(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        with carried as (
            select m.id, m.in_inbox, m.visible, m.unread,
                exists (select 1 from json_each(m.labels) where value = 'INBOX')
                    and not exists (select 1 from json_each(m.labels) where value = 'DRAFT') as inbox,
                exists (select 1 from json_each(m.labels) where value = 'UNREAD') as unread_label,
                exists (select 1 from json_each(m.labels) where value in ('SPAM', 'TRASH', 'DRAFT')) as hidden
            from mail_messages m
        )
        select id from carried
        where in_inbox <> inbox or visible <> not hidden or unread <> (unread_label and not hidden) limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"message {message_id} has flags that its labels do not say" for (message_id,) in rows]


def _one_event_a_message(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select message_id from (
            select json_extract(payload, '$.messageId') as message_id from events where type = 'mail-received'
        ) group by message_id having count(*) > 1 limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"message {message_id} was announced more than once" for (message_id,) in rows]


def _blobs(tx: ReadTx) -> Iterable[str]:
    for body_sha256, raw_sha256 in tx.each("select body_sha256, raw_sha256 from mail_messages"):
        yield str(body_sha256)
        yield str(raw_sha256)


def _drafts(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select t.id from mail_threads t where drafts <> (
            select count(*) from mail_messages m
            where m.thread_id = t.id and exists (select 1 from json_each(m.labels) where value = 'DRAFT')
        )
        limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"thread {thread_id} counts other drafts than its messages are" for (thread_id,) in rows]


def _label_lists(tx: ReadTx) -> Iterable[str]:
    """Compares both ways: an extra row is as wrong as a missing one."""
    rows = tx.all(
        """
        with wanted as (
            select t.account_id, l.value as label_id, t.last_message_at, t.id as thread_id
            from mail_threads t, json_each(t.labels) l
            where l.value not in ('INBOX', 'UNREAD') and substr(l.value, 1, 9) <> 'CATEGORY_'
        ), too_few as (
            select account_id, label_id, last_message_at, thread_id from wanted
            except select account_id, label_id, last_message_at, thread_id from mail_thread_labels
        ), too_many as (
            select account_id, label_id, last_message_at, thread_id from mail_thread_labels
            except select account_id, label_id, last_message_at, thread_id from wanted
        )
        select thread_id from too_few union select thread_id from too_many limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"thread {thread_id} stands in other lists than its labels say" for (thread_id,) in rows]


def _filtered_lists(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
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
        ), wanted as (
            select account_id, list, filter, at, thread_id from listed join passed using (thread_id)
        ), too_few as (
            select * from wanted except select account_id, list, filter, at, thread_id from mail_filtered_threads
        ), too_many as (
            select account_id, list, filter, at, thread_id from mail_filtered_threads except select * from wanted
        )
        select thread_id from too_few union select thread_id from too_many limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"thread {thread_id} passes other filters than its row says" for (thread_id,) in rows]


def _thread_labels(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select id from mail_threads t
        where labels <> (
            select json_group_array(label) from (
                select distinct l.value as label from mail_messages m, json_each(m.labels) l
                where m.thread_id = t.id order by l.value
            )
        )
        limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"thread {thread_id} shows other labels than its messages carry" for (thread_id,) in rows]


def _own_words(tx: ReadTx) -> Iterable[str]:
    for name, label, hiding in (("sent", "SENT", ["DRAFT", "SPAM", "TRASH"]), ("draft", "DRAFT", ["SPAM", "TRASH"])):
        rows = tx.all(
            f"""
            select t.id from mail_threads t left join (
                select thread_id, max(sent_at) as at from mail_messages m
                where exists (select 1 from json_each(m.labels) where value = :label)
                    and not exists (
                        select 1 from json_each(m.labels) where value in (select value from json_each(:hiding))
                    )
                group by thread_id
            ) m on m.thread_id = t.id
            where m.at is not t.last_{name}_at or (t.{name} is null) <> (t.last_{name}_at is null) limit :shown
            """,
            label=label,
            hiding=json_array(hiding),
            shown=_SHOWN,
        )
        yield from (f"thread {thread_id} does not show what was last {name}" for (thread_id,) in rows)


def _writers(tx: ReadTx) -> Iterable[str]:
    """Compares addresses, only in threads with so few writers that all are kept."""
    rows = tx.all(
        """
        with wrote as (
            select distinct m.thread_id, lower(m.sender_address) as address from mail_messages m
            join mail_threads t on t.id = m.thread_id where m.visible or t.visible = 0
        ), counted as (
            select thread_id, count(*) as writers, group_concat(address, ' ') as addresses from (
                select thread_id, address from wrote order by thread_id, address
            ) group by thread_id
        ), told as (
            select id, count(*) as writers, group_concat(address, ' ') as addresses from (
                select t.id, lower(value ->> '$.address') as address from mail_threads t, json_each(t.writers)
                order by t.id, lower(value ->> '$.address')
            ) group by id
        )
        select c.thread_id from counted c left join told on told.id = c.thread_id
        where (c.writers < 2 and told.id is not null)
            or (c.writers between 2 and :most and told.addresses is not c.addresses)
        limit :shown
        """,
        most=2 * AT_EACH_END,
        shown=_SHOWN,
    )
    return [f"thread {thread_id} names others than wrote in it" for (thread_id,) in rows]


def _snoozed_threads(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select t.id from mail_snoozes s join mail_threads t on t.id = s.thread_id
        where t.in_inbox > 0 or t.visible = 0 or s.account_id <> t.account_id limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"thread {thread_id} is snoozed, and in the inbox or away for good" for (thread_id,) in rows]


def _one_duplicate_leads(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select min(id) from mail_threads group by coalesce(twins, id)
        having sum(leads) <> 1 or (twins is not null and count(distinct account_id) < 2) limit :shown
        """,
        shown=_SHOWN,
    )
    return [f"thread {thread_id} and its duplicates do not have one that leads" for (thread_id,) in rows]


def _duplicates_share_a_mail(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select m.thread_id from mail_messages m join mail_accounts ma on ma.id = m.account_id
            cross join mail_accounts oa on oa.owner_id is ma.owner_id and oa.id <> ma.id
            cross join mail_messages o on o.account_id = oa.id and o.message_id_header = m.message_id_header
                and o.body_sha256 = m.body_sha256 and o.sender_address = m.sender_address and o.subject = m.subject
            join mail_threads mt on mt.id = m.thread_id join mail_threads ot on ot.id = o.thread_id
        where mt.twins is not ot.twins or mt.twins is null limit :shown
        """,
        shown=_SHOWN,
    )
    return [
        f"thread {thread_id} holds a mail of another account's thread, and is not its duplicate"
        for (thread_id,) in rows
    ]


def _every_attachment_has_its_message(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select id from files where origin like 'mail:%'
            and substr(origin, 6) not in (select id from mail_messages) limit 20
        """
    )
    return [f"file {file_id} belongs to a message that is not there" for (file_id,) in rows]


INVARIANTS = (
    Invariant(name="every attachment belongs to a stored message", check=_every_attachment_has_its_message),
    Invariant(name="of duplicates, one leads in Unified", check=_one_duplicate_leads),
    Invariant(name="threads that share a mail are duplicates", check=_duplicates_share_a_mail),
    Invariant(name="a thread's columns say what its messages say", check=_thread_columns),
    Invariant(name="messages that refer to each other are one thread", check=_references),
    Invariant(name="an account's counters say what its threads say", check=_account_counters),
    Invariant(name="a message's flags follow from its labels", check=_message_flags),
    Invariant(name="a thread knows how many of its messages are drafts", check=_drafts),
    Invariant(name="a thread shows the labels of its messages", check=_thread_labels),
    Invariant(name="a thread stands in the lists of its labels", check=_label_lists),
    Invariant(name="a thread stands in the filtered lists that it passes", check=_filtered_lists),
    Invariant(name="a thread shows what its owner last sent and drafted", check=_own_words),
    Invariant(name="a thread names those who wrote in it", check=_writers),
    Invariant(name="a snoozed thread is out of the inbox and can come back", check=_snoozed_threads),
    Invariant(name="one mail-received event a message", check=_one_event_a_message),
    Invariant(name="a message's body and raw bytes are stored", check=_blobs, yields="blobs"),
)
