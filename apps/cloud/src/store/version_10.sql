-- Streams of sums. Their windows and keys name the stream's id in place of parameters, so these columns refer to no row.
-- Foreign keys are off during migrations: rows that refer to envelopes stay.

CREATE TABLE device_keys_10 (
    device TEXT NOT NULL REFERENCES devices (name),
    parameter_id BLOB NOT NULL,
    key_id BLOB NOT NULL,
    PRIMARY KEY (device, parameter_id, key_id)
) STRICT, WITHOUT ROWID;

INSERT INTO device_keys_10 SELECT device, parameter_id, key_id FROM device_keys;
DROP TABLE device_keys;
ALTER TABLE device_keys_10 RENAME TO device_keys;

CREATE TABLE envelopes_10 (
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
    UNIQUE (device, stream, sequence),
    UNIQUE (device, idempotency_key)
) STRICT, WITHOUT ROWID;

INSERT INTO envelopes_10
    SELECT id, digest, idempotency_key, device, stream, sequence, parameter_id, key_id, started_at, ended_at, readings,
           layout, bytes, stored_at, stream_tag, mask FROM envelopes;
DROP TABLE envelopes;
ALTER TABLE envelopes_10 RENAME TO envelopes;

CREATE INDEX envelopes_in_order ON envelopes (device, stream, sequence, started_at, ended_at, bytes, stored_at);
CREATE UNIQUE INDEX envelopes_by_mask ON envelopes (key_id, stream, mask) WHERE mask IS NOT NULL;

-- For each stream of sums the first two different windows under the same pads, as frames of signed headers. They prove
-- that the tags of the stream's sums prove nothing any more.
CREATE TABLE repeated_pads (
    stream_tag BLOB PRIMARY KEY NOT NULL REFERENCES streams (tag),
    device TEXT NOT NULL REFERENCES devices (name),
    stream TEXT NOT NULL,
    stored BLOB NOT NULL,
    refused BLOB NOT NULL,
    noted_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX repeated_pads_by_device ON repeated_pads (device);
