//! The project's speed targets against the fastest other engine: a margin for each kind of operation, and the check of
//! `operations` rows against them.

use crate::compare::obstacle;
use crate::row::Row;

/// The definition that the margins refer to.
const YARDSTICK: &str = "operations";
/// The n from which a margin's second figure holds, and from which memory bandwidth limits streaming operations.
const LARGE: usize = 16384;
/// The margin of all rows that no other margin names: at least as fast.
const OTHERS: &str = "all other operations";

/// A target: the other engine's time divided by ours.
struct Margin {
    title: &'static str,
    operations: &'static [&'static str],
    schemes: &'static [&'static str],
    /// The targets below n = 16384, and from there on.
    wanted: (f64, f64),
    /// The engine to compare with. Default: the fastest other.
    against: Option<&'static str>,
    /// True if memory bandwidth is the limit at large n, so that times are compared per limb there.
    streams: bool,
}

const ALL: &[&str] = &["bfv", "bgv", "ckks"];
const INTEGERS: &[&str] = &["bfv", "bgv"];

const fn margin(
    title: &'static str,
    operations: &'static [&'static str],
    schemes: &'static [&'static str],
    wanted: (f64, f64),
) -> Margin {
    Margin { title, operations, schemes, wanted, against: None, streams: false }
}

const fn streaming(
    title: &'static str,
    operations: &'static [&'static str],
    schemes: &'static [&'static str],
    wanted: (f64, f64),
) -> Margin {
    Margin { streams: true, ..margin(title, operations, schemes, wanted) }
}

const MARGINS: &[Margin] = &[
    margin("encrypt, secret key, seeded", &["encrypt_secret", "encode_encrypt_secret"], ALL, (14.0, 10.0)),
    margin("encrypt, public key", &["encrypt_public", "encode_encrypt_public"], ALL, (12.0, 8.0)),
    margin("CKKS encode, decode", &["encode", "decode"], &["ckks"], (8.0, 8.0)),
    margin("BFV, BGV encode, decode", &["encode", "decode"], INTEGERS, (2.0, 2.0)),
    margin("decrypt + decode (BFV, BGV)", &["decrypt_decode"], INTEGERS, (6.0, 4.0)),
    margin("decrypt + decode (CKKS)", &["decrypt_decode"], &["ckks"], (8.0, 8.0)),
    margin("multiply without relinearisation (BFV)", &["multiply"], &["bfv"], (6.0, 5.0)),
    streaming("multiply without relinearisation (BGV, CKKS)", &["multiply"], &["bgv", "ckks"], (5.0, 2.0)),
    margin("multiply with relinearisation (BFV)", &["multiply_relin"], &["bfv"], (6.0, 4.0)),
    margin("multiply with relinearisation (BGV, CKKS)", &["multiply_relin"], &["bgv", "ckks"], (4.5, 4.0)),
    margin("rotate", &["rotate"], ALL, (4.5, 4.0)),
    margin("a further hoisted rotation", &["rotate_hoisted"], ALL, (7.0, 6.0)),
    margin("rescale (CKKS)", &["rescale"], &["ckks"], (5.0, 3.0)),
    margin("modulus switch (BGV)", &["modswitch"], &["bgv"], (5.0, 3.0)),
    margin("modulus switch (BFV)", &["modswitch"], &["bfv"], (2.0, 2.0)),
    margin("key generation", &["keygen"], ALL, (8.0, 6.0)),
    margin("relinearisation and Galois keys", &["relin_keys", "galois_keys"], ALL, (8.0, 6.0)),
    streaming("add, new", &["add"], ALL, (1.8, 1.0)),
    streaming("add, in place", &["add_in_place"], ALL, (2.0, 1.0)),
    Margin {
        against: Some("seal"),
        ..margin("serialise, parse against SEAL's Zstandard", &["serialise", "parse"], ALL, (10.0, 10.0))
    },
    streaming(
        "square, add and multiply by a plaintext",
        &["square", "add_plain", "multiply_plain"],
        ALL,
        (1.0, 1.0),
    ),
    margin(OTHERS, &["decrypt", "encode_add_plain", "modswitch", "switch_keys"], ALL, (1.0, 1.0)),
];

/// One of our rows against another engine's.
#[derive(Clone, Debug)]
pub(super) struct Met<'a> {
    /// The margin's title.
    pub(super) title: &'static str,
    pub(super) ours: &'a Row,
    pub(super) other: &'a Row,
    /// The other time divided by ours; per limb if memory bandwidth is the limit.
    pub(super) ratio: f64,
    pub(super) wanted: f64,
    pub(super) per_limb: bool,
}

impl Met<'_> {
    /// Returns true if the target is met, and for written bytes if ours are also fewer.
    pub(super) fn is_met(&self) -> bool {
        self.ratio >= self.wanted && self.smaller() != Some(false)
    }

    /// Returns true if ours writes fewer bytes. None if the row is not about bytes.
    pub(super) fn smaller(&self) -> Option<bool> {
        Some(self.ours.bytes? < self.other.bytes?)
    }

    pub(super) fn is_large(&self) -> bool {
        self.ours.n >= LARGE
    }
}

