//! Chains on request have the requested digits, special primes, levels and bits, or are refused with the reason.

use sotto_rlwe::{
    Bgv, ChainRequest, Ckks, Digits, ParameterError, ParameterSpec, Params, SchemeId, SecurityLevel,
    SecurityProfile, SecurityTarget,
};

const SCHEMES: [SchemeId; 3] = [SchemeId::Bfv, SchemeId::Bgv, SchemeId::Ckks];

fn request(scheme: SchemeId, degree: usize) -> ChainRequest {
    ChainRequest::new(scheme, degree, 65537)
}

fn digits(spec: &ParameterSpec) -> usize {
    spec.data.len().div_ceil(spec.digit_primes)
}

#[test]
fn digits_and_special_primes_are_as_asked() {
    for scheme in SCHEMES {
        for degree in [16384, 32768, 65536] {
            for count in 1..=8 {
                let asked = ChainRequest { digits: Some(Digits::Count(count)), ..request(scheme, degree) };
                match asked.build() {
                    Ok(spec) => assert_eq!(digits(&spec), count, "{scheme} {degree}"),
                    // No chain has more than 16 primes a digit.
                    Err(error) => {
                        assert!(degree == 65536 && count == 1, "{scheme} {degree} {count}: {error}");
                    }
                }
                let special_primes = Some(count);
                let spec = ChainRequest { special_primes, ..request(scheme, degree) }.build().unwrap();
                assert_eq!((spec.special.len(), spec.digit_primes), (count, count), "{scheme} {degree}");
            }
            for special in 1..=4 {
                for primes in 1..=special {
                    let asked = ChainRequest {
                        special_primes: Some(special),
                        digits: Some(Digits::Primes(primes)),
                        ..request(scheme, degree)
                    };
                    let spec = asked.build().unwrap();
                    assert_eq!(
                        (spec.special.len(), spec.digit_primes),
                        (special, primes),
                        "{scheme} {degree}"
                    );
                }
            }
        }
        let none = ChainRequest { special_primes: Some(0), ..request(scheme, 8192) }.build().unwrap();
        assert!(none.special.is_empty() && none.digit_primes == 1);
        let asked = ChainRequest {
            special_primes: Some(0),
            digits: Some(Digits::Primes(2)),
            ..request(scheme, 16384)
        };
        let pairs = asked.build().unwrap();
        assert_eq!((pairs.special.len(), pairs.digit_primes), (0, 2), "{scheme}");
    }
}

#[test]
fn more_special_primes_leave_fewer_data_bits() {
    for scheme in SCHEMES {
        let bits = |special| {
            let asked = ChainRequest { special_primes: Some(special), ..request(scheme, 32768) };
            asked.build().unwrap().data_bits()
        };
        assert!(bits(1) > bits(4) && bits(4) > bits(8), "{scheme}");
    }
}

#[test]
fn a_total_of_data_bits_is_met_within_three_percent() {
    let older = SecurityTarget { profile: SecurityProfile::HeStandard2018, level: SecurityLevel::Bits128 };
    for (scheme, security, degree, totals) in [
        (SchemeId::Bfv, SecurityTarget::default(), 8192, &[60, 100, 109, 130, 168][..]),
        (SchemeId::Bgv, older, 8192, &[109, 150, 170]),
        (SchemeId::Bgv, SecurityTarget::default(), 32768, &[218, 300, 438, 500, 640]),
        (SchemeId::Ckks, SecurityTarget::default(), 16384, &[60, 109, 150, 218, 300, 330]),
        (SchemeId::Ckks, older, 32768, &[200, 350, 438, 600, 660]),
        (SchemeId::Ckks, SecurityTarget::default(), 65536, &[881, 1000, 1300]),
    ] {
        for total in totals {
            let asked = ChainRequest { data_bits: Some(*total), security, ..request(scheme, degree) };
            let spec = asked.build().unwrap();
            let off = (spec.data_bits() / f64::from(*total) - 1.0).abs();
            assert!(off <= 0.03, "{scheme}, n = {degree}: {} bits for {total}", spec.data_bits());
        }
    }
}

#[test]
fn levels_and_sizes_are_as_asked() {
    for levels in 0..=12 {
        for scheme in SCHEMES {
            let spec = ChainRequest { levels: Some(levels), ..request(scheme, 32768) }.build().unwrap();
            assert_eq!(spec.data.len(), levels + 1, "{scheme}");
        }
    }
    let asked = ChainRequest {
        levels: Some(5),
        first_bits: Some(60),
        other_bits: Some(45),
        special_bits: Some(60),
        special_primes: Some(1),
        ..request(SchemeId::Ckks, 16384)
    };
    let spec = asked.build().unwrap();
    assert_eq!((spec.plain, spec.special.len(), spec.data.len()), (45, 1, 6));
    assert_eq!((spec.data[0].ilog2(), spec.special[0].ilog2()), (59, 59));
}

