//! Every cell of the security tables exists, and no modulus outside of them passes.

use sotto_ring::primes;
use sotto_rlwe::{
    Bfv, Bgv, ChainRequest, Ckks, ParameterError, ParameterSpec, Params, Scheme, SchemeId, Security,
    SecurityLevel, SecurityProfile, SecurityTarget, largest_modulus_bits,
};

/// n, then 128, 192, 256 bits by the 2024 guidelines, then by the 2018 standard; 0 is an empty cell.
const CELLS: [(usize, [u32; 3], [u32; 3]); 8] = [
    (1024, [26, 0, 0], [27, 19, 14]),
    (2048, [53, 36, 27], [54, 37, 29]),
    (4096, [106, 73, 56], [109, 75, 58]),
    (8192, [214, 147, 114], [218, 152, 118]),
    (16384, [430, 297, 230], [438, 305, 237]),
    (32768, [868, 597, 462], [881, 611, 476]),
    (65536, [1747, 1199, 929], [0, 0, 0]),
    (131_072, [3523, 2411, 1866], [0, 0, 0]),
];

/// Every target, degree and limit.
fn cells() -> impl Iterator<Item = (SecurityTarget, usize, Option<u32>)> {
    CELLS.into_iter().flat_map(|(degree, newer, older)| {
        SecurityProfile::ALL.into_iter().zip([newer, older]).flat_map(move |(profile, limits)| {
            SecurityLevel::ALL.into_iter().zip(limits).map(move |(level, limit)| {
                (SecurityTarget { profile, level }, degree, Some(limit).filter(|limit| *limit > 0))
            })
        })
    })
}

#[test]
fn the_tables_are_the_published_ones() {
    for (target, degree, limit) in cells() {
        assert_eq!(largest_modulus_bits(target.profile, target.level, degree), limit, "{target}, {degree}");
        match (target.limit(degree), limit) {
            (Ok(found), Some(limit)) => assert_eq!(found, limit),
            (Err(ParameterError::NoSecurityCell { .. }), None) => {}
            other => panic!("{target}, n = {degree}: {other:?}"),
        }
    }
    for degree in [0, 1, 512, 1023, 3 * 1024, 1 << 18, usize::MAX] {
        for (target, _, _) in cells() {
            assert_eq!(largest_modulus_bits(target.profile, target.level, degree), None);
        }
    }
    for profile in SecurityProfile::ALL {
        assert_eq!(profile.name().parse(), Ok(profile));
    }
    assert!("he-standard-2019".parse::<SecurityProfile>().is_err());
    for level in SecurityLevel::ALL {
        assert_eq!(SecurityLevel::from_bits(level.bits()), Some(level));
    }
    assert_eq!(SecurityLevel::from_bits(80), None);
    assert_eq!("he-standard-2018".parse(), Ok(SecurityProfile::HeStandard2018));
}

/// Returns a chain of exactly as many bits as the limit, and one with a bit more.
fn at_the_limit(degree: usize, limit: u32) -> (ParameterSpec, ParameterSpec) {
    let spec = |total: u32| {
        let count = total.div_ceil(60);
        let mut data: Vec<u64> = Vec::new();
        for i in 0..count {
            let bits = total / count + u32::from(i < total % count);
            let prime = primes::below(1 << bits, degree).find(|p| !data.contains(p)).unwrap();
            data.push(prime);
        }
        ParameterSpec { scheme: SchemeId::Bgv, degree, special: Vec::new(), data, digit_primes: 1, plain: 2 }
    };
    (spec(limit), spec(limit + 1))
}

#[test]
fn limits_hold_to_the_bit() {
    for (target, degree, limit) in cells().filter(|(_, degree, _)| *degree <= 32768) {
        let Some(limit) = limit else { continue };
        let (within, above) = at_the_limit(degree, limit);
        let what = format!("{target}, n = {degree}");
        // Small primes are sparse: at n = 1024 the 14-bit one leaves less than a bit.
        if within.modulus_bit_length() == limit {
            let params = Params::<Bgv>::with_security(within.clone(), target).expect(&what);
            assert_eq!(params.security(), Security::Checked(target), "{what}");
            assert_eq!(params.id(), within.id(), "{what}: the identity depends on the profile");
        }
        if above.modulus_bit_length() > limit {
            let error = Params::<Bgv>::with_security(above, target).unwrap_err();
            let text = error.to_string();
            assert!(matches!(error, ParameterError::Insecure { .. }), "{what}: {text}");
            for fact in [target.profile.name(), &target.level.bits().to_string(), &limit.to_string(), "take"]
            {
                assert!(text.contains(fact), "{what}: {text}");
            }
        }
    }
}

fn every_cell_has_a_chain<S: Scheme>() {
    for (security, degree, limit) in cells().filter(|(_, degree, _)| *degree <= 65536) {
        let request = ChainRequest { security, ..ChainRequest::new(S::ID, degree, 2) };
        let what = format!("{}, {security}, n = {degree}", S::ID);
        match (request.build(), limit) {
            (Ok(spec), Some(limit)) => {
                assert!(spec.modulus_bit_length() <= limit, "{what}");
                assert_eq!(spec.special.is_empty(), degree < 4096, "{what}: special primes");
                // The largest ones are slow to prepare; other tests prepare them.
                if degree <= 8192 {
                    let params = Params::<S>::with_security(spec, security).expect(&what);
                    assert_eq!(params.security(), Security::Checked(security));
                }
            }
            (Err(ParameterError::NoSecurityCell { .. }), None) => {}
            (found, limit) => panic!("{what}: {found:?} where the limit is {limit:?}"),
        }
    }
}

#[test]
fn every_cell_has_a_chain_of_every_scheme() {
    every_cell_has_a_chain::<Bgv>();
    every_cell_has_a_chain::<Bfv>();
    every_cell_has_a_chain::<Ckks>();
}

#[test]
fn the_profile_has_to_be_named() {
    let security = SecurityTarget { profile: SecurityProfile::HeStandard2018, level: SecurityLevel::Bits128 };
    let request = ChainRequest { security, ..ChainRequest::new(SchemeId::Bfv, 8192, 65537) };
    let spec = request.build().unwrap();
    assert!(spec.modulus_bits() > 214.0, "{}", spec.modulus_bits());
    let refused = Params::<Bfv>::new(spec.clone()).unwrap_err();
    assert!(matches!(refused, ParameterError::Insecure { limit: 214, enough: Some(16384), .. }), "{refused}");
    assert_eq!(
        Params::<Bfv>::with_security(spec.clone(), security).unwrap().security(),
        Security::Checked(security)
    );
    assert_eq!(Params::<Bfv>::insecure(spec).unwrap().security(), Security::Insecure);
    let usual = Params::<Bfv>::default_chain(4096, 65537).unwrap();
    assert_eq!(usual.security(), Security::Checked(SecurityTarget::default()));
}
