//! Runs the engine as a process and talks to it in the protocol of all engines.

use std::time::Duration;

use sotto_harness::protocol::{
    Compare, Exchange, Measure, Measured, Node, OBJECTS, OPERATIONS, Prepare, Program, Request, Task, Values,
    Verify,
};
use sotto_harness::tasks::PREFIX;
use sotto_harness::windows::Step;
use sotto_harness::{Installed, LabError, Process};

fn engine() -> Process {
    let program = env!("CARGO_BIN_EXE_sotto-engine").into();
    let installed = Installed { name: "sotto".into(), program, arguments: Vec::new() };
    Process::start(&installed, Duration::from_secs(60)).unwrap()
}

fn prepare(scheme: &str) -> Prepare {
    Prepare {
        scheme: scheme.into(),
        degree: 64,
        plain_modulus: (scheme != "ckks").then_some(257),
        scale_bits: (scheme == "ckks").then_some(40),
        data_bits: vec![50, 40, 40],
        special_bits: vec![50],
        rotations: vec![1, -2],
        swap_rows: true,
        insecure: true,
        ..Prepare::default()
    }
}

/// Computes per slot (x · y) rotated by −2, and 7 − x with the rows swapped.
fn program() -> Program {
    let nodes = vec![
        Node::Input { index: 0 },
        Node::Input { index: 1 },
        Node::Mul { a: 0, b: 1 },
        Node::Rotate { a: 2, steps: -2 },
        Node::Constant { values: Values::Integers(vec![7]) },
        Node::Sub { a: 4, b: 0 },
        Node::SwapRows { a: 5 },
    ];
    Program { magnitudes: vec![5.0, 5.0], nodes, outputs: vec![3, 6] }
}

#[test]
fn integers_in_two_rows() {
    let mut engine = engine();
    assert_eq!(engine.version().unwrap().engine, "sotto");
    let inputs = vec![Values::Integers(vec![1, 2, 3]), Values::Integers(vec![4, -5])];
    let verify = Verify { program: program(), inputs };
    let early = engine.verify(&verify).unwrap_err();
    assert!(matches!(early, LabError::Refused { ref reason, .. } if reason.contains("prepare")), "{early}");
    for scheme in ["bfv", "bgv"] {
        let prepared = engine.prepare(&prepare(scheme)).unwrap();
        assert_eq!((prepared.data.len(), prepared.special.len()), (3, 1));
        let verified = engine.verify(&verify).unwrap();
        let slots = |i: usize| verified.outputs[i].integers().unwrap();
        assert_eq!(slots(0)[..5], [0, 0, 4, 247, 0], "{scheme}");
        assert_eq!((slots(1)[0], &slots(1)[32..36]), (7, &[6, 5, 4, 7][..]), "{scheme}");
        assert!(verified.bounds.is_empty());
    }
}

#[test]
fn readings_above_a_limit() {
    let mut engine = engine();
    let has = engine.version().unwrap().comparisons;
    assert_eq!(has, ["sign", "table"]);
    let eight: Vec<i64> = (0..=255).collect();
    let twelve: Vec<i64> = (0..4096).collect();
    // Ends of the gap are told, too.
    let reals: Vec<f64> = (0..=256).map(|i| f64::from(i) / 256.0).collect();
    for (method, scheme, readings, largest, limit, gap) in [
        ("table", Some("bfv"), Values::Integers(eight.clone()), 255.0, 80.0, 0.0),
        ("table", Some("bgv"), Values::Integers(eight), 255.0, 254.0, 0.0),
        ("table", Some("bgv"), Values::Integers(twelve), 4095.0, 2047.0, 0.0),
        ("sign", None, Values::Reals(reals), 1.0, 0.5, 1.0 / 256.0),
    ] {
        let request = Compare {
            method: method.into(),
            scheme: scheme.map(str::to_owned),
            readings: readings.clone(),
            range: [0.0, largest],
            limit,
            gap,
            tolerance: 0.0625,
            least: 1,
            most: 1,
            seconds: 0.0,
        };
        let compared = engine.compare(&request).unwrap();
        assert_eq!((compared.exact, compared.microseconds.len()), (gap == 0.0, 1), "{method}");
        assert!(compared.batch >= 16384 && compared.bytes_keys > compared.bytes_readings, "{method}");
        let (readings, answers) = (readings.reals(), compared.answers.reals());
        assert_eq!(readings.len(), answers.len());
        for (reading, answer) in readings.iter().zip(&answers) {
            let truth = f64::from(u8::from(*reading > limit));
            let told = (answer - truth).abs() <= if compared.exact { 0.0 } else { 0.0625 };
            assert!(told || (reading - limit).abs() < gap, "{method} {scheme:?}: {reading} {answer}");
        }
        let unknown = Compare { method: "switch".into(), ..request.clone() };
        assert!(
            matches!(engine.compare(&unknown), Err(LabError::Refused { reason, .. }) if reason == "unsupported")
        );
        if gap == 0.0 {
            let outside = Compare { readings: Values::Integers(vec![largest as i64 + 1]), ..request };
            assert!(engine.compare(&outside).unwrap_err().to_string().contains("outside of the range"));
        }
    }
}

