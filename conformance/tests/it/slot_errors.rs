//! Bounds on the errors of CKKS answers against measured errors: never below them, and not far above.
//!
//! `cargo test --release -p sotto-conformance --test it slot_errors:: -- --nocapture` prints the table of docs/concepts/noise.md.

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_program::{
    InputDeclaration, KeysNeeded, Op, ParseOptions, Program, ProgramBuilder, SlotShape, clear, parse,
};
use sotto_ring::Scratch;
use sotto_rlwe::{Ckks, Evaluator, Kept, Origin, Params, Scheme};
use sotto_runtime::{Encoding, Lowered, Merged, Planned, RlweTarget, run};

/// Most bits from the largest error of all slots and runs up to the bound.
const LINEAR: f64 = 6.0;
const PRODUCTS: f64 = 10.0;
/// The same for results of many windows in one ciphertext, whose shared errors the bound adds in full.
const MERGED: f64 = 13.0;

/// A question, and the allowed bits of its kind.
const QUESTIONS: [(&str, &str, f64); 9] = [
    ("sum of slots", "sum(x)", LINEAR),
    ("mean", "sum(x)*0.000244140625", LINEAR),
    ("weighted sum", "sum([0.5, -1, 0.25, 0.75] * x)", LINEAR),
    ("linear model", "0.5*x - 0.25*y + 3", LINEAR),
    ("sum of two", "x + y", LINEAR),
    ("rotations", "x + rotate(x, 1) + rotate(x, 2) + rotate(y, 1)", LINEAR),
    ("variance", "sum(x*x)*0.000244140625 - (sum(x)*0.000244140625)^2", PRODUCTS),
    ("polynomial", "0.5 + x - 0.1*x*x + 0.01*x*x*x", PRODUCTS),
    ("sum of products", "sum(x*y)", PRODUCTS),
];

/// Kinds of data: spread, at the ends of the range, all equal.
const KINDS: usize = 3;

fn values(kind: usize, count: usize, rng: &mut ChaCha20Rng) -> Vec<f64> {
    let mut unit = || f64::from(rng.next_u32()) / f64::from(u32::MAX) * 2.0 - 1.0;
    match kind {
        0 => (0..count).map(|_| unit()).collect(),
        1 => (0..count).map(|_| unit().signum()).collect(),
        _ => vec![1.0; count],
    }
}

/// The bound by shapes, the bound by the plan, and the largest error over runs on all kinds of data; one run uses one
/// ciphertext as both inputs.
fn measure(text: &str, degree: usize) -> (f64, f64, f64) {
    let params = Params::<Ckks>::default_chain(degree, 0).unwrap();
    let width = u32::try_from(degree / 2).unwrap();
    let options = ParseOptions {
        inputs: vec![InputDeclaration::new("x", 1.0), InputDeclaration::new("y", 1.0)],
        sum_width: Some(width),
        ..ParseOptions::default()
    };
    let program: Program = parse(text, &options).unwrap_or_else(|error| panic!("{error}")).program;
    let target = RlweTarget {
        params: params.clone(),
        encoding: Encoding::Slots,
        origin: Origin::SecretKey,
        kept: None,
        may_wrap: false,
    };
    let lowered = target.lower_with_shapes(&program).unwrap_or_else(|error| panic!("{text}: {error}"));
    let Planned { shape, slot_error: bound, .. } = lowered.outputs[0];
    let mut worst: f64 = 0.0;
    for run_number in 0..=KINDS {
        let mut rng = ChaCha20Rng::from_seed([run_number as u8 + 1; 32]);
        let secret = SecretKey::<Ckks>::derive(&DeviceSecret::generate(&mut rng), &params);
        let keys = secret
            .evaluation_keys(lowered.plan.keys.relinearisation, &lowered.plan.keys.rotations, &mut rng)
            .unwrap();
        let same = run_number == KINDS;
        let x = values(run_number % KINDS, degree / 2, &mut rng);
        let y = if same { x.clone() } else { values(run_number % KINDS, degree / 2, &mut rng) };
        let mut encrypt = |values: &[f64]| {
            let plain =
                Ckks::encode_slots(&params, values, params.top_level()).unwrap().declare_magnitude(1.0);
            secret.encrypt(&plain, &mut rng).unwrap().expand()
        };
        let first = encrypt(&x);
        let inputs = if same { vec![first.clone(), first] } else { vec![first, encrypt(&y)] };
        let outputs = run(&lowered.plan, &Evaluator::new(&params), inputs, &keys).unwrap();
        let plaintext = Decryptor::new(&secret).decrypt(&outputs[0]).unwrap();
        let found = Ckks::decode_slots(&params, &plaintext).unwrap();
        let clear = clear::run_real(&program, &[x, y], target.slot_shape().unwrap()).unwrap();
        for (found, clear) in found.iter().zip(&clear[0]) {
            worst = worst.max((found - clear).abs());
        }
    }
    (shape.slot_error(&params), bound, worst)
}

/// A cubic polynomial of some inputs, and the sum of each input and its own rotation by a quarter of the places.
fn compact_program(places: usize, windows: usize) -> (Program, Vec<Merged>) {
    let mut asked = ProgramBuilder::new();
    let mut merged = Vec::new();
    let inputs: Vec<_> = (0..windows).map(|at| asked.declare(format!("w{at}"), 1.0)).collect();
    for (kind, what) in ["cubic", "linear"].into_iter().enumerate() {
        let mut together = Merged { name: what.to_owned(), outputs: Vec::new() };
        for (at, input) in inputs.iter().enumerate() {
            let x = asked.read(*input);
            let result = if kind == 0 {
                let (square, [a, b, c]) = (asked.mul(x, x), [0.5, -0.3, 0.2].map(|c| asked.real(c)));
                let (cube, linear) = (asked.mul(square, x), asked.mul(x, a));
                let (square, cube) = (asked.mul(square, b), asked.mul(cube, c));
                let sum = asked.add(linear, square);
                asked.add(sum, cube)
            } else {
                let beside = asked.push(Op::Rotate(x, places as i32 / 2));
                let (half, beside) = (asked.real(0.5), asked.add(x, beside));
                asked.mul(beside, half)
            };
            asked.output(format!("{what}.{at}"), result);
            together.outputs.push((kind * windows + at, at as u32));
        }
        merged.push(together);
    }
    (asked.finish().unwrap(), merged)
}

