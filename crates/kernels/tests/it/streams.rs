//! Every streams target computes the same as the scalar one, on every length, width and limit of a range. The scalar
//! target is compared with plain definitions here, and AES with published vectors.
#![cfg(not(miri))]

use sotto_kernels::{AesLanes, Kernels, Modulus, Streams, words_mut};

fn bytes(length: usize, mut state: u64) -> Vec<u8> {
    let mut next = |i: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match i / 8 % 5 {
            0 => 0xff,
            1 => 0,
            _ => (state >> 56) as u8,
        }
    };
    (0..length).map(&mut next).collect()
}

fn words(limit: u64, length: usize, mut state: u64) -> Vec<u64> {
    let word = |i| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match i % 7 {
            0 => limit - 1,
            1 => 0,
            2 => limit / 2,
            3 => limit.div_ceil(2).min(limit - 1),
            _ => ((u128::from(state) * u128::from(limit)) >> 64) as u64,
        }
    };
    (0..length).map(word).collect()
}

fn lengths() -> impl Iterator<Item = usize> {
    (0..35).chain([64, 127, 512, 1000, 4096])
}

/// Returns for each bit length the largest number, the smallest, and one in between.
fn moduli() -> impl Iterator<Item = Modulus> {
    (2..=61u32).flat_map(|bits| {
        let (top, low) = ((1u64 << bits) - 1, 1u64 << (bits - 1));
        [top, low, low + top / 5].map(|q| Modulus::new(q).unwrap())
    })
}

/// Returns bit i of the bytes, least significant first.
fn bit(bytes: &[u8], i: usize) -> u64 {
    u64::from(bytes[i / 8] >> (i % 8)) & 1
}

#[test]
fn residues_are_the_bits_they_are_said_to_be() {
    for target in Streams::available() {
        for m in moduli() {
            let bits = m.bits();
            for stride in [bits, bits.next_multiple_of(8), 64] {
                for length in [0, 1, 7, 8, 9, 31, 64, 200] {
                    let source = bytes((length * stride as usize).div_ceil(8), u64::from(stride) + m.value());
                    let expected: Vec<u64> = (0..length)
                        .map(|i| (0..bits as usize).map(|k| bit(&source, i * stride as usize + k) << k).sum())
                        .collect();
                    // With more bytes behind the values, as in a buffer, and without.
                    for slack in [0, 3, 64] {
                        let mut source = source.clone();
                        source.resize(source.len() + slack, 0xff);
                        let mut out = vec![u64::MAX; length];
                        let outside = (target.residues)(&m, &source, stride, &mut out);
                        assert_eq!(out, expected, "{} {m:?} stride {stride}, {length} values", target.name);
                        assert_eq!(outside, expected.iter().any(|x| *x >= m.value()));
                    }
                }
            }
        }
    }
}

#[test]
fn one_residue_that_is_not_below_the_prime_is_seen_wherever_it_is() {
    let m = Modulus::new((1 << 41) + 1).unwrap();
    for target in Streams::available() {
        for place in 0..100 {
            for (value, expected) in [(m.value() - 1, false), (m.value(), true)] {
                let mut values = vec![m.value() - 1; 100];
                values[place] = value;
                let mut packed = vec![0; (100 * 42usize).div_ceil(8)];
                (target.pack)(&values, 42, &mut packed);
                let mut out = vec![0; 100];
                assert_eq!((target.residues)(&m, &packed, 42, &mut out), expected, "{}", target.name);
                assert_eq!(out, values);
            }
        }
    }
}

