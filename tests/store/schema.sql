CREATE TABLE events (
    seq integer primary key autoincrement,
    at integer not null,
    type text not null,
    payload text not null,
    audience text,
    device_id text not null
) strict;

CREATE TABLE meta (
    key text primary key,
    value text not null
) strict, without rowid;

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

CREATE TABLE secrets (
    name text primary key,
    id text not null unique,
    version integer not null,
    nonce blob not null,
    ciphertext blob not null,
    key_id text not null,
    updated_at integer not null
) strict, without rowid;

CREATE INDEX events_by_type on events (type, seq);