#[test]
fn reals_with_a_bound() {
    let mut engine = engine();
    engine.prepare(&prepare("ckks")).unwrap();
    let inputs = vec![Values::Reals(vec![1.0, 2.0, 3.0]), Values::Reals(vec![0.5, -5.0])];
    let verified = engine.verify(&Verify { program: program(), inputs }).unwrap();
    for (output, (expected, bound)) in verified
        .outputs
        .iter()
        .zip([[0.0, 0.0, 0.5, -10.0], [6.0, 5.0, 4.0, 7.0]].iter().zip(&verified.bounds))
    {
        assert!(*bound < 1e-3);
        output.reals().iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() <= *bound, "{a} {b}"));
    }
}

#[test]
fn every_operation_is_checked_and_timed_or_not_there() {
    let mut engine = engine();
    for scheme in ["bfv", "bgv", "ckks"] {
        let prepared = engine.prepare(&prepare(scheme)).unwrap();
        assert_eq!((prepared.limbs, prepared.special_limbs, prepared.security), (3, 1, None));
        assert!((prepared.log2_q - 130.0).abs() < 0.1);
        for operation in OPERATIONS.into_iter().filter(|operation| !operation.starts_with(PREFIX)) {
            let objects: &[&str] = if ["serialise", "parse"].contains(&operation) { &OBJECTS } else { &[""] };
            for object in objects {
                let object = (!object.is_empty()).then(|| (*object).to_owned());
                let asked = Measure {
                    operation: operation.into(),
                    repetitions: 3,
                    warm_up: 1,
                    codec: object.as_ref().map(|_| "packed".to_owned()),
                    object: object.clone(),
                    checked: false,
                    ..Measure::default()
                };
                let measured: Result<Measured, _> = engine.ask(&Request::Measure(asked));
                let lacking = match operation {
                    "list_conversion" | "edge_encrypt" | "cloud_add" | "cloud_multiply" | "edge_decrypt" => {
                        true
                    }
                    window if Step::named(window).is_some() => true,
                    "rescale" => scheme != "ckks",
                    _ => ["plaintext", "secret_key"].map(Some).contains(&object.as_deref()),
                };
                match measured {
                    Ok(measured) => {
                        assert!(!lacking && measured.verified && measured.microseconds.len() == 3);
                        assert_eq!(measured.bytes.is_some(), object.is_some(), "{operation}");
                    }
                    Err(LabError::Refused { reason, .. }) => {
                        assert!(lacking && reason == "unsupported", "{scheme} {operation}: {reason}");
                    }
                    Err(error) => panic!("{scheme} {operation}: {error}"),
                }
            }
        }
    }
}

#[test]
fn sums_of_windows_are_opened_and_have_the_bytes_of_their_form() {
    let mut engine = engine();
    let prepare = |degree: usize| Prepare { scheme: "sums".into(), degree, ..Prepare::default() };
    let refused = engine.prepare(&prepare(17)).unwrap_err().to_string();
    assert!(refused.contains("a window has 16 readings"), "{refused}");
    engine.prepare(&prepare(16)).unwrap();
    for operation in OPERATIONS {
        let asked = Measure { operation: operation.into(), repetitions: 2, warm_up: 1, ..Measure::default() };
        let measured = engine.ask::<Measured>(&Request::Measure(asked));
        // 10,000 readings of 12 bits have a total of 26 bits; a sum has a count, too: 2·1,000 and 2·10,000 in groups of
        // seven bits.
        let bytes = match Step::named(operation) {
            None => {
                assert!(measured.unwrap_err().to_string().contains("unsupported"), "{operation}");
                continue;
            }
            Some(Step::Encrypt) => Some(16 * 26 / 8 + 8),
            Some(Step::Sum(1000)) => Some(16 * 26 / 8 + 8 + 2),
            Some(Step::Sum(_)) => Some(16 * 26 / 8 + 8 + 3),
            Some(Step::Open(_)) => None,
        };
        let measured = measured.unwrap_or_else(|error| panic!("{operation}: {error}"));
        assert!(measured.verified && measured.microseconds.len() == 2, "{operation}");
        assert_eq!(measured.bytes, bytes, "{operation}");
    }
}

