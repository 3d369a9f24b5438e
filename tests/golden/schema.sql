CREATE TABLE agent_runs (               -- what a run started with; a later change of the page has no effect on it
    run_id text primary key references runs (id) on delete cascade,
    agent text,                         -- the path of the agent's page; null: started with only a prompt
    page_id text,
    instructions text not null,
    model text not null,
    prompt text not null,
    continues text,                     -- the run whose conversation this one continues
    cause text unique,                  -- what triggered it; unique, so nothing triggers two runs
    at integer not null
) strict, without rowid
;

CREATE TABLE agent_said (               -- messages of the owner to a running run
    run_id text not null references agent_runs (run_id) on delete cascade,
    number integer not null,
    text text not null,
    at integer not null,
    primary key (run_id, number)
) strict, without rowid
;

CREATE TABLE agent_schedules (
    page_id text primary key,
    revision integer not null,          -- of the page; with another revision the schedule starts again
    next_at integer not null
) strict, without rowid
;

CREATE TABLE approvals (
    id text primary key,
    run_id text not null references runs (id) on delete cascade,
    key text not null,
    user_id text,
    tool text not null,
    summary text not null,
    input text not null,
    digest blob not null,
    state text not null check (state in ('open', 'approved', 'declined', 'expired', 'cancelled')),
    requested_at integer not null,
    expires_at integer not null,
    decided_at integer,
    decided_by text,
    decided_input text
, card text, decided_digest blob) strict, without rowid;

CREATE TABLE blob_damage (
    sha256 text primary key,
    harm text not null check (harm in ('missing', 'truncated', 'altered')),
    state text not null check (state in ('waiting', 'lost', 'mended')),
    reason text not null,
    attempts integer not null,
    found_at integer not null,
    next_at integer not null,
    changed_at integer not null,
    became text
) strict, without rowid;

CREATE TABLE capability_audit (
    seq integer primary key autoincrement,
    at integer not null,
    name text not null,
    actor text not null,
    purpose text not null,
    run_id text,
    outcome text not null check (outcome in ('granted', 'refused', 'missing'))
) strict;

CREATE TABLE claim_tokens (                 -- SVC_CLAIM_TOKEN: may claim an instance that strangers can reach, once
    token_digest text primary key,
    created_at integer not null,
    used_at integer
) strict, without rowid
;

CREATE TABLE consumer_failures (
    name text not null,
    seq integer not null,
    type text not null,
    reason text not null,
    at integer not null,
    primary key (name, seq)
) strict, without rowid;

CREATE TABLE consumers (
    name text primary key,
    seq integer not null,
    failures integer not null,
    retry_at integer not null,
    problem text,
    updated_at integer not null
) strict, without rowid;

CREATE TABLE deleted_files (
    id text primary key,
    owner_id text,
    sha256 text not null,
    name text not null,
    mime text not null,
    size integer not null,
    created_at integer not null,
    deleted_at integer not null
) strict
;

CREATE TABLE devices (
    id text primary key,
    user_id text references users (id) on delete cascade,
    kind text not null,
    name text not null,
    capabilities text not null,             -- JSON object of flags
    token_digest text unique,               -- null for web sessions: their cookie opens the session
    revoked integer not null default 0,
    created_at integer not null,
    last_seen_at integer
, seen_from text) strict
;

CREATE TABLE events (
    seq integer primary key autoincrement,
    at integer not null,
    type text not null,
    payload text not null,
    audience text,
    device_id text not null
) strict;

CREATE TABLE files (
    id text primary key,
    owner_id text,                  -- null: everybody's, until the instance is claimed
    sha256 text not null,
    name text not null,
    mime text not null,
    size integer not null,
    origin text not null,           -- 'upload', or 'mail:<message id>'
    created_at integer not null
) strict
;

CREATE TABLE gitops_conflicts (     -- pages whose waiting edits can't be applied before a person chooses a version
    page_id text primary key,
    file text not null,
    reason text not null,
    is_clash integer not null,      -- another file has the page's place
    there_blob text,                -- of the file in the repository; null: it is deleted
    there_text text,
    seq integer not null,           -- the page's newest waiting edit when the conflict was found
    at integer not null
) strict
;

CREATE TABLE gitops_files (         -- files of the repository that are, or should be, pages or files here
    file text primary key,          -- relative to the followed folder: pages/a/b.md
    kind text not null check (kind in ('page', 'file', 'other')),
    page_id text unique,            -- null: not a page here yet; the page may be deleted
    file_id text unique,            -- of a file that is not a page
    path text,                      -- of the page, by the file's name
    blob text,                      -- the blob whose text the page has; null: none yet
    seen_blob text not null,        -- the blob in the newest tree; not `blob` while it can't be read
    commit_id text,
    author text,
    author_address text,
    committed_at integer,
    digest text not null default '',            -- of everything the page was given; empty: read it again
    strangers text not null default '[]',       -- JSON: addresses in grants that no user here has
    problem text,
    line integer
) strict, without rowid
;

CREATE TABLE gitops_state (         -- one row, after a repository was followed
    id integer primary key check (id = 1),
    source text not null,           -- repository, branch and folder; the rest of the row is about them only
    reading integer not null,       -- the version of our own parser
    commit_id text,                 -- the commit that the pages here come from
    synced_at integer,
    added integer not null default 0,
    changed integer not null default 0,
    removed integer not null default 0,
    was_forced integer not null default 0,      -- the branch was force-pushed
    plugins text,                   -- plugins.json of that commit
    checked_at integer,             -- when the remote answered last
    problem text,                   -- of the last try, in words for an admin; null: it succeeded
    problem_kind text,
    problem_at integer              -- since when
) strict
;

CREATE TABLE idempotency_keys (             -- requests of a person's clients that run once, and their results
    id integer primary key autoincrement,
    user_id text,                           -- null: everybody's, until the instance is claimed
    key text not null,                      -- the client's own name for the action
    fingerprint blob not null,              -- SHA-256 of the procedure and its input
    result text not null,                   -- JSON
    at integer not null
) strict
;

CREATE TABLE identities (
    issuer text not null,
    subject text not null,
    user_id text not null references users (id) on delete cascade,
    email text not null,
    created_at integer not null,
    primary key (issuer, subject)
) strict, without rowid
;

CREATE TABLE invites (
    id text primary key,
    code_digest text not null unique,
    email text,                             -- locked to this address, ASCII case folded
    role text not null check (role in ('admin', 'member')),
    created_by text references users (id) on delete set null,
    created_at integer not null,
    expires_at integer not null,
    used_at integer,
    used_by text references users (id) on delete set null,
    revoked_at integer
) strict
;

CREATE TABLE mail_accounts (
    id text primary key,
    owner_id text,                          -- null: everybody's, until the instance is claimed
    address text not null unique,           -- lower case; of an account that is kept here: its name, as written
    state text not null check (state in ('backfilling', 'caught-up', 'waiting', 'reconnect', 'disconnected')),
    problem text,                           -- one sentence, while waiting or in need of a reconnect
    cursor text,                        -- how far changes are read; null until the first full sync is complete
    sweep_no integer not null default 0,    -- of the running or last full sync
    sweep_cursor text,                  -- taken before its first page; null while none is running
    sweep_page_token text,                  -- of the next page
    sweep_started_at integer,
    progress_done integer not null default 0,
    progress_total integer,
    messages integer not null default 0,
    unread_threads integer not null default 0,  -- threads in the inbox with an unread message
    last_synced_at integer,
    created_at integer not null
, labels_at integer not null default 0, unread_twins integer not null default 0, cause text, provider_total integer, erasing integer not null default 0, sender_name text, provider text not null default '', default_address text) strict
;

CREATE TABLE mail_acts (                    -- actions of people in shared accounts; the newest of each thread
    id integer primary key,
    account_id text not null references mail_accounts (id) on delete cascade,
    thread_id text not null,
    message_id text,                        -- the message that was sent
    user_id text not null,
    what text not null,
    at integer not null
) strict
;

CREATE TABLE mail_authentication (
    message_id text primary key references mail_messages (id) on delete cascade,
    found text not null,                    -- JSON: formats.authentication.Authentication
    asked integer not null,                 -- 1: the DNS was asked for the keys of its signatures
    until integer                           -- when it is checked again; null: never
) strict, without rowid
;

CREATE TABLE mail_blocked_senders (         -- whose new mail goes to spam or to the trash
    id integer primary key autoincrement,
    owner_id text,                          -- null: everybody's, until the instance is claimed
    account_id text references mail_accounts (id) on delete cascade,    -- null: in all accounts of the owner
    address text not null,                  -- in lower case
    place text not null check (place in ('spam', 'trash')),
    since integer not null
) strict
;

CREATE TABLE mail_bulk_changes (            -- what its batches changed, for undo
    step_id text not null references mail_bulk_steps (id) on delete cascade,
    place integer not null,
    counted integer not null,               -- threads of the batch, as lists count them
    changes text not null,                  -- JSON: labelling's Changes
    primary key (step_id, place)
) strict, without rowid
;

