//! Checks that installed engines answer: prepares a small set, checks and times two operations. Names the engines that
//! are not installed and how to install them.

use std::time::Duration;

use sotto_harness::protocol::{Compare, Measure, Prepare, Values};
use sotto_harness::{Engine, Process, Recipe};

/// Returns parameters that every library accepts: OpenFHE's primes for BGV are 1 modulo both t and 2n, so that none of
/// them is small.
fn small(scheme: &str) -> Prepare {
    let (reals, paillier) = (scheme == "ckks", scheme.starts_with("paillier"));
    Prepare {
        scheme: scheme.into(),
        degree: 8192,
        plain_modulus: (!reals && !paillier).then_some(65537),
        scale_bits: reals.then_some(40),
        data_bits: if paillier { vec![] } else { vec![50, 50] },
        special_bits: if paillier { vec![] } else { vec![50] },
        key_bits: paillier.then_some(1024),
        insecure: true,
        ..Prepare::default()
    }
}

/// Methods whose keys and first evaluation take minutes.
const SLOW: [&str; 2] = ["switch", "table-bootstrap"];

/// Checks the answers about the limit itself, its neighbours and the ends of the range.
fn compares(process: &mut Process, method: &str) {
    let request = Compare {
        method: method.into(),
        readings: Values::Integers(vec![0, 79, 80, 81, 255]),
        range: [0.0, 255.0],
        limit: 80.0,
        tolerance: 0.0625,
        least: 5,
        most: 5,
        ..Compare::default()
    };
    let compared = process.compare(&request).unwrap_or_else(|error| panic!("{method}: {error}"));
    let answers = compared.answers.reals();
    assert_eq!(answers.len(), 5, "{method}");
    for (answer, truth) in answers.iter().zip([0.0, 0.0, 0.0, 1.0, 1.0]) {
        assert!((answer - truth).abs() <= 0.0625, "{method}: {answers:?}");
    }
    assert!(
        compared.bytes_keys > 0 && compared.bytes_readings > 0 && compared.microseconds.len() == 5,
        "{method}"
    );
}

fn answers(name: &str) {
    let engine = Engine::named(name).unwrap();
    let installed = match engine.installed() {
        Ok(installed) => installed,
        Err(error) => {
            println!("skipped: {error}");
            return;
        }
    };
    let mut process = Process::start_pinned(&installed, Duration::from_secs(120)).unwrap();
    let version = process.version().unwrap();
    assert_eq!((version.engine.as_str(), version.threads), (name, 1));
    assert!(!version.version.is_empty() && !version.flags.is_empty());
    for method in version.comparisons.iter().filter(|method| !SLOW.contains(&method.as_str())) {
        compares(&mut process, method);
    }
    for scheme in &version.schemes {
        let prepared = process.prepare(&small(scheme)).unwrap();
        assert!(prepared.log2_q > 60.0, "{name} {scheme}: {prepared:?}");
        let operations = match scheme.as_str() {
            "paillier" => ["encrypt_public", "add"].as_slice(),
            "paillier-packed" => &["window_encrypt"],
            _ => &["encode_encrypt_public", "add"],
        };
        for operation in operations {
            let asked =
                Measure { operation: (*operation).into(), repetitions: 3, warm_up: 1, ..Measure::default() };
            let measured = process.measure(&asked);
            let measured = measured.unwrap_or_else(|error| panic!("{name} {scheme} {operation}: {error}"));
            assert!(measured.verified && measured.microseconds.len() == 3, "{name} {scheme} {operation}");
        }
    }
}

macro_rules! engines {
    ($($test:ident: $name:literal),* $(,)?) => {
        $(#[test]
        fn $test() {
            answers($name);
        })*

        #[test]
        fn each_has_a_test() {
            let tested = [$($name),*];
            for engine in sotto_harness::ENGINES {
                let ours = engine.recipe == Recipe::Workspace;
                assert!(ours || tested.contains(&engine.name), "{}", engine.name);
            }
        }
    };
}

engines! {
    seal: "seal",
    lattigo: "lattigo",
    fhe_rs: "fhe-rs",
    tfhe_rs: "tfhe-rs",
    poulpy: "poulpy",
    openfhe: "openfhe",
    pyfhel: "pyfhel",
    tenseal: "tenseal",
    python_paillier: "python-paillier",
}
