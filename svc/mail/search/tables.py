"""The tables of search, as the migrations create them, ``m003_search`` first. Never change what these statements do.

``mail_search`` is narrow, and its rows are in the order of dates: reading thousands of hits touches few pages. The
words are in ``mail_search_named`` (the columns that decide the ranking) and ``mail_search_body``, exactly as they were
given to the full-text table, which needs them to delete a row. Triggers do what must never be forgotten
(``m015_search_follows`` drops the one for new messages). A trigger can't use the full-text table (``trusted_schema`` is
off), so a deleted message leaves its id in ``mail_search_gone`` until the indexer has removed its words.
"""

from __future__ import annotations

TABLES = (
    """
    create table mail_search (                  -- the messages that can be found
        id integer primary key,                 -- second of sending * 4096 plus a number: in the order of dates
        message_id text not null unique references mail_messages (id) on delete cascade,
        account_id text not null,
        thread_id text not null,
        labels text not null,                   -- the message's, kept by a trigger
        attachments integer not null,
        entry integer not null,                 -- grows with each message; a search goes on without later ones
        version integer not null                -- the version of the indexer
    ) strict
    """,
    """
    create table mail_search_named (            -- exactly what is in the full-text table: subject, people
        id integer primary key,
        account text not null,
        subject text not null,
        sender text not null,
        recipient text not null,
        cc text not null,
        bcc text not null
    ) strict
    """,
    """
    create table mail_search_body (             -- full text: the other words
        id integer primary key,
        files text not null,
        body text not null
    ) strict
    """,
    """
    create view mail_search_words as
    select n.id, n.account, n.subject, n.sender, n.recipient, n.cc, n.bcc, b.files, b.body
    from mail_search_named n join mail_search_body b on b.id = n.id
    """,
    """
    create virtual table mail_search_fts using fts5 (
        account, subject, sender, recipient, cc, bcc, files, body,
        content = 'mail_search_words', content_rowid = 'id', prefix = '3',
        tokenize = "unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
    )
    """,
    """
    create table mail_search_queue (            -- messages that wait for indexing, the newest first
        number integer primary key autoincrement,
        message_id text not null unique references mail_messages (id) on delete cascade,
        account_id text not null
    ) strict
    """,
    "create index mail_search_queue_account on mail_search_queue (account_id)",
    """
    create table mail_search_gone (             -- ids in the full-text tables whose message is deleted
        id integer primary key
    ) strict
    """,
    """
    create table mail_search_state (            -- one row
        one integer primary key check (one = 1),
        version integer not null,               -- the indexer's version for which all messages are queued
        queued_up_to text not null,             -- while they are queued again: the last message id
        entries integer not null,
        cleared integer not null,               -- rows deleted since the full-text table was last compacted
        erased integer not null,                -- accounts deleted since then
        compacting integer not null             -- 1: it is being compacted now
    ) strict
    """,
    """
    insert into mail_search_state (one, version, queued_up_to, entries, cleared, erased, compacting)
    values (1, 0, '', 0, 0, 0, 0)
    """,
    """
    create trigger mail_search_stored after insert on mail_messages begin
        insert into mail_search_queue (message_id, account_id) values (new.id, new.account_id);
    end
    """,
    """
    create trigger mail_search_relabelled after update of labels on mail_messages
    when new.labels is not old.labels begin
        update mail_search set labels = new.labels where message_id = new.id;
    end
    """,
    """
    create trigger mail_search_deleted after delete on mail_search begin
        insert into mail_search_gone (id) values (old.id);
    end
    """,
    """
    create trigger mail_search_erased after delete on mail_accounts begin
        update mail_search_state set erased = erased + 1 where one = 1;
    end
    """,
)

VOCABULARY = (
    """
    create table mail_search_vocabulary (       -- the words of each account's mail, by their stem
        account text not null,                  -- as in mail_search_named
        language text not null,                 -- of the messages; '': not known
        stem text not null,
        word text not null,                     -- as the full-text table has it, without accents
        written text,                           -- with accents; null: the same
        messages integer not null,
        primary key (account, language, stem, word)
    ) strict, without rowid
    """,
    "create index mail_search_vocabulary_words on mail_search_vocabulary (account, word)",
    # The version that added the message's words to the vocabulary.
    "alter table mail_search_named add column counted integer not null default 0",
)

ERASED_WHEN_ASKED = ("drop trigger mail_search_erased",)