CREATE TABLE mail_bulk_steps (
    id text primary key,
    user_id text,                           -- whose step it is; null: everybody's, until the instance is claimed
    device_id text not null,
    state text not null check (
        state in ('choosing', 'chosen', 'working', 'done', 'stopped', 'undoing', 'undone', 'dropped')
    ),
    act text,                               -- JSON: the action; null until it is chosen
    total integer not null default 0,       -- chosen threads, as lists count them
    taken integer not null default 0,       -- of these: already processed
    passed integer not null default 0,      -- of the processed ones: left unchanged
    created_at integer not null,
    moved_at integer not null
) strict
;

CREATE TABLE mail_bulk_threads (            -- chosen threads that are not processed yet
    step_id text not null references mail_bulk_steps (id) on delete cascade,
    place integer not null,
    thread_id text not null,
    messages integer not null,              -- how many it had then, without drafts; if more now: left unchanged
    last_message_at integer not null,
    counted integer not null,               -- 0: a copy in another account; lists show both as one thread
    primary key (step_id, place)
) strict, without rowid
;

CREATE TABLE mail_clean (                   -- sanitized bodies, by content and policy; may be emptied at any time
    body_sha256 text not null,
    policy integer not null,
    html text not null,
    blocked_images integer not null,
    remote_images text not null,            -- JSON array
    made_at integer not null, warnings text not null default '[]',
    primary key (body_sha256, policy)
) strict, without rowid
;

CREATE TABLE mail_dkim_keys (               -- answers of the DNS, as long as they may be cached
    name text primary key,
    record blob,                            -- null: no such record
    until integer not null
) strict, without rowid
;

CREATE TABLE mail_draft_copies (            -- copies of drafts on the servers of their accounts
    draft_id text not null,                 -- may outlive its draft, until the copy on the server is deleted, too
    account_id text not null,
    next_at integer,                        -- when the server is updated; null: it is up to date
    changes integer not null default 1,     -- counts the changes to send: compare and set
    attempts integer not null default 0, message_id_header text, refused text, elsewhere text,    -- since the last change
    primary key (draft_id, account_id)
) strict, without rowid
;

CREATE TABLE mail_draft_finds (             -- messages that other programs made from drafts, undecided yet
    account_id text not null,
    message_id text not null,
    draft_id text not null,
    kind text not null check (kind in ('edited', 'sent', 'thrown')),
    changes integer not null,               -- the `changes` of the draft's copy when the message was found
    looks integer not null default 0,       -- how often its original was still on the server
    next_at integer not null,
    primary key (account_id, message_id)
) strict, without rowid
;

CREATE TABLE mail_draft_originals (         -- drafts of another program that are continued here
    account_id text not null,
    provider_message_id text not null,
    message_id text not null,               -- as it is stored here, while it is on the server
    draft_id text not null,                 -- continues it; may outlive it, until the original is deleted there
    primary key (account_id, provider_message_id)
) strict, without rowid
;

CREATE TABLE mail_drafts (                  -- drafts written here; the copies on the server are made from them
    id text primary key,
    owner_id text,
    account_id text not null,
    to_addresses text not null,             -- JSON arrays, as typed: a draft may have invalid addresses
    cc_addresses text not null,
    bcc_addresses text not null,
    subject text not null,
    html text not null,
    snippet text not null,
    attachments text not null,              -- JSON array of ids of files of its own
    thread_id text,
    quote text,                             -- JSON: model.Quote
    version integer not null,
    created_at integer not null,
    updated_at integer not null
, from_address text, in_reply_to text, reference_ids text) strict
;

CREATE TABLE mail_filtered_threads (        -- the threads of each list for each filter, newest first
    account_id text not null references mail_accounts (id) on delete cascade,
    list text not null,                     -- 'in:' a section, 'own:' sent or draft, 'label:' and the label's id
    filter text not null,                   -- model.Filter
    at integer not null,                    -- the thread's place in that list
    thread_id text not null,
    primary key (account_id, list, filter, at desc, thread_id desc)
) strict, without rowid
;

CREATE TABLE mail_imap_changes (            -- changes at the server that sync has not applied yet
    seq integer primary key autoincrement,
    account_id text not null references mail_accounts (id) on delete cascade,
    kind text not null check (kind in ('added', 'deleted', 'labels-added', 'labels-removed')),
    message_id text not null,
    labels text not null                    -- JSON array
, renamed integer not null default 0) strict
;

CREATE TABLE mail_imap_copies (             -- messages that are being moved by copying them
    account_id text not null references mail_accounts (id) on delete cascade,
    id text not null,
    folder_id integer not null references mail_imap_folders (id),   -- the folder where the copy is, or will be
    first_uid integer not null,             -- the copy's UID is at least this
    primary key (account_id, id)
) strict, without rowid
;

CREATE TABLE mail_imap_drafts (             -- drafts that are, or may be, on the server as our copies
    account_id text not null references mail_accounts (id) on delete cascade,
    mark text not null, size integer, sha256 blob, content blob,
    primary key (account_id, mark)
) strict, without rowid
;

CREATE TABLE mail_imap_folders (
    id integer primary key,
    account_id text not null references mail_accounts (id) on delete cascade,
    name blob not null,                     -- as the server lists it
    label text not null,                    -- of the messages in it; empty: the archive
    shown text not null,                    -- its name for people
    uid_validity integer not null default 0,    -- 0: not read completely yet
    uid_next integer not null default 0,
    modseq integer not null default 0,      -- 0: the server has none
    messages integer not null default 0,
    looked_at integer not null default 0,   -- when all of its flags were looked at
    unique (account_id, name)
) strict
;

CREATE TABLE mail_imap_keywords (           -- labels that were created here and are keywords at the server
    account_id text not null references mail_accounts (id) on delete cascade,
    label text not null,
    name text not null,                     -- as the person wrote it; a keyword allows fewer characters
    primary key (account_id, label)
) strict, without rowid
;

CREATE TABLE mail_imap_leftovers (          -- messages to delete, because they are in another folder now
    id integer primary key,
    account_id text not null references mail_accounts (id) on delete cascade,
    folder_id integer not null references mail_imap_folders (id),
    uid integer,                            -- null: the folder's UIDs are not valid any more
    mark text not null,                     -- identifies the message then
    unique (folder_id, uid)
) strict
;

CREATE TABLE mail_imap_places (             -- the folder of each message, by an id that a move does not change
    account_id text not null references mail_accounts (id) on delete cascade,
    id text not null,
    folder_id integer not null references mail_imap_folders (id),
    uid integer,                            -- null: lost, or not filed yet
    mark text not null,                     -- identifies the message: from its Message-ID and size
    arrived_at integer not null,
    size integer not null,
    seen integer not null,
    flagged integer not null,
    keywords text not null default '[]',    -- JSON array of label ids, sorted
    came_from text not null default '',     -- the label of its folder before spam or trash
    lost_at integer,                        -- when it disappeared from its folder; it may be in another one
    filing text,                            -- of our own copy to file: the mark of its Message-ID
    filing_sha256 text,                     -- its bytes, a blob that the copy itself holds
    filed_tries integer not null default 0, is_ours integer not null default 0, server_id text, server_thread text not null default '',
    primary key (account_id, id)
) strict, without rowid
;

CREATE TABLE mail_imports (
    id text primary key,
    account_id text not null references mail_accounts (id) on delete cascade,
    run_id text not null,
    user_id text,                           -- who asked for it; null: everybody's, until the instance is claimed
    file_id text not null,                  -- the upload that is imported
    sha256 text not null,                   -- its content
    name text not null,                     -- of the upload
    remove_file integer not null,           -- 1: the upload is deleted after the import
    state text not null check (state in ('working', 'done', 'failed', 'stopped')),
    position integer not null default 0,    -- how much of the upload is processed
    percent integer not null default 0,
    added integer not null default 0,       -- mails that were not here
    known integer not null default 0,       -- mails that were here already
    skipped integer not null default 0,     -- messages that could not be imported
    reasons text not null default '[]',     -- JSON array: the reasons of the first skipped ones
    problem text,                           -- one sentence, where it failed
    created_at integer not null,
    ended_at integer
) strict
;

CREATE TABLE mail_invitation_answers (
    account_id text not null references mail_accounts (id) on delete cascade,
    uid text not null,
    recurrence_id text not null,
    sequence integer not null,              -- the SEQUENCE of the answered version
    answer text not null check (answer in ('accepted', 'tentative', 'declined')),
    message_id text not null,               -- the mail that was answered
    outgoing_id text not null,
    summary text not null,
    at integer not null, organizer text not null default '',
    primary key (account_id, uid, recurrence_id)
) strict, without rowid
;

CREATE TABLE mail_invitation_times (
    account_id text not null references mail_accounts (id) on delete cascade,
    uid text not null,
    recurrence_id text not null,
    starts integer not null,
    ends integer not null,
    primary key (account_id, uid, recurrence_id, starts)
) strict, without rowid
;

CREATE TABLE mail_invitations (
    message_id text not null references mail_messages (id) on delete cascade,
    account_id text not null references mail_accounts (id) on delete cascade,
    uid text not null,
    recurrence_id text not null,            -- empty: the whole series, or a single event
    method text not null,
    sequence integer not null,
    stamp integer not null,
    genuine integer not null,               -- 1: its organizer sent it
    file_sha256 text not null,
    found text not null,                    -- JSON: formats.invitations.Invitation
    primary key (message_id, uid, recurrence_id)
) strict, without rowid
;

CREATE TABLE mail_joined_threads (          -- ids of threads that were joined with another one, and its id
    thread_id text primary key,
    became text not null references mail_threads (id) on delete cascade
) strict, without rowid
;

