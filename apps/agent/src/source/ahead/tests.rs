//! Rows of clocks that were ahead, and rows in other orders.

use super::*;

const MINUTE: i64 = 60_000;

/// Rows at these minutes, in files.
struct Rows {
    files: Vec<Vec<i64>>,
    next: (usize, usize),
}

impl Source for Rows {
    fn channels(&self) -> &[Channel] {
        &[]
    }

    fn next_row(&mut self) -> Result<Row, SourceError> {
        while self.next.1 == self.files.get(self.next.0).ok_or(SourceError::Ended)?.len() {
            self.next = (self.next.0 + 1, 0);
        }
        let at = self.files[self.next.0][self.next.1] * MINUTE;
        self.next.1 += 1;
        Ok(Row::new(at, Vec::new()))
    }

    fn paced(&self) -> bool {
        false
    }

    fn line(&self) -> Option<u64> {
        Some(self.next.1 as u64)
    }

    fn file(&self) -> usize {
        self.next.0
    }

    fn restart(&mut self) -> Result<(), SourceError> {
        self.next = (0, 0);
        Ok(())
    }
}

/// Returns the minutes of the rows that are taken, with their lines and files.
fn taken(files: &[Vec<i64>]) -> Vec<(i64, u64, usize)> {
    let mut source = on_time(Box::new(Rows { files: files.to_vec(), next: (0, 0) }));
    let mut read = || {
        let mut all = Vec::new();
        loop {
            match source.next_row() {
                Ok(row) => all.push((row.at / MINUTE, source.line().unwrap(), source.file())),
                Err(error) => break assert!(matches!(error, SourceError::Ended)),
            }
        }
        source.restart().unwrap();
        all
    };
    let all = read();
    assert_eq!(read(), all, "the same rows in another pass");
    all
}

fn minutes(files: &[Vec<i64>]) -> Vec<i64> {
    taken(files).into_iter().map(|(at, ..)| at).collect()
}

/// Rows every ten minutes from one to another.
fn every_ten(from: i64, to: i64) -> Vec<i64> {
    (from..to).step_by(10).collect()
}

const AWAY: i64 = 400 * 24 * 60;

#[test]
fn a_clock_that_was_ahead_costs_its_own_rows() {
    // Two jumps, the second one near the end of the file.
    let ahead = |from: i64, to: i64| -> Vec<i64> { every_ten(from + AWAY, to + AWAY) };
    let file = [
        every_ten(0, 500),
        ahead(500, 3000),
        every_ten(3000, 4000),
        ahead(4003, 4043),
        every_ten(4050, 4080),
    ];
    let expected = [every_ten(0, 500), every_ten(3000, 4000), every_ten(4050, 4080)].concat();
    assert_eq!(minutes(&[file.concat()]), expected);
    let found = taken(&[file.concat(), every_ten(0, 100)]);
    assert_eq!(found[50], (3000, 301, 0), "with its own line");
    assert_eq!(found.last(), Some(&(90, 10, 1)));
    // One row.
    let file = [every_ten(0, 500), vec![500 + AWAY], every_ten(510, 1000)].concat();
    assert_eq!(minutes(&[file]), [every_ten(0, 500), every_ten(510, 1000)].concat());
}

#[test]
fn rows_in_another_order_are_taken() {
    let week = |number: i64| every_ten(number * 10_080, (number + 1) * 10_080);
    let all = |files: &[Vec<i64>]| assert_eq!(minutes(files), files.concat());
    let newest_first: Vec<i64> = every_ten(0, 30_000).into_iter().rev().collect();
    all(&[newest_first]);
    // A week that comes before the one before it, and files that overlap.
    all(&[[week(0), week(2), week(1), week(3)].concat()]);
    all(&[[week(0), week(1)].concat(), week(1), week(0), week(9), week(3)]);
    // A row in another place, a gap that lasts, and two devices in turn.
    let mut moved = every_ten(0, 9000);
    let row = moved.remove(700);
    moved.insert(100, row);
    all(&[moved]);
    all(&[[week(0), week(50)].concat()]);
    all(&[(0..600).flat_map(|row| [row * 10, row * 10 + AWAY]).collect()]);
    all(&[[week(0), week(50), week(1), week(51), week(2)].concat()]);
    // Shuffled, by a multiplier.
    all(&[(0..2003).map(|row| row * 1234 % 2003 * 10).collect()]);
    // More rows than are read ahead, which a file of all its rows has, too.
    let most = most_rows(0) as i64;
    let ahead = |rows: i64| {
        let behind = every_ten(500 + 10 * rows, 800 + 10 * rows);
        [every_ten(0, 500), every_ten(10 * AWAY, 10 * AWAY + 10 * rows), behind].concat()
    };
    all(&[ahead(most + 1)]);
    // A day of seconds, and more.
    assert_eq!(minutes(&[ahead(most - 1)]).len(), 80);
    assert!(most_rows(8) > 60_000);
}
