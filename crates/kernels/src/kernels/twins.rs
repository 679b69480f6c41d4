//! Data and comparison for the tests of kernels: every target computes the same as the scalar one, on every length and at
//! the limits of every range. Miri has the scalar target only.

use alloc::vec::Vec;

use crate::modulus::{Factor, Modulus};
use crate::ntt::NttTable;
use crate::table::Kernels;

/// The largest and the smallest primes of their bit length that are 1 modulo 2^18.
const PRIMES: [u64; 31] = [
    33_292_289,
    263_454_721,
    136_314_881,
    34_359_214_081,
    17_180_393_473,
    68_718_428_161,
    34_362_359_809,
    4_398_044_938_241,
    2_199_030_071_297,
    8_796_087_255_041,
    4_398_052_540_417,
    17_592_180_539_393,
    8_796_105_342_977,
    35_184_365_273_089,
    17_592_187_617_281,
    70_368_740_769_793,
    35_184_376_545_281,
    281_474_975_662_081,
    140_737_490_976_769,
    562_949_950_537_729,
    281_474_980_380_673,
    1_125_899_902_124_033,
    562_949_964_955_649,
    2_251_799_807_131_649,
    1_125_899_915_231_233,
    18_014_398_492_704_769,
    9_007_199_256_051_713,
    1_152_921_504_606_584_833,
    576_460_752_315_482_113,
    2_305_843_009_211_596_801,
    1_152_921_504_616_808_449,
];

/// Primes at the limits of the targets' ranges, for long transforms: the largest of 25, 44, 45, 46, 48, 50, 51 and 61
/// bits, the smallest of 45 and 50.
const ENDS: [u64; 10] = [
    33_292_289,
    17_592_180_539_393,
    35_184_365_273_089,
    70_368_740_769_793,
    281_474_975_662_081,
    1_125_899_902_124_033,
    2_251_799_807_131_649,
    2_305_843_009_211_596_801,
    17_592_187_617_281,
    562_949_964_955_649,
];

/// Moduli without a transform: the smallest ones, and even ones.
const SMALL: [u64; 8] = [2, 3, 4, 5, 7, 256, 1021, (1 << 49) + 2];

/// Returns words that expose mistakes: zeros, ones, the largest, and pseudorandom ones.
pub(crate) fn words(limit: u64, length: usize, mut state: u64) -> Vec<u64> {
    let word = |i| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match i % 7 {
            0 => limit - 1,
            1 => 0,
            2 => limit / 2,
            3 => 1 % limit,
            _ => ((u128::from(state) * u128::from(limit)) >> 64) as u64,
        }
    };
    (0..length).map(word).collect()
}

/// Returns all moduli.
pub(crate) fn moduli() -> Vec<Modulus> {
    SMALL.iter().chain(&PRIMES).map(|q| Modulus::new(*q).unwrap()).collect()
}

/// Returns constants at the ends of the range.
pub(crate) fn constants(m: &Modulus) -> [Factor; 4] {
    let q = m.value();
    [0, 1 % q, q / 2, q - 1].map(|constant| m.factor(constant))
}

/// Calls a check with every modulus, and three rows of residues of every length.
pub(crate) fn each_case(check: impl Fn(&Modulus, [&[u64]; 3])) {
    for m in &moduli() {
        for length in (0..35).chain([64, 1000, 4096]) {
            let [a, b, c] = [1, 2, 3].map(|seed| words(m.value(), length, seed));
            check(m, [&a, &b, &c]);
        }
    }
}

/// Calls a check with transforms of every degree and residues to transform.
pub(crate) fn each_transform(check: impl Fn(&NttTable, &[u64])) {
    for log in 2..=17 {
        let degree = 1usize << log;
        for q in if log > 12 { &ENDS[..] } else { &PRIMES } {
            let table = NttTable::new(Modulus::new(*q).unwrap(), degree).unwrap();
            for input in [vec![q - 1; degree], words(*q, degree, *q), words(*q, degree, 1)] {
                check(&table, &input);
            }
        }
    }
}

/// Runs a kernel of every target on the same slice and compares the results with the scalar ones.
pub(crate) fn compare(m: &Modulus, input: &[u64], run: impl Fn(&Kernels, &mut [u64])) {
    let mut expected = input.to_vec();
    run(&Kernels::SCALAR, &mut expected);
    // The first is the scalar target.
    for target in &Kernels::available()[1..] {
        let mut values = input.to_vec();
        run(target, &mut values);
        assert!(values == expected, "{}: modulo {}, {} words", target.name, m.value(), input.len());
    }
}
