-- Signed questions of devices that were answered in the last day: none is answered twice.
CREATE TABLE questions (
    device TEXT NOT NULL REFERENCES devices (name),
    asked_at INTEGER NOT NULL,
    question TEXT NOT NULL,
    PRIMARY KEY (device, asked_at, question)
) STRICT, WITHOUT ROWID;
