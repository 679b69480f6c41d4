//! Every refusal names its cure.

use sotto::{Bfv, Ckks, Context, Encrypted, Error, Public, Result};

fn contains(error: &Error, part: &str) {
    assert!(error.to_string().contains(part), "{error}");
}

#[test]
fn values_outside_the_declared_bound() {
    let context = Context::<Ckks>::for_depth(1).unwrap();
    let (secret, public) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    for value in [1000.1, -1e300, f64::NAN, f64::INFINITY] {
        for refused in [secret.encrypt(&[0.0, value]), public.encrypt(&[0.0, value])] {
            let error = refused.unwrap_err();
            assert!(matches!(error, Error::Value { index: 1, .. }), "{error}");
            contains(&error, "values_within");
        }
    }
    assert!(secret.encrypt(&[1000.0, -1000.0]).is_ok());
    assert!(matches!(secret.encrypt(&[]), Err(Error::Count { found: 0, .. })));
    let exact = Context::<Bfv>::for_depth(1).unwrap();
    let (secret, _) = exact.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    assert!(matches!(secret.encrypt(&[1001]), Err(Error::Value { .. })) && secret.encrypt(&[-1000]).is_ok());
    assert!(matches!(secret.encrypt(&[i64::MIN]), Err(Error::Value { .. })));
}

#[test]
fn depth_that_is_used_up() {
    let context = Context::<Ckks>::for_depth(1).unwrap();
    let (secret, _) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    let mut x = secret.encrypt(&[1.0]).unwrap();
    let error = loop {
        match x.square() {
            Ok(square) => x = square,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Depth { .. }));
    contains(&error, "for_depth");
}

/// Two products of values up to ±100: the scales of 50 bits and less leave an error of 0.2 at best.
fn spread(v: &[Encrypted<Ckks>]) -> Result<Encrypted<Ckks>> {
    (&v[0] - 20.0)?.square()?.dot(&v[1])
}

#[test]
fn an_error_that_is_asked_for() {
    let within = |error| {
        Context::<Ckks>::builder().values_within(100.0).error_within(error).build_for(&[2, 2], spread)
    };
    let context = within(0.01).unwrap();
    let plan = context.plan(&[2, 2], spread).unwrap();
    assert!(plan.error_bound() <= 0.01);
    let (secret, _) = context.keys_for(&plan, &mut sotto::secure_rng().unwrap()).unwrap();
    let vectors = [[-100.0, 23.5], [100.0, 50.0]].map(|values| secret.encrypt(&values).unwrap());
    let answer = secret.decrypt(&spread(&vectors).unwrap()).unwrap();
    assert!(answer.bound() <= 0.02 && (answer.value() - 1_440_612.5).abs() <= answer.bound(), "{answer}");

    // The refusal names the least error bound of any parameters, which the same call then accepts.
    let refused = within(1e-9).unwrap_err().to_string();
    let least = refused.split("any is ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    let least: f64 = least.parse().unwrap();
    assert!(least < 0.01 && within(least * 1.1).is_ok(), "{refused}");
}

#[test]
fn whole_numbers_that_may_wrap() {
    let context = Context::<Bfv>::builder().results_within(1e6).depth(1).build().unwrap();
    let (secret, _) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    let x = secret.encrypt(&[1000, 1000]).unwrap();
    let square = x.square().unwrap();
    assert_eq!(secret.decrypt(&square).unwrap().values(), [1_000_000, 1_000_000]);
    let error = secret.decrypt(&square.sum().unwrap()).unwrap_err();
    assert!(matches!(error, Error::Wraps { .. }), "{error}");
    contains(&error, "results_within(2.0e6)");
    let planned = context.plan(&[2], |x| x[0].square()?.sum()).unwrap_err();
    assert!(matches!(planned, Error::Wraps { .. }), "{planned}");
}

#[test]
fn vectors_that_do_not_go_together() {
    let context = Context::<Ckks>::for_depth(1).unwrap();
    let (secret, public) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    let (other, _) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    let x = secret.encrypt(&[1.0, 2.0]).unwrap();
    let three = secret.encrypt(&[1.0, 2.0, 3.0]).unwrap();
    assert!(matches!(&x + &three, Err(Error::Length { left: 2, right: 3 })));
    assert!(matches!(&x * &[1.0, 2.0, 3.0], Err(Error::Length { left: 2, right: 3 })));
    let foreign = other.encrypt(&[1.0, 2.0]).unwrap();
    assert!((&x + &foreign).is_err() && secret.decrypt(&foreign).is_err());
    assert!(matches!(public.attach(foreign), Err(Error::Mixed)));
    let deeper = Context::<Ckks>::for_depth(3).unwrap();
    let (deep, _) = deeper.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    assert!(matches!(&x + &deep.encrypt(&[1.0, 2.0]).unwrap(), Err(Error::Mixed)));
    assert!(matches!(context.plan(&[2], |dry| &dry[0] + &x), Err(Error::Mixed)));
}

#[test]
fn products_without_keys() {
    let context = Context::<Ckks>::for_depth(1).unwrap();
    let (secret, public) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    let bytes = *secret.device_secret().expose_secret_bytes();
    let again = context.secret(sotto::DeviceSecret::from_bytes(&bytes));
    assert_eq!(again.id(), secret.id());
    let x = again.encrypt(&[3.0]).unwrap();
    assert!((&x + &x).is_ok());
    let error = x.square().unwrap_err();
    assert!(matches!(error, Error::NoKeys), "{error}");
    let nine = secret.decrypt(&public.attach(x).unwrap().square().unwrap()).unwrap();
    assert!((nine.value() - 9.0).abs() <= nine.bound());
}

#[test]
fn constants_that_are_no_numbers() {
    let context = Context::<Ckks>::for_depth(1).unwrap();
    let (secret, _) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    let x = secret.encrypt(&[1.0, 2.0]).unwrap();
    for constant in [f64::NAN, f64::INFINITY] {
        assert!((&x * constant).is_err() && (&x * &[constant, constant]).is_err(), "{constant}");
    }
    assert!((&x + f64::NAN).is_err() && x.polynomial(&[1.0]).is_err() && x.pow(0).is_err());
    assert!((&x + 0.0).is_ok());
}

#[test]
fn parameters_that_nobody_has() {
    let error = Context::<Ckks>::for_depth(64).unwrap_err();
    assert!(matches!(error, Error::NoParameters { .. }), "{error}");
    assert!(matches!(Context::<Bfv>::with_degree(5000), Err(Error::Parameters(_))));
    let error = Context::<Bfv>::builder().results_within(1e18).build().unwrap_err();
    assert!(error.to_string().contains("up to 1.4e17"), "{error}");
    // The smallest degree has no room for so large a plain modulus; a larger one has.
    assert!(Context::<Bfv>::builder().results_within(1e17).depth(1).build().is_ok());
    for bound in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = Context::<Ckks>::builder().values_within(bound).build();
        assert!(matches!(refused, Err(Error::Bound(_))), "{refused:?}");
    }
    assert!(Public::<Ckks>::from_bytes(b"sott").is_err());
}