CREATE TABLE mail_labels (
    account_id text not null references mail_accounts (id) on delete cascade,
    label_id text not null,
    name text not null,
    system integer not null,
    color text, gone integer not null default 0,
    primary key (account_id, label_id)
) strict, without rowid
;

CREATE TABLE "mail_ledger" (              -- single messages that failed and were skipped
    account_id text not null references mail_accounts (id) on delete cascade,
    provider_message_id text not null,
    step text not null check (step in ('fetch', 'store', 'change')),
    reason text not null,
    attempts integer not null,
    first_at integer not null,
    last_at integer not null,
    primary key (account_id, provider_message_id, step)
) strict, without rowid
;

CREATE TABLE mail_marked_addresses (        -- the addresses by which an account's mail is marked as "to me"
    account_id text primary key references mail_accounts (id) on delete cascade,
    addresses text not null,                -- JSON array, sorted; empty while mail is being marked anew
    goal text not null,                     -- the addresses by which mail is being marked
    after text not null                     -- the id of the last marked message
) strict, without rowid
;

CREATE TABLE mail_messages (
    id text primary key,
    account_id text not null references mail_accounts (id) on delete cascade,
    thread_id text not null references mail_threads (id),
    provider_message_id text not null,
    message_id_header text,                 -- without its angle brackets
    sent_at integer not null,
    stored_at integer not null,
    sender_name text not null,
    sender_address text not null,
    subject text not null,
    snippet text not null,
    headers text not null,                  -- JSON: model.MessageHeaders
    labels text not null,                   -- JSON array of label ids, sorted
    in_inbox integer not null,
    unread integer not null,
    visible integer not null,
    attachments integer not null,
    own integer not null,                   -- 1: a copy of what this account sent
    body_sha256 text not null,              -- blob: JSON {html, text}
    raw_sha256 text not null,               -- blob: the message as it came
    raw_size integer not null,
    seen_sweep integer not null, to_me integer not null default 0,            -- the last full sync that saw it
    unique (account_id, provider_message_id)
) strict
;

CREATE TABLE mail_mirror (                  -- local changes the provider has not confirmed yet, oldest first
    id integer primary key autoincrement,
    account_id text not null references mail_accounts (id) on delete cascade,
    provider_message_id text not null,
    add_labels text not null,               -- JSON array
    remove_labels text not null,            -- JSON array
    device_id text not null,
    created_at integer not null,
    attempts integer not null default 0,
    next_at integer not null,
    last_error text
) strict
;

CREATE TABLE mail_mutes (                   -- threads whose new messages skip the inbox
    thread_id text primary key,             -- derived from the provider's id; may be here before the thread is
    account_id text not null references mail_accounts (id) on delete cascade,
    created_at integer not null
) strict, without rowid
;

CREATE TABLE mail_outgoing (
    id text primary key,
    owner_id text,                          -- null: everybody's, until the instance is claimed
    device_id text not null,                -- which device asked for it
    account_id text not null,               -- may outlive its account: the outcome of a mail is kept for ever
    from_address text not null,
    to_addresses text not null,             -- JSON array of mailboxes, as composed
    cc_addresses text not null,
    bcc_addresses text not null,
    subject text not null,
    html text not null,                     -- what the person wrote, without the quote
    attachments text not null,              -- JSON array of ids of files of its own
    thread_id text,                         -- the thread it answers
    quoted text,                            -- JSON: model.Quoted, the original below the text
    in_reply_to text,
    reference_ids text not null,            -- JSON array, oldest first
    provider_thread_id text,                -- the thread at the provider
    draft_id text unique,                   -- its draft: if the same one is sent again, this row is found
    restored_draft_id text,                 -- the draft it became again when it was cancelled
    message_id_header text not null,        -- without its angle brackets; set before anything is sent
    state text not null check (state in
        ('scheduled', 'held', 'overdue', 'transmitting', 'sent', 'failed', 'uncertain', 'cancelled')),
    doubt integer not null default 0,       -- 1: an attempt ended without a word; it may have been sent
    version integer not null default 1,     -- counts every change: compare and set
    send_at integer,                        -- the person's wish; null: at once
    next_at integer,                        -- when it is sent; null in every state that waits for a person
    attempts integer not null default 0,    -- since the person last decided
    last_error text,
    raw_sha256 text,                        -- blob: the bytes of the last attempt
    provider_message_id text,               -- once it is known to be sent
    message_id text,
    created_at integer not null,
    changed_at integer not null,
    dismissed_at integer                    -- when the person dismissed the notice about it
, sent_by text, draft_header text) strict
;

CREATE TABLE mail_own_addresses (           -- aliases: other addresses that mail of the account may be from
    account_id text not null references mail_accounts (id) on delete cascade,
    address text not null,                  -- lower case
    name text not null,                     -- the name in From; empty: the account's name
    source text not null check (source in ('provider', 'person')),
    confirmed integer not null,             -- 0: the provider does not send from it yet
    told_default integer not null,          -- 1: the provider's default for new mail
    primary key (account_id, address)
) strict, without rowid
;

CREATE TABLE mail_proposal_answers (        -- answers to proposed times; the organizer is a user here
    message_id text not null references mail_messages (id) on delete cascade,
    uid text not null,
    recurrence_id text not null,
    account_id text not null references mail_accounts (id) on delete cascade,
    answer text not null check (answer in ('accepted', 'declined')),
    outgoing_id text not null,
    at integer not null,
    primary key (message_id, uid, recurrence_id)
) strict, without rowid
;

CREATE TABLE mail_proposed_replies (
    id text primary key,
    thread_id text not null unique references mail_threads (id) on delete cascade,
    account_id text not null references mail_accounts (id) on delete cascade,
    message_id text not null,               -- the one that it answers
    to_addresses text not null,             -- JSON arrays of mailboxes
    cc_addresses text not null,
    subject text not null,
    html text not null,
    rule_id text not null,                  -- the page of the rule that drafted it
    made_at integer not null
) strict
;

CREATE TABLE mail_provider_drafts (            -- copies of drafts that are, or may be, at a provider
    account_id text not null references mail_accounts (id) on delete cascade,
    copy text not null,                     -- the mark in its header, and the second of writing
    mark text not null,                     -- whose copy it is: the id of a draft here
    provider_draft_id text,                 -- null: it was being written, and the outcome is unknown
    provider_message_id text,
    primary key (account_id, copy)
) strict, without rowid
;

CREATE TABLE mail_references (              -- the thread of each message id, if the provider has no threads
    account_id text not null references mail_accounts (id) on delete cascade,
    message_id_header text not null,        -- of a stored message, or of one that a stored message refers to
    thread_id text not null references mail_threads (id) on delete cascade,
    primary key (account_id, message_id_header)
) strict, without rowid
;

CREATE TABLE mail_remote_images (           -- the remote pictures of each body; filled when it is sanitized
    url_sha256 text not null,
    body_sha256 text not null,
    primary key (url_sha256, body_sha256)
) strict, without rowid
;

CREATE TABLE mail_search (                  -- the messages that can be found
    id integer primary key,                 -- second of sending * 4096 plus a number: in the order of dates
    message_id text not null unique references mail_messages (id) on delete cascade,
    account_id text not null,
    thread_id text not null,
    labels text not null,                   -- the message's, kept by a trigger
    attachments integer not null,
    entry integer not null,                 -- grows with each message; a search goes on without later ones
    version integer not null                -- the version of the indexer
) strict
;

CREATE TABLE mail_search_body (             -- full text: the other words
    id integer primary key,
    files text not null,
    body text not null
) strict
;

CREATE VIRTUAL TABLE mail_search_fts using fts5 (
    account, subject, sender, recipient, cc, bcc, files, body,
    content = 'mail_search_words', content_rowid = 'id', prefix = '3',
    tokenize = "unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
);

CREATE TABLE mail_search_gone (             -- ids in the full-text tables whose message is deleted
    id integer primary key
) strict
;

CREATE TABLE mail_search_named (            -- exactly what is in the full-text table: subject, people
    id integer primary key,
    account text not null,
    subject text not null,
    sender text not null,
    recipient text not null,
    cc text not null,
    bcc text not null
, counted integer not null default 0) strict
;

CREATE TABLE mail_search_queue (            -- messages that wait for indexing, the newest first
    number integer primary key autoincrement,
    message_id text not null unique references mail_messages (id) on delete cascade,
    account_id text not null
) strict
;

CREATE TABLE mail_search_state (            -- one row
    one integer primary key check (one = 1),
    version integer not null,               -- the indexer's version for which all messages are queued
    queued_up_to text not null,             -- while they are queued again: the last message id
    entries integer not null,
    cleared integer not null,               -- rows deleted since the full-text table was last compacted
    erased integer not null,                -- accounts deleted since then
    compacting integer not null             -- 1: it is being compacted now
) strict
;

CREATE TABLE mail_search_vocabulary (       -- the words of each account's mail, by their stem
    account text not null,                  -- as in mail_search_named
    language text not null,                 -- of the messages; '': not known
    stem text not null,
    word text not null,                     -- as the full-text table has it, without accents
    written text,                           -- with accents; null: the same
    messages integer not null,
    primary key (account, language, stem, word)
) strict, without rowid
;

