//! The samplers follow their distributions, and each test rejects a sampler that is slightly wrong.

use crate::statistics;

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sotto_ring::{Modulus, SEED_BYTES, Seed, SmallPoly, primes};
use statistics::{of_integers, of_uniform, verdict};

const COUNT: usize = 1 << 22;
const TERNARY: [f64; 3] = [1.0 / 3.0; 3];

fn rng(seed: u8) -> ChaCha20Rng {
    ChaCha20Rng::from_seed([seed; 32])
}

/// Returns true once in a hundred calls.
fn rarely(rng: &mut ChaCha20Rng) -> bool {
    rng.next_u64().is_multiple_of(100)
}

/// Returns the probabilities of the centred binomial distribution of `bits` + `bits` coins, from −bits up.
fn centred_binomial_law(bits: i64) -> Vec<f64> {
    let steps = 2 * bits;
    let mut law = vec![0.5f64.powi(steps as i32)];
    for k in 0..steps {
        law.push(law[k as usize] * (steps - k) as f64 / (k + 1) as f64);
    }
    law
}

#[test]
#[cfg_attr(miri, ignore = "millions of samples")]
fn ternary_is_uniform() {
    for seed in 1..=3 {
        let drawn = SmallPoly::ternary(COUNT, &mut rng(seed));
        verdict(&of_integers(-1, &TERNARY, drawn.coefficients())).unwrap();
        let fresh = SmallPoly::fresh_ternary(COUNT, &mut rng(seed));
        verdict(&of_integers(-1, &TERNARY, fresh.coefficients())).unwrap();
    }
}

#[test]
fn small_polynomials_say_how_large_they_may_be() {
    assert_eq!(SmallPoly::ternary(8, &mut rng(1)).limit(), 1);
    assert_eq!(SmallPoly::centred_binomial(8, &mut rng(1)).limit(), 21);
    for (coefficients, limit) in
        [(vec![21, -21, 0], 21), (vec![0, -22], u64::MAX), (vec![i64::MIN], u64::MAX)]
    {
        assert_eq!(SmallPoly::from_coefficients(coefficients).limit(), limit);
    }
}

#[test]
#[cfg_attr(miri, ignore = "millions of samples")]
fn ternary_that_is_slightly_wrong_is_rejected() {
    let drawn = || SmallPoly::ternary(COUNT, &mut rng(1)).coefficients().to_vec();
    // One −1 in a hundred becomes 1.
    let mut coins = rng(9);
    let biased: Vec<i64> =
        drawn().iter().map(|x| if *x == -1 && rarely(&mut coins) { 1 } else { *x }).collect();
    assert!(verdict(&of_integers(-1, &TERNARY, &biased)).unwrap_err().contains("mean"));
    // One non-zero value in a hundred becomes zero.
    let flat: Vec<i64> = drawn().iter().map(|x| if rarely(&mut coins) { 0 } else { *x }).collect();
    assert!(verdict(&of_integers(-1, &TERNARY, &flat)).unwrap_err().contains("variance"));
    // One value in a hundred repeats the last.
    let mut sticky = drawn();
    for i in 1..sticky.len() {
        if rarely(&mut coins) {
            sticky[i] = sticky[i - 1];
        }
    }
    assert!(verdict(&of_integers(-1, &TERNARY, &sticky)).unwrap_err().contains("lag 1"));
}

#[test]
#[cfg_attr(miri, ignore = "millions of samples")]
fn errors_are_centred_binomial() {
    let law = centred_binomial_law(21);
    for seed in 1..=3 {
        let drawn = SmallPoly::centred_binomial(COUNT, &mut rng(seed));
        verdict(&of_integers(-21, &law, drawn.coefficients())).unwrap();
    }
}

#[test]
#[cfg_attr(miri, ignore = "millions of samples")]
fn errors_that_are_slightly_wrong_are_rejected() {
    let law = centred_binomial_law(21);
    // Variance 10 instead of 10.5: 20 + 20 coins.
    let mut coins = rng(1);
    let ones = |word: u64| i64::from((word & 0xf_ffff).count_ones());
    let narrow: Vec<i64> = (0..COUNT).map(|_| ones(coins.next_u64()) - ones(coins.next_u64())).collect();
    let found = verdict(&of_integers(-21, &law, &narrow)).unwrap_err();
    assert!(found.contains("variance") && found.contains("chi-square"), "{found}");
    // One value in thirty-two is too large by one: the mean moves by 1 % of the standard deviation.
    let drawn = SmallPoly::centred_binomial(COUNT, &mut rng(1));
    let raised =
        |x: &i64, coins: &mut ChaCha20Rng| (x + i64::from(coins.next_u64().is_multiple_of(32))).min(21);
    let biased: Vec<i64> = drawn.coefficients().iter().map(|x| raised(x, &mut coins)).collect();
    assert!(verdict(&of_integers(-21, &law, &biased)).unwrap_err().contains("mean"));
    // The right distribution, in blocks that repeat after 64.
    let mut repeated = drawn.coefficients().to_vec();
    for i in 64..repeated.len() {
        if rarely(&mut coins) {
            repeated[i] = repeated[i - 64];
        }
    }
    assert!(verdict(&of_integers(-21, &law, &repeated)).unwrap_err().contains("lag 64"));
}

