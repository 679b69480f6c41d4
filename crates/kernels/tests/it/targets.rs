//! Every target computes the same as the scalar one, on every length and at the limits of every range. Miri has the
//! scalar target only, so this test does not run there.
#![cfg(not(miri))]

use sotto_kernels::{FRACTION_BITS, Kernels, Lift, Modulus, NttTable, Quotient};

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
fn words(limit: u64, length: usize, mut state: u64) -> Vec<u64> {
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

fn lengths() -> impl Iterator<Item = usize> {
    (0..35).chain([64, 1000, 4096])
}

fn moduli() -> impl Iterator<Item = Modulus> {
    SMALL.iter().chain(&PRIMES).map(|q| Modulus::new(*q).unwrap())
}

/// Runs a kernel of every target on the same slice and compares the results.
fn compare(what: &str, input: &[u64], run: impl Fn(&Kernels, &mut [u64])) {
    let mut expected = input.to_vec();
    run(&Kernels::SCALAR, &mut expected);
    for target in Kernels::available() {
        let mut values = input.to_vec();
        run(&target, &mut values);
        assert!(values == expected, "{}: {what}, {} words", target.name, input.len());
    }
}

#[test]
fn transforms() {
    for log in 2..=17 {
        let degree = 1usize << log;
        for q in if log > 12 { &ENDS[..] } else { &PRIMES } {
            let q = *q;
            let table = NttTable::new(Modulus::new(q).unwrap(), degree).unwrap();
            let largest = vec![q - 1; degree];
            for input in [largest, words(q, degree, q), words(q, degree, 1)] {
                compare(&format!("forward, q = {q}"), &input, |k, x| (k.ntt_forward)(&table, x));
                compare(&format!("inverse, q = {q}"), &input, |k, x| (k.ntt_inverse)(&table, x));
                for constant in [0, 1, q - 1, q / 3] {
                    let scale = table.inverse_scale(constant);
                    compare(&format!("inverse · {constant}, q = {q}"), &vec![0; degree], |k, x| {
                        (k.ntt_inverse_from)(&table, x, &input, scale);
                    });
                }
                // Unreduced output goes through its valid readers: as a digit, and as a rest.
                let (key, m) = (words(q, degree, 9), table.modulus());
                compare(&format!("open forward, q = {q}"), &vec![0; 3 * degree], |k, x| {
                    let mut open = input.clone();
                    (k.ntt_forward_open)(&table, &mut open);
                    let (first, rest) = x.split_at_mut(degree);
                    let (second, third) = rest.split_at_mut(degree);
                    (k.inner_products)(
                        m,
                        [first, second],
                        &[&open, &open],
                        &[[key.as_slice(), &input]; 2],
                        None,
                    );
                    (k.subtract_rest)(m, third, &key, &open, [m.factor(q - 1); 2], Some(&input));
                });
            }
        }
    }
}

#[test]
fn entry_by_entry() {
    for m in moduli() {
        let q = m.value();
        for length in lengths() {
            let [a, b, c] = [1, 2, 3].map(|seed| words(q, length, seed));
            let largest = vec![q - 1; length];
            let what = |name: &str| format!("{name}, q = {q}");
            compare(&what("add"), &a, |k, x| (k.add)(&m, x, &b));
            compare(&what("subtract"), &a, |k, x| (k.subtract)(&m, x, &b));
            compare(&what("negate"), &a, |k, x| (k.negate)(&m, x));
            compare(&what("multiply"), &a, |k, x| (k.multiply)(&m, x, &b));
            compare(&what("add product"), &a, |k, x| (k.add_product)(&m, x, &b, &c));
            compare(&what("sum"), &a, |k, x| (k.sum)(&m, x, &b, &c));
            compare(&what("product"), &a, |k, x| (k.product)(&m, x, &b, &c));
            compare(&what("product, sum"), &a, |k, x| (k.product_sum)(&m, x, &b, &c, &a));
            compare(&what("centre"), &a, |k, x| {
                let mut centred = vec![0; length];
                (k.centre)(&m, &mut centred, &b);
                (k.horner)(&mut centred, -(q as i64), &vec![i64::MIN; length]);
                x.iter_mut().zip(centred).for_each(|(x, c)| *x = c as u64);
            });
            let three = vec![0; 3 * length];
            compare(&what("tensor"), &three, |k, x| {
                let (first, rest) = x.split_at_mut(length);
                let (second, third) = rest.split_at_mut(length);
                (k.tensor)(&m, [first, second, third], [&a, &b], [&c, &a]);
            });
            for constant in [0, 1 % q, q / 2, q - 1] {
                let factor = m.factor(constant);
                for values in [&a, &largest] {
                    compare(&what("scale"), values, |k, x| (k.scale)(&m, x, factor));
                }
                compare(&what("subtract, scale"), &a, |k, x| (k.subtract_scale)(&m, x, &b, factor));
                let open = words(1 << 52, length, 6);
                for addend in [None, Some(&c[..])] {
                    compare(&what("subtract rest"), &a, |k, x| {
                        (k.subtract_rest)(&m, x, &b, &open, [factor, m.factor(m.negate(constant))], addend);
                        (k.subtract_rest)(&m, x, &a, &open, [m.factor(q - 1), factor], addend);
                    });
                }
            }
            let mut signed: Vec<i64> = words(u64::MAX, length, 5).iter().map(|x| *x as i64).collect();
            for (x, end) in signed.iter_mut().zip([i64::MIN, i64::MAX, -1, 0, 1, i64::MIN + 1]) {
                *x = end;
            }
            compare(&what("from signed"), &a, |k, x| (k.from_signed)(&m, x, &signed));
        }
    }
}

#[test]
fn base_conversion() {
    for target in moduli() {
        for source_bits in [20, 36, 44, 45, 47, 50, 51, 52, 53, 61] {
            for (count, length) in [(1, 9), (2, 64), (16, 40), (32, 23), (34, 32)] {
                let rows: Vec<Vec<u64>> =
                    (0..count).map(|seed| words(1 << source_bits, length, seed as u64)).collect();
                let sources: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
                let weights = words(target.value(), count, 8);
                for base in [0, target.value() - 1] {
                    compare(
                        &format!("convert {count} of {source_bits} bits to {target:?}"),
                        &vec![0; length],
                        |k, x| (k.convert)(&target, x, &sources, source_bits, &weights, base),
                    );
                }
                let shift = source_bits + 26;
                let constants = [(1 << 52) - 1, 1 << 51, 0, 1];
                let quotient = |i: usize| Quotient { constant: constants[i % 4], shift };
                let quotients: Vec<Quotient> = (0..count).map(quotient).collect();
                compare(&format!("quotients of {source_bits} bits"), &vec![0; length], |k, x| {
                    (k.round_quotient)(x, &sources, &quotients);
                });
            }
        }
    }
    // One source at the limit of its range: the quotient's fraction is truncated, then rounded.
    for target in Kernels::available() {
        let mut out = [0; 1];
        let quotient = Quotient { constant: 1 << 51, shift: 76 };
        (target.round_quotient)(&mut out, &[&[(1 << 50) - 1]], &[quotient]);
        assert_eq!(
            out[0],
            ((((1u64 << 50) - 1) >> 25) + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS,
            "{}",
            target.name
        );
    }
}

#[test]
fn lifts() {
    for m in moduli() {
        for source in moduli().map(|m| m.value()) {
            for length in [0, 7, 8, 40] {
                let mut values = words(source, length, 3);
                for threshold in [source / 2, source / 2 + 1, source.div_ceil(2) + source / 1000] {
                    // Values on both sides of the threshold.
                    for (x, end) in values.iter_mut().zip([threshold - 1, threshold, source - 1, 0]) {
                        *x = end.min(source - 1);
                    }
                    let lift = Lift { modulus: source, threshold };
                    compare(&format!("lift from {source} to {m:?}"), &vec![0; length], |k, x| {
                        (k.lift)(&m, x, &values, &lift);
                    });
                }
            }
        }
    }
    // Lifted values that just stay between −q and q, and that just do not.
    for m in moduli() {
        let q = m.value();
        for source in [q + 1, 2 * q - 1, 2 * q, 2 * q + 1].into_iter().filter(|source| *source < 1 << 61) {
            for threshold in [q - 1, q, q + 1, source - q, source - q + 1, source] {
                let ends = [0, threshold - 1, threshold, q - 1, q, q + 1, source - 1];
                let values: Vec<u64> = ends.iter().map(|x| (*x).min(source - 1)).cycle().take(24).collect();
                let lift = Lift { modulus: source, threshold: threshold.clamp(1, source) };
                compare(&format!("lift at {threshold} of {source} to {m:?}"), &[0; 24], |k, x| {
                    (k.lift)(&m, x, &values, &lift);
                });
            }
        }
    }
    let mut out = [0; 3];
    let (five, lift) = (Modulus::new(5).unwrap(), Lift { modulus: 11, threshold: 6 });
    (Kernels::SCALAR.lift)(&five, &mut out, &[5, 6, 10], &lift);
    assert_eq!(out, [0, 0, 4], "5, −5 and −1 modulo 5");
}

#[test]
fn inner_products() {
    for m in moduli() {
        let q = m.value();
        for (count, length) in [(0, 64), (1, 32), (3, 40), (4, 64), (5, 96), (17, 64), (33, 32)] {
            let rows = |limit: u64, seed: usize| -> Vec<Vec<u64>> {
                (0..count).map(|i| words(limit, length, (seed + i) as u64)).collect()
            };
            let (digits, bodies, masks) = (rows(1 << 52, 1), rows(q, 2), rows(q, 3));
            let largest: Vec<Vec<u64>> = vec![vec![(1 << 52) - 1; length]; count];
            let keys: Vec<[&[u64]; 2]> =
                bodies.iter().zip(&masks).map(|(b, m)| [b.as_slice(), m.as_slice()]).collect();
            let top = vec![q - 1; length];
            // A map that moves whole groups of eight, and one that moves none.
            let map = |f: fn(u32) -> u32| (0..length as u32).map(f).map(|i| i % length as u32).collect();
            let maps: [Option<Vec<u32>>; 3] = [None, Some(map(|i| (i ^ 3) + 8)), Some(map(|i| i * 7))];
            for map in maps {
                for (digits, keys) in [(&digits, keys.clone()), (&largest, vec![[top.as_slice(); 2]; count])]
                {
                    let digits: Vec<&[u64]> = digits.iter().map(Vec::as_slice).collect();
                    compare(&format!("{count} inner products, q = {q}"), &vec![1; 2 * length], |k, x| {
                        let (first, second) = x.split_at_mut(length);
                        (k.inner_products)(&m, [first, second], &digits, &keys, map.as_deref());
                    });
                }
            }
        }
    }
}

#[test]
fn permutations() {
    for length in [4usize, 8, 64, 1024] {
        let values = words(u64::MAX, length, 6);
        let out = vec![0; length];
        let shift = usize::BITS - length.trailing_zeros();
        let reverse = |i: usize| i.reverse_bits() >> shift;
        for element in [3usize, 5, 2 * length - 1, length + 1] {
            // An automorphism of Eval form, and a reversal, which moves no group of eight as a whole.
            let automorphism = |i: usize| reverse(((2 * reverse(i) + 1) * element % (2 * length)) / 2) as u32;
            let map: Vec<u32> = (0..length).map(automorphism).collect();
            compare("automorphism", &out, |k, x| (k.permute)(x, &values, &map));
            let map: Vec<u32> = (0..length).map(|i| reverse(i) as u32).collect();
            compare("reversal", &out, |k, x| (k.permute)(x, &values, &map));
        }
    }
}
