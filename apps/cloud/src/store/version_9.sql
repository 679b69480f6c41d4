-- Writes of registrations, which are conditional on the number of writes before, and devices that run twice.

-- Number of registrations and revocations of the device.
ALTER TABLE devices ADD COLUMN generation INTEGER NOT NULL DEFAULT 1;
-- Where the last one came from: the address of a request, or the folder of enrolments.
ALTER TABLE devices ADD COLUMN written_from TEXT NOT NULL DEFAULT 'an earlier version';

-- Number of windows refused because their stream has another window with their number: a copy of the device's bundle or
-- of its spool is in use.
CREATE TABLE taken_numbers (
    device TEXT PRIMARY KEY NOT NULL REFERENCES devices (name),
    count INTEGER NOT NULL,
    noted_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
