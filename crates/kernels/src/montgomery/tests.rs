use super::*;
use crate::targets::Target;

/// Returns test words from a linear congruential generator.
fn words(count: usize, mut state: u64) -> Vec<u64> {
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 29
        })
        .collect()
}

/// Returns moduli at the limits of every instance: full words, a single high bit, and lengths between.
fn moduli() -> Vec<Vec<u64>> {
    let lengths: &[usize] = if cfg!(miri) { &[1, 2] } else { &[1, 2, 31, 32, 33, 48, 64, 96, 127, 128] };
    let mut all = Vec::new();
    for &count in lengths {
        let mut odd = words(count, count as u64);
        odd[0] |= 1;
        let full = vec![u64::MAX; count];
        let mut sparse = vec![0; count];
        sparse[count - 1] = 1 << 63;
        sparse[0] |= 1;
        all.extend([odd, full, sparse]);
    }
    all
}

/// Returns a number below n.
fn below(n: &[u64], seed: u64) -> Vec<u64> {
    let mut x = words(n.len(), seed);
    let last = n.len() - 1;
    x[last] %= n[last].max(1);
    x
}

/// Multiplies modulo n by the schoolbook method, bit by bit.
fn product_modulo(a: &[u64], b: &[u64], n: &[u64]) -> Vec<u64> {
    let mut rest = vec![0; n.len()];
    for bit in (0..b.len() * 64).rev() {
        limbs::double(&mut rest, n, 64);
        if b[bit / 64] >> (bit % 64) & 1 == 1 {
            let mut carry = false;
            for (r, a) in rest.iter_mut().zip(a) {
                (*r, carry) = r.carrying_add(*a, carry);
            }
            limbs::reduce(&mut rest, n, u64::from(carry), 64);
        }
    }
    rest
}

#[test]
fn products_are_those_of_the_schoolbook_on_every_target() {
    for target in Target::available() {
        for n in moduli() {
            let m = Montgomery::on(&target, &n).unwrap();
            let mut largest = n.clone();
            largest[0] -= 1;
            let mut one = vec![0; n.len()];
            one[0] = 1;
            for (a, b) in [
                (below(&n, 1), below(&n, 2)),
                (largest.clone(), largest.clone()),
                (largest, below(&n, 3)),
                (below(&n, 4), one),
                (below(&n, 5), vec![0; n.len()]),
            ] {
                assert_eq!(m.product(&a, &b), product_modulo(&a, &b, &n), "{} {}", target.name(), n.len());
                assert_eq!(m.leave(&m.enter(&a)), a, "{}", target.name());
            }
        }
    }
}

#[test]
fn long_chains_stay_in_range() {
    for target in Target::available() {
        for n in moduli() {
            let m = Montgomery::on(&target, &n).unwrap();
            let slow = Montgomery::on(&Target::SCALAR, &n).unwrap();
            let a = below(&n, 9);
            let (mut x, mut y) = (m.enter(&a), slow.enter(&a));
            for _ in 0..50 {
                x = m.multiply(&x, &x);
                y = slow.multiply(&y, &y);
            }
            assert_eq!(m.leave(&x), slow.leave(&y), "{} {}", target.name(), n.len());
        }
    }
}

#[test]
fn powers_and_combs_agree_with_repeated_products() {
    for target in Target::available() {
        let mut n = words(3, 11);
        n[0] |= 1;
        let m = Montgomery::on(&target, &n).unwrap();
        let base = m.enter(&below(&n, 12));
        let mut product = m.one();
        let comb = Comb::new(&m, &base, 70);
        for exponent in 0..70u64 {
            assert_eq!(m.leave(&m.power(&base, &[exponent], 7)), m.leave(&product));
            assert_eq!(m.leave(&comb.power(&m, &[exponent, 0])), m.leave(&product));
            product = m.multiply(&product, &base);
        }
        for seed in 0..8 {
            let mut exponent = words(2, seed);
            exponent[1] &= 63;
            let direct = m.power(&base, &exponent, 70);
            assert_eq!(m.leave(&comb.power(&m, &exponent)), m.leave(&direct), "{}", target.name());
            // x^e·x^(2^70 − 1 − e) = x^(2^70 − 1)
            let rest = [!exponent[0], !exponent[1] & 63];
            let whole = m.multiply(&direct, &m.power(&base, &rest, 70));
            assert_eq!(m.leave(&whole), m.leave(&m.power(&base, &[u64::MAX, 63], 70)));
        }
    }
}

#[test]
fn a_prime_modulus_knows_fermat() {
    // 2^127 − 1 is prime.
    let n = [u64::MAX, u64::MAX >> 1];
    for target in Target::available() {
        let m = Montgomery::on(&target, &n).unwrap();
        let x = m.power(&m.enter(&[3, 0]), &[u64::MAX - 1, u64::MAX >> 1], 127);
        assert_eq!(m.leave(&x), [1, 0], "{}", target.name());
    }
}

#[test]
fn what_is_no_modulus_is_refused() {
    for bad in [&[][..], &[0], &[1], &[4], &[0, 1]] {
        assert_eq!(Montgomery::new(bad).err(), Some(UnfitModulus::Even));
    }
    let long = vec![u64::MAX; 129];
    assert_eq!(Montgomery::new(&long).err(), Some(UnfitModulus::TooLong { bits: 129 * 64 }));
    assert!(Montgomery::new(&[3, 0, 0]).is_ok());
}
