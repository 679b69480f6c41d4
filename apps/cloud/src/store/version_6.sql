-- Fleets.

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
