-- Windows of sums that wait for a segment have fewer indexes: their ids are made of stream and number, and so are their
-- idempotency keys, which are empty here. Whole envelopes keep theirs, as ids of these are random.
-- Foreign keys are off during migrations: rows that refer to envelopes stay.

CREATE TABLE envelopes_18 (
    id BLOB PRIMARY KEY,
    digest BLOB NOT NULL,
    idempotency_key TEXT NOT NULL,
    device TEXT NOT NULL REFERENCES devices (name),
    stream TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    parameter_id BLOB NOT NULL,
    key_id BLOB NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    readings INTEGER NOT NULL,
    layout BLOB NOT NULL,
    bytes INTEGER NOT NULL,
    stored_at INTEGER NOT NULL,
    stream_tag BLOB,
    mask BLOB,
    message BLOB
) STRICT, WITHOUT ROWID;

INSERT INTO envelopes_18
    SELECT id, digest, iif(message IS NULL, idempotency_key, ''), device, stream, sequence, parameter_id, key_id, started_at,
           ended_at, readings, layout, bytes, stored_at, stream_tag, mask, message FROM envelopes;
DROP TABLE envelopes;
ALTER TABLE envelopes_18 RENAME TO envelopes;

CREATE INDEX envelopes_in_order ON envelopes (device, stream, sequence, started_at, ended_at, bytes, stored_at);
CREATE INDEX envelopes_by_time ON envelopes (device, stream, ended_at, started_at) WHERE readings > 0;
CREATE UNIQUE INDEX envelopes_by_mask ON envelopes (key_id, stream, mask) WHERE mask IS NOT NULL;
CREATE UNIQUE INDEX envelopes_by_number ON envelopes (device, stream, sequence) WHERE message IS NULL;
CREATE UNIQUE INDEX envelopes_by_idempotency_key ON envelopes (device, idempotency_key) WHERE message IS NULL;

-- Whether a sealed segment is in the object store: 0 no, 1 sent, 2 sent and read again.
ALTER TABLE segments ADD COLUMN object INTEGER NOT NULL DEFAULT 0;

-- Where backups went, and when the last one was complete.
CREATE TABLE backups (
    place TEXT PRIMARY KEY NOT NULL,
    made_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
