-- Writes of registrations, which are conditional on the number of writes before.

-- Number of registrations and revocations of the device.
ALTER TABLE devices ADD COLUMN generation INTEGER NOT NULL DEFAULT 1;
-- Where the last one came from: the address of a request, or the folder of enrolments.
ALTER TABLE devices ADD COLUMN written_from TEXT NOT NULL DEFAULT 'an earlier version';
