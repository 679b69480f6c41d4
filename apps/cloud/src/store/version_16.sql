-- Windows of sums in segments. docs/concepts/data-model.md says what each table is for.

-- The message of a window of sums that is in no segment yet. NULL where it is a file.
ALTER TABLE envelopes ADD COLUMN message BLOB;

-- Logs of streams with windows in segments. `frontier` has the peaks of the tree of the first `size` leaves, 32 bytes each.
CREATE TABLE logs (
    id INTEGER PRIMARY KEY,
    device TEXT NOT NULL REFERENCES devices (name),
    stream TEXT NOT NULL,
    size INTEGER NOT NULL,
    frontier BLOB NOT NULL,
    UNIQUE (device, stream)
) STRICT;

CREATE TABLE segments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- BLAKE3 of the file, whose name is its first 16 bytes.
    digest BLOB NOT NULL UNIQUE,
    bytes INTEGER NOT NULL,
    windows INTEGER NOT NULL,
    sealed_at INTEGER NOT NULL
) STRICT;

-- Windows of a block whose numbers, pads and positions each follow each other, under one salt.
CREATE TABLE runs (
    log INTEGER NOT NULL REFERENCES logs (id),
    number INTEGER NOT NULL,
    windows INTEGER NOT NULL,
    segment INTEGER NOT NULL REFERENCES segments (id),
    block INTEGER NOT NULL,
    row INTEGER NOT NULL,
    -- 0: windows; 1: signed headers alone; 2: deleted windows.
    kind INTEGER NOT NULL,
    stream_tag BLOB NOT NULL,
    salt BLOB NOT NULL,
    pad INTEGER NOT NULL,
    position INTEGER NOT NULL,
    -- The times of the first and the last reading; NULL without a reading.
    started_at INTEGER,
    ended_at INTEGER,
    bytes INTEGER NOT NULL,
    stored_at INTEGER NOT NULL,
    PRIMARY KEY (log, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX runs_by_position ON runs (log, position);
CREATE INDEX runs_by_time ON runs (log, ended_at);
CREATE INDEX runs_by_pad ON runs (log, salt, pad);
CREATE INDEX runs_by_segment ON runs (segment);

-- The bodies of its windows are read from their files until segments have them.
DROP TABLE sums_chunks;
