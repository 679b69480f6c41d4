//! Reduced ciphertexts decrypt to the same values after they are lifted, and the error of rounding is within its bound.

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sotto_conformance::vectors::{self, Limbs, ReducedCase};
use sotto_conformance::{Fixture, Testable};
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::{Coeff, Eval, Modulus, Poly};
use sotto_rlwe::{
    Bfv, Bgv, Ciphertext, Ckks, EvalError, KeyId, Log2, Noise, NoiseRules, Origin, ParameterSpec, Params,
    REDUCED_WIDTHS, Reduction, Scheme, SchemeId, Selection, Shape,
};
use sotto_wire::{read_reduced, reduced_bytes, write_reduced};

/// Most bits from the largest measured error up to the bound: the bound takes 13.7 deviations and Σ s² ≤ n, the
/// measurement the largest of some thousand.
const MOST_ABOVE: f64 = 6.0;

/// Returns the largest error that reduction added to a selected coefficient, by exact arithmetic.
fn added<S: Testable>(
    fixture: &Fixture<S>,
    before: &Ciphertext<S>,
    after: &Ciphertext<S>,
    selection: Selection,
) -> Vec<f64> {
    let phase = |ciphertext: &Ciphertext<S>| -> Poly<Eval> {
        let [c0, c1] = ciphertext.components() else { panic!("two components") };
        let mut phase = c1.product(fixture.secret.expose_secret_eval());
        phase.add_assign(c0);
        phase
    };
    let mut difference = phase(after);
    difference.subtract_assign(&phase(before));
    let difference = difference.into_coeff();
    // Garner: x = d_0 + q_0·(d_1 + q_1·(…)) with centred digits.
    let moduli: Vec<&Modulus> = difference.limbs().map(|limb| fixture.params.modulus(limb)).collect();
    let inverse = |p: &Modulus, q: &Modulus| p.invert_vartime(p.reduce(q.value())).unwrap();
    let inverses: Vec<Vec<u64>> = (0..moduli.len())
        .map(|limb| moduli[..limb].iter().map(|q| inverse(moduli[limb], q)).collect())
        .collect();
    let coefficient = |at: usize| -> f64 {
        let mut digits: Vec<i64> = Vec::new();
        for ((limb, p), inverses) in difference.limbs().zip(&moduli).zip(&inverses) {
            let mut rest = difference.limb(limb)[at];
            for (digit, inverse) in digits.iter().zip(inverses) {
                rest = p.multiply(p.subtract(rest, p.from_signed(*digit)), *inverse);
            }
            digits.push(p.centre(rest));
        }
        digits.iter().zip(&moduli).rev().fold(0.0, |x, (digit, q)| x * q.value() as f64 + *digit as f64)
    };
    selection.exponents(fixture.params.degree()).map(coefficient).collect()
}

fn selections(degree: usize, rng: &mut impl Rng) -> Vec<Selection> {
    let log = degree.ilog2();
    let spacing = 1usize << (1 + rng.next_u32() % (log - 2));
    let count = 1 + rng.next_u32() as usize % (spacing - 1).max(1);
    vec![Selection::ALL, Selection::new(spacing, count), Selection::new(degree, degree / 32)]
}

/// Every level and every selection, at the smallest sufficient width, one bit less, and more.
fn holds<S: Testable>(degree: usize, seed: u8) {
    let mut fixture = Fixture::<S>::default_chain(degree, seed);
    let mut rng = ChaCha20Rng::from_seed([seed; 32]);
    let values = fixture.values();
    let fresh = fixture.encrypt(&values, seed % 2 == 1);
    let tight = if S::EXACT { f64::INFINITY } else { 1e-3 };
    let mut tried = 0;
    for level in 0..=fixture.params.top_level() {
        let Ok(ciphertext) = fixture.evaluator.lower(&fresh, level) else { continue };
        for selection in selections(degree, &mut rng) {
            let shape = *ciphertext.shape();
            let Some(least) = shape.least_width(&fixture.params, selection, tight) else { continue };
            for width in [least, least + 1 + rng.next_u32() % 6] {
                let reduction = Reduction { width, selection };
                let Ok(expected) = shape.reduced(&fixture.params, reduction) else { continue };
                let reduced = ciphertext.reduce(reduction).unwrap();
                let lifted = reduced.lift().unwrap();
                assert_eq!(format!("{:?}", lifted.shape()), format!("{expected:?}"));
                tried += 1;
                check(&fixture, (&ciphertext, &lifted), reduction, &values);
            }
            if S::EXACT && least > *REDUCED_WIDTHS.start() {
                let reduction = Reduction { width: least - 1, selection };
                let refused = ciphertext.reduce(reduction).unwrap_err();
                assert!(matches!(refused, EvalError::Noise { .. }), "{refused}");
            }
        }
    }
    assert!(tried >= 4, "{} n = {degree}: {tried}", S::ID);
}

