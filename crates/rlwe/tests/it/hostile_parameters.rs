//! Untrusted parameters are refused with an error, never a panic.

use sotto_ring::primes;
use sotto_rlwe::{Bfv, Bgv, Ckks, ParameterError, ParameterSpec, Params, Scheme, SchemeId};

fn spec(scheme: SchemeId, degree: usize, data: Vec<u64>, plain: u64) -> ParameterSpec {
    ParameterSpec { scheme, degree, special: Vec::new(), data, digit_primes: 1, plain }
}

fn refused<S: Scheme>(spec: ParameterSpec) -> ParameterError {
    let shown = format!("{spec:?}");
    let secure = Params::<S>::new(spec.clone());
    let Err(error) = Params::<S>::insecure(spec) else { panic!("accepted: {shown}") };
    assert!(secure.is_err());
    error
}

#[test]
fn chains_that_no_conversion_takes_are_refused() {
    let many: Vec<u64> = primes::below(1 << 26, 32768).take(33).collect();
    for scheme in [SchemeId::Bgv, SchemeId::Bfv] {
        let s = spec(scheme, 32768, many.clone(), 3);
        let error = if scheme == SchemeId::Bgv { refused::<Bgv>(s) } else { refused::<Bfv>(s) };
        assert!(error.to_string().contains("at most 32"), "{error}");
    }
    let wide: Vec<u64> = primes::below(1 << 60, 65536).take(31).collect();
    assert!(matches!(refused::<Bfv>(spec(SchemeId::Bfv, 65536, wide, 1_048_583)), ParameterError::Chain(_)));
}

#[test]
fn degrees_primes_and_plain_moduli_are_checked() {
    let good: Vec<u64> = primes::below(1 << 40, 64).take(2).collect();
    for degree in [0, 1, 2, 3, 63, 1 << 18, usize::MAX] {
        refused::<Bfv>(spec(SchemeId::Bfv, degree, good.clone(), 97));
    }
    for data in
        [vec![], vec![0], vec![1], vec![good[0], good[0]], vec![good[0] + 1], vec![u64::MAX], vec![12289]]
    {
        refused::<Bgv>(spec(SchemeId::Bgv, 64, data, 12289));
    }
    // A scale is divided by the primes before these are checked.
    for data in [vec![good[0], 0], vec![0, good[0]], vec![good[0], 1], vec![good[0], 2]] {
        refused::<Ckks>(spec(SchemeId::Ckks, 64, data.clone(), 30));
        refused::<Ckks>(ParameterSpec { special: vec![0], ..spec(SchemeId::Ckks, 64, data, 30) });
    }
    for t in [0, 1, good[0], 1 << 60, u64::MAX] {
        refused::<Bfv>(spec(SchemeId::Bfv, 64, good.clone(), t));
        refused::<Bgv>(spec(SchemeId::Bgv, 64, good.clone(), t));
    }
    for digit_primes in [0, 17, usize::MAX] {
        refused::<Bfv>(ParameterSpec { digit_primes, ..spec(SchemeId::Bfv, 64, good.clone(), 97) });
    }
    assert!(matches!(refused::<Bfv>(spec(SchemeId::Bgv, 64, good, 97)), ParameterError::Scheme { .. }));
}

#[test]
fn ckks_primes_lie_near_the_scale() {
    let first = primes::below(1 << 60, 64).next().unwrap();
    let far: Vec<u64> = std::iter::once(first).chain(primes::below(1 << 35, 64).take(3)).collect();
    assert!(matches!(refused::<Ckks>(spec(SchemeId::Ckks, 64, far, 40)), ParameterError::Chain(_)));
    for scale in [0, 9, 61, u64::MAX] {
        refused::<Ckks>(spec(SchemeId::Ckks, 64, vec![first], scale));
    }
}
