//! Vectors that are zero whatever the inputs are, and public constants that a scale cannot hold.

use sotto::{Arithmetic, Bfv, Bgv, Ckks, Context, Encrypted, Error, Public, Result, secure_rng};

/// Every way to a public zero.
fn zeros<S: Arithmetic>(x: &Encrypted<S>, one: S::Value) -> Result<Vec<Encrypted<S>>>
where
    for<'a> &'a Encrypted<S>: core::ops::Mul<S::Value, Output = Result<Encrypted<S>>>
        + core::ops::Mul<&'a [S::Value], Output = Result<Encrypted<S>>>,
{
    let none = vec![S::Value::default(); x.len()];
    let zero = (x * S::Value::default())?;
    Ok(vec![
        (x * none.as_slice())?,
        (&zero * one)?,
        (&zero * x)?,
        (x * &zero)?,
        (&zero - &(x * S::Value::default())?)?,
        zero.square()?,
        zero.pow(3)?,
        zero.select(&[2, 0, 0])?,
        zero.sum()?,
        zero.dot(x)?,
        x.dot_for_answer(&zero)?,
        zero.sum_for_answer()?,
        x.dot_plain(&none)?,
        (&zero.sum()? * x)?,
        Encrypted::weighted_sum(&[x, &zero], &[S::Value::default(), one])?,
        zero.for_answer()?,
        zero,
    ])
}

fn check<S: Arithmetic>(values: [S::Value; 3], one: S::Value) -> Result<()>
where
    for<'a> &'a Encrypted<S>: core::ops::Mul<S::Value, Output = Result<Encrypted<S>>>
        + core::ops::Mul<&'a [S::Value], Output = Result<Encrypted<S>>>,
{
    let context = Context::<S>::for_depth(1)?;
    let (secret, public) = context.keys(&mut secure_rng()?)?;
    let x = secret.encrypt(&values)?;
    let close = |found: &Encrypted<S>, exact: &[f64]| -> Result<()> {
        let answer = secret.decrypt(found)?;
        assert_eq!(answer.values().len(), exact.len());
        for (value, exact) in answer.values().iter().zip(exact) {
            assert!((Into::<sotto::Real>::into(*value).0 - exact).abs() <= answer.bound());
        }
        Ok(())
    };
    let exact = values.map(|value| Into::<sotto::Real>::into(value).0);
    for zero in zeros(&x, one)? {
        let answer = secret.decrypt(&zero)?;
        assert!(answer.values().iter().all(|value| *value == S::Value::default()));
        assert!(answer.bound() == 0.0 && zero.magnitude() == 0.0);
        // A sum leaves it out.
        close(&(&x + &zero)?, &exact)?;
        close(&(&zero + &x)?, &exact)?;
        close(&(&x - &zero)?, &exact)?;
        close(&(&zero - &x)?, &exact.map(|value| -value))?;
        close(&(&x.sum()? + &zero)?, &vec![exact.iter().sum::<f64>(); zero.len()])?;
        // It travels.
        let again = Public::<S>::from_bytes(&public.to_bytes())?.read(&zero.to_bytes()?)?;
        assert_eq!(again.len(), zero.len());
    }
    let many = secret.encrypt(&vec![one; context.slots() + 1])?;
    let zero = (&many * S::Value::default())?;
    assert_eq!(secret.decrypt(&zero)?.values(), vec![S::Value::default(); context.slots() + 1]);
    close(&(&many + &zero)?.sum()?, &[context.slots() as f64 + 1.0])?;
    let plan = context.plan(&[3], |x| &x[0] * S::Value::default())?;
    assert!(plan.error_bound() == 0.0);
    let sent = secret.encrypt_to_bytes(&values)?;
    let answer = (&public.read(&sent)? * S::Value::default())?.to_bytes()?;
    assert_eq!(secret.decrypt_answer(&answer, &plan)?.values(), [S::Value::default(); 3]);
    Ok(())
}

#[test]
fn public_zeros_decrypt_to_zeros() -> Result<()> {
    check::<Ckks>([1.5, -2.0, 30.0], 1.0)?;
    check::<Bfv>([1, -2, 30], 1)?;
    check::<Bgv>([1, -2, 30], 1)
}

#[test]
fn a_constant_that_slots_cannot_hold_is_a_lack_of_room() -> Result<()> {
    let context = Context::<Ckks>::builder().values_within(1.0).depth(3).build()?;
    let (secret, _) = context.keys(&mut secure_rng()?)?;
    let x = secret.encrypt(&[0.5])?;
    let refused = (&x + 1e9)?.polynomial(&[0.0, 1.0, 1.0]).unwrap_err();
    assert!(matches!(refused, Error::Constant { .. }), "{refused}");
    // The cure: a wider bound.
    let wide = secret.encrypt_within(&[0.5], 1e9)?;
    let found = secret.decrypt(&(&wide + 1e9)?.polynomial(&[0.0, 1.0, 1.0])?)?;
    let exact = 1e9 + 0.5;
    assert!((found.value() - exact - exact * exact).abs() <= found.bound());
    let refused = (&x * 1e300)?.square().unwrap_err();
    assert!(!refused.to_string().contains("000000000000"), "{refused}");
    for refused in [(&x * f64::INFINITY).unwrap_err(), ((&x + 1e308)? + 1e308).unwrap_err()] {
        assert!(refused.to_string().len() < 200, "{refused}");
    }
    Ok(())
}
