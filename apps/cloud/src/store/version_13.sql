-- Windows by the time of their readings: a new window may not have a reading at a tick that a stored one has. Windows of
-- version 2 have the bounds of their ticks here, those of version 1 the times of their readings.
CREATE INDEX envelopes_by_time ON envelopes (device, stream, ended_at, started_at) WHERE readings > 0;
