-- Deletion by the owner, recovery of spools, and repeated submissions.

-- The name and the digest of the submission, so that it can be sent again.
ALTER TABLE jobs ADD COLUMN idempotency_key TEXT;
ALTER TABLE jobs ADD COLUMN submission BLOB;
CREATE UNIQUE INDEX jobs_by_idempotency_key ON jobs (idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX jobs_in_order ON jobs (submitted_at, id);
CREATE INDEX job_inputs_by_envelope ON job_inputs (envelope);

-- Bounds of the windows that the owner has deleted: a device cannot send them again.
CREATE TABLE forgotten (
    device TEXT NOT NULL REFERENCES devices (name),
    stream TEXT NOT NULL,
    until INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (device, stream)
) STRICT, WITHOUT ROWID;

-- Streams whose position a device requested because it had lost its spool. `asked_at` is by the device's clock.
CREATE TABLE recoveries (
    device TEXT NOT NULL REFERENCES devices (name),
    stream TEXT NOT NULL,
    count INTEGER NOT NULL,
    asked_at INTEGER NOT NULL,
    noted_at INTEGER NOT NULL,
    PRIMARY KEY (device, stream)
) STRICT, WITHOUT ROWID;

-- Files to remove; the rows that named them are already deleted.
CREATE TABLE removals (
    folder TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (folder, name)
) STRICT, WITHOUT ROWID;
