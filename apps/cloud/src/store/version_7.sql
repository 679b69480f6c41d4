-- Migrates from version 6.
CREATE TABLE log (
    device TEXT NOT NULL REFERENCES devices (name),
    stream TEXT NOT NULL,
    position INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    leaf BLOB NOT NULL,
    envelope BLOB,
    PRIMARY KEY (device, stream, position)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX log_by_envelope ON log (envelope) WHERE envelope IS NOT NULL;

CREATE TABLE verifying_keys (
    device TEXT NOT NULL REFERENCES devices (name),
    verifying_key BLOB NOT NULL,
    registered_at INTEGER NOT NULL,
    PRIMARY KEY (device, verifying_key)
) STRICT, WITHOUT ROWID;

INSERT INTO verifying_keys SELECT name, verifying_key, registered_at FROM devices;

ALTER TABLE jobs ADD COLUMN transcript BLOB;
ALTER TABLE fleet_windows ADD COLUMN leaf BLOB;