/// Returns residues of one limb after another.
fn residues(modulus: &Modulus, seed: u8) -> Vec<u64> {
    let limbs = 32;
    let mut out = vec![0; COUNT / 8];
    for (limb, part) in out.chunks_mut(COUNT / 8 / limbs).enumerate() {
        Seed([seed; SEED_BYTES]).expand_limb(limb as u8 % 3, limb, modulus, part);
    }
    out
}

fn fractions(modulus: &Modulus, residues: &[u64]) -> Vec<f64> {
    residues.iter().map(|x| *x as f64 / modulus.value() as f64).collect()
}

/// Returns moduli for which few, a quarter, and half of the words are redrawn.
fn moduli() -> Vec<Modulus> {
    let mut found = Vec::new();
    for bits in [24, 36, 41, 60] {
        let top = 1u64 << bits;
        let near = |value| primes::below(value, 16).next().unwrap();
        found.extend([near(top), near(top / 4 * 3), primes::above(top / 2, 16).next().unwrap()]);
    }
    found.into_iter().map(|q| Modulus::new(q).unwrap()).collect()
}

#[test]
#[cfg_attr(miri, ignore = "millions of samples")]
fn expanded_residues_are_uniform() {
    for (seed, modulus) in (1..).zip(moduli()) {
        let drawn = residues(&modulus, seed);
        verdict(&of_uniform(1024, &fractions(&modulus, &drawn))).unwrap();
        // The low bits too.
        let low: Vec<f64> = drawn.iter().map(|x| (x % 256) as f64 / 256.0 + 1.0 / 512.0).collect();
        verdict(&of_uniform(256, &low)).unwrap();
    }
}

/// Two moduli of one length share their words: where the residue of the larger passes the smaller modulus, the smaller
/// one's was redrawn.
#[test]
#[cfg_attr(miri, ignore = "millions of samples")]
fn residues_that_were_drawn_again_are_uniform() {
    for bits in [36, 60] {
        let small = Modulus::new(primes::above(1 << (bits - 1), 16).next().unwrap()).unwrap();
        let large = Modulus::new(primes::below(1 << bits, 16).next().unwrap()).unwrap();
        let (found, words) = (residues(&small, 5), residues(&large, 5));
        let again: Vec<u64> =
            found.iter().zip(&words).filter(|(_, w)| **w >= small.value()).map(|(x, _)| *x).collect();
        let kept = found.iter().zip(&words).all(|(x, w)| *w >= small.value() || x == w);
        assert!(kept && again.len() > COUNT / 20, "{} of {}", again.len(), found.len());
        verdict(&of_uniform(256, &fractions(&small, &again))).unwrap();
    }
}

#[test]
#[cfg_attr(miri, ignore = "millions of samples")]
fn residues_that_are_slightly_wrong_are_rejected() {
    let modulus = moduli().swap_remove(4); // three quarters of 2^36
    let mut coins = rng(1);
    let mut scores = |wrong: &mut dyn FnMut(&mut ChaCha20Rng, u64) -> u64| {
        let drawn: Vec<u64> = residues(&modulus, 1).into_iter().map(|x| wrong(&mut coins, x)).collect();
        verdict(&of_uniform(1024, &fractions(&modulus, &drawn)))
    };
    assert!(scores(&mut |_, x| x).is_ok());
    // Words reduced instead of redrawn.
    let reduced = scores(&mut |coins, _| (coins.next_u64() >> 28) % modulus.value()).unwrap_err();
    assert!(reduced.contains("chi-square"), "{reduced}");
    // One residue in a hundred halved.
    let halved = scores(&mut |coins, x| if rarely(coins) { x / 2 } else { x }).unwrap_err();
    assert!(halved.contains("mean"), "{halved}");
    // One residue in a hundred repeats the last.
    let mut last = 0;
    let sticky = scores(&mut |coins, x| {
        last = if rarely(coins) { last } else { x };
        last
    });
    assert!(sticky.unwrap_err().contains("lag 1"));
}