fn check<S: Testable>(
    fixture: &Fixture<S>,
    (before, lifted): (&Ciphertext<S>, &Ciphertext<S>),
    reduction: Reduction,
    values: &[S::Value],
) {
    let (params, decryptor) = (&fixture.params, Decryptor::new(&fixture.secret));
    let what = format!("{} n = {}, level {}, {reduction:?}", S::ID, params.degree(), before.level());
    let selection = reduction.selection;
    let plaintext = decryptor.decrypt_selected(lifted, selection).unwrap();
    let whole = decryptor.decrypt(before).unwrap();
    let mut read = vec![false; params.degree()];
    selection.exponents(params.degree()).for_each(|at| read[at] = true);
    for (at, is_read) in read.into_iter().enumerate() {
        let found = plaintext.coefficients()[at];
        if !is_read {
            assert_eq!(found, 0, "{what}: {at}");
        } else if S::EXACT {
            assert_eq!(found, whole.coefficients()[at], "{what}: {at}");
        }
        if at > 600 && selection != Selection::ALL {
            break;
        }
    }
    if selection == Selection::ALL {
        fixture.check(&what, lifted, values);
    }
    let added = added(fixture, before, lifted, selection);
    let largest = if S::EXACT {
        added.iter().fold(0.0f64, |most, x| most.max(x.abs()))
    } else {
        canonical(&added, selection, params.degree())
    };
    let bound = S::Noise::reduction(params, before.level(), reduction).0;
    let above = bound - largest.log2();
    println!("{what}: added 2^{:.1}, bound 2^{bound:.1}, {above:.1} bits above", largest.log2());
    assert!((0.0..MOST_ABOVE).contains(&above), "{what}: {above}");
}

/// Returns the largest canonical norm of the coefficients of one result, at some of the roots.
fn canonical(added: &[f64], selection: Selection, degree: usize) -> f64 {
    let of_one = selection.coefficients_of_one(degree);
    let mut largest = 0.0f64;
    for result in 0..selection.count {
        for root in (1..2 * of_one).step_by(2 * (of_one / 64).max(1)) {
            let (mut re, mut im) = (0.0, 0.0);
            for (j, x) in added.iter().skip(result).step_by(selection.count).enumerate() {
                let angle = core::f64::consts::PI * (root * j % (2 * of_one)) as f64 / of_one as f64;
                re += x * angle.cos();
                im += x * angle.sin();
            }
            largest = largest.max(re.hypot(im));
        }
    }
    largest
}

#[test]
fn bfv() {
    for (degree, seed) in [(4096, 1), (8192, 2), (16384, 3)] {
        holds::<Bfv>(degree, seed);
    }
}

#[test]
fn bgv() {
    for (degree, seed) in [(4096, 1), (8192, 2), (16384, 3)] {
        holds::<Bgv>(degree, seed);
    }
}

#[test]
fn ckks() {
    for (degree, seed) in [(4096, 1), (8192, 2), (16384, 3)] {
        holds::<Ckks>(degree, seed);
    }
}

/// Makes a polynomial of coefficients, limb by limb.
fn poly<S: Scheme>(params: &Params<S>, limbs: &Limbs) -> Poly<Eval> {
    let mut poly = Poly::<Coeff>::zero(params.ring(), params.limbs(params.top_level()));
    for (i, limb) in params.limbs(params.top_level()).zip(limbs) {
        poly.limb_mut(i).copy_from_slice(limb);
    }
    poly.into_eval()
}

fn known_answer<S: Scheme>(case: &ReducedCase) {
    let spec = ParameterSpec {
        scheme: S::ID,
        degree: case.degree,
        special: Vec::new(),
        data: case.data.clone(),
        digit_primes: 1,
        plain: case.plain,
    };
    let params = Params::<S>::insecure(spec).unwrap();
    let noise = Noise { message: Log2::ZERO, error: Log2::ZERO };
    let shape = Shape::bounded(params.top_level(), 2, S::fresh_scaling(), noise);
    let [c0, c1] = &case.components;
    let components = [poly(&params, c0), poly(&params, c1)];
    let ciphertext = Ciphertext::from_parts(&params, KeyId([1; 16]), shape, components);
    let selection = Selection { spacing: case.spacing, count: case.count };
    let reduced = ciphertext.reduce(Reduction { width: case.width, selection }).unwrap();
    let what = format!("{} n = {}, {} bits", S::ID, case.degree, case.width);
    assert_eq!((reduced.body(), reduced.mask()), (&case.body[..], &case.mask[..]), "{what}");
    let lifted = reduced.lift().unwrap();
    for (component, expected) in lifted.components().iter().zip(&case.lifted) {
        assert_eq!(*component, poly(&params, expected), "{what}: lifted");
    }
}