/// Compact inputs are expanded; results of several windows share one ciphertext; every slot of every part is within the
/// plan's bound.
#[test]
fn bounds_hold_for_parts_of_compact_inputs() {
    let scratch = &mut Scratch::new();
    for (degree, places, windows) in [
        (8192, 2, 3),
        (8192, 32, 64),
        (8192, 512, 8),
        (8192, 2048, 2),
        (8192, 4096, 1),
        (16384, 32, 40),
        (16384, 4096, 1),
    ] {
        let params = Params::<Ckks>::default_chain(degree, 0).unwrap();
        let kept = Kept::Folded(places);
        let (program, merged) = compact_program(places, windows);
        let target = RlweTarget {
            params: params.clone(),
            encoding: Encoding::Slots,
            origin: Origin::SecretKey,
            kept: Some(kept),
            may_wrap: false,
        };
        let whole = target.lower_merged(&program, &merged).unwrap();
        let lowered = target.lower_reduced(&program, &merged).unwrap();
        let mut rng = ChaCha20Rng::from_seed([places as u8; 32]);
        let secret = SecretKey::<Ckks>::derive(&DeviceSecret::generate(&mut rng), &params);
        let KeysNeeded { relinearisation, .. } = lowered.keys;
        let steps = lowered.keys.galois_steps();
        let keys = secret.evaluation_keys(relinearisation, &steps, &mut rng).unwrap();
        let evaluator = Evaluator::new(&params);
        let windows: Vec<Vec<f64>> = (0..windows).map(|at| values(at % KINDS, places, &mut rng)).collect();
        let mut encrypt = |window: &Vec<f64>| {
            let plain = params.encode_folded(window, 1.0, params.top_level()).unwrap();
            let compact = secret.encrypt(&plain, &mut rng).unwrap().compact(kept).unwrap();
            evaluator.expand(&compact, &keys, scratch).unwrap()
        };
        let inputs = windows.iter().map(&mut encrypt).collect();
        let outputs = run(&lowered.plan, &evaluator, inputs, &keys).unwrap();
        let row = SlotShape { rows: 1, columns: places as u32 };
        let clear = clear::run_real(&program, &windows, row).unwrap();
        for (number, (output, planned)) in outputs.iter().zip(&lowered.outputs).enumerate() {
            let decryptor = Decryptor::new(&secret);
            assert!(planned.slot_error <= 1.13 * whole.outputs[number].slot_error, "an eighth at most");
            let plaintext = match planned.reduction {
                Some(reduction) => {
                    let lifted = output.reduce(reduction).unwrap().lift().unwrap();
                    decryptor.decrypt_selected(&lifted, reduction.selection).unwrap()
                }
                None => decryptor.decrypt(output).unwrap(),
            };
            let bytes = |lowered: &Lowered<Ckks>| lowered.plan.predicted.output_bytes;
            println!("{:?}: {} bytes, whole {}", planned.reduction, bytes(&lowered), bytes(&whole));
            // Windows that fill a ciphertext leave whole where going down a level would raise the error bound by more
            // than an eighth.
            let small = places <= 512;
            assert!(if small {
                3 * bytes(&lowered) < 2 * bytes(&whole)
            } else {
                bytes(&lowered) <= bytes(&whole)
            });
            let decoded = decryptor.decode_parts(&plaintext, &planned.shape, places, windows.len()).unwrap();
            let found = decoded.raw_values_for_owner_only().to_vec();
            let clear = clear[number * windows.len()..][..windows.len()].concat();
            let off = |(found, clear): (&f64, &f64)| (found - clear).abs();
            let measured = found.iter().zip(&clear).map(off).fold(0.0, f64::max);
            let bits = (planned.slot_error / measured).log2();
            println!(
                "n = {degree}, {places} places, {} windows, {}: measured {measured:.1e}, bound {:.1e}, {bits:.1} bits",
                windows.len(),
                merged[number].name,
                planned.slot_error
            );
            assert!(found.len() == clear.len() && measured <= planned.slot_error, "{degree} {places}");
            assert!(bits <= MERGED, "{degree} {places}: {bits:.1} bits");
        }
    }
}

#[test]
fn bounds_hold_and_are_near_what_is_measured() {
    println!(
        "{:>6} {:<16} {:>9} {:>9} {:>9} {:>5} {:>5}",
        "n", "question", "measured", "bound", "by shape", "bits", "shape"
    );
    let mut far = Vec::new();
    for degree in [8192, 16384] {
        for (name, text, most) in QUESTIONS {
            let (by_shape, bound, measured) = measure(text, degree);
            let bits = (bound / measured).log2();
            println!(
                "{degree:>6} {name:<16} {measured:>9.1e} {bound:>9.1e} {by_shape:>9.1e} {bits:>5.1} {:>5.1}",
                (by_shape / measured).log2()
            );
            assert!(measured <= bound && bound <= by_shape, "{name}: {measured} {bound} {by_shape}");
            if bits > most {
                far.push(format!("{name} at n = {degree}: {bits:.1} bits"));
            }
        }
    }
    assert!(far.is_empty(), "{far:?}");
}