CREATE TABLE mail_shares (
    account_id text not null references mail_accounts (id) on delete cascade,
    user_id text not null,
    access text not null check (access in ('read', 'act')),
    since integer not null,
    primary key (account_id, user_id)
) strict, without rowid
;

CREATE TABLE mail_signatures (
    account_id text primary key references mail_accounts (id) on delete cascade,
    html text not null,
    updated_at integer not null
) strict, without rowid
;

CREATE TABLE mail_snippets (
    id text primary key,
    owner_id text,                          -- null: everybody's, until the instance is claimed
    name text not null,                     -- one word, as typed
    name_key text not null,                 -- unique: the name, case folded
    html text not null,                     -- as it may be shown and sent
    subject text not null,                  -- empty for none
    to_addresses text not null,             -- JSON arrays of mailboxes
    cc_addresses text not null,
    bcc_addresses text not null,
    updated_at integer not null
) strict
;

CREATE TABLE mail_snoozes (                 -- threads that come back to the inbox by themselves
    thread_id text primary key,             -- derived from the provider's id; may be here before the thread is
    account_id text not null references mail_accounts (id) on delete cascade,
    until integer not null,
    created_at integer not null
) strict, without rowid
;

CREATE TABLE mail_thread_labels (           -- the threads of each label, newest first
    account_id text not null references mail_accounts (id) on delete cascade,
    label_id text not null,                 -- not INBOX, UNREAD nor a category: those have other lists
    last_message_at integer not null,       -- the thread's
    thread_id text not null,
    primary key (account_id, label_id, last_message_at desc, thread_id desc)
) strict, without rowid
;

CREATE TABLE mail_threads (
    id text primary key,
    account_id text not null references mail_accounts (id) on delete cascade,
    provider_thread_id text not null,
    subject text not null default '',
    snippet text not null default '',
    sender_name text not null default '',
    sender_address text not null default '',
    last_message_at integer not null default 0,
    messages integer not null default 0,
    in_inbox integer not null default 0,    -- messages that carry INBOX
    unread integer not null default 0,      -- messages that carry UNREAD, outside spam and trash
    visible integer not null default 0,     -- messages outside spam, trash and drafts
    attachments integer not null default 0,
    labels text not null default '[]', twins text, leads integer not null default 1, sent text, last_sent_at integer, draft text, last_draft_at integer, drafts integer not null default 0, to_me integer not null default 0, writers text not null default '[]',      -- JSON array: the label ids of all its messages, sorted
    unique (account_id, provider_thread_id)
) strict
;

CREATE TABLE mail_trusted_senders (         -- whose remote pictures are shown without asking
    owner_id text,                          -- null: everybody's, until the instance is claimed
    address text not null,                  -- lower case
    since integer not null, bound integer not null default 0,
    unique (owner_id, address)
) strict
;

CREATE TABLE mail_unsubscribed (
    message_id text primary key references mail_messages (id) on delete cascade,
    method text not null check (method in ('one-click', 'mailto', 'link')),
    target text not null,                   -- the host or address that was asked to unsubscribe
    outcome text not null check (outcome in ('done', 'sent', 'opened', 'failed')),
    detail text,                            -- why it failed, in words
    at integer not null
, outgoing_id text) strict, without rowid
;

CREATE TABLE mcp_servers (              -- one row for each server that somebody has connected
    id text primary key,                -- the page's id, or `env:` and the name
    launch text not null,               -- the digest of its command or address, as a person agreed to it
    run_id text,                        -- the run that last asked for its tools
    version text not null default '',
    title text not null default '',
    left_out text not null default '[]',
    looked_at integer,
    connected_at integer not null
) strict, without rowid
;

CREATE TABLE mcp_sign_ins (             -- one row for each server that asked for a sign-in
    server_id text primary key,         -- the page's
    url text not null,                  -- its address then; another address gets no access
    challenge text not null,            -- the server's challenge, as JSON
    found text,                         -- where to sign in, as JSON; null until it was looked up
    signed_in_at integer,
    ended text not null default ''      -- why somebody has to sign in again
) strict, without rowid
;

CREATE TABLE mcp_tools (                -- one row for each tool: its text now, and the text a person agreed to
    server_id text not null references mcp_servers (id) on delete cascade,
    name text not null,
    digest text not null,
    said text not null,
    gone integer not null default 0,
    agreed_digest text,
    agreed_said text,
    agreed_at integer,
    primary key (server_id, name)
) strict, without rowid
;

CREATE TABLE meaning_faults (               -- why a run can't continue, until the run has read it
    run_id text primary key,
    problem text not null
) strict, without rowid
;

CREATE TABLE meaning_people (               -- who has it switched on
    user_id text primary key,               -- empty: nobody, until the instance is claimed
    state text not null check (state in ('on', 'leaving')),     -- leaving: the vectors are being deleted
    at integer not null
, form text, swept integer not null default 1) strict, without rowid
;

CREATE TABLE meaning_queue (                -- texts that wait for vectors; queued again, one gets a new number
    number integer primary key autoincrement,
    message_id text unique references mail_messages (id) on delete cascade,
    page_id text unique references pages (id) on delete cascade,
    owner_id text not null,                 -- as in meaning_people
    run_id text not null,                   -- empty: it is new or was changed
    check ((message_id is null) <> (page_id is null))
) strict
;

CREATE TABLE meaning_vectors (              -- one row for each piece of a text
    id integer primary key autoincrement,   -- never reused: memory may refer to a deleted one
    space text not null,                    -- the mail account's id, or `pages`; decides who may see it
    message_id text references mail_messages (id) on delete cascade,
    page_id text references pages (id) on delete cascade,
    part integer not null,
    form text not null,                     -- the model, its dimensions, and how texts are cut
    digest blob not null,                   -- of the piece, so that the same text is not paid for twice
    bits blob not null,                     -- the signs of the vector, eight a byte
    vector blob not null,                   -- one signed byte for each dimension; its length has no meaning
    check ((message_id is null) <> (page_id is null))
) strict
;

CREATE TABLE meeting_lines (
    meeting_id text not null references meetings (id) on delete cascade,
    number integer not null,
    start_ms integer not null,
    end_ms integer not null,
    text text not null,
    speaker text,
    primary key (meeting_id, number)
) strict, without rowid
;

CREATE TABLE meeting_settings (             -- one row: what an admin chose
    id integer primary key check (id = 1),
    recogniser text not null check (recogniser in ('none', 'vendor', 'server', 'local')),
    server_url text not null,
    model text not null,
    language text not null
) strict
;

CREATE TABLE meetings (
    id text primary key,
    owner_id text,                          -- null: everybody's, until the instance is claimed
    title text not null,
    format text not null check (format in ('pcm16', 'opus')),
    rate integer not null,
    state text not null check (state in ('recording', 'finishing', 'done')),
    started_at integer not null,
    ended_at integer,
    sound_ms integer not null default 0,
    file_id text,                           -- its sound; the file may have been deleted since
    page_id text,                           -- its page; likewise
    problem text not null default ''
) strict
;

CREATE TABLE meta (
    key text primary key,
    value text not null
) strict, without rowid;

CREATE TABLE model_calls (
    id integer primary key autoincrement,
    at integer not null,
    run_id text not null,                   -- may be deleted before its calls are
    user_id text,                           -- whose run; null: nobody's, until the instance is claimed
    model text not null,
    state text not null check (state in ('reserved', 'counted', 'estimated')),
    input_tokens integer not null,          -- at most, while it is reserved
    output_tokens integer not null,
    micros integer not null                 -- micro-dollars
) strict
;

CREATE TABLE model_ceilings (               -- one row: what an admin chose
    id integer primary key check (id = 1),
    day_micros integer not null,
    run_micros integer not null,
    day_tokens integer not null
) strict
;

CREATE TABLE model_run_ceilings (           -- the most that one run may cost, if less than the general ceiling
    run_id text primary key references runs (id) on delete cascade,
    micros integer not null
) strict, without rowid;

CREATE TABLE notify_accounts (              -- the accounts whose mail a person gets notifications for
    account_id text not null references mail_accounts (id) on delete cascade,
    user_id text not null references users (id) on delete cascade,
    primary key (account_id, user_id)
) strict, without rowid
;

CREATE TABLE notify_preferences (
    user_id text primary key references users (id) on delete cascade,
    words text not null check (words in ('all', 'sender', 'none')),
    time_zone text,                         -- of the quiet hours; null: there are none
    quiet_begin integer,                    -- minutes of the day
    quiet_end integer
) strict, without rowid
;

CREATE TABLE oauth_states (
    digest text primary key,            -- SHA-256 of the state; the state itself is never stored
    purpose text not null,              -- 'mail' or 'login'
    browser_digest text not null,       -- SHA-256 of the cookie of the browser that began the sign-in
    hint text not null,                 -- the requested address, or ''
    user_id text,
    created_at integer not null,
    expires_at integer not null
, payload text not null default '') strict, without rowid
;

CREATE TABLE okf_files (            -- the files as they were last written or read
    page_id text primary key,
    file text not null unique,      -- below okf/
    digest text not null,           -- SHA-256 of the file; empty: it could not be written
    revision integer not null,
    problem text
) strict, without rowid
;

CREATE TABLE okf_queue (page_id text primary key) strict, without rowid;

