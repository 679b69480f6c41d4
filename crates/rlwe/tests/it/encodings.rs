//! Encoders at the limits of their ranges: decoding returns the input within the error of `Plaintext::rounding`.

use sotto_ring::{Complex, primes};
use sotto_rlwe::{
    Bfv, Bgv, Ckks, DefaultChain, EncodeError, ParameterSpec, Params, Plaintext, Scheme, SchemeId,
};

/// One step of a 64-bit linear congruential generator (Knuth's constants), for reproducible values.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 11
}

fn signed(state: &mut u64) -> f64 {
    next(state) as f64 / (1u64 << 52) as f64 - 1.0
}

/// One data prime of 60 bits, for encoding only.
fn real(degree: usize, scale_bits: u64) -> Params<Ckks> {
    let data = vec![primes::below(1 << 60, degree).next().unwrap()];
    let scheme = SchemeId::Ckks;
    Params::insecure(ParameterSpec {
        scheme,
        degree,
        special: vec![],
        data,
        digit_primes: 1,
        plain: scale_bits,
    })
    .unwrap()
}

fn exact<S: Scheme>(degree: usize, plain: u64) -> Params<S> {
    let data = primes::below(1 << 60, degree).filter(|p| *p != plain).take(3).collect();
    Params::insecure(ParameterSpec { scheme: S::ID, degree, special: vec![], data, digit_primes: 1, plain })
        .unwrap()
}

/// Returns the allowed error of a decoded slot: the rounding of encoding, and 2^-45 of the largest slot for decoding.
fn allowed(params: &Params<Ckks>, plaintext: &Plaintext<Ckks>) -> f64 {
    let decoding = plaintext.norm().value() / (1u64 << 45) as f64;
    (plaintext.rounding().value() + decoding) / params.scale(plaintext.level()) * (1.0 + 1e-9)
}

fn check_complex(params: &Params<Ckks>, values: &[Complex], level: usize, what: &str) {
    let plaintext = params.encode_complex(values, level).expect(what);
    let (found, allowed) = (params.decode_complex(&plaintext), allowed(params, &plaintext));
    assert_eq!(found.len(), params.degree() / 2);
    let padded = values.iter().copied().chain(std::iter::repeat(Complex::default()));
    for (i, (a, b)) in found.iter().zip(padded).enumerate() {
        let off = (*a - b).absolute();
        assert!(
            off <= allowed,
            "{what}, n = {}: slot {i} is off by {off:e}, not {allowed:e}",
            params.degree()
        );
    }
    let largest = values.iter().map(|z| z.absolute()).fold(0.0, f64::max) * params.scale(level);
    assert!(plaintext.norm().value() <= largest * (1.0 + 1e-6) + params.degree() as f64 / 2.0, "{what}");
}

/// The value of a slot.
type Pattern = Box<dyn FnMut(usize) -> Complex>;

#[test]
fn complex_slots_come_back_within_the_rounding() {
    for bits in 10..=16 {
        let degree = 1usize << bits;
        let slots = degree / 2;
        for scale_bits in [10, 20, 40, 55] {
            let params = real(degree, scale_bits);
            // The largest accepted value, in a direction that is neither real nor imaginary.
            let limit = 2f64.powi(61) / params.scale(0) * (1.0 - 1e-12);
            let mut state = degree as u64 + scale_bits;
            let patterns: [(&str, Pattern); 6] = [
                ("all equal", Box::new(move |_| Complex { re: limit * 0.6, im: limit * 0.8 })),
                ("alternating", Box::new(move |i| Complex::real(if i % 2 == 0 { limit } else { -limit }))),
                ("one", Box::new(move |i| Complex { re: 0.0, im: if i == slots - 1 { limit } else { 0.0 } })),
                ("zero", Box::new(|_| Complex::default())),
                ("tiny", Box::new(|_| Complex { re: f64::MIN_POSITIVE, im: -5e-324 })),
                ("random", Box::new(move |_| Complex { re: signed(&mut state), im: signed(&mut state) })),
            ];
            for (what, value) in patterns {
                let values: Vec<Complex> = (0..slots).map(value).collect();
                check_complex(&params, &values, 0, &format!("{what}, Δ = 2^{scale_bits}"));
            }
            check_complex(&params, &[], 0, "nothing");
            check_complex(&params, &[Complex { re: -1.0, im: 0.5 }], 0, "one of many");
        }
    }
}