#[test]
fn packed_bits_are_the_values_one_after_another() {
    for target in Streams::available() {
        for bits in 1..=61u32 {
            for length in lengths().filter(|length| *length < 600) {
                let values = words(1 << bits, length, u64::from(bits));
                let mut expected = vec![0u8; (length * bits as usize).div_ceil(8)];
                for i in 0..length * bits as usize {
                    let value = values[i / bits as usize] >> (i % bits as usize) & 1;
                    expected[i / 8] |= (value as u8) << (i % 8);
                }
                let mut out = vec![0xff; expected.len()];
                (target.pack)(&values, bits, &mut out);
                assert_eq!(out, expected, "{} {bits} bits, {length} values", target.name);
            }
        }
    }
}

#[test]
fn redrawing_replaces_in_order() {
    for m in moduli().filter(|m| m.bits() > 8) {
        let (q, limit) = (m.value(), 1 << m.bits());
        for length in lengths() {
            let (values, fresh) = (words(limit, length, 3), words(limit, length, 4));
            let kept: Vec<u64> = fresh.iter().copied().filter(|x| *x < q).collect();
            let mut next = kept.iter();
            let expected: Vec<Option<u64>> =
                values.iter().map(|x| if *x < q { Some(*x) } else { next.next().copied() }).collect();
            let enough = expected.iter().position(Option::is_none).unwrap_or(length);
            for target in Streams::available() {
                let mut accepted = fresh.clone();
                let count = (target.accept)(&m, &mut accepted);
                assert_eq!(accepted[..count], kept, "{} {m:?}", target.name);
                let mut found = values.clone();
                let (done, used) = (target.replace)(&m, &mut found, &kept);
                assert_eq!(done, enough, "{} {m:?} {length}", target.name);
                assert_eq!(used, values[..done].iter().filter(|x| **x >= q).count());
                let found: Vec<Option<u64>> = found[..done].iter().copied().map(Some).collect();
                assert_eq!(found, expected[..done]);
            }
        }
    }
}

#[test]
fn small_integers_are_drawn_alike() {
    let ends =
        [0, 0x5555_5555_5555_5555, 0x5555_5555_5555_5556, 0xaaaa_aaaa_aaaa_aaaa, 0xaaaa_aaaa_aaaa_aaab];
    let mut source: Vec<u8> = ends.iter().chain(&[u64::MAX; 4]).flat_map(|w: &u64| w.to_le_bytes()).collect();
    source.extend(bytes(8 * 4096, 9));
    type Draw = fn(&Streams, &[u8], &mut [i64]);
    let compare = |what: &str, draw: Draw| {
        for length in lengths() {
            let mut expected = vec![0; length];
            draw(&Streams::SCALAR, &source[..8 * length], &mut expected);
            for target in Streams::available() {
                let mut out = vec![99; length];
                draw(&target, &source[..8 * length], &mut out);
                assert_eq!(out, expected, "{} {what} {length}", target.name);
            }
        }
    };
    compare("ternary", |t, source, out| (t.ternary)(source, out));
    compare("centred binomial", |t, source, out| (t.centred_binomial)(source, out));
    let mut drawn = [0; 5];
    (Streams::SCALAR.ternary)(&source[..40], &mut drawn);
    assert_eq!(drawn, [-1, -1, 0, 0, 1]);
    let coins: Vec<u8> =
        [0x1f_ffffu64, 0x1f_ffff << 21, u64::MAX, 1 << 42, 5].iter().flat_map(|w| w.to_le_bytes()).collect();
    (Streams::SCALAR.centred_binomial)(&coins, &mut drawn);
    assert_eq!(drawn, [21, -21, 0, 0, 2]);
}

