-- Version 1. Counts only: no table contains a value or a ciphertext.

-- Charged batches of today and yesterday: if repeated, they are answered again and not charged.
CREATE TABLE batches (
    caller TEXT NOT NULL,
    batch BLOB NOT NULL,
    digest BLOB NOT NULL,
    day INTEGER NOT NULL,
    asked INTEGER NOT NULL,
    PRIMARY KEY (caller, batch)
) STRICT, WITHOUT ROWID;

CREATE INDEX batches_by_day ON batches (day);

-- Counts by day (since 1970, UTC), caller and event: charged and repeated batches with their requests, and refusals by
-- reason. The caller is empty for unauthenticated requests.
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