#[test]
fn real_slots_are_complex_slots_without_imaginary_parts() {
    let params = Params::<Ckks>::default_chain(4096, 0).unwrap();
    let mut state = 1;
    let values: Vec<f64> = (0..2048).map(|_| signed(&mut state)).collect();
    let pairs: Vec<Complex> = values.iter().map(|v| Complex::real(*v)).collect();
    for level in 0..=params.top_level() {
        let (a, b) = (
            Ckks::encode_slots(&params, &values, level).unwrap(),
            params.encode_complex(&pairs, level).unwrap(),
        );
        assert_eq!(a.coefficients(), b.coefficients());
        assert_eq!((a.rounding(), a.norm(), a.level()), (b.rounding(), b.norm(), b.level()));
        let parts: Vec<f64> = params.decode_complex(&a).iter().map(|z| z.re).collect();
        assert_eq!(Ckks::decode_slots(&params, &a).unwrap(), parts);
    }
}

#[test]
fn what_is_no_number_or_too_large_is_refused_by_its_index() {
    let params = Params::<Ckks>::default_chain(8192, 0).unwrap();
    let limit = 2f64.powi(61) / params.scale(3);
    let bad =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, limit * 1.0001, -limit * 1.0001, f64::MAX, f64::MIN];
    for value in bad {
        for index in [0, 1, 17, 4095] {
            let mut values = vec![0.5; 4096];
            values[index] = value;
            let refused = |found: Result<Plaintext<Ckks>, EncodeError>, what: &str| {
                let error = found.err().unwrap_or_else(|| panic!("{what}: {value} was accepted"));
                assert!(
                    matches!(error, EncodeError::OutOfRange { index: i, .. } if i == index),
                    "{what}: {error}"
                );
            };
            refused(Ckks::encode_slots(&params, &values, 3), "slots");
            refused(Ckks::encode_coefficients(&params, &values, 3), "coefficients");
            refused(params.encode_repeated(&values, 3), "repeated");
            let re: Vec<Complex> = values.iter().map(|v| Complex { re: *v, im: 0.0 }).collect();
            let im: Vec<Complex> = values.iter().map(|v| Complex { re: 0.0, im: *v }).collect();
            refused(params.encode_complex(&re, 3), "real parts");
            refused(params.encode_complex(&im, 3), "imaginary parts");
        }
        assert!(Ckks::encode_scalar(&params, value, 3).is_err());
    }
    // Each part is in range, the absolute value is not.
    let corner = Complex { re: limit * 0.8, im: limit * 0.8 };
    assert!(matches!(params.encode_complex(&[corner], 3), Err(EncodeError::OutOfRange { index: 0, .. })));
    let many = vec![0.0; 8193];
    assert!(matches!(
        Ckks::encode_coefficients(&params, &many, 3),
        Err(EncodeError::TooManyCoefficients { .. })
    ));
    assert!(matches!(Ckks::encode_slots(&params, &many, 3), Err(EncodeError::TooMany { .. })));
    assert!(matches!(Ckks::encode_slots(&params, &[], 4), Err(EncodeError::Level { level: 4, top: 3 })));
    assert!(matches!(Ckks::encode_coefficients(&params, &[], 4), Err(EncodeError::Level { .. })));
    assert!(matches!(params.encode_complex(&[], 4), Err(EncodeError::Level { .. })));
}

