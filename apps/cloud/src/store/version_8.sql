-- The owner's record of each device, sealed under the device's secret. The newest stays.
CREATE TABLE records (
    device TEXT PRIMARY KEY NOT NULL REFERENCES devices (name),
    sealed BLOB NOT NULL,
    stored_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
