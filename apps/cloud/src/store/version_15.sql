-- The owner's signed orders, in the order in which they came.
CREATE TABLE orders (
    position INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    device TEXT NOT NULL,
    -- NULL for an order about all streams of the device.
    stream TEXT,
    -- 1 for a deletion of windows.
    forgets INTEGER NOT NULL,
    frame BLOB NOT NULL
) STRICT;

CREATE INDEX orders_of_stream ON orders (device, stream, position);
