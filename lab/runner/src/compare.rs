//! The rules by which rows are compared.

use std::collections::BTreeMap;

use crate::row::{Row, RowKey};

/// The largest difference of two data moduli in bits, relative to the larger.
const MODULUS_TOLERANCE: f64 = 0.03;

/// Operations whose work a library divides differently, so that rows of one name measure different work: Lattigo brings
/// integers to the size of the modulus when it encodes and back when it decodes; others do so when they encrypt, add
/// and decrypt. OpenFHE's BFV brings an addend to the size of the modulus at each addition. Our CKKS brings a
/// ciphertext to the scale of the lower level, by a product and a division; others drop a limb and let scales differ. Poulpy keeps plaintexts as coefficients,
/// transforms them when it multiplies, and rescales as it multiplies.
const CUT_ELSEWHERE: [(&str, &[&str], &[&str]); 4] = [
    (
        "lattigo",
        &["bfv", "bgv"],
        &["encode", "decode", "encrypt_public", "encrypt_secret", "decrypt", "add_plain"],
    ),
    ("openfhe", &["bfv"], &["add_plain"]),
    ("sotto", &["ckks"], &["modswitch"]),
    ("poulpy", &["ckks"], &["encode", "decode", "multiply_relin", "multiply_plain"]),
];

/// Operations that are shown for information: other engines have no such work.
const NOT_COMPARED: [&str; 1] = ["list_conversion"];

/// Returns true if the row's engine does other work under this name than most.
fn is_cut_elsewhere(row: &Row) -> bool {
    CUT_ELSEWHERE.iter().any(|(engine, schemes, operations)| {
        row.engine == *engine
            && schemes.contains(&row.scheme.as_str())
            && operations.contains(&row.operation.as_str())
    })
}

/// Returns the reason why two rows are not compared. None if they are.
pub fn obstacle(a: &Row, b: &Row) -> Option<&'static str> {
    let larger = a.log2_q.max(b.log2_q);
    if a.key() != b.key() {
        Some("they measure different things")
    } else if !(a.verified && b.verified) {
        Some("not both were verified")
    } else if a.engine != b.engine && (is_cut_elsewhere(a) || is_cut_elsewhere(b)) {
        Some("the libraries divide this work differently")
    } else if a.security_profile != b.security_profile {
        Some("their security is stated by different profiles")
    } else if NOT_COMPARED.contains(&a.operation.as_str()) {
        Some("only one language needs this step")
    } else if (a.log2_q - b.log2_q).abs() > MODULUS_TOLERANCE * larger {
        Some("their data moduli differ by more than 3 %")
    } else {
        None
    }
}

/// Returns the row of the fastest other engine that may be compared with this one. None if there is none.
pub fn fastest_other<'a>(row: &Row, rows: impl IntoIterator<Item = &'a Row>) -> Option<&'a Row> {
    let others =
        rows.into_iter().filter(|other| other.engine != row.engine && obstacle(row, other).is_none());
    others.min_by(|a, b| a.median_us.total_cmp(&b.median_us))
}

/// Returns the fastest other engine's time divided by the row's time. None if no other row may be compared.
pub fn ratio<'a>(row: &Row, rows: impl IntoIterator<Item = &'a Row>) -> Option<f64> {
    fastest_other(row, rows).filter(|_| row.median_us > 0.0).map(|other| other.median_us / row.median_us)
}

/// Groups rows that measure the same thing, in order.
pub fn by_key_of<'a>(rows: &[&'a Row]) -> BTreeMap<RowKey, Vec<&'a Row>> {
    let mut groups: BTreeMap<RowKey, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        groups.entry(row.key()).or_default().push(row);
    }
    groups
}

/// A row's engine and operation in two runs.
#[derive(Clone, Debug)]
pub struct Change<'a> {
    /// The row of the later run, or of the earlier one if the later has none.
    pub row: &'a Row,
    /// Medians before and after, in microseconds; None if a run has no row.
    pub medians: [Option<f64>; 2],
    /// The later median divided by the earlier; or the reason why they are not compared.
    pub ratio: Result<f64, &'static str>,
}

