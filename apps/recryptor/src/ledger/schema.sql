-- Version 1. Counts only: nothing here says what a number was.

-- Batches that were charged, today's and yesterday's: asked again, they are answered again and not charged.
CREATE TABLE batches (
    caller TEXT NOT NULL,
    batch BLOB NOT NULL,
    digest BLOB NOT NULL,
    day INTEGER NOT NULL,
    asked INTEGER NOT NULL,
    PRIMARY KEY (caller, batch)
) STRICT, WITHOUT ROWID;

CREATE INDEX batches_by_day ON batches (day);

-- What happened on a day (since 1970, UTC), and how often: batches that were charged or asked again, with the requests in
-- them, and refusals by their reason. A caller without a name is a stranger.
CREATE TABLE counts (
    day INTEGER NOT NULL,
    caller TEXT NOT NULL,
    event TEXT NOT NULL,
    batches INTEGER NOT NULL,
    products INTEGER NOT NULL,
    to_elgamal INTEGER NOT NULL,
    to_paillier INTEGER NOT NULL,
    PRIMARY KEY (day, caller, event)
) STRICT, WITHOUT ROWID;