#[test]
fn tasks_are_checked_and_timed_with_an_agent_and_without() {
    let mut engine = engine();
    let modes =
        [("paillier+elgamal", "serial"), ("paillier+elgamal", "parallel"), ("paillier-blinded", "parallel")];
    for (scheme, mode) in modes.into_iter().chain(["bfv", "bgv", "ckks"].map(|scheme| (scheme, "parallel"))) {
        let prepare = Prepare {
            scheme: scheme.into(),
            degree: 4096,
            key_bits: Some(2048),
            plain_modulus: Some(68_719_230_977),
            scale_bits: Some(40),
            data_bits: vec![50, 40, 40, 40],
            special_bits: vec![50],
            insecure: true,
            ..Prepare::default()
        };
        engine.prepare(&prepare).unwrap();
        for operation in OPERATIONS.into_iter().filter(|operation| operation.starts_with(PREFIX)) {
            let task = Task::named(operation, scheme == "ckks").unwrap();
            let asked = Measure {
                operation: operation.into(),
                repetitions: 2,
                task: Some(Box::new(task.clone())),
                mode: Some(mode.into()),
                latency_ms: Some(1),
                ..Measure::default()
            };
            let measured = engine.ask::<Measured>(&Request::Measure(asked.clone()));
            let measured = measured.unwrap_or_else(|error| panic!("{scheme} {operation}: {error}"));
            assert!(measured.verified && measured.microseconds.len() == 2, "{scheme} {operation}");
            let other = match &task.answers {
                Values::Integers(answers) => {
                    Values::Integers(answers.iter().map(|answer| answer + 1).collect())
                }
                Values::Reals(answers) => Values::Reals(answers.iter().map(|answer| answer * 1.01).collect()),
            };
            let wrong = Measure { task: Some(Box::new(Task { answers: other, ..task })), ..asked };
            let refused = engine.ask::<Measured>(&Request::Measure(wrong)).unwrap_err().to_string();
            assert!(refused.contains("the result is wrong"), "{scheme} {operation}: {refused}");
        }
    }
}

#[test]
fn an_edge_and_a_cloud_share_nothing_but_files() {
    let folder = tempfile::tempdir().unwrap();
    for scheme in ["bfv", "bgv", "ckks"] {
        let (mut edge, mut cloud) = (engine(), engine());
        edge.prepare(&prepare(scheme)).unwrap();
        for seeded in [false, true] {
            let step = |step: &str| Exchange {
                step: step.into(),
                folder: folder.path().display().to_string(),
                repetitions: 2,
                seeded,
                ..Exchange::default()
            };
            let inputs = vec![Values::Integers(vec![3, 4]), Values::Integers(vec![5, 6])];
            let sent = edge.exchange(&Exchange { inputs, ..step("encrypt") }).unwrap();
            assert!(sent.microseconds.len() == 2 && sent.bytes > Some(0));
            for (name, expected) in [("add", [8.0, 10.0]), ("multiply", [15.0, 24.0])] {
                let parameters = Some(Box::new(prepare(scheme)));
                let asked = Exchange { parameters, ..step(name) };
                assert!(cloud.exchange(&asked).unwrap().output.is_none(), "the cloud sees nothing");
                let output = edge.exchange(&step("decrypt")).unwrap().output.unwrap().reals();
                let close = output.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3);
                assert!(close, "{scheme} {name}: {:?}", &output[..2]);
            }
        }
        assert!(cloud.exchange(&Exchange { step: "decrypt".into(), ..Exchange::default() }).is_err());
    }
}

#[test]
fn one_value_a_plaintext_takes_any_modulus() {
    let mut engine = engine();
    for scheme in ["bfv", "bgv"] {
        let request =
            Prepare { plain_modulus: Some(1021), encoding: Some("scalar".into()), ..prepare(scheme) };
        engine.prepare(&request).unwrap();
        for operation in ["encode_encrypt_public", "add", "multiply_relin", "decrypt_decode"] {
            let asked = Measure { operation: operation.into(), repetitions: 1, ..Measure::default() };
            assert!(engine.measure(&asked).unwrap().verified, "{scheme} {operation}");
        }
    }
}

