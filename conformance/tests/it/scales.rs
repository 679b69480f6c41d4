//! CKKS scales against exact fractions, and the distance of every level's scale from Δ.

use sotto_conformance::vectors::{self, ScaleCase};
use sotto_rlwe::{Ckks, DefaultChain, ParameterSpec, Params, ScaleRatio, SchemeId};

fn words(hexadecimal: &str) -> [u64; 4] {
    let padded = format!("{hexadecimal:0>64}");
    let word = |i: usize| u64::from_str_radix(&padded[64 - 16 * (i + 1)..64 - 16 * i], 16).unwrap();
    core::array::from_fn(word)
}

/// Returns |a − b| in units of 2^-128, at most u64::MAX.
fn distance(a: [u64; 4], b: [u64; 4]) -> u64 {
    let (large, small) = if a.iter().rev().gt(b.iter().rev()) { (a, b) } else { (b, a) };
    let mut borrow = 0i128;
    let mut out = [0u64; 4];
    for i in 0..4 {
        let wide = i128::from(large[i]) - i128::from(small[i]) + borrow;
        out[i] = wide as u64;
        borrow = wide >> 64;
    }
    if out[2] == 0 && out[3] == 0 { out[1] } else { u64::MAX }
}

fn params(case: &ScaleCase) -> Params<Ckks> {
    Params::insecure(ParameterSpec {
        scheme: SchemeId::Ckks,
        degree: case.degree,
        special: case.special.clone(),
        data: case.data.clone(),
        digit_primes: 1,
        plain: case.scale_bits,
    })
    .unwrap()
}

#[test]
fn scales_and_matches_are_those_of_exact_fractions() {
    let cases = vectors::cases::<ScaleCase>("scales");
    assert!(cases.iter().any(|case| case.data.len() > 60), "a chain of 60 levels");
    for case in &cases {
        let what = format!("n = {}, Δ = 2^{}, {} levels", case.degree, case.scale_bits, case.data.len() - 1);
        // The default chains' digits are larger than one prime; the scale does not depend on that.
        let params = params(case);
        for (level, expected) in case.ratios.iter().enumerate() {
            let (ratio, expected) = (params.scale_ratio(level), words(expected));
            assert!(distance(ratio.words(), expected) == 0, "{what}: ratio {level} is off by 2^-128 or more");
            let (parts, delta) = (params.exact_scale(level), (case.scale_bits as f64).exp2());
            assert_eq!(parts.high, params.scale(level), "{what}: scale {level}");
            // The two floats, joined to an integer over 2^100, against the words.
            let whole = |part: f64| (part / delta * 2f64.powi(100)) as i128;
            let joined = whole(parts.high) + whole(parts.low);
            let exact = (i128::from(expected[3]) << 100)
                | (i128::from(expected[2]) << 36)
                | i128::from(expected[1] >> 28);
            assert!((joined - exact).abs() <= 2, "{what}: scale {level} to 100 bits");
        }
        for (from, to, expected) in &case.matches {
            let (integer, rest) = params.scale_match(*from, *to).unwrap();
            assert_eq!(integer, *expected, "{what}: from level {from} to {to}");
            assert!(rest.abs() <= 0.5 + 1e-15, "{what}: from level {from} to {to} leaves {rest}");
            let plaintext = params.encode_scale_match(*from, *to).unwrap();
            assert_eq!((plaintext.coefficients(), plaintext.level()), (&[*expected][..], to + 1));
            assert!(plaintext.rounding().value() >= rest.abs() * (1.0 - 1e-12));
        }
    }
}

#[test]
fn every_scale_stays_near_the_top_one() {
    let near = |params: &Params<Ckks>, what: &str| {
        for level in 0..=params.top_level() {
            let off = params.scale_ratio(level).log2().abs();
            assert!(off <= 0.01, "{what}: the scale of level {level} is off by {off} bits");
        }
        assert_eq!(params.scale_ratio(params.top_level()), ScaleRatio::ONE);
    };
    for chain in DefaultChain::all(SchemeId::Ckks) {
        let params = Params::<Ckks>::default_chain(chain.degree, 0).unwrap();
        near(&params, &format!("default chain of n = {}", chain.degree));
        assert_eq!(params.scale(params.top_level()), f64::from(chain.others.0).exp2());
    }
    for case in vectors::cases::<ScaleCase>("scales") {
        near(&params(&case), &format!("n = {}, Δ = 2^{}", case.degree, case.scale_bits));
    }
}

#[test]
fn matches_only_lead_downwards() {
    let params = Params::<Ckks>::default_chain(8192, 0).unwrap();
    for (from, to) in [(0, 0), (3, 3), (2, 3), (4, 0), (0, usize::MAX), (usize::MAX, 0)] {
        assert!(params.scale_match(from, to).is_err(), "{from} to {to}");
    }
}
