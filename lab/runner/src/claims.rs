//! The claims of edge-cloud-2023, each checked against the rows of this machine.

use crate::row::Row;

/// The definition that measures the rows.
pub const DEFINITION: &str = "edge-cloud-2023";

/// A claim, and the cases that test it.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its number in the paper's list.
    pub number: u32,
    /// The claim's text.
    pub text: &'static str,
    /// The measured cases: a description with both times, and true if the case agrees with the claim.
    pub cases: Vec<(String, bool)>,
    /// Number of cases if everything is measured.
    pub all: usize,
}

impl Claim {
    /// Returns true if the claim held in all cases, false if it failed in any. None if rows are missing and no measured
    /// case failed.
    pub fn held(&self) -> Option<bool> {
        match self.cases.iter().all(|case| case.1) {
            false => Some(false),
            true => (self.cases.len() >= self.all).then_some(true),
        }
    }
}

/// The libraries that the paper measured.
const LIBRARIES: [&str; 2] = ["tenseal", "pyfhel"];
const SCHEMES: [&str; 2] = ["bfv", "ckks"];
const SIZES: [usize; 4] = [4096, 8192, 16384, 32768];
/// The factor from which "far longer" and "markedly" hold.
const FAR: f64 = 2.0;
/// The largest factor between two times that are "about as long".
const ABOUT: f64 = 1.5;
/// The largest factor of "slightly" slower.
const SLIGHTLY: f64 = 1.5;

/// The rows, searched by engine, scheme, size and operation.
#[derive(Clone, Copy)]
struct Times<'a>(&'a [Row]);

impl Times<'_> {
    fn of(&self, engine: &str, scheme: &str, n: usize, operation: &str) -> Option<f64> {
        let same = |row: &&Row| {
            row.definition == DEFINITION
                && (row.engine == engine && row.scheme == scheme && row.n == n)
                && row.operation == operation
                && row.object.is_none()
                && row.verified
        };
        self.0.iter().find(same).map(|row| row.median_us)
    }

    /// Returns the library's encryption time: TenSEAL encodes when it encrypts.
    fn encrypt(&self, engine: &str, scheme: &str, n: usize) -> Option<f64> {
        let apart = self.of(engine, scheme, n, "encrypt_public");
        apart.or_else(|| self.of(engine, scheme, n, "encode_encrypt_public"))
    }

    /// Returns the library's multiplication time: TenSEAL relinearises every product.
    fn multiply(&self, engine: &str, scheme: &str, n: usize) -> Option<f64> {
        self.of(engine, scheme, n, "multiply").or_else(|| self.of(engine, scheme, n, "multiply_relin"))
    }

    /// Returns the time of encoding, encryption of one operand, addition, decryption and decoding.
    fn round_trip(&self, engine: &str, scheme: &str, n: usize) -> Option<f64> {
        let parts = ["encode_encrypt_public", "add", "decrypt_decode"];
        parts.into_iter().map(|operation| self.of(engine, scheme, n, operation)).sum()
    }
}

/// Returns every combination of library, scheme and size.
fn spans() -> impl Iterator<Item = (&'static str, &'static str, usize)> {
    LIBRARIES.into_iter().flat_map(|engine| {
        SCHEMES.into_iter().flat_map(move |scheme| SIZES.into_iter().map(move |n| (engine, scheme, n)))
    })
}

fn libraries_and_sizes() -> impl Iterator<Item = (&'static str, usize)> {
    LIBRARIES.into_iter().flat_map(|engine| SIZES.into_iter().map(move |n| (engine, n)))
}

fn case(what: &str, a: f64, b: f64, holds: bool) -> (String, bool) {
    (format!("{what}: {} against {}", crate::report::duration(a), crate::report::duration(b)), holds)
}

/// Checks all claims against these rows.
pub fn claims(rows: &[Row]) -> Vec<Claim> {
    let times = Times(rows);
    let claim = |number, text, (all, cases): (usize, Vec<(String, bool)>)| Claim { number, text, cases, all };
    vec![
        claim(
            1,
            "Encryption takes far longer (at least twice as long) than addition, encoding, decryption and decoding.",
            first(times),
        ),
        claim(2, "CKKS encryption takes longer than BFV encryption.", second(times)),
        claim(
            3,
            "Addition: CKKS is faster than BFV up to n = 16384, slower above (both libraries).",
            third(times),
        ),
        claim(
            4,
            "Multiplication takes longer than addition; in TenSEAL longer than encryption or decryption; in Pyfhel's BFV about as \
             long as encryption (within a factor of 1.5); in Pyfhel's CKKS far less than encoding and encryption.",
            fourth(times),
        ),
        claim(
            5,
            "Multiplication: CKKS is faster than BFV for n ≥ 8192, slightly slower (up to 1.5 times) below.",
            fifth(times),
        ),
        claim(
            6,
            "TenSEAL is faster than Pyfhel for n < 32768 and slower from there on (whole addition round trip); in the addition itself \
             TenSEAL is faster at every n.",
            sixth(times),
        ),
        claim(
            7,
            "Times differ markedly only from n = 32768 on (the whole addition round trip less than doubles with each step to 16384, and more than doubles to 32768).",
            seventh(times),
        ),
    ]
}