CREATE TABLE okf_troubles (         -- files that people changed and that differ from the page
    file text primary key,
    path text not null,
    kept text,                      -- the copy, if both had changed
    reason text not null,
    digest text not null,
    at integer not null
) strict, without rowid
;

CREATE TABLE outbox (
    seq integer primary key autoincrement,
    at integer not null,
    topic text not null,
    kind text not null,
    ref text not null,
    payload text not null,
    audience text,
    device_id text
) strict;

CREATE TABLE page_edit_pages (      -- null: the edit does not change it
    seq integer not null references page_edits (seq) on delete cascade,
    page_id text not null,
    was_path text,                  -- null: the page is new
    path text,                      -- null: it is deleted
    title text,
    body text,
    access text,
    grants text,                    -- JSON: [[address or 'everyone', level], …]
    primary key (seq, page_id)
) strict, without rowid
;

CREATE TABLE page_edits (           -- edits of managed pages by people, until the manager has applied them
    seq integer primary key autoincrement,
    id text not null unique,
    manager_id text not null references page_managers (id) on delete cascade,
    kind text not null check (kind in ('save', 'move', 'delete', 'access', 'undelete')),
    author_id text,                 -- null: no person, or the service itself
    at integer not null
) strict
;

CREATE TABLE page_files (           -- files in the current bodies whose author could read them
    file_id text not null,
    page_id text not null references pages (id) on delete cascade,
    primary key (file_id, page_id)
) strict, without rowid
;

CREATE TABLE page_grants (
    page_id text not null references pages (id) on delete cascade,
    grantee text not null,          -- a user id, or 'everyone'
    level text not null check (level in ('read', 'write')),
    primary key (page_id, grantee)
) strict, without rowid
;

CREATE TABLE page_links (           -- links in the current bodies
    target_path text not null,      -- of a page that may or may not exist
    page_id text not null references pages (id) on delete cascade,
    primary key (target_path, page_id)
) strict, without rowid
;

CREATE TABLE page_managed (
    page_id text primary key references pages (id) on delete cascade,
    manager_id text not null references page_managers (id) on delete cascade,
    file text,                      -- null, like the commit: created here and not in the other place yet
    commit_id text,
    url text,
    in_conflict integer not null default 0      -- the two versions differ, and a person has to choose
, author text, at integer, tags text not null default '[]') strict
;

CREATE TABLE page_managers (        -- tasks of the service that keep pages in sync with another place
    id text primary key,            -- the device id of the loop
    editable integer not null       -- whether people may change its pages here, too
) strict
;

CREATE TABLE page_revisions (
    page_id text not null references pages (id) on delete cascade,
    revision integer not null,      -- 1, 2, 3, …
    title text not null,
    author_id text,
    device_id text not null,
    at integer not null,
    body text not null, restored_from integer,
    primary key (page_id, revision)
) strict
;

CREATE TABLE page_search (          -- the pages that search finds, the last changed one at the end
    id integer primary key autoincrement,
    page_id text not null unique,
    title text not null,            -- both as in the full-text table, which needs them for a delete
    body text not null
) strict
;

CREATE VIRTUAL TABLE page_search_fts using fts5 (
    title, body, content = 'page_search', content_rowid = 'id', prefix = '2 3',
    tokenize = "unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
);

CREATE TABLE page_search_queue (    -- pages that are new, changed or deleted
    number integer primary key autoincrement,
    page_id text not null unique
) strict
;

CREATE TABLE page_trash (           -- deleted pages; only the trash shows them
    id text primary key,
    deletion_id text not null,      -- pages with the same id were deleted together
    is_top integer not null,        -- nothing of the same owner above it was deleted with it
    path text not null,
    title text not null,
    owner_id text,
    access text not null check (access in ('inherited', 'explicit')),
    revision integer not null,
    created_at integer not null,
    updated_at integer not null,
    deleted_at integer not null,
    deleted_by text, manager_id text,                -- a user id; null: not a person, or an instance without an owner
    unique (deletion_id, path)
) strict
;

CREATE TABLE page_trash_files (     -- files in the bodies whose author could read them
    page_id text not null references page_trash (id) on delete cascade,
    file_id text not null,
    primary key (page_id, file_id)
) strict, without rowid
;

CREATE TABLE page_trash_grants (
    page_id text not null references page_trash (id) on delete cascade,
    grantee text not null,
    level text not null check (level in ('read', 'write')),
    primary key (page_id, grantee)
) strict, without rowid
;

CREATE TABLE page_trash_revisions (
    page_id text not null references page_trash (id) on delete cascade,
    revision integer not null,
    title text not null,
    author_id text,
    device_id text not null,
    at integer not null,
    body text not null,
    primary key (page_id, revision)
) strict
;

CREATE TABLE page_trust (               -- pages that such a run wrote; rows of deleted pages do no harm
    page_id text primary key,
    run_id text not null,
    at integer not null
) strict, without rowid
;

CREATE TABLE page_vouched (             -- the last revision of a page that a person has vouched for
    page_id text primary key,
    revision integer not null
) strict, without rowid
;

CREATE TABLE pages (
    id text primary key,
    path text not null unique,
    title text not null,
    kind text not null check (kind in ('page', 'surface')),
    owner_id text,                  -- null: nobody's, until the instance is claimed
    access text not null check (access in ('inherited', 'explicit')),
    source_id text references pages (id) on delete set null,    -- whose grants apply; null: only the owner's access
    revision integer not null,      -- the current one
    created_at integer not null,
    updated_at integer not null
) strict
;

CREATE TABLE pairing_codes (
    code_digest text primary key,
    user_id text references users (id) on delete cascade,
    capabilities text not null,
    created_at integer not null,
    expires_at integer not null,
    used_at integer
) strict, without rowid
;

CREATE TABLE partial_uploads (
    id text primary key,
    owner_id text,                  -- null: everybody's, until the instance is claimed
    length integer not null,
    stored integer not null,        -- bytes that are durable
    name text not null,
    mime text not null,
    metadata text not null,         -- as the client gave it
    sha256 text,                    -- of the whole content, while it becomes a blob
    file_id text,                   -- the file that it became
    created_at integer not null,
    changed_at integer not null
) strict
;

CREATE TABLE people (
    id integer primary key,
    owner_id text,                          -- null: nobody's, until the instance is claimed
    address text not null,                  -- lower case
    name text not null,
    page_id text references pages (id) on delete set null,
    filing text not null check (filing in ('auto', 'user', 'skipped')),
    first_seen_at integer not null,
    last_seen_at integer not null,
    received integer not null default 0,
    sent integer not null default 0,
    weight real not null, suggestion text check (suggestion in ('open', 'dismissed')),                   -- the order of suggestions
    unique (owner_id, address)
) strict
;

CREATE TABLE people_skipped (               -- the current setting, for code in a transaction
    domain text primary key                 -- or 'own'
) strict, without rowid
;

CREATE TABLE people_together (              -- people who got the same mail
    person_id integer not null references people (id) on delete cascade,
    other_id integer not null references people (id) on delete cascade,
    mails integer not null,
    last_at integer not null,
    primary key (person_id, other_id)
) strict, without rowid
;

CREATE TABLE people_words (                 -- the words that find each person: `words.py`
    owner_id text not null,                 -- the person's; '' for nobody's
    word text not null,
    person_id integer not null,             -- people are never deleted
    primary key (owner_id, word, person_id)
) strict, without rowid
;

CREATE TABLE plugin_actors (        -- for whom a plugin's rule or agent acts: the admin who said yes last
    name text not null,             -- of the package
    right_id text not null,
    user_id text,                   -- null: said before the instance was claimed
    primary key (name, right_id)
) strict, without rowid;

CREATE TABLE plugin_pins (
    id integer primary key check (id = 1),
    text text,                      -- the last good plugins.json; null: the repository has none
    problem text                    -- of the newest one
) strict;

CREATE TABLE plugins (
    name text primary key,          -- of the package; one without a row is on and has no rights
    is_on integer not null check (is_on in (0, 1)),
    agreed text not null            -- JSON: the ids of the rights that an admin agreed to
) strict, without rowid;

CREATE TABLE preferences (
    user_id text primary key,               -- empty: everybody's, until the instance is claimed
    wanted text not null,                   -- JSON
    updated_at integer not null
) strict, without rowid
;

CREATE TABLE push_browsers (                -- browsers that get pushes
    id text primary key,
    user_id text not null references users (id) on delete cascade,
    device_id text not null references devices (id) on delete cascade,  -- its session; without it no push
    endpoint text not null unique,
    public_key blob not null,
    secret blob not null,
    created_at integer not null,
    problem text                            -- why the last push was refused
) strict
;

CREATE TABLE push_queue (                   -- a row per message and browser; kept, so that none is pushed twice
    browser_id text not null references push_browsers (id) on delete cascade,
    message_id text not null,
    thread_id text not null,
    account_id text not null,
    payload blob not null,
    state text not null check (state in ('waiting', 'sending', 'done')),
    attempts integer not null default 0,
    created_at integer not null,            -- when the mail was recorded
    next_at integer not null,
    primary key (browser_id, message_id)
) strict, without rowid
;

