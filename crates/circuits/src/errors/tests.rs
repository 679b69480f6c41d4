#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use proptest::prelude::*;
use sotto_rlwe::{Ckks, Origin, Params, Scheme, Shape};

use super::rules::ErrorRules;
use super::runs::{Run, extent, insert};
use super::terms::{Errors, Event, KeyUse, Kind, Source};

const ROW: u32 = 64;
const POLYNOMIALS: u32 = 3;

/// A sum of rotated polynomials, as runs and rotation by rotation.
#[derive(Clone, Default)]
struct Both {
    runs: Vec<Run>,
    all: BTreeMap<(u32, u32), f64>,
}

impl Both {
    fn one(polynomial: u32, factor: f64) -> Self {
        let mut one = Self::default();
        insert(&mut one.runs, Run::new(polynomial..polynomial + 1, factor), ROW);
        one.all.insert((polynomial, 0), factor);
        one
    }

    fn rotated(&self, by: i32) -> Self {
        let mut runs: Vec<Run> = self.runs.iter().map(|run| run.rotated(by, ROW)).collect();
        runs.sort_by_key(Run::key);
        let turned = |((polynomial, at), factor): (&(u32, u32), &f64)| {
            ((*polynomial, (*at as i32 + by).rem_euclid(ROW as i32) as u32), *factor)
        };
        Self { runs, all: self.all.iter().map(turned).collect() }
    }

    fn plus(mut self, other: &Self, sign: f64) -> Self {
        for run in &other.runs {
            insert(&mut self.runs, Run { factor: sign * run.factor, ..run.clone() }, ROW);
        }
        for (place, factor) in &other.all {
            *self.all.entry(*place).or_default() += sign * factor;
        }
        self
    }

    fn times(mut self, factor: f64) -> Self {
        self.runs.iter_mut().for_each(|run| run.factor *= factor);
        self.all.values_mut().for_each(|all| *all *= factor);
        self
    }

    /// Compares sizes for every polynomial, of all rotations and of those modulo some divisors of the row.
    fn check(&self) -> Result<(), TestCaseError> {
        for polynomial in 0..POLYNOMIALS {
            for ring in [ROW, 16, 4, 1] {
                let mut folded = Vec::new();
                let covers = |run: &&Run| run.polynomials.contains(&polynomial);
                for run in self.runs.iter().filter(covers).flat_map(|run| run.folded(ring)) {
                    insert(&mut folded, Run { polynomials: polynomial..polynomial + 1, ..run }, ring);
                }
                let found = extent(&folded.iter().collect::<Vec<_>>(), ring);
                let mut exact: BTreeMap<u32, f64> = BTreeMap::new();
                for ((of, at), factor) in &self.all {
                    if *of == polynomial {
                        *exact.entry(at % ring).or_default() += factor;
                    }
                }
                let root = exact.values().map(|factor| factor * factor).sum::<f64>().sqrt();
                let largest = exact.values().map(|factor| factor.abs()).fold(0.0, f64::max);
                prop_assert!(
                    (found.root - root).abs() <= 1e-9 * (1.0 + root),
                    "{found:?} {root} {:?}",
                    self.runs
                );
                prop_assert!((found.largest - largest).abs() <= 1e-9 * (1.0 + largest));
            }
        }
        Ok(())
    }
}

#[derive(Clone, Debug)]
enum Move {
    Rotate(i32),
    AddRotated(i32),
    SubtractRotated(i32),
    Scale(i32),
    AddPolynomial(u32),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let power = (0..6_u32, any::<bool>()).prop_map(|(bit, left)| if left { 1 << bit } else { -(1 << bit) });
    let step = prop_oneof![3 => power, 1 => -63..64_i32];
    let one = prop_oneof![
        1 => step.clone().prop_map(Move::Rotate),
        6 => step.clone().prop_map(Move::AddRotated),
        1 => step.prop_map(Move::SubtractRotated),
        1 => (-3..4_i32).prop_map(Move::Scale),
        2 => (0..POLYNOMIALS).prop_map(Move::AddPolynomial),
    ];
    proptest::collection::vec(one, 1..14)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn runs_equal_rotations_one_by_one(moves in moves()) {
        let mut sum = Both::one(0, 1.0);
        for step in moves {
            sum = match step {
                Move::Rotate(by) => sum.rotated(by),
                Move::AddRotated(by) => sum.clone().plus(&sum.rotated(by), 1.0),
                Move::SubtractRotated(by) => sum.clone().plus(&sum.rotated(by), -1.0),
                Move::Scale(by) => sum.times(f64::from(by)),
                Move::AddPolynomial(number) => sum.plus(&Both::one(number, 1.0), 1.0),
            };
            sum.check()?;
        }
    }
}

/// The sum of all slots is one run, whatever the order of the rotations.
#[test]
fn sums_of_slots_are_single_runs() {
    for steps in [[1, 2, 4, 8, 16, 32], [32, 16, 8, 4, 2, 1], [8, 1, 32, 2, 16, 4]] {
        let mut sum = Both::one(0, 1.0);
        for step in steps {
            sum = sum.clone().plus(&sum.rotated(step), 1.0);
        }
        assert_eq!(sum.runs.len(), 1, "{:?}", sum.runs);
    }
}

