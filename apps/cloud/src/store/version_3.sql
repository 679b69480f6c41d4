-- Lists by time, and the rotations of evaluation keys.

-- Every column that lists filter or sum, so that lists read only the rows that they show.
CREATE INDEX envelopes_in_order ON envelopes (device, stream, sequence, started_at, ended_at, bytes, stored_at);

-- JSON: rotations and transfers. NULL where an older program stored the keys and nobody asked yet.
ALTER TABLE evaluation_keys ADD COLUMN contents TEXT;