#[test]
fn scalars_are_rounded_to_the_nearest_at_every_level() {
    for chain in DefaultChain::all(SchemeId::Ckks).iter().filter(|c| c.degree <= 16384) {
        let params = Params::<Ckks>::default_chain(chain.degree, 0).unwrap();
        for level in 0..=params.top_level() {
            let scale = params.exact_scale(level);
            let most = (2f64.powi(61) / scale.high) as i64;
            for value in [0, 1, -1, 3, 1000, most - 1, 1 - most] {
                let plaintext = Ckks::encode_scalar(&params, value as f64, level).unwrap();
                // Δ_l = high + low, low in units of 2^-40, in which the product is an integer.
                let low = (scale.low * 2f64.powi(40)).round() as i128;
                let exact = i128::from(value) * (((scale.high as i128) << 40) + fraction(scale.high) + low);
                let off = (i128::from(plaintext.coefficients()[0]) << 40) - exact;
                let slack = i128::from(value.unsigned_abs()) + 2;
                assert!(off.abs() <= (1 << 39) + slack, "{value} at level {level}");
                let rounding = plaintext.rounding().value() * 2f64.powi(40);
                assert!(off.abs() as f64 <= rounding + slack as f64, "{value} at level {level}: {rounding}");
            }
        }
    }
}

/// The fraction of a positive number in units of 2^-40.
fn fraction(x: f64) -> i128 {
    (x.fract() * 2f64.powi(40)).round() as i128
}

#[test]
fn real_coefficients_come_back() {
    for degree in [1024, 8192] {
        let params = real(degree, 40);
        let mut state = 5;
        for count in [0, 1, 2, 16, 17, degree] {
            let values: Vec<f64> = (0..count).map(|_| 1000.0 * signed(&mut state)).collect();
            let plaintext = Ckks::encode_coefficients(&params, &values, 0).unwrap();
            let back = Ckks::decode_coefficients(&params, &plaintext);
            assert_eq!(back.len(), degree);
            for (a, b) in back.iter().zip(values.iter().chain(std::iter::repeat(&0.0))) {
                assert!((a - b).abs() <= 0.5001 / params.scale(0) + b.abs() * 1e-15, "{count}: {a} {b}");
            }
            // The rounding errors, as an embedding of their own.
            let rests: Vec<f64> = (0..degree)
                .map(|i| match (values.get(i), plaintext.coefficients().get(i)) {
                    (Some(v), Some(c)) => v * params.scale(0) - *c as f64,
                    _ => 0.0,
                })
                .collect();
            let norm = params.embedding().to_slots(&rests).iter().map(|z| z.absolute()).fold(0.0, f64::max);
            assert!(norm <= plaintext.rounding().value() * (1.0 + 1e-9) + 1e-2, "{count} of {degree}");
        }
    }
}

#[test]
fn repeated_numbers_come_back_for_every_power_of_two() {
    for degree in [1024, 4096, 65536] {
        let params = real(degree, 40);
        let mut state = 9;
        for log in 0..degree.ilog2() {
            let count = 1usize << log;
            let values: Vec<f64> = (0..count).map(|_| signed(&mut state)).collect();
            let plaintext = params.encode_repeated(&values, 0).unwrap();
            let slots = Ckks::decode_slots(&params, &plaintext).unwrap();
            let off = allowed(&params, &plaintext);
            assert!(slots.iter().enumerate().all(|(i, slot)| (slot - values[i % count]).abs() <= off));
            let back = params.decode_repeated(&plaintext, count).unwrap();
            assert!(back.iter().zip(&values).all(|(a, b)| (a - b).abs() <= off), "{count} of {degree}");
            // Equal copies give a polynomial in X^(n/2k), or X^(n/4) for one number, since 3^i takes two values modulo
            // 4.
            let gap = degree / 2 / count.max(2);
            let zero = |(i, c): (usize, &i64)| i % gap == 0 || *c == 0;
            assert!(plaintext.coefficients().iter().enumerate().all(zero), "{count} of {degree}");
        }
        for count in [0, 3, degree / 2 + 1, degree] {
            let values = vec![0.0; count];
            let refused = params.encode_repeated(&values, 0).err();
            assert_eq!(refused, Some(EncodeError::Repetition { given: count, row: degree / 2 }));
            let plaintext = params.encode_repeated(&[0.0], 0).unwrap();
            assert!(params.decode_repeated(&plaintext, count).is_err());
        }
    }
}