CREATE TABLE replica_blobs (        -- blobs that are in the replica, or must be copied or deleted there
    sha256 text primary key,
    state text not null check (state in ('waiting', 'held', 'unnamed', 'deleting')),
    named integer not null default 1,       -- counts how often a row began to refer to it
    buried integer not null default 0,      -- the target may have a tombstone of ours for it
    unnamed_at integer,             -- nothing refers to it since this time or before
    buried_at integer,              -- when the target took its tombstone
    attempts integer not null default 0,
    retry_at integer not null default 0,
    problem text                    -- why this one blob can't be copied
) strict, without rowid
;

CREATE TABLE replica_state (        -- one row while there is a replica; the triggers check it
    id integer primary key check (id = 1),
    target text not null,           -- the rest of the row is about this target only
    swept_at integer,               -- when the queue was last compared with all references; null: not yet
    checked integer not null default 0,     -- the part of the copied blobs that is verified next
    keep_since integer,             -- the oldest recovery point that is kept
    last_at integer,                -- when the target took or confirmed a blob last
    problem text,                   -- of the target; null while it works
    problem_at integer
) strict
;

CREATE TABLE rule_acts (                    -- what each rule did
    run_id text not null references rule_runs (id) on delete cascade,
    place integer not null,
    rule_id text not null,                  -- its page
    rule_path text not null,
    because text not null,
    did text not null, problem text not null default '',                      -- JSON array
    primary key (run_id, place)
) strict, without rowid
;

CREATE TABLE rule_batches (                 -- the mails that a run applies rules to, as they were at its start
    run_id text not null,
    place integer not null,
    given text not null,                    -- JSON: the mail, the rules that matched, and what they ask
    primary key (run_id, place)
) strict, without rowid
;

CREATE TABLE rule_habits (                  -- what a person did with threads, by their senders
    owner text not null,                    -- a user; empty: everybody, until the instance is claimed
    address text not null,                  -- of the sender, in lower case
    deed text not null check (deed in ('archive', 'star', 'label')),
    value text not null,                    -- the label's name
    thread_id text not null,
    at integer not null,
    unique (owner, address, deed, value, thread_id)
) strict
;

CREATE TABLE rule_habits_seen (             -- one row: the last step that was read for habits
    id integer primary key check (id = 1),
    step_id integer not null
) strict
;

CREATE TABLE rule_never (                   -- suggestions that a person does not want
    owner text not null,
    address text not null,
    deed text not null,
    value text not null,
    at integer not null,
    primary key (owner, address, deed, value)
) strict, without rowid
;

CREATE TABLE rule_runs (                    -- one row for each mail that rules were applied to
    id text primary key,
    batch text not null,                    -- empty: as the mail came; else the run of `rules.apply`
    message_id text not null,
    thread_id text not null,
    owner_id text,
    at integer not null,
    state text not null check (state in ('asking', 'done', 'undone', 'failed')),
    changes text,                           -- JSON: the labels that were changed, for undo
    unique (message_id, batch)
) strict
;

CREATE TABLE run_attempts (
    run_id text not null references runs (id) on delete cascade,
    key text not null,
    attempt integer not null,
    state text not null,
    error text,
    answer text not null,
    started_at integer not null,
    ended_at integer not null,
    primary key (run_id, key, attempt)
) strict, without rowid;

CREATE TABLE run_steps (
    run_id text not null references runs (id) on delete cascade,
    key text not null,
    position integer not null,
    parent_key text,
    name text not null,
    kind text not null,
    state text not null check (state in ('waiting', 'done', 'failed')),
    input text not null,
    input_digest blob not null,
    output text,
    error text,
    attempts integer not null,
    due_at integer,
    started_at integer not null,
    ended_at integer,
    primary key (run_id, key)
) strict, without rowid;

CREATE TABLE run_tools (                -- the tools a run got at its start; nothing it reads changes them
    run_id text primary key references runs (id) on delete cascade,
    tools text not null,
    approvals text not null
) strict, without rowid
;

CREATE TABLE run_trust (                -- runs that read text from outside, and the source of the first one
    run_id text primary key references runs (id) on delete cascade,
    source text not null,
    at integer not null
) strict, without rowid
;

CREATE TABLE runs (
    id text primary key,
    workflow text not null,
    version integer not null,
    title text not null,
    user_id text,
    state text not null check (state in ('queued', 'running', 'waiting', 'done', 'failed', 'cancelled')),
    input text not null,
    output text,
    error text,
    parent_id text references runs (id) on delete set null,
    parent_key text,
    calls text not null,
    capabilities text not null,
    epoch integer not null default 0,
    token_digest blob,
    worker text,
    due_at integer,
    fruitless integer not null default 0,
    input_tokens integer,
    output_tokens integer,
    done integer,
    total integer,
    created_at integer not null,
    started_at integer,
    ended_at integer
, device_id text) strict, without rowid;

CREATE TABLE secrets (
    name text primary key,
    id text not null unique,
    version integer not null,
    nonce blob not null,
    ciphertext blob not null,
    key_id text not null,
    updated_at integer not null
, wrapped_key blob, source text not null default 'oauth'
    check (source in ('seed', 'user', 'oauth'))) strict, without rowid;

CREATE TABLE sessions (
    id text primary key,
    cookie_digest text not null unique,
    user_id text not null references users (id) on delete cascade,
    device_id text not null references devices (id) on delete cascade,
    created_at integer not null,
    last_seen_at integer not null,
    expires_at integer not null
) strict
;

CREATE TABLE tool_calls (               -- one row for each call, written before and after it
    run_id text not null references runs (id) on delete cascade,
    key text not null,
    tool text not null,
    input text not null,
    digest blob not null,
    state text not null check (state in ('asked', 'begun', 'working', 'done', 'failed', 'unknown')),
    waits text,                         -- the step of the run that waits for it
    at integer not null,
    ended_at integer, asked text,
    primary key (run_id, key)
) strict, without rowid
;

CREATE TABLE triage_people (                -- people who have it switched on
    owner text primary key,                 -- a user; empty: everybody, until the instance is claimed
    asks_model integer not null,            -- 1: the model is asked if the rules are not sure
    since integer not null
) strict, without rowid
;

CREATE TABLE triage_senders (               -- the kinds of senders, by a person's corrections
    owner text not null,
    address text not null,                  -- in lower case
    kind text not null,
    at integer not null,
    primary key (owner, address)
) strict, without rowid
;

CREATE TABLE triage_threads (               -- the kind of each thread, by its newest mail
    thread_id text primary key,
    account_id text not null,
    owner text not null,
    message_id text not null,
    kind text not null check (kind in ('reply', 'waiting', 'reading', 'receipt', 'calendar', 'other')),
    by text not null check (by in ('rule', 'model', 'person')),
    because text not null,
    at integer not null,                    -- the thread's place in its list
    seq integer not null                    -- of the event; if it is delivered again, it changes nothing
) strict, without rowid
;

CREATE TABLE undo_steps (                   -- a person's steps that can be undone, and how
    id integer primary key autoincrement,
    user_id text,                           -- null: everybody's, until the instance is claimed
    kind text not null,                     -- the reversal that undoes it
    what text not null,                     -- what the person did
    concerns text not null,                 -- JSON array of ids
    inverse text not null,                  -- JSON, by kind
    at integer not null
, group_id text) strict
;

CREATE TABLE users (
    id text primary key,
    email text not null unique,             -- ASCII case folded
    name text not null,
    role text not null check (role in ('admin', 'member')),
    created_at integer not null
) strict
;

CREATE INDEX agent_runs_page on agent_runs (page_id, at) where cause is not null;

CREATE UNIQUE INDEX approvals_of_step on approvals (run_id, key);

CREATE INDEX approvals_open on approvals (user_id, requested_at) where state = 'open';

CREATE INDEX capability_audit_at on capability_audit (at);

CREATE INDEX capability_audit_name on capability_audit (name, outcome, seq);

CREATE INDEX deleted_files_at on deleted_files (deleted_at);

CREATE INDEX devices_user on devices (user_id);

CREATE INDEX events_by_type on events (type, seq);

CREATE INDEX files_origin on files (origin);

CREATE INDEX files_sha256 on files (sha256, size);

CREATE INDEX files_uploads on files (created_at desc, id desc) where origin = 'upload';

CREATE INDEX files_uploads_by_name on files (name collate nocase, id) where origin = 'upload';

CREATE INDEX files_uploads_by_name_of on files (owner_id, name collate nocase, id) where origin = 'upload';

CREATE INDEX files_uploads_by_size on files (size desc, id desc) where origin = 'upload';

CREATE INDEX files_uploads_by_size_of on files (owner_id, size desc, id desc) where origin = 'upload';

CREATE INDEX files_uploads_of on files (owner_id, created_at desc, id desc) where origin = 'upload';

CREATE INDEX gitops_files_problem on gitops_files (file) where problem is not null;

CREATE INDEX idempotency_keys_at on idempotency_keys (user_id, id desc);

CREATE UNIQUE INDEX idempotency_keys_key on idempotency_keys (ifnull(user_id, ''), key);

CREATE INDEX idempotency_keys_user on idempotency_keys (user_id, key);

CREATE INDEX mail_acts_account on mail_acts (account_id);

CREATE INDEX mail_acts_thread on mail_acts (thread_id, id);

CREATE INDEX mail_blocked_senders_account on mail_blocked_senders (account_id);

CREATE UNIQUE INDEX mail_blocked_senders_once
on mail_blocked_senders (address, coalesce(owner_id, ''), coalesce(account_id, ''))
;

