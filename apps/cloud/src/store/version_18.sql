-- Whether a sealed segment is in the object store: 0 no, 1 sent, 2 sent and read again.
ALTER TABLE segments ADD COLUMN object INTEGER NOT NULL DEFAULT 0;

-- Where backups went, and when the last one was complete.
CREATE TABLE backups (
    place TEXT PRIMARY KEY NOT NULL,
    made_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