#[test]
fn known_answers() {
    for case in vectors::cases::<ReducedCase>("reduced") {
        match case.scheme.as_str() {
            "bfv" => known_answer::<Bfv>(&case),
            "bgv" => known_answer::<Bgv>(&case),
            _ => known_answer::<Ckks>(&case),
        }
    }
}

/// Writes the frame of `count` values modulo t, one a coefficient; read again, it opens to the values.
fn answer<S: Testable + Scheme<Value = i64>>(degree: usize, t: u64, values: usize) -> usize {
    let params = Params::<S>::default_chain(degree, t).unwrap();
    let mut rng = ChaCha20Rng::from_seed([9; 32]);
    let secret = SecretKey::<S>::derive(&DeviceSecret::generate(&mut rng), &params);
    let half = (t / 2) as i64;
    let mut all: Vec<i64> = (0..values).map(|_| (rng.next_u64() % t) as i64 - half).collect();
    (all[0], all[1]) = (half - 1, -half + 1);
    let plain = S::encode_coefficients(&params, &all, params.top_level()).unwrap();
    let ciphertext = secret.encrypt(&plain, &mut rng).unwrap().expand();
    // A sum of many windows has a few bits more noise than one window.
    let mut shape = *ciphertext.shape();
    shape.noise.error = shape.noise.error + shape.noise.error * Log2::of(63.0);
    let selection = Selection::new(degree, values);
    let width = shape.least_width(&params, selection, 0.0).unwrap();
    let reduction = Reduction { width, selection };
    let frame = write_reduced(&ciphertext.reduce(reduction).unwrap());
    assert_eq!(frame.len(), reduced_bytes(&params, reduction));
    let lifted = read_reduced(&frame, &params).unwrap().with_claimed_shape().lift().unwrap();
    let opened = Decryptor::new(&secret).decrypt_selected(&lifted, selection).unwrap();
    assert_eq!(opened.coefficients()[..values], all);
    println!(
        "{} n = {degree}, {values} values of {} bits: {width} bits, {} bytes",
        S::ID,
        t.ilog2() + 1,
        frame.len()
    );
    frame.len()
}

/// 128 values of 23 bits take less than 18 KB, of 36 bits less than 50 KB; 5 and 6 bytes for each further value.
fn answers_are_small<S: Testable + Scheme<Value = i64>>() {
    let of = |bits: u32, degree: usize| sotto_ring::primes::below(1 << bits, degree).next().unwrap();
    for (degree, bits, most, each) in [(4096, 23, 18_000, 5), (8192, 36, 50_000, 6)] {
        let t = of(bits, degree);
        assert_eq!(t.ilog2() + 1, bits);
        let (few, more) = (answer::<S>(degree, t, 128), answer::<S>(degree, t, 192));
        assert!(few <= most && more - few <= 64 * each, "{} n = {degree}: {few} {more}", S::ID);
    }
}

#[test]
fn answers_of_exact_schemes_are_small() {
    answers_are_small::<Bfv>();
    answers_are_small::<Bgv>();
}

#[test]
fn forms_that_do_not_exist_are_refused() {
    let params = Params::<Bfv>::default_chain(4096, 40_961).unwrap();
    let shape = Shape::fresh(&params, Origin::SecretKey, 1.0).unwrap();
    let all = |width| Reduction { width, selection: Selection::ALL };
    for width in [0, 7, 57, u32::MAX] {
        assert!(matches!(shape.reduced(&params, all(width)), Err(EvalError::Width { .. })), "{width}");
    }
    let lowest = shape.lower(&params, 0).unwrap();
    assert_eq!(SchemeId::Bfv, params.scheme());
    // A level's modulus must have more bits than a coefficient.
    let most = params.data_bits(0).floor() as u32;
    assert!(lowest.reduced(&params, all(most)).is_ok());
    assert!(matches!(lowest.reduced(&params, all(most + 1)), Err(EvalError::Width { .. })));
    for (spacing, count) in [(0, 1), (3, 1), (8192, 1), (8, 0), (8, 8), (8, 9), (1, 0), (1, 2)] {
        let reduction = Reduction { width: 40, selection: Selection { spacing, count } };
        assert!(
            matches!(shape.reduced(&params, reduction), Err(EvalError::Selection { .. })),
            "{spacing} {count}"
        );
    }
    let product = shape.multiply(&params, &shape).unwrap();
    assert!(matches!(product.reduced(&params, all(40)), Err(EvalError::Components { components: 3 })));
}