CREATE INDEX mail_blocked_senders_owner on mail_blocked_senders (owner_id, address);

CREATE INDEX mail_bulk_steps_user on mail_bulk_steps (user_id, created_at);

CREATE INDEX mail_bulk_steps_work on mail_bulk_steps (moved_at, id) where state in ('working', 'undoing');

CREATE INDEX mail_dkim_keys_until on mail_dkim_keys (until);

CREATE INDEX mail_draft_copies_due on mail_draft_copies (next_at) where next_at is not null;

CREATE INDEX mail_draft_copies_header on mail_draft_copies (account_id, message_id_header);

CREATE INDEX mail_draft_finds_due on mail_draft_finds (next_at);

CREATE INDEX mail_draft_originals_draft on mail_draft_originals (draft_id);

CREATE INDEX mail_drafts_list on mail_drafts (owner_id, updated_at desc);

CREATE INDEX mail_imap_changes_account on mail_imap_changes (account_id, seq);

CREATE INDEX mail_imap_copies_folder on mail_imap_copies (folder_id);

CREATE INDEX mail_imap_leftovers_account on mail_imap_leftovers (account_id);

CREATE INDEX mail_imap_places_filing on mail_imap_places (account_id) where filing is not null;

CREATE INDEX mail_imap_places_lost on mail_imap_places (account_id, mark) where lost_at is not null;

CREATE INDEX mail_imap_places_newest on mail_imap_places (account_id, arrived_at desc, id desc);

CREATE INDEX mail_imap_places_server_id on mail_imap_places (account_id, server_id) where server_id is not null;

CREATE UNIQUE INDEX mail_imap_places_uid on mail_imap_places (folder_id, uid) where uid is not null;

CREATE INDEX mail_imports_account on mail_imports (account_id);

CREATE INDEX mail_imports_run on mail_imports (run_id);

CREATE INDEX mail_imports_working on mail_imports (created_at) where state = 'working';

CREATE INDEX mail_invitation_times_starts on mail_invitation_times (account_id, starts);

CREATE INDEX mail_invitations_uid on mail_invitations (account_id, uid);

CREATE INDEX mail_joined_threads_became on mail_joined_threads (became);

CREATE INDEX mail_messages_body on mail_messages (body_sha256);

CREATE INDEX mail_messages_header on mail_messages (account_id, message_id_header);

CREATE INDEX mail_messages_raw on mail_messages (raw_sha256);

CREATE INDEX mail_messages_sweep on mail_messages (account_id, seen_sweep);

CREATE INDEX mail_messages_thread on mail_messages (thread_id, sent_at, id);

CREATE INDEX mail_mirror_message on mail_mirror (account_id, provider_message_id);

CREATE INDEX mail_mutes_account on mail_mutes (account_id);

CREATE INDEX mail_outgoing_draft_header on mail_outgoing (account_id, draft_header) where draft_header is not null
;

CREATE INDEX mail_outgoing_due on mail_outgoing (next_at) where next_at is not null;

CREATE INDEX mail_outgoing_header on mail_outgoing (account_id, message_id_header);

CREATE INDEX mail_outgoing_list on mail_outgoing (owner_id, created_at desc);

CREATE INDEX mail_outgoing_sent_by on mail_outgoing (sent_by, created_at desc) where sent_by is not null;

CREATE INDEX mail_outgoing_state on mail_outgoing (state, changed_at);

CREATE INDEX mail_proposal_answers_account on mail_proposal_answers (account_id);

CREATE INDEX mail_proposed_replies_account on mail_proposed_replies (account_id);

CREATE INDEX mail_provider_drafts_mark on mail_provider_drafts (account_id, mark);

CREATE INDEX mail_references_thread on mail_references (thread_id);

CREATE INDEX mail_remote_images_body on mail_remote_images (body_sha256);

CREATE INDEX mail_search_queue_account on mail_search_queue (account_id);

CREATE INDEX mail_search_vocabulary_words on mail_search_vocabulary (account, word);

CREATE INDEX mail_shares_user on mail_shares (user_id);

CREATE UNIQUE INDEX mail_snippets_name on mail_snippets (coalesce(owner_id, ''), name_key);

CREATE INDEX mail_snoozes_until on mail_snoozes (until);

CREATE INDEX mail_threads_draft on mail_threads (account_id, last_draft_at desc, id desc)
where last_draft_at is not null
;

CREATE INDEX mail_threads_inbox on mail_threads (account_id, last_message_at desc, id desc) where in_inbox > 0
;

CREATE INDEX mail_threads_sent on mail_threads (account_id, last_sent_at desc, id desc)
where last_sent_at is not null
;

CREATE INDEX mail_threads_skipped on mail_threads (account_id, last_message_at desc, id desc)
where in_inbox = 0 and visible > 0
;

CREATE INDEX mail_threads_twins on mail_threads (twins) where twins is not null;

CREATE INDEX mail_threads_unread_twins on mail_threads (account_id)
where twins is not null and in_inbox > 0 and unread > 0;

CREATE UNIQUE INDEX mail_trusted_senders_nobodys on mail_trusted_senders (address) where owner_id is null;

CREATE INDEX meaning_queue_run on meaning_queue (run_id);

CREATE INDEX meaning_vectors_bits on meaning_vectors (space, form, id, bits);

CREATE INDEX meaning_vectors_message on meaning_vectors (message_id) where message_id is not null;

CREATE INDEX meaning_vectors_page on meaning_vectors (page_id) where page_id is not null;

CREATE INDEX meetings_all on meetings (started_at desc, id desc);

CREATE INDEX meetings_of on meetings (owner_id, started_at desc, id desc);

CREATE INDEX meetings_unfinished on meetings (id) where state <> 'done';

CREATE INDEX model_calls_at on model_calls (at, micros, input_tokens, output_tokens, user_id);

CREATE INDEX model_calls_run on model_calls (run_id);

CREATE INDEX notify_accounts_user on notify_accounts (user_id);

CREATE INDEX oauth_states_expiry on oauth_states (expires_at);

CREATE INDEX page_edit_pages_page on page_edit_pages (page_id);

CREATE INDEX page_files_page on page_files (page_id);

CREATE INDEX page_grants_grantee on page_grants (grantee);

CREATE INDEX page_links_page on page_links (page_id);

CREATE INDEX page_managed_manager on page_managed (manager_id);

CREATE INDEX page_trash_deleted on page_trash (deleted_at);

CREATE INDEX page_trash_owner on page_trash (owner_id, deleted_at) where is_top = 1;

CREATE INDEX pages_owner on pages (owner_id);

CREATE INDEX pages_source on pages (source_id);

CREATE INDEX partial_uploads_at on partial_uploads (changed_at);

CREATE INDEX partial_uploads_of on partial_uploads (owner_id) where file_id is null;

CREATE UNIQUE INDEX people_nobodys on people (address) where owner_id is null;

CREATE INDEX people_page on people (page_id);

CREATE INDEX people_suggested on people (owner_id, weight desc, id) where suggestion = 'open';

CREATE INDEX people_together_most on people_together (person_id, mails desc, last_at desc);

CREATE INDEX people_together_other on people_together (other_id);

CREATE INDEX people_weight on people (owner_id, weight desc);

CREATE INDEX push_browsers_device on push_browsers (device_id);

CREATE INDEX push_browsers_user on push_browsers (user_id);

CREATE INDEX push_queue_account on push_queue (account_id);

CREATE INDEX push_queue_created on push_queue (created_at);

CREATE INDEX push_queue_due on push_queue (next_at) where state = 'waiting';

CREATE INDEX replica_blobs_due on replica_blobs (state, retry_at);

CREATE INDEX rule_habits_thread on rule_habits (thread_id);

CREATE INDEX rule_runs_at on rule_runs (at);

CREATE INDEX rule_runs_batch on rule_runs (batch) where batch <> '';

CREATE INDEX rule_runs_thread on rule_runs (thread_id);

CREATE INDEX run_steps_due on run_steps (due_at) where due_at is not null;

CREATE INDEX runs_due on runs (due_at) where due_at is not null;

CREATE INDEX runs_newest on runs (created_at desc, id desc);

CREATE INDEX runs_of_parent on runs (parent_id) where parent_id is not null;

CREATE INDEX runs_of_worker on runs (worker) where state = 'running';

CREATE INDEX sessions_expiry on sessions (expires_at);

CREATE INDEX sessions_user on sessions (user_id);

CREATE INDEX tool_calls_open on tool_calls (at) where state in ('begun', 'working');

CREATE INDEX triage_threads_account on triage_threads (account_id);

CREATE INDEX triage_threads_kind on triage_threads (owner, kind, at desc, thread_id desc);

CREATE INDEX undo_steps_user on undo_steps (user_id, id desc);

CREATE VIEW mail_search_words as
select n.id, n.account, n.subject, n.sender, n.recipient, n.cc, n.bcc, b.files, b.body
from mail_search_named n join mail_search_body b on b.id = n.id;

CREATE TRIGGER mail_body_gone after delete on mail_messages
when not exists (select 1 from mail_messages where body_sha256 = old.body_sha256) begin
    delete from mail_clean where body_sha256 = old.body_sha256;
    delete from mail_remote_images where body_sha256 = old.body_sha256;
end;

