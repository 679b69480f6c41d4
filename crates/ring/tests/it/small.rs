//! Compares every operation of the ring at n = 16 with integers, on each target. Small enough for the interpreter of
//! `cargo ci miri`.

use std::sync::Arc;

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sotto_ring::{
    Coeff, Conversion, Division, Eval, GaloisMap, Kernels, Modulus, Poly, Ring, Rounding, SEED_BYTES,
    Scratch, Seed, SmallPoly, Target, parallel::PART, primes,
};

const DEGREE: usize = 16;
const LIMBS: core::ops::Range<usize> = 0..3;

fn rings() -> Vec<Arc<Ring>> {
    let chain: Vec<u64> = primes::below(1 << 40, DEGREE).take(3).collect();
    let ring = |target| Ring::with_target(DEGREE, &chain, &target).unwrap();
    Target::available().into_iter().map(ring).collect()
}

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([3; 32])
}

/// Returns random coefficients, |coefficient| < 2^bits.
fn random(bits: u32, rng: &mut ChaCha20Rng) -> Vec<i64> {
    (0..DEGREE).map(|_| (rng.next_u64() as i64) >> (63 - bits)).collect()
}

/// Returns the coefficients as integers. They must be below half of the first limb's prime, and the other limbs must
/// agree.
fn integers(poly: &Poly<Coeff>) -> Vec<i64> {
    let (ring, first) = (poly.ring(), poly.limbs().start);
    let found: Vec<i64> = poly.limb(first).iter().map(|x| ring.modulus(first).centre(*x)).collect();
    assert_eq!(*poly, Poly::from_signed(ring, poly.limbs(), &found), "the limbs disagree");
    found
}

#[test]
fn products_are_negacyclic() {
    let mut rng = rng();
    let (a, b) = (random(12, &mut rng), random(12, &mut rng));
    let mut expected = vec![0; DEGREE];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            let sign = if i + j < DEGREE { 1 } else { -1 };
            expected[(i + j) % DEGREE] += sign * x * y;
        }
    }
    for ring in rings() {
        let eval = |c: &[i64]| Poly::from_signed(&ring, LIMBS, c).into_eval();
        let (p, q) = (eval(&a), eval(&b));
        assert_eq!(integers(&p.product(&q).into_coeff()), expected);
        let mut sum = p.clone();
        sum.add_product(&p, &q);
        sum.scale_signed(-3);
        sum.negate();
        sum.subtract_assign(&p);
        sum.add_assign(&q);
        let by_hand: Vec<i64> =
            expected.iter().zip(a.iter().zip(&b)).map(|(e, (x, y))| 3 * (x + e) - x + y).collect();
        assert_eq!(integers(&sum.into_coeff()), by_hand);
    }
}

#[test]
fn galois_maps_substitute() {
    let a = random(20, &mut rng());
    for ring in rings() {
        for element in (1..2 * DEGREE).step_by(2) {
            let mut expected = vec![0; DEGREE];
            for (i, x) in a.iter().enumerate() {
                let power = i * element % (2 * DEGREE);
                expected[power % DEGREE] = if power < DEGREE { *x } else { -x };
            }
            let map = GaloisMap::new(DEGREE, element).unwrap();
            let mapped = map.apply(&Poly::from_signed(&ring, LIMBS, &a).into_eval());
            assert_eq!(integers(&mapped.into_coeff()), expected, "X → X^{element}");
        }
    }
}

#[test]
fn conversion_and_division_are_those_of_the_integers() {
    let a = random(60, &mut rng());
    for ring in rings() {
        let poly = Poly::from_signed(&ring, LIMBS, &a);
        // From two primes to the third.
        let conversion = Conversion::new(&ring.moduli(0..2), &ring.moduli(2..3));
        let quotients =
            conversion.prepare(ring.kernels(), [poly.limb(0), poly.limb(1)].into_iter(), &mut Scratch::new());
        let mut converted = vec![0; DEGREE];
        conversion.write(ring.kernels(), &quotients, 0, &mut converted);
        assert_eq!(converted, poly.limb(2));
        // Division by the first prime, in both forms.
        let dropped = ring.modulus(0);
        let d = dropped.value() as i64;
        for t in [None, Some(257), Some(16)] {
            let rounding = t.map_or(Rounding::Nearest, |t| Rounding::CongruentMod(Modulus::new(t).unwrap()));
            let division = Division::new(&ring, 0..1, 1..3, rounding).unwrap();
            let found = division.apply(&poly);
            assert_eq!(division.apply::<Eval>(&poly.clone().into_eval()).into_coeff(), found);
            for (quotient, x) in integers(&found).iter().zip(&a) {
                let rest = i128::from(*x) - i128::from(*quotient) * i128::from(d);
                let width = t.map_or(1, |t| i128::from(t) + 1);
                assert!(2 * rest.abs() <= width * i128::from(d), "{rest}");
                assert_eq!(rest % t.map_or(1, i128::from), 0);
            }
        }
    }
}