fn rules() -> (Params<Ckks>, ErrorRules, Shape<Ckks>) {
    let params = Params::<Ckks>::default_chain(8192, 0).unwrap();
    let rules = ErrorRules::new(&params).unwrap();
    let shape = Shape::fresh(&params, Origin::SecretKey, 1.0).unwrap();
    (params, rules, shape)
}

/// Returns the bound on the sum of these errors, without the limit by a shape.
fn bound(parts: &[Errors]) -> f64 {
    let (params, rules, shape) = rules();
    let mut sum = Errors::default();
    parts.iter().for_each(|part| rules.add(&mut sum, part));
    let large = shape.with_slot_bounds(&params, 1.0, 1.0);
    rules.slot_error(&params, &sum, &large, None)
}

#[test]
fn parts_of_one_vector_add_as_squares_and_the_same_part_linearly() {
    let (_, rules, _) = rules();
    let vector = Event::new();
    let part = |part| rules.like_fresh(&rules_shape(), vector, part);
    let one = bound(&[part(0)]);
    let many: Vec<_> = (0..16).map(part).collect();
    assert!((bound(&many) / one - 4.0).abs() < 1e-3);
    assert!((bound(&vec![part(7); 16]) / one - 16.0).abs() < 1e-3);
    let others: Vec<_> = (0..16).map(|_| rules.like_fresh(&rules_shape(), Event::new(), 0)).collect();
    assert!((bound(&others) / one - 16.0).abs() < 1e-3, "different vectors may be one");
}

fn rules_shape() -> Shape<Ckks> {
    let (params, _, shape) = rules();
    shape.with_slot_bounds(&params, 1.0, 1e-6)
}

/// Roundings of encodings depend on the data: equal data in all parts add up.
#[test]
fn encodings_add_linearly_over_parts() {
    let (params, rules, shape) = rules();
    let vector = Event::new();
    let norm = |count: u32| {
        let mut sum = Errors::default();
        (0..count)
            .for_each(|part| rules.add(&mut sum, &rules.fresh(Origin::SecretKey, vector, part, Some(1))));
        rules.slot_error(&params, &sum, &shape.with_slot_bounds(&params, 1.0, 1.0), None)
    };
    // Of 2 coefficients, at most 1/√2 a slot; the difference is far below the random part.
    assert!(norm(1) < norm(4) && norm(4) < 2.1 * norm(1));
    let mut once = rules.fresh(Origin::SecretKey, vector, 0, None);
    let own = once.clone();
    rules.subtract(&mut once, &own);
    assert_eq!(once, Errors::default(), "x − x has no error");
}

/// A key that the masks may depend on adds its worst case.
#[test]
fn keys_count_as_random_until_a_product_mixes_them() {
    let (params, rules, shape) = rules();
    let switched = |times: usize, mixed: bool| {
        let mut errors = Errors::default();
        for _ in 0..times {
            rules.switch(&params, &mut errors, shape.level, KeyUse::Relinearisation);
        }
        if mixed {
            errors = rules.product((&errors, &shape), (&Errors::default(), &shape));
            rules.switch(&params, &mut errors, shape.level, KeyUse::Relinearisation);
        }
        errors
    };
    assert_eq!(switched(1, false).worst, 0.0);
    assert!(switched(1, true).worst > 0.0);
    assert!(bound(&[switched(2, false)]) > 1.9 * bound(&[switched(1, false)]), "one key adds up");
}

/// Roundings of encodings, without any encryption: their sum over a period keeps two coefficients, and their squares over a
/// period are bounded.
#[test]
fn roundings_of_encodings_are_within_their_bounds() {
    let (params, rules, shape) = rules();
    let scale = params.scale(shape.level);
    for period in [1_usize, 2, 64, 4096] {
        // An encoding alone, without the random part of a fresh ciphertext.
        let bound = |count: usize| {
            let mut sum = Errors::default();
            let group = (Source::Encoding, Event::new(), Kind::Rounding(period as u32));
            let one = {
                let mut one = Errors::default();
                one.push(group, 0..1, period as f64 / core::f64::consts::SQRT_2, 4096);
                one
            };
            for at in 0..count {
                let mut moved = one.clone();
                // A whole turn more, as 0 conjugates.
                rules.rotate(&mut moved, at as i32 + 4096);
                rules.add(&mut sum, &moved);
            }
            let large = shape.with_slot_bounds(&params, 1.0, 1.0);
            rules.slot_error(&params, &sum, &large, None)
                - rules.slot_error(&params, &Errors::default(), &large, None)
        };
        let (whole, one) = (bound(period), bound(1));
        assert!((whole * scale / (period as f64 / core::f64::consts::SQRT_2) - 1.0).abs() < 1e-2, "{period}");
        for seed in 0..20_u64 {
            let value = |at: usize| ((at as u64 + 1) * (seed * 7919 + 104_729) % 10_007) as f64 / 10_007.0;
            let values: Vec<f64> = (0..period).map(value).collect();
            let plaintext = params.encode_repeated(&values, params.top_level()).unwrap();
            let found = Ckks::decode_slots(&params, &plaintext).unwrap();
            let off: Vec<f64> = found.iter().zip(&values).map(|(found, value)| found - value).collect();
            assert!(
                off.iter().sum::<f64>().abs() <= whole,
                "{period}: {:e} {whole:e}",
                off.iter().sum::<f64>()
            );
            assert!(off.iter().map(|off| off * off).sum::<f64>().sqrt() <= one, "{period}");
        }
    }
}
