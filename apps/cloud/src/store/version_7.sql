-- Logs of streams, and transcripts. Stored envelopes are appended to their logs when the store is compared with its
-- files.

-- The stored windows of each stream, in the order in which they were stored: leaves of a Merkle tree that only grows.
CREATE TABLE log (
    device TEXT NOT NULL REFERENCES devices (name),
    stream TEXT NOT NULL,
    position INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    leaf BLOB NOT NULL,
    -- NULL once the owner has deleted the window.
    envelope BLOB,
    PRIMARY KEY (device, stream, position)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX log_by_envelope ON log (envelope) WHERE envelope IS NOT NULL;

-- Every verifying key that a device was ever registered with: windows signed with an earlier one stay valid.
CREATE TABLE verifying_keys (
    device TEXT NOT NULL REFERENCES devices (name),
    verifying_key BLOB NOT NULL,
    registered_at INTEGER NOT NULL,
    PRIMARY KEY (device, verifying_key)
) STRICT, WITHOUT ROWID;

INSERT INTO verifying_keys SELECT name, verifying_key, registered_at FROM devices;

-- The frame of the transcript of a job that is done.
ALTER TABLE jobs ADD COLUMN transcript BLOB;
-- Its leaf in the log of its stream.
ALTER TABLE fleet_windows ADD COLUMN leaf BLOB;
