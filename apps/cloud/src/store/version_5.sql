-- Migrates from version 4.
ALTER TABLE envelopes ADD COLUMN stream_tag BLOB;
ALTER TABLE envelopes ADD COLUMN mask BLOB;
CREATE UNIQUE INDEX envelopes_by_mask ON envelopes (key_id, stream, mask) WHERE mask IS NOT NULL;

CREATE TABLE streams (
    tag BLOB PRIMARY KEY,
    device TEXT NOT NULL REFERENCES devices (name),
    header BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE repeated_masks (
    device TEXT PRIMARY KEY REFERENCES devices (name),
    count INTEGER NOT NULL,
    noted_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
