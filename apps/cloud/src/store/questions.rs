//! Signed questions of devices, each answered once.

use rusqlite::params;

use super::{Store, StoreError};

/// Maximum number of questions kept for a device.
const MOST_KEPT: i64 = 64;

impl Store {
    /// Notes a device's question before it is answered; returns false if it was noted before. Forgets questions from
    /// before `since`, which the caller refuses anyway.
    ///
    /// Keeps the 64 latest of each device. A question that is older than those counts as noted, so no question is answered
    /// twice although few are kept.
    pub(crate) fn note_question(
        &self,
        device: &str,
        asked_at: i64,
        question: &str,
        since: i64,
    ) -> Result<bool, StoreError> {
        self.transaction(|transaction| {
            transaction.execute(
                "DELETE FROM questions WHERE device = ?1 AND asked_at < ?2",
                params![device, since],
            )?;
            let new = transaction.execute(
                "INSERT INTO questions (device, asked_at, question) SELECT ?1, ?2, ?3
                 WHERE ?4 > (SELECT count(*) FROM questions WHERE device = ?1)
                    OR (?2, ?3) > (SELECT asked_at, question FROM questions WHERE device = ?1
                                   ORDER BY asked_at, question LIMIT 1)
                 ON CONFLICT DO NOTHING",
                params![device, asked_at, question, MOST_KEPT],
            )?;
            transaction.execute(
                "DELETE FROM questions WHERE (device, asked_at, question) IN (
                     SELECT device, asked_at, question FROM questions WHERE device = ?1
                     ORDER BY asked_at DESC, question DESC LIMIT -1 OFFSET ?2)",
                params![device, MOST_KEPT],
            )?;
            Ok(new > 0)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::Opening;
    use super::*;

    #[test]
    fn no_question_is_noted_twice_and_few_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Opening::Serve).unwrap();
        let execute = |statement: &str| store.connection().execute(statement, []).unwrap();
        execute("INSERT INTO devices (name, verifying_key, registered_at) VALUES ('kitchen', x'02', 1)");
        execute("INSERT INTO devices (name, verifying_key, registered_at) VALUES ('attic', x'03', 1)");
        let note = |device: &str, at: i64, of: u8| {
            store.note_question(device, at, &format!("heads load {of}"), 0).unwrap()
        };
        // Forwards, several at one time, each at once again.
        for at in 0..200 {
            for of in [1, 2] {
                assert!(note("kitchen", at, of), "{at} {of}");
                assert!(!note("kitchen", at, of), "{at} {of}");
            }
        }
        // All again, and earlier ones that were never asked, in any order.
        for at in (0..200).rev() {
            assert!(!note("kitchen", at, 1) && !note("kitchen", at, 2), "{at}");
        }
        let kept = |device: &str| -> i64 {
            let count = "SELECT count(*) FROM questions WHERE device = ?1";
            store.connection().query_row(count, [device], |row| row.get(0)).unwrap()
        };
        assert_eq!(kept("kitchen"), MOST_KEPT);
        // Backwards within what is kept; another device is apart.
        let backwards: HashSet<bool> = (0..MOST_KEPT).rev().map(|at| note("attic", at, 1)).collect();
        assert_eq!(backwards, HashSet::from([true]));
        // Old ones give their room back.
        assert!(store.note_question("attic", 1_000, "heads load 1", 900).unwrap());
        assert_eq!(kept("attic"), 1);
    }
}