fn integers_at_the_ends<S: Scheme<Value = i64>>() {
    let near = (1u64 << 60) - 1;
    for degree in [1024, 4096, 65536] {
        let batching = primes::below(near, degree).next().unwrap();
        for t in [2, 3, 4, 1000, 65536, 65537, near - 1, near, batching] {
            let params = exact::<S>(degree, t);
            let what = format!("{}, n = {degree}, t = {t}", S::ID);
            let half = (t / 2) as i64;
            // Centred representatives: −floor(t/2) is one for even t only.
            let ends =
                [0, 1 % half.max(1), -(half - i64::from(t % 2 == 0)).min(half), half - i64::from(t % 2 == 0)];
            let values: Vec<i64> = ends.iter().copied().cycle().take(degree).collect();
            let plaintext = S::encode_coefficients(&params, &values, 0).expect(&what);
            assert_eq!(S::decode_coefficients(&params, &plaintext), values, "{what}");
            assert_eq!(plaintext.rounding().value(), 0.0, "{what}");
            for (i, value) in ends.iter().enumerate() {
                let scalar = S::encode_scalar(&params, *value, 0).expect(&what);
                assert_eq!(S::decode_scalar(&params, &scalar), *value, "{what}");
                let short = S::encode_coefficients(&params, &ends[..=i], 0).expect(&what);
                assert_eq!(S::decode_coefficients(&params, &short)[i], *value, "{what}");
                assert_eq!(S::decode_coefficients(&params, &short).len(), degree);
            }
            // t − 1 and −1 are the same, and t is out of range.
            let top = S::encode_coefficients(&params, &[0, t as i64 - 1], 0).expect(&what);
            assert_eq!(
                S::decode_coefficients(&params, &top)[1],
                if t == 2 { ends_of_two() } else { -1 },
                "{what}"
            );
            for bad in [t as i64, -(t as i64), i64::MAX, i64::MIN] {
                let mut values = vec![0; 33];
                values[32] = bad;
                let refused = S::encode_coefficients(&params, &values, 0).err();
                assert!(matches!(refused, Some(EncodeError::OutOfRange { index: 32, .. })), "{what}: {bad}");
            }
            let many = vec![0; degree + 1];
            assert!(matches!(
                S::encode_coefficients(&params, &many, 0).err(),
                Some(EncodeError::TooManyCoefficients { .. })
            ));
            slots_at_the_ends(&params, &values, &what);
        }
    }
}

/// The centred representative of 1 modulo 2.
fn ends_of_two() -> i64 {
    sotto_ring::Modulus::new(2).unwrap().centre(1)
}

fn slots_at_the_ends<S: Scheme<Value = i64>>(params: &Params<S>, values: &[i64], what: &str) {
    let degree = params.degree();
    if S::slot_shape(params).is_none() {
        assert!(matches!(params.encode_repeated(&[0], 0).err(), Some(EncodeError::NoSlots { .. })), "{what}");
        assert!(
            matches!(S::encode_slots(params, &[0], 0).err(), Some(EncodeError::NoSlots { .. })),
            "{what}"
        );
        return;
    }
    let plaintext = S::encode_slots(params, values, 0).expect(what);
    assert_eq!(S::decode_slots(params, &plaintext).unwrap(), values, "{what}");
    for count in [1, 2, degree / 4, degree / 2] {
        let plaintext = params.encode_repeated(&values[..count], 0).expect(what);
        assert_eq!(params.decode_repeated(&plaintext, count).unwrap(), values[..count], "{what}");
        let slots = S::decode_slots(params, &plaintext).unwrap();
        assert!(slots.iter().enumerate().all(|(i, slot)| *slot == values[i % count]), "{what}: {count}");
    }
    assert!(matches!(
        params.encode_repeated(&vec![0; degree], 0).err(),
        Some(EncodeError::Repetition { .. })
    ));
}

#[test]
fn integers_of_bgv_at_the_ends() {
    integers_at_the_ends::<Bgv>();
}

#[test]
fn integers_of_bfv_at_the_ends() {
    integers_at_the_ends::<Bfv>();
}
