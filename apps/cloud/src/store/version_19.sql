-- Sums of windows of segments that are there before anyone asks: a row for each run of numbers in a block of time.
CREATE TABLE nodes (
    log INTEGER NOT NULL REFERENCES logs (id),
    number INTEGER NOT NULL,
    windows INTEGER NOT NULL,
    segment INTEGER NOT NULL REFERENCES segments (id),
    stream_tag BLOB NOT NULL,
    -- The first 16 bytes of BLAKE3 of the sums.
    digest BLOB NOT NULL,
    -- The frame of an answer: the sum of all of them, and of some.
    sums BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX nodes_by_number ON nodes (log, number);
CREATE INDEX nodes_by_segment ON nodes (segment);

-- Whether the nodes of a segment are made.
ALTER TABLE segments ADD COLUMN summed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX segments_to_sum ON segments (id) WHERE summed = 0;

-- Whether the segment of its first window has a roll-up, too. Those of before are brought there.
ALTER TABLE roll_ups ADD COLUMN sealed INTEGER NOT NULL DEFAULT 0;
