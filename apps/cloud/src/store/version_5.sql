-- The step from version 4.
ALTER TABLE envelopes ADD COLUMN stream_tag BLOB;

CREATE TABLE streams (
    tag BLOB PRIMARY KEY,
    device TEXT NOT NULL REFERENCES devices (name),
    header BLOB NOT NULL
) STRICT, WITHOUT ROWID;
