-- Bodies and tags of windows of sums, in the order in which a sum reads them: 64 consecutive numbers of a stream in a row.
-- store/chunk.rs has the layout. A row fits a page, so the table has row ids.
CREATE TABLE sums_chunks (
    stream_tag BLOB NOT NULL REFERENCES streams (tag),
    chunk INTEGER NOT NULL,
    windows BLOB NOT NULL,
    PRIMARY KEY (stream_tag, chunk)
) STRICT;
