-- A new database. docs/concepts/data-model.md says what each table is for.
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
    UNIQUE (device, stream, sequence),
    UNIQUE (device, idempotency_key)
) STRICT, WITHOUT ROWID;

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
    ended_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX jobs_not_ended ON jobs (submitted_at) WHERE state IN ('queued', 'running');

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