/// The number of possible cases, and the measured ones.
type Cases = (usize, Vec<(String, bool)>);

fn first(times: Times<'_>) -> Cases {
    let one = |(engine, scheme, n): (&str, &str, usize)| {
        let of = |operation: &str| times.of(engine, scheme, n, operation);
        let encryption = times.encrypt(engine, scheme, n)?;
        // TenSEAL encodes when it encrypts and decodes when it decrypts: it has one time for both.
        let parts: &[&str] = match engine {
            "tenseal" => &["add", "decrypt_decode"],
            _ => &["add", "encode", "decrypt", "decode"],
        };
        let others: Option<Vec<f64>> = parts.iter().map(|part| of(part)).collect();
        let longest = others?.into_iter().reduce(f64::max)?;
        let what = format!("{engine} {scheme} n = {n}, encryption against the longest of the others");
        Some(case(&what, encryption, longest, encryption >= FAR * longest))
    };
    (spans().count(), spans().filter_map(one).collect())
}

fn second(times: Times<'_>) -> Cases {
    let one = |(engine, n): (&str, usize)| {
        let (ckks, bfv) = (times.encrypt(engine, "ckks", n)?, times.encrypt(engine, "bfv", n)?);
        Some(case(&format!("{engine} n = {n}, CKKS against BFV"), ckks, bfv, ckks > bfv))
    };
    (libraries_and_sizes().count(), libraries_and_sizes().filter_map(one).collect())
}

fn third(times: Times<'_>) -> Cases {
    let one = |(engine, n): (&str, usize)| {
        let (ckks, bfv) = (times.of(engine, "ckks", n, "add")?, times.of(engine, "bfv", n, "add")?);
        let holds = if n <= 16384 { ckks < bfv } else { ckks > bfv };
        Some(case(&format!("{engine} n = {n}, CKKS against BFV"), ckks, bfv, holds))
    };
    (libraries_and_sizes().count(), libraries_and_sizes().filter_map(one).collect())
}

fn fourth(times: Times<'_>) -> Cases {
    let mut cases = Vec::new();
    for (engine, scheme, n) in spans() {
        let Some(product) = times.multiply(engine, scheme, n) else { continue };
        let of = |operation: &str| times.of(engine, scheme, n, operation);
        let name = |what: &str| format!("{engine} {scheme} n = {n}, multiplication against {what}");
        if let Some(sum) = of("add") {
            cases.push(case(&name("addition"), product, sum, product > sum));
        }
        let Some(encryption) = times.encrypt(engine, scheme, n) else { continue };
        match (engine, scheme) {
            ("tenseal", _) => {
                let Some(decryption) = of("decrypt_decode") else { continue };
                let longer = encryption.max(decryption);
                cases.push(case(&name("encryption and decryption"), product, longer, product > longer));
            }
            (_, "bfv") => {
                let about = product.max(encryption) <= ABOUT * product.min(encryption);
                cases.push(case(&name("encryption"), product, encryption, about));
            }
            _ => {
                let Some(encoding) = of("encode") else { continue };
                let least = encryption.min(encoding);
                cases.push(case(&name("encoding and encryption"), product, least, FAR * product <= least));
            }
        }
    }
    // Two cases each: against addition, and against encryption.
    (2 * spans().count(), cases)
}

fn fifth(times: Times<'_>) -> Cases {
    let one = |(engine, n): (&str, usize)| {
        let (ckks, bfv) = (times.multiply(engine, "ckks", n)?, times.multiply(engine, "bfv", n)?);
        let holds = if n >= 8192 { ckks < bfv } else { (1.0..=SLIGHTLY).contains(&(ckks / bfv)) };
        Some(case(&format!("{engine} n = {n}, CKKS against BFV"), ckks, bfv, holds))
    };
    (libraries_and_sizes().count(), libraries_and_sizes().filter_map(one).collect())
}