#[test]
fn conventional_ciphers_and_plain_numbers_stand_beside() {
    let mut engine = engine();
    let of = |scheme: &str| Prepare { scheme: scheme.into(), degree: 100, ..Prepare::default() };
    let measure =
        |operation: &str| Measure { operation: operation.into(), repetitions: 2, ..Measure::default() };
    for scheme in ["aes-256-gcm", "chacha20-poly1305"] {
        engine.prepare(&of(scheme)).unwrap();
        for operation in ["encode_encrypt_secret", "add", "multiply_relin", "decrypt_decode", "serialise"] {
            let measured = engine.measure(&measure(operation)).unwrap();
            // Bytes: a nonce, four a reading, a tag.
            assert_eq!(
                (measured.bytes, measured.microseconds.len()),
                (Some(12 + 400 + 16), 2),
                "{operation}"
            );
        }
        assert!(engine.measure(&measure("rotate")).is_err());
    }
    engine.prepare(&of("clear")).unwrap();
    assert!(engine.measure(&measure("subtract")).unwrap().verified);
    assert!(engine.measure(&measure("decrypt_decode")).is_err());
    assert!(engine.prepare(&Prepare { degree: 0, ..of("clear") }).is_err());
}

#[test]
fn what_it_lacks_and_what_it_cannot_do_is_said() {
    let mut engine = engine();
    let mut asked = prepare("bfv");
    asked.scheme = "tfhe".into();
    let refusal = engine.prepare(&asked).unwrap_err();
    assert!(matches!(refusal, LabError::Refused { ref reason, .. } if reason == "unsupported"), "{refusal}");
    let refusal = engine.prepare(&Prepare { insecure: false, ..prepare("bfv") }).unwrap_err();
    assert!(refusal.to_string().contains("security"), "{refusal}");
    engine.prepare(&prepare("bfv")).unwrap();
    let mut deep = program();
    deep.nodes.extend((6..20).map(|a| Node::Mul { a, b: a }));
    deep.outputs = vec![20];
    let inputs = vec![Values::Integers(vec![1]), Values::Integers(vec![2])];
    let refusal = engine.verify(&Verify { program: deep, inputs }).unwrap_err();
    assert!(refusal.to_string().contains("noise"), "{refusal}");
}

#[test]
fn one_number_a_ciphertext() {
    let mut engine = engine();
    let has: [(&str, Option<u32>, &[&str]); 4] = [
        ("paillier", Some(2048), &["add", "subtract", "add_plain", "multiply_plain"]),
        ("elgamal", Some(2048), &["multiply"]),
        ("elgamal-ristretto", None, &["add", "subtract", "multiply_plain"]),
        ("lwe", None, &["add", "multiply"]),
    ];
    for (scheme, key_bits, operations) in has {
        let request = Prepare { scheme: scheme.into(), key_bits, ..Prepare::default() };
        let prepared = engine.prepare(&request).unwrap();
        assert_eq!(prepared.log2_q > 2000.0, key_bits.is_some(), "{scheme}");
        for operation in [
            "keygen",
            "encrypt_public",
            "decrypt",
            "add",
            "subtract",
            "add_plain",
            "multiply",
            "multiply_plain",
        ] {
            let asked = Measure { operation: operation.into(), repetitions: 2, ..Measure::default() };
            let measured = engine.measure(&asked);
            if ["keygen", "encrypt_public", "decrypt"].contains(&operation) || operations.contains(&operation)
            {
                let measured = measured.unwrap_or_else(|error| panic!("{scheme} {operation}: {error}"));
                assert!(measured.verified && measured.microseconds.len() == 2, "{scheme} {operation}");
            } else {
                let error = measured.unwrap_err();
                assert!(
                    matches!(&error, LabError::Refused { reason, .. } if reason == "unsupported"),
                    "{error}"
                );
            }
        }
    }
    for key_bits in [None, Some(1024), Some(100_000)] {
        for scheme in ["paillier", "elgamal"] {
            let request = Prepare { scheme: scheme.into(), key_bits, ..Prepare::default() };
            assert!(engine.prepare(&request).is_err(), "{scheme} {key_bits:?}");
        }
    }
}

#[test]
fn given_values_are_those_of_a_plaintext_that_holds_one() {
    let mut engine = engine();
    let scalar = |values: &[u32]| Prepare {
        encoding: Some("scalar".into()),
        values: values.to_vec(),
        ..prepare("bgv")
    };
    engine.prepare(&scalar(&[3, 4])).unwrap();
    let asked = Measure { operation: "multiply_relin".into(), repetitions: 2, ..Measure::default() };
    assert!(engine.measure(&asked).unwrap().verified);
    for wrong in [scalar(&[3]), Prepare { encoding: None, ..scalar(&[3, 4]) }] {
        assert!(engine.prepare(&wrong).is_err());
    }
}