/// Converting to all targets at once and part by part equals converting to one target: from one prime and from two, to
/// residues and to multiples of t, in rows shorter than a part, of several parts, and of several parts and a remainder.
#[test]
fn conversions_by_parts_are_those_of_whole_rows() {
    let chain: Vec<Modulus> =
        primes::below(1 << 40, 1024).take(5).map(|q| Modulus::new(q).unwrap()).collect();
    let (mut rng, t) = (rng(), Modulus::new(257).unwrap());
    let kernels = Kernels::available();
    let lengths: &[usize] = if cfg!(miri) { &[16] } else { &[8, PART, 2 * PART, 2 * PART + 24] };
    for (kernels, length) in kernels.iter().flat_map(|k| lengths.iter().map(move |length| (k, *length))) {
        for count in [1, 2] {
            let (sources, targets) = chain.split_at(count);
            let plain = Conversion::new(sources, targets);
            let congruent = Conversion::congruent(sources, targets, &t).unwrap();
            for conversion in [plain, congruent] {
                let mut scratch = Scratch::new();
                let mut rows = scratch.rows(count, length);
                for (k, q) in sources.iter().enumerate() {
                    rows.row_mut(k).iter_mut().for_each(|x| *x = q.reduce(rng.next_u64()));
                }
                let quotients = conversion.prepare(kernels, rows.iter(), &mut scratch);
                for (k, q) in sources.iter().enumerate() {
                    (kernels.scale)(q, rows.row_mut(k), q.factor(conversion.row_factor(k)));
                }
                let mut found = scratch.rows(targets.len(), length);
                conversion.convert_rows(kernels, &rows, &mut found);
                for target in 0..targets.len() {
                    let mut expected = vec![0; length];
                    conversion.write(kernels, &quotients, target, &mut expected);
                    assert_eq!(found.row(target), expected, "{count} primes, {length} words");
                }
            }
        }
    }
}

#[test]
fn samples_and_seeds_have_their_ranges() {
    let mut rng = rng();
    for ring in rings() {
        let uniform = Seed([5; SEED_BYTES]).expand(0, &ring, LIMBS);
        for i in LIMBS {
            assert!(uniform.limb(i).iter().all(|x| *x < ring.modulus(i).value()));
        }
        let ternary = SmallPoly::ternary(DEGREE, &mut rng);
        let error = SmallPoly::centred_binomial(DEGREE, &mut rng);
        assert!(ternary.coefficients().iter().all(|x| x.abs() <= 1));
        assert!(error.coefficients().iter().all(|x| x.abs() <= 21));
        assert_eq!(integers(&error.to_eval(&ring, LIMBS).into_coeff()), error.coefficients());
    }
}

#[test]
fn a_rotation_is_a_power_of_three() {
    for degree in [4, 16, 256] {
        let row = degree / 2;
        let mut powers = vec![1];
        for k in 1..row {
            powers.push(powers[k - 1] * 3 % (2 * degree));
        }
        for step in 1..row {
            let element = |step: usize, sign| GaloisMap::rotation_element(degree, sign * step as i32);
            assert_eq!(element(step, 1), Some(powers[step]), "{degree} left by {step}");
            assert_eq!(element(step, -1), Some(powers[row - step]), "{degree} right by {step}");
        }
        for outside in [0, row as i32, -(row as i32), i32::MIN, i32::MAX] {
            assert_eq!(GaloisMap::rotation_element(degree, outside), None, "{degree} by {outside}");
        }
    }
    // Products pass 32 bits here: right by one is the inverse of 3, whose order is n/2.
    let largest = 1 << 17;
    let inverse = GaloisMap::rotation_element(largest, -1).unwrap();
    assert_eq!(inverse as u64 * 3 % (2 * largest as u64), 1);
}