fn sixth(times: Times<'_>) -> Cases {
    let one = |scheme: &str, n: usize| {
        let trip = |engine| times.round_trip(engine, scheme, n);
        let add = |engine| times.of(engine, scheme, n, "add");
        let (tenseal, pyfhel) = (trip("tenseal")?, trip("pyfhel")?);
        let holds = if n < 32768 { tenseal < pyfhel } else { tenseal > pyfhel };
        let whole =
            case(&format!("{scheme} n = {n}, round trip, TenSEAL against Pyfhel"), tenseal, pyfhel, holds);
        let (tenseal, pyfhel) = (add("tenseal")?, add("pyfhel")?);
        let sums = case(
            &format!("{scheme} n = {n}, addition, TenSEAL against Pyfhel"),
            tenseal,
            pyfhel,
            tenseal < pyfhel,
        );
        Some([whole, sums])
    };
    let each = |scheme| SIZES.into_iter().filter_map(move |n| one(scheme, n)).flatten();
    (2 * SCHEMES.len() * SIZES.len(), SCHEMES.into_iter().flat_map(each).collect())
}

fn seventh(times: Times<'_>) -> Cases {
    let one = |(engine, scheme, n): (&str, &str, usize)| {
        let (now, before) = (times.round_trip(engine, scheme, n)?, times.round_trip(engine, scheme, n / 2)?);
        let markedly = now > FAR * before;
        Some(case(
            &format!("{engine} {scheme}, n = {n} against {}", n / 2),
            now,
            before,
            markedly == (n >= 32768),
        ))
    };
    // The smallest size has no predecessor.
    (spans().count() / SIZES.len() * (SIZES.len() - 1), spans().filter_map(one).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn row(engine: &str, scheme: &str, n: usize, operation: &str, us: f64) -> Row {
        Row { definition: DEFINITION.into(), scheme: scheme.into(), ..Row::example(engine, operation, n, us) }
    }

    fn held(rows: &[Row]) -> Vec<Option<bool>> {
        claims(rows).iter().map(Claim::held).collect()
    }

    #[test]
    fn nothing_is_said_without_rows() {
        assert_eq!(held(&[]), [None; 7]);
        let elsewhere = Row::example("pyfhel", "add", 4096, 1.0);
        assert_eq!(held(&[elsewhere]), [None; 7]);
    }

    #[test]
    fn a_claim_holds_in_all_cases_or_does_not() {
        let pyfhel = |scheme: &str, operation: &str, us: f64| row("pyfhel", scheme, 8192, operation, us);
        let mut rows = vec![
            pyfhel("bfv", "encrypt_public", 1000.0),
            pyfhel("bfv", "add", 20.0),
            pyfhel("bfv", "encode", 30.0),
            pyfhel("bfv", "decrypt", 50.0),
            pyfhel("bfv", "decode", 400.0),
            pyfhel("bfv", "multiply", 1200.0),
            pyfhel("ckks", "encrypt_public", 1100.0),
            pyfhel("ckks", "encode", 500.0),
            pyfhel("ckks", "decrypt", 5.0),
            pyfhel("ckks", "decode", 5.0),
            pyfhel("ckks", "add", 10.0),
            pyfhel("ckks", "multiply", 100.0),
        ];
        assert_eq!(held(&rows), [None; 7], "one size of one library decides nothing");
        let seen = |rows: &[Row]| claims(rows).iter().map(|claim| claim.cases.len()).collect::<Vec<_>>();
        assert_eq!(seen(&rows), [2, 1, 1, 4, 1, 0, 0]);
        assert!(claims(&rows).iter().all(|claim| claim.cases.iter().all(|case| case.1)));
        rows[4].median_us = 600.0;
        rows[11].median_us = 2000.0;
        let some = held(&rows);
        assert_eq!((some[0], some[3], some[4]), (Some(false), Some(false), Some(false)));
        let cases = &claims(&rows)[0].cases;
        assert_eq!(cases.len(), 2);
        assert!(!cases[0].1 && cases[1].1 && cases[0].0.contains("1.00 ms against 600 µs"), "{cases:?}");
        rows[0].verified = false;
        assert_eq!(claims(&rows)[0].cases.len(), 1, "what was not verified says nothing");
    }

    #[test]
    fn sizes_decide_what_is_claimed() {
        let trip = |engine: &str, n: usize, us: f64| {
            ["encode_encrypt_public", "add", "decrypt_decode"]
                .map(|operation| row(engine, "bfv", n, operation, us))
        };
        let rows: Vec<Row> = [
            trip("tenseal", 16384, 10.0),
            trip("pyfhel", 16384, 11.0),
            trip("tenseal", 32768, 25.0),
            trip("pyfhel", 32768, 24.0),
        ]
        .concat();
        let all = claims(&rows);
        assert_eq!(
            all[6].cases.iter().map(|case| case.1).collect::<Vec<_>>(),
            [true, true],
            "more than doubles to 32768"
        );
        assert_eq!((all[6].held(), all[6].all), (None, 12));
        let told: Vec<bool> = all[5].cases.iter().map(|case| case.1).collect();
        assert_eq!(told, [true, true, true, false], "the addition itself is slower at 32768");
    }
}