/// Returns the changes between two runs; rows that only one run has come last.
pub fn changes<'a>(before: &'a [Row], after: &'a [Row]) -> Vec<Change<'a>> {
    let key = |row: &'a Row| (row.key(), row.engine.as_str());
    let mut earlier: BTreeMap<(RowKey, &str), &Row> = before.iter().map(|row| (key(row), row)).collect();
    let (mut both, mut single) = (Vec::new(), Vec::new());
    for row in after {
        let Some(before) = earlier.remove(&key(row)) else {
            let medians = [None, Some(row.median_us)];
            single.push(Change { row, medians, ratio: Err("only the second has it") });
            continue;
        };
        let ratio = match obstacle(before, row) {
            None if before.median_us > 0.0 => Ok(row.median_us / before.median_us),
            None => Err("the first took no time"),
            Some(reason) => Err(reason),
        };
        both.push(Change { row, medians: [Some(before.median_us), Some(row.median_us)], ratio });
    }
    let lost = |row: &'a Row| {
        let is_lost = earlier.contains_key(&key(row));
        let medians = [Some(row.median_us), None];
        is_lost.then_some(Change { row, medians, ratio: Err("only the first has it") })
    };
    both.extend(single);
    both.extend(before.iter().filter_map(lost));
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(engine: &str, median: f64) -> Row {
        Row::example(engine, "add", 4096, median)
    }

    #[test]
    fn only_equal_spans_are_compared() {
        let ours = row("sotto", 10.0);
        assert_eq!(obstacle(&ours, &row("seal", 5.0)), None);
        assert!(obstacle(&ours, &Row { n: 8192, ..row("seal", 5.0) }).is_some());
        assert!(obstacle(&ours, &Row { operation: "multiply".into(), ..row("seal", 5.0) }).is_some());
        assert!(obstacle(&ours, &Row { verified: false, ..row("seal", 5.0) }).is_some());
        assert!(obstacle(&ours, &Row { security_profile: "other".into(), ..row("seal", 5.0) }).is_some());
        // 3 % of the larger modulus: 72.16 bits are just within the tolerance of 70, 72.17 are outside.
        assert_eq!(obstacle(&ours, &Row { log2_q: 72.16, ..row("seal", 5.0) }), None);
        assert!(obstacle(&ours, &Row { log2_q: 72.17, ..row("seal", 5.0) }).is_some());
        let larger = Row { security_bits: None, log2_qp: Some(130.0), ..row("openfhe", 5.0) };
        let hidden = Row { security_bits: None, log2_qp: None, ..row("openfhe", 5.0) };
        for other in [larger, hidden] {
            assert_eq!(
                obstacle(&ours, &other),
                None,
                "special primes of another length are shown, and compared"
            );
        }
        let lists = |engine: &str| Row::example(engine, "list_conversion", 4096, 1.0);
        assert!(obstacle(&lists("seal"), &lists("tenseal")).is_some());
    }

    #[test]
    fn work_that_is_cut_elsewhere_is_compared_with_itself_only() {
        let row = |engine: &str, operation: &str| Row::example(engine, operation, 4096, 1.0);
        assert!(obstacle(&row("sotto", "decrypt"), &row("lattigo", "decrypt")).is_some());
        assert!(obstacle(&row("sotto", "add_plain"), &row("openfhe", "add_plain")).is_some());
        let reals = |engine: &str| Row { scheme: "ckks".into(), ..row(engine, "multiply_relin") };
        assert!(obstacle(&reals("sotto"), &reals("poulpy")).is_some());
        assert_eq!(obstacle(&reals("sotto"), &reals("lattigo")), None);
        assert_eq!(obstacle(&row("sotto", "decrypt_decode"), &row("lattigo", "decrypt_decode")), None);
        assert_eq!(obstacle(&row("lattigo", "decrypt"), &row("lattigo", "decrypt")), None);
        assert_eq!(obstacle(&row("sotto", "decrypt"), &row("seal", "decrypt")), None);
    }

    #[test]
    fn the_ratio_is_to_the_fastest_other_that_counts() {
        let ours = row("sotto", 10.0);
        let wrong = Row { verified: false, ..row("wrong", 1.0) };
        let rows = [ours.clone(), row("seal", 30.0), row("lattigo", 25.0), wrong.clone()];
        assert_eq!(fastest_other(&ours, &rows).map(|row| row.engine.as_str()), Some("lattigo"));
        assert_eq!(ratio(&ours, &rows), Some(2.5));
        assert_eq!(ratio(&wrong, &rows), None, "a wrong one is never compared");
        assert_eq!(ratio(&ours, &rows[..1]), None);
    }

    #[test]
    fn runs_are_compared_engine_by_engine() {
        let before = [row("sotto", 10.0), row("seal", 20.0), Row { verified: false, ..row("lattigo", 5.0) }];
        let after = [row("sotto", 5.0), row("lattigo", 5.0), row("openfhe", 1.0)];
        let changes = changes(&before, &after);
        let all: Vec<_> = changes.iter().map(|change| (change.row.engine.as_str(), change.ratio)).collect();
        let expected = [
            ("sotto", Ok(0.5)),
            ("lattigo", Err("not both were verified")),
            ("openfhe", Err("only the second has it")),
            ("seal", Err("only the first has it")),
        ];
        assert_eq!(all, expected);
        assert_eq!(changes[3].medians, [Some(20.0), None]);
    }
}
