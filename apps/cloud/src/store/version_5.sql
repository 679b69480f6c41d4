-- Envelopes of version 2.

-- The stream that an envelope of version 2 names; `layout` is the head of its window then.
ALTER TABLE envelopes ADD COLUMN stream_tag BLOB;
-- Salt and number of a compact window's mask, which may be used only once under one key.
ALTER TABLE envelopes ADD COLUMN mask BLOB;
CREATE UNIQUE INDEX envelopes_by_mask ON envelopes (key_id, stream, mask) WHERE mask IS NOT NULL;

-- Headers of registered streams, as frames. They are never changed or deleted.
CREATE TABLE streams (
    tag BLOB PRIMARY KEY,
    device TEXT NOT NULL REFERENCES devices (name),
    header BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Number of windows refused because another one has the same mask: the device was copied, or is damaged.
CREATE TABLE repeated_masks (
    device TEXT PRIMARY KEY REFERENCES devices (name),
    count INTEGER NOT NULL,
    noted_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