/// Returns our rows that can be compared, margin by margin, and those that cannot.
pub(super) fn met(rows: &[Row]) -> (Vec<Met<'_>>, Vec<&Row>) {
    let (mut found, mut alone) = (Vec::new(), Vec::new());
    let mut ours: Vec<&Row> =
        rows.iter().filter(|row| row.engine == "sotto" && row.definition == YARDSTICK).collect();
    ours.sort_by_key(|row| (row.n, row.scheme.clone()));
    let named = |margin: &Margin, row: &Row| {
        margin.operations.contains(&row.operation.as_str()) && margin.schemes.contains(&row.scheme.as_str())
    };
    for (position, margin) in MARGINS.iter().enumerate() {
        let first =
            |row: &&&Row| named(margin, row) && !MARGINS[..position].iter().any(|before| named(before, row));
        for row in ours.iter().filter(first) {
            match against(margin, row, rows) {
                Some(one) => found.push(one),
                None => alone.push(*row),
            }
        }
    }
    (found, alone)
}

fn against<'a>(margin: &Margin, ours: &'a Row, rows: &'a [Row]) -> Option<Met<'a>> {
    let large = ours.n >= LARGE;
    let per_limb = margin.streams && large;
    let cost = |row: &Row| if per_limb { row.median_us / row.limbs.max(1) as f64 } else { row.median_us };
    let others = rows.iter().filter(|other| {
        other.engine != ours.engine
            && margin.against.is_none_or(|engine| engine == other.engine)
            && obstacle(ours, other).is_none()
    });
    let other = others.min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
    let ratio = cost(other) / cost(ours).max(f64::MIN_POSITIVE);
    let wanted = if large { margin.wanted.1 } else { margin.wanted.0 };
    Some(Met { title: margin.title, ours, other, ratio, wanted, per_limb })
}

/// Returns the geometric mean of ratios. None if there are none.
pub(super) fn geometric_mean(ratios: impl Iterator<Item = f64>) -> Option<f64> {
    let logarithms: Vec<f64> = ratios.map(f64::ln).collect();
    (!logarithms.is_empty()).then(|| (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::definition::Definition;

    #[test]
    fn every_operation_has_one_margin() {
        for operation in Definition::named(YARDSTICK).unwrap().operations {
            let schemes = match operation.operation.as_str() {
                "rescale" => &["ckks"],
                // Our CKKS lowering does other work.
                "modswitch" => INTEGERS,
                _ => ALL,
            };
            for scheme in schemes {
                let row = Row {
                    scheme: (*scheme).into(),
                    ..Row::example("sotto", &operation.operation, 4096, 1.0)
                };
                let other = Row { engine: "seal".into(), ..row.clone() };
                let rows = [row, other];
                assert_eq!(met(&rows).0.len(), 1, "{} {scheme}", operation.operation);
            }
        }
    }

    #[test]
    fn a_margin_is_about_the_fastest_other_and_about_n() {
        let rows = [
            Row::example("sotto", "rotate", 4096, 10.0),
            Row::example("seal", "rotate", 4096, 60.0),
            Row::example("lattigo", "rotate", 4096, 45.0),
            Row { verified: false, ..Row::example("pyfhel", "rotate", 4096, 1.0) },
            Row::example("sotto", "rotate", 16384, 10.0),
            Row::example("seal", "rotate", 16384, 39.0),
            Row::example("sotto", "square", 4096, 1.0),
        ];
        let (found, alone) = met(&rows);
        assert_eq!(alone.len(), 1, "nothing stands beside the square");
        let told: Vec<_> =
            found.iter().map(|m| (m.other.engine.as_str(), m.ratio, m.wanted, m.is_met())).collect();
        assert_eq!(told, [("lattigo", 4.5, 4.5, true), ("seal", 3.9, 4.0, false)]);
        assert!(found[1].is_large() && !found[0].is_large());
    }

    #[test]
    fn what_streams_is_compared_per_limb_at_large_n_and_bytes_have_to_be_fewer() {
        let wide =
            |engine: &str, limbs: usize, us: f64| Row { limbs, ..Row::example(engine, "add", 32768, us) };
        let rows = [wide("sotto", 10, 100.0), wide("seal", 5, 60.0)];
        let (found, _) = met(&rows);
        assert!(found[0].per_limb && (found[0].ratio - 1.2).abs() < 1e-12 && found[0].is_met());
        let written = |engine: &str, bytes: u64, us: f64| Row {
            bytes: Some(bytes),
            ..Row::example(engine, "serialise", 4096, us)
        };
        let rows = [written("sotto", 100, 1.0), written("seal", 90, 20.0), written("lattigo", 1, 0.1)];
        let (found, _) = met(&rows);
        assert_eq!(
            (found[0].other.engine.as_str(), found[0].ratio, found[0].is_met()),
            ("seal", 20.0, false)
        );
    }

    #[test]
    fn the_mean_of_ratios_is_geometric() {
        assert_eq!(geometric_mean([].into_iter()), None);
        assert!((geometric_mean([2.0, 8.0].into_iter()).unwrap() - 4.0).abs() < 1e-12);
    }
}
