-- Whether a run has a window that names others in whose place it comes, so that the lake need not open segments to learn it.
-- NULL in runs of before: their segments say it.
ALTER TABLE runs ADD COLUMN replaces INTEGER;
