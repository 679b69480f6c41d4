//! `sotto-recryptor audit`: shows counts of requests.

use std::path::Path;

use anyhow::Context as _;

use crate::ledger::{self, Count};

/// Prints the ledger in a folder as a table, or as JSON.
///
/// # Errors
/// The ledger cannot be read, or standard output cannot be written.
pub fn print(folder: &Path, json: bool) -> anyhow::Result<()> {
    let counts = ledger::counts(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let text = if json { serde_json::to_string_pretty(&counts)? + "\n" } else { table(&counts) };
    sotto_service::config::print(&text)
}

fn table(counts: &[Count]) -> String {
    let line = |fields: [&str; 8]| {
        let [day, caller, event, numbers @ ..] = fields;
        let numbers = numbers.map(|number| format!("{number:>12}")).concat();
        format!("{day:10}  {caller:16}  {event:28}{numbers}\n")
    };
    let head = ["day", "caller", "event", "batches", "products", "to ElGamal", "to Paillier", "numbers"];
    let row = |count: &Count| {
        let caller = if count.caller.is_empty() { "(stranger)" } else { &count.caller };
        let numbers = [count.batches, count.products, count.to_elgamal, count.to_paillier, count.numbers];
        let [batches, products, to_elgamal, to_paillier, numbers] = numbers.map(|number| number.to_string());
        line([
            &date(count.day),
            caller,
            &count.event,
            &batches,
            &products,
            &to_elgamal,
            &to_paillier,
            &numbers,
        ])
    };
    line(head) + &counts.iter().map(row).collect::<String>()
}

/// Returns the date (year-month-day) of a day since 1970 (Howard Hinnant's civil_from_days).
fn date(day: i64) -> String {
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + 400 * era + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{of_month:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        for (day, expected) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (20_453, "2025-12-31"),
        ] {
            assert_eq!(date(day), expected);
        }
    }

    #[test]
    fn a_table_has_a_line_for_each_count() {
        let count = Count {
            day: 20_000,
            caller: String::new(),
            event: "refused:unauthorised".into(),
            batches: 3,
            products: 0,
            to_elgamal: 0,
            to_paillier: 0,
            numbers: 0,
        };
        let text = table(&[count]);
        assert_eq!(text.lines().count(), 2);
        assert!(text.contains("2024-10-04  (stranger)"), "{text}");
    }
}