CREATE TRIGGER mail_search_deleted after delete on mail_search begin
    insert into mail_search_gone (id) values (old.id);
end;

CREATE TRIGGER mail_search_relabelled after update of labels on mail_messages
when new.labels is not old.labels begin
    update mail_search set labels = new.labels where message_id = new.id;
end;

CREATE TRIGGER meaning_page_read after insert on page_search begin
    insert or replace into meaning_queue (page_id, owner_id, run_id)
    select p.id, coalesce(p.owner_id, ''), '' from pages p
    where p.id = new.page_id and p.kind = 'page'
        and coalesce(p.owner_id, '') in (select user_id from meaning_people where state = 'on');
end;

CREATE TRIGGER okf_changed after update of path, title, owner_id, access, revision on pages begin
    insert into okf_queue (page_id) values (new.id) on conflict do nothing;
end;

CREATE TRIGGER okf_gone after delete on pages begin
    insert into okf_queue (page_id) values (old.id) on conflict do nothing;
end;

CREATE TRIGGER okf_granted after insert on page_grants begin
    insert into okf_queue (page_id) values (new.page_id) on conflict do nothing;
end;

CREATE TRIGGER okf_made after insert on pages begin
    insert into okf_queue (page_id) values (new.id) on conflict do nothing;
end;

CREATE TRIGGER okf_marked after insert on page_trust begin
    insert into okf_queue (page_id) values (new.page_id) on conflict do nothing;
end;

CREATE TRIGGER okf_marked_anew after update on page_trust begin
    insert into okf_queue (page_id) values (new.page_id) on conflict do nothing;
end;

CREATE TRIGGER okf_revoked after delete on page_grants begin
    insert into okf_queue (page_id) values (old.page_id) on conflict do nothing;
end;

CREATE TRIGGER okf_trusted after delete on page_trust begin
    insert into okf_queue (page_id) values (old.page_id) on conflict do nothing;
end;

CREATE TRIGGER page_search_deleted after delete on pages begin
    insert into page_search_queue (page_id)
    select old.id where old.id not in (select page_id from page_search_queue);
end;

CREATE TRIGGER page_search_made after insert on pages begin
    insert into page_search_queue (page_id)
    select new.id where new.id not in (select page_id from page_search_queue);
end;

CREATE TRIGGER page_search_revised after update of revision on pages begin
    insert into page_search_queue (page_id)
    select new.id where new.id not in (select page_id from page_search_queue);
end;

CREATE TRIGGER page_trust_made after insert on page_revisions
when new.device_id in ('system:rules', 'system:meetings')
    or (new.device_id = 'system:people'
        and exists (select 1 from pages where id = new.page_id and path <> 'people'))
begin
    insert into page_trust (page_id, run_id, at) values (new.page_id, new.device_id, new.at) on conflict do nothing;
end;

CREATE TRIGGER page_trust_restored after insert on page_revisions
when new.restored_from < (select revision from page_vouched where page_id = new.page_id)
begin
    insert into page_trust (page_id, run_id, at) values (new.page_id, '', new.at) on conflict do nothing;
end;

CREATE TRIGGER replica_deleted_files_named after insert on deleted_files
when new.sha256 is not null and exists (select 1 from replica_state) begin
    insert into replica_blobs (sha256, state) values (new.sha256, 'waiting')
    on conflict (sha256) do update set named = named + 1,
        state = iif(state in ('waiting', 'held'), state, 'waiting'),
        attempts = iif(state = 'held', attempts, 0), retry_at = iif(state = 'held', retry_at, 0),
        unnamed_at = null, buried_at = null;
end;

CREATE TRIGGER replica_files_named after insert on files
when new.sha256 is not null and exists (select 1 from replica_state) begin
    insert into replica_blobs (sha256, state) values (new.sha256, 'waiting')
    on conflict (sha256) do update set named = named + 1,
        state = iif(state in ('waiting', 'held'), state, 'waiting'),
        attempts = iif(state = 'held', attempts, 0), retry_at = iif(state = 'held', retry_at, 0),
        unnamed_at = null, buried_at = null;
end;

CREATE TRIGGER replica_files_renamed after update of sha256 on files
when new.sha256 is not null and exists (select 1 from replica_state) begin
    insert into replica_blobs (sha256, state) values (new.sha256, 'waiting')
    on conflict (sha256) do update set named = named + 1,
        state = iif(state in ('waiting', 'held'), state, 'waiting'),
        attempts = iif(state = 'held', attempts, 0), retry_at = iif(state = 'held', retry_at, 0),
        unnamed_at = null, buried_at = null;
end;

CREATE TRIGGER replica_mail_body_named after insert on mail_messages
when new.body_sha256 is not null and exists (select 1 from replica_state) begin
    insert into replica_blobs (sha256, state) values (new.body_sha256, 'waiting')
    on conflict (sha256) do update set named = named + 1,
        state = iif(state in ('waiting', 'held'), state, 'waiting'),
        attempts = iif(state = 'held', attempts, 0), retry_at = iif(state = 'held', retry_at, 0),
        unnamed_at = null, buried_at = null;
end;

CREATE TRIGGER replica_mail_body_renamed after update of body_sha256 on mail_messages
when new.body_sha256 is not null and exists (select 1 from replica_state) begin
    insert into replica_blobs (sha256, state) values (new.body_sha256, 'waiting')
    on conflict (sha256) do update set named = named + 1,
        state = iif(state in ('waiting', 'held'), state, 'waiting'),
        attempts = iif(state = 'held', attempts, 0), retry_at = iif(state = 'held', retry_at, 0),
        unnamed_at = null, buried_at = null;
end;

CREATE TRIGGER replica_mail_quoted_named after insert on mail_outgoing
when iif(instr(new.quoted, '"bodySha256":"') > 0, substr(new.quoted, instr(new.quoted, '"bodySha256":"') + 14, 64), null) is not null and exists (select 1 from replica_state) begin
    insert into replica_blobs (sha256, state) values (iif(instr(new.quoted, '"bodySha256":"') > 0, substr(new.quoted, instr(new.quoted, '"bodySha256":"') + 14, 64), null), 'waiting')
    on conflict (sha256) do update set named = named + 1,
        state = iif(state in ('waiting', 'held'), state, 'waiting'),
        attempts = iif(state = 'held', attempts, 0), retry_at = iif(state = 'held', retry_at, 0),
        unnamed_at = null, buried_at = null;
end;

CREATE TRIGGER replica_mail_quoted_renamed after update of quoted on mail_outgoing
when iif(instr(new.quoted, '"bodySha256":"') > 0, substr(new.quoted, instr(new.quoted, '"bodySha256":"') + 14, 64), null) is not null and exists (select 1 from replica_state) begin
    insert into replica_blobs (sha256, state) values (iif(instr(new.quoted, '"bodySha256":"') > 0, substr(new.quoted, instr(new.quoted, '"bodySha256":"') + 14, 64), null), 'waiting')
    on conflict (sha256) do update set named = named + 1,
        state = iif(state in ('waiting', 'held'), state, 'waiting'),
        attempts = iif(state = 'held', attempts, 0), retry_at = iif(state = 'held', retry_at, 0),
        unnamed_at = null, buried_at = null;
end;

CREATE TRIGGER replica_mail_raw_named after insert on mail_messages
when new.raw_sha256 is not null and exists (select 1 from replica_state) begin
    insert into replica_blobs (sha256, state) values (new.raw_sha256, 'waiting')
    on conflict (sha256) do update set named = named + 1,
        state = iif(state in ('waiting', 'held'), state, 'waiting'),
        attempts = iif(state = 'held', attempts, 0), retry_at = iif(state = 'held', retry_at, 0),
        unnamed_at = null, buried_at = null;
end;

CREATE TRIGGER replica_mail_raw_renamed after update of raw_sha256 on mail_messages
when new.raw_sha256 is not null and exists (select 1 from replica_state) begin
    insert into replica_blobs (sha256, state) values (new.raw_sha256, 'waiting')
    on conflict (sha256) do update set named = named + 1,
        state = iif(state in ('waiting', 'held'), state, 'waiting'),
        attempts = iif(state = 'held', attempts, 0), retry_at = iif(state = 'held', retry_at, 0),
        unnamed_at = null, buried_at = null;
end;

CREATE TRIGGER replica_mail_sent_named after insert on mail_outgoing
when new.raw_sha256 is not null and exists (select 1 from replica_state) begin
    insert into replica_blobs (sha256, state) values (new.raw_sha256, 'waiting')
    on conflict (sha256) do update set named = named + 1,
        state = iif(state in ('waiting', 'held'), state, 'waiting'),
        attempts = iif(state = 'held', attempts, 0), retry_at = iif(state = 'held', retry_at, 0),
        unnamed_at = null, buried_at = null;
end;

CREATE TRIGGER replica_mail_sent_renamed after update of raw_sha256 on mail_outgoing
when new.raw_sha256 is not null and exists (select 1 from replica_state) begin
    insert into replica_blobs (sha256, state) values (new.raw_sha256, 'waiting')
    on conflict (sha256) do update set named = named + 1,
        state = iif(state in ('waiting', 'held'), state, 'waiting'),
        attempts = iif(state = 'held', attempts, 0), retry_at = iif(state = 'held', retry_at, 0),
        unnamed_at = null, buried_at = null;
end;
