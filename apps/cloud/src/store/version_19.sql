-- Whether the segment of its first window has a roll-up, too. Those of before are brought there.
ALTER TABLE roll_ups ADD COLUMN sealed INTEGER NOT NULL DEFAULT 0;
