-- Migrates from version 5.
CREATE TABLE fleets (
    number INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    header BLOB NOT NULL
) STRICT;

CREATE TABLE fleet_windows (
    fleet INTEGER NOT NULL REFERENCES fleets (number),
    start INTEGER NOT NULL,
    key_id BLOB NOT NULL,
    ticks INTEGER NOT NULL,
    body BLOB NOT NULL,
    envelope BLOB NOT NULL UNIQUE REFERENCES envelopes (id) ON DELETE CASCADE,
    PRIMARY KEY (fleet, start, key_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE fleet_masks (
    fleet INTEGER NOT NULL REFERENCES fleets (number),
    key_id BLOB NOT NULL,
    start INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (fleet, key_id, start)
) STRICT, WITHOUT ROWID;

CREATE TABLE shared_starts (
    device TEXT NOT NULL REFERENCES devices (name),
    stream TEXT NOT NULL,
    start INTEGER NOT NULL,
    PRIMARY KEY (device, stream)
) STRICT, WITHOUT ROWID;