#[test]
fn residues_and_small_integers_alike() {
    for m in moduli() {
        let q = m.value();
        for length in lengths().filter(|length| *length < 600) {
            let [a, b, c] = [1, 2, 3].map(|seed| words(q, length, seed));
            let centred: Vec<i64> = a.iter().map(|x| m.centre(*x)).collect();
            let sum: Vec<i64> =
                centred.iter().zip(&b).map(|(x, y)| (*x >> 5) - 21 * (*y as i64 >> 6)).collect();
            for target in Kernels::available() {
                let mut signed: Vec<i64> = a.iter().map(|x| *x as i64).collect();
                (target.centre)(&m, words_mut(&mut signed));
                assert_eq!(signed, centred, "{} centre {m:?}", target.name);
            }
            for target in Streams::available() {
                let mut lifted = vec![77; length];
                (target.lift)(&m, &mut lifted, &centred);
                assert_eq!(lifted, a, "{} lift {m:?}", target.name);
                let mut total: Vec<i64> = centred.iter().map(|x| *x >> 5).collect();
                let small: Vec<i64> = b.iter().map(|x| *x as i64 >> 6).collect();
                (target.add_scaled)(&mut total, &small, -21);
                assert_eq!(total, sum, "{} add scaled", target.name);
                let mut body = a.clone();
                (target.subtract_product)(&m, &mut body, &b, &c);
                let expected: Vec<u64> =
                    (0..length).map(|i| m.subtract(a[i], m.multiply(b[i], c[i]))).collect();
                assert_eq!(body, expected, "{} subtract product {m:?}", target.name);
            }
            // The limits of the range of `lift`.
            let ends = [-(q as i64) + 1, -1, 0, q as i64 - 1, 1, -1, 0, 0, -1];
            for target in Streams::available() {
                let mut lifted = [0; 9];
                (target.lift)(&m, &mut lifted, &ends);
                assert_eq!(lifted, [1, q - 1, 0, q - 1, 1, q - 1, 0, 0, q - 1], "{}", target.name);
            }
        }
    }
}

/// Test vector of NIST SP 800-38A, F.5.1: its initial counter block ends in 0xfcfdfeff.
#[test]
fn counter_mode_gives_the_published_blocks() {
    let key = hex("2b7e151628aed2a6abf7158809cf4f3c");
    let block = hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
    let plain = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";
    let cipher = "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee";
    let expected: Vec<u8> = hex::<64>(plain).iter().zip(hex::<64>(cipher)).map(|(p, c)| p ^ c).collect();
    for target in Streams::available() {
        let Some(lanes) = AesLanes::new(&target, &key) else { continue };
        for length in 0..=64 {
            let mut out = vec![0; length];
            lanes.keystream(&block, 0xfcfd_feff, &mut out);
            assert_eq!(out, expected[..length], "{}", target.name);
        }
        // A long stream equals its parts, also where the counter wraps.
        for start in [0, u32::MAX - 40] {
            let mut whole = vec![0; 5000];
            lanes.keystream(&block, start, &mut whole);
            for (i, part) in whole.chunks(16).enumerate() {
                let mut out = vec![0; part.len()];
                lanes.keystream(&block, start.wrapping_add(i as u32), &mut out);
                assert_eq!(out, part, "{} block {i}", target.name);
            }
        }
    }
}

fn hex<const N: usize>(digits: &str) -> [u8; N] {
    core::array::from_fn(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap())
}

#[test]
fn a_magnitude_beyond_the_limit_is_seen_wherever_it_is() {
    for target in Streams::available() {
        for (limit, inside, outside) in
            [(5, [4, -4], [5, -5]), (1 << 60, [(1 << 60) - 1, 1 - (1 << 60)], [1 << 60, -(1 << 60)])]
        {
            for place in 0..30 {
                for length in [place + 1, 30] {
                    let with = |value| {
                        let mut values = vec![inside[1]; length];
                        values[place] = value;
                        (target.any_beyond)(&values, limit)
                    };
                    assert!(!with(inside[0]) && !with(0), "{}", target.name);
                    assert!(with(outside[0]) && with(outside[1]) && with(i64::MIN) && with(i64::MAX));
                }
            }
        }
        assert!(!(target.any_beyond)(&[], 1));
        assert!((target.any_beyond)(&[i64::MIN; 9], 1 << 63));
        assert!(!(target.any_beyond)(&[i64::MAX; 9], 1 << 63));
    }
}
