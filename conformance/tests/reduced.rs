//! Reduced ciphertexts: lifted, they decrypt to the same values, and what rounding adds is within its bound.
#![allow(clippy::unwrap_used)]

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sotto_conformance::{Fixture, Testable};
use sotto_decrypt::Decryptor;
use sotto_ring::{Eval, Modulus, Poly};
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, EvalError, NoiseRules, REDUCED_WIDTHS, Reduction, Selection};

/// Bits that a bound may lie above what is measured: 13.7 deviations and Σ s² ≤ n against the largest of some thousand.
const MOST_ABOVE: f64 = 6.0;

/// The largest coefficient that is read of what reduction added to the phase, by exact arithmetic.
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
    let coefficient = |at: usize| -> f64 {
        let mut digits: Vec<i64> = Vec::new();
        for (limb, p) in difference.limbs().zip(&moduli) {
            let mut rest = difference.limb(limb)[at];
            for (digit, q) in digits.iter().zip(&moduli) {
                let inverse = p.invert_vartime(p.reduce(q.value())).unwrap();
                rest = p.multiply(p.subtract(rest, p.from_signed(*digit)), inverse);
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

/// Every level and every selection, at the fewest bits that do, one less, and more.
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
    for at in 0..params.degree() {
        let found = plaintext.coefficients()[at];
        if !selection.exponents(params.degree()).any(|read| read == at) {
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

/// The largest canonical norm of the coefficients of one result: at some of the roots.
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
