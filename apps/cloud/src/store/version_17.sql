-- Sums of groups of windows that the owner ordered to keep in place of their bodies.
CREATE TABLE roll_ups (
    id INTEGER PRIMARY KEY,
    log INTEGER NOT NULL REFERENCES logs (id),
    windows INTEGER NOT NULL,
    rolled_at INTEGER NOT NULL,
    -- The frame of one sum over all of them.
    sums BLOB NOT NULL
) STRICT;

-- The windows of roll-ups: runs of numbers, under pads that follow each other.
CREATE TABLE rolled (
    log INTEGER NOT NULL REFERENCES logs (id),
    number INTEGER NOT NULL,
    windows INTEGER NOT NULL,
    salt BLOB NOT NULL,
    pad INTEGER NOT NULL,
    roll_up INTEGER NOT NULL REFERENCES roll_ups (id) ON DELETE CASCADE,
    PRIMARY KEY (log, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX rolled_by_roll_up ON rolled (roll_up);