#[test]
fn every_scale_of_a_built_chain_is_near_the_top_one() {
    for degree in [4096, 8192, 16384, 32768] {
        for scale in [None, Some(25), Some(30), Some(35), Some(45), Some(50)] {
            let asked = ChainRequest { other_bits: scale, ..request(SchemeId::Ckks, degree) };
            let spec = match asked.build() {
                Ok(spec) => spec,
                Err(error) if scale < Some(35) && error.to_string().contains("larger primes") => continue,
                // q_0, a special prime and the room above the scale take 108 bits here.
                Err(_) if degree == 4096 && scale == Some(50) => continue,
                Err(error) => panic!("n = {degree}, Δ = 2^{scale:?}: {error}"),
            };
            let params = Params::<Ckks>::new(spec).unwrap();
            for level in 0..=params.top_level() {
                assert!(params.scale_ratio(level).log2().abs() <= 0.01, "n = {degree}, Δ = 2^{scale:?}");
            }
        }
    }
    // The longest chains of n = 65536 at 128 bits, with scales of 2^25, for which primes are too sparse, and of 2^35.
    let long = |levels, scale| {
        let asked = ChainRequest {
            levels: Some(levels),
            other_bits: Some(scale),
            special_primes: Some(2),
            ..request(SchemeId::Ckks, 65536)
        };
        asked.build()
    };
    assert!(long(60, 25).unwrap_err().to_string().contains("larger primes"));
    let params = Params::<Ckks>::new(long(45, 35).unwrap()).unwrap();
    assert!((0..=45).all(|level| params.scale_ratio(level).log2().abs() <= 0.01));
}

#[test]
fn what_does_not_fit_is_refused_with_a_way_out() {
    let usual = request(SchemeId::Bgv, 8192);
    for (asked, says) in [
        (ChainRequest { data_bits: Some(400), ..usual }, "allows 214"),
        (ChainRequest { levels: Some(200), ..usual }, "no primes"),
        (ChainRequest { levels: Some(usize::MAX), ..usual }, "no primes"),
        (ChainRequest { levels: Some(31), other_bits: Some(30), ..usual }, "allows 214"),
        (ChainRequest { other_bits: Some(64), ..usual }, "no primes"),
        (ChainRequest { other_bits: Some(14), ..usual }, "larger primes"),
        (ChainRequest { other_bits: Some(0), ..usual }, "larger"),
        (ChainRequest { special_primes: Some(17), ..usual }, "no primes"),
        (ChainRequest { special_primes: Some(usize::MAX), ..usual }, "no primes"),
        (ChainRequest { digits: Some(Digits::Count(0)), ..usual }, "no primes"),
        (ChainRequest { digits: Some(Digits::Primes(0)), ..usual }, "no primes"),
        (ChainRequest { digits: Some(Digits::Count(7)), levels: Some(3), ..usual }, "no primes"),
        (
            ChainRequest { special_bits: Some(20), levels: Some(3), other_bits: Some(40), ..usual },
            "no primes",
        ),
        (ChainRequest { data_bits: Some(0), ..usual }, "no primes"),
        (ChainRequest { data_bits: Some(u32::MAX), ..usual }, "no primes"),
        (ChainRequest { degree: 3000, ..usual }, "power of two"),
        (ChainRequest { degree: usize::MAX, ..usual }, "power of two"),
        (ChainRequest { plain_modulus: 1, ..usual }, "plain modulus"),
        (ChainRequest { plain_modulus: u64::MAX, ..usual }, "plain modulus"),
    ] {
        match asked.build() {
            Ok(spec) => panic!("accepted: {asked:?}: {spec:?}"),
            Err(error) => assert!(error.to_string().contains(says), "{error} for {asked:?}"),
        }
    }
    let none = SecurityTarget { profile: SecurityProfile::HeStandard2018, level: SecurityLevel::Bits256 };
    let error = ChainRequest { security: none, ..request(SchemeId::Bgv, 65536) }.build().unwrap_err();
    assert!(matches!(error, ParameterError::NoSecurityCell { degree: 65536, .. }), "{error}");
}

#[test]
fn equal_requests_give_equal_parameters() {
    for scheme in SCHEMES {
        assert_eq!(request(scheme, 8192).build(), request(scheme, 8192).build());
    }
    let spec = request(SchemeId::Bgv, 8192).build().unwrap();
    assert_eq!(Params::<Bgv>::new(spec.clone()).unwrap().id(), spec.id());
}
