-- Version 7. docs/concepts/data-model.md says what each table is for.
CREATE TABLE parameters (
    id BLOB PRIMARY KEY,
    scheme TEXT NOT NULL,
    frame BLOB NOT NULL,
    stored_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE devices (
    name TEXT PRIMARY KEY,
    verifying_key BLOB NOT NULL,
    registered_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE device_keys (
    device TEXT NOT NULL REFERENCES devices (name),
    parameter_id BLOB NOT NULL REFERENCES parameters (id),
    key_id BLOB NOT NULL,
    PRIMARY KEY (device, parameter_id, key_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE evaluation_keys (
    parameter_id BLOB NOT NULL REFERENCES parameters (id),
    key_id BLOB NOT NULL,
    file BLOB NOT NULL UNIQUE,
    relinearisation INTEGER NOT NULL,
    galois INTEGER NOT NULL,
    transfers INTEGER NOT NULL,
    -- JSON: rotations and transfers. NULL where an older program stored the keys and nobody asked yet.
    contents TEXT,
    bytes INTEGER NOT NULL,
    stored_at INTEGER NOT NULL,
    PRIMARY KEY (parameter_id, key_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE plans (
    id BLOB PRIMARY KEY,
    parameter_id BLOB NOT NULL REFERENCES parameters (id),
    steps INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    stored_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE envelopes (
    id BLOB PRIMARY KEY,
    digest BLOB NOT NULL,
    idempotency_key TEXT NOT NULL,
    device TEXT NOT NULL REFERENCES devices (name),
    stream TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    parameter_id BLOB NOT NULL REFERENCES parameters (id),
    key_id BLOB NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    readings INTEGER NOT NULL,
    layout BLOB NOT NULL,
    bytes INTEGER NOT NULL,
    stored_at INTEGER NOT NULL,
    -- The stream that an envelope of version 2 names; `layout` is the head of its window then.
    stream_tag BLOB,
    -- Salt and number of a compact window's mask.
    mask BLOB,
    UNIQUE (device, stream, sequence),
    UNIQUE (device, idempotency_key)
) STRICT, WITHOUT ROWID;

-- Every column that lists filter or sum, so that lists read only the rows that they show.
CREATE INDEX envelopes_in_order ON envelopes (device, stream, sequence, started_at, ended_at, bytes, stored_at);

-- A mask may be used only once under one key.
CREATE UNIQUE INDEX envelopes_by_mask ON envelopes (key_id, stream, mask) WHERE mask IS NOT NULL;

CREATE TABLE jobs (
    id BLOB PRIMARY KEY,
    plan BLOB NOT NULL REFERENCES plans (id),
    parameter_id BLOB NOT NULL REFERENCES parameters (id),
    key_id BLOB NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed')),
    starts INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    counters TEXT NOT NULL DEFAULT '{}',
    evaluate_us INTEGER NOT NULL DEFAULT 0,
    submitted_at INTEGER NOT NULL,
    ended_at INTEGER,
    -- The name and the digest of the submission, so that it can be sent again.
    idempotency_key TEXT,
    submission BLOB,
    -- The frame of the transcript of a job that is done.
    transcript BLOB
) STRICT, WITHOUT ROWID;

CREATE INDEX jobs_not_ended ON jobs (submitted_at) WHERE state IN ('queued', 'running');

CREATE UNIQUE INDEX jobs_by_idempotency_key ON jobs (idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE INDEX jobs_in_order ON jobs (submitted_at, id);

CREATE TABLE job_inputs (
    job BLOB NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    envelope BLOB NOT NULL REFERENCES envelopes (id),
    PRIMARY KEY (job, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE job_outputs (
    job BLOB NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    file BLOB NOT NULL UNIQUE,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (job, position)
) STRICT, WITHOUT ROWID;

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

-- Fleets by their id, each with the header of the first stream that named it; all streams of a fleet have its form.
CREATE TABLE fleets (
    number INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    header BLOB NOT NULL
) STRICT;

-- Bodies of windows under masks of fleets, in the order in which a sum over devices reads them. At most one per key and
-- mask.
CREATE TABLE fleet_windows (
    fleet INTEGER NOT NULL REFERENCES fleets (number),
    start INTEGER NOT NULL,
    key_id BLOB NOT NULL,
    ticks INTEGER NOT NULL,
    body BLOB NOT NULL,
    envelope BLOB NOT NULL UNIQUE REFERENCES envelopes (id) ON DELETE CASCADE,
    -- Its leaf in the log of its stream.
    leaf BLOB,
    PRIMARY KEY (fleet, start, key_id)
) STRICT, WITHOUT ROWID;

-- Masks of fleets used by signed windows of a key, even if the window was refused or deleted, with BLAKE3 of the
-- ciphertext.
CREATE TABLE fleet_masks (
    fleet INTEGER NOT NULL REFERENCES fleets (number),
    key_id BLOB NOT NULL,
    start INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (fleet, key_id, start)
) STRICT, WITHOUT ROWID;

-- The latest start of a stream's windows under the mask of a fleet, including refused and deleted ones.
CREATE TABLE shared_starts (
    device TEXT NOT NULL REFERENCES devices (name),
    stream TEXT NOT NULL,
    start INTEGER NOT NULL,
    PRIMARY KEY (device, stream)
) STRICT, WITHOUT ROWID;

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
