-- No more fleets: the bodies of their windows are in the envelopes, too, which stay.
DROP TABLE fleet_windows;
DROP TABLE fleet_masks;
DROP TABLE fleets;
DROP TABLE shared_starts;
