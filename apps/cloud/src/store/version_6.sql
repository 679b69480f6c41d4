-- The step from version 5.
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
