//! Comparisons, extremes and histograms of a declared range.

use sotto::{Bfv, Bgv, Context, Error, Exact, Public, Result, Table};

/// The owner plans, the cloud computes on bytes, the owner decrypts by the plan.
fn travels<S: Exact>() -> Result<()> {
    let context = Context::<S>::for_comparisons(10..=25)?;
    let values = [10, 25, 17, 18, 24, 11];
    let counted = |x: &sotto::Encrypted<S>| x.greater_than(17)?.sum()?.for_answer();
    let plan = context.plan(&[values.len()], |x| counted(&x[0]))?;
    let (secret, public) = context.keys_for(&plan, &mut sotto::secure_rng()?)?;
    let (keys, data) = (public.to_bytes(), secret.encrypt_to_bytes(&values)?);
    let public = Public::<S>::from_bytes(&keys)?;
    assert_eq!(public.context().range(), Some(10..=25));
    assert_eq!(public.context(), &context);
    let answer = counted(&public.read(&data)?)?.to_bytes()?;
    assert_eq!(secret.decrypt_answer(&answer, &plan)?.value(), 3);
    // A fresh vector is written with a seed, and its values are in the range.
    assert_eq!(public.read(&secret.encrypt(&values)?.to_bytes()?)?.range(), 10..=25);
    // The range of a result has to be declared again.
    let negated = (-&secret.encrypt(&values)?)?;
    let read = public.read(&negated.to_bytes()?)?;
    assert_eq!(read.range(), -25..=25);
    assert_eq!(read.with_range(-25..=-10).range(), -25..=-10);
    Ok(())
}

#[test]
fn answers_travel() -> Result<()> {
    travels::<Bfv>()?;
    travels::<Bgv>()
}

#[test]
fn ranges_follow_the_computation() -> Result<()> {
    let context = Context::<Bgv>::for_comparisons(-3..=12)?;
    let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    let (x, y) = (secret.encrypt(&[-3, 12, 5])?, secret.encrypt(&[12, -3, 5])?);
    assert_eq!(x.range(), -3..=12);
    assert_eq!((&x - &y)?.range(), -15..=15);
    assert_eq!((&x + &y)?.range(), -6..=24);
    // Otherwise the range follows from the bound on the values.
    assert_eq!((&x * -1)?.range(), -12..=12);
    assert_eq!((&x * &y)?.range(), -144..=144);
    assert_eq!(x.select(&[1, 1])?.range(), -3..=12);
    let clipped = x.table(&Table::from_fn(-3..=12, |v| v.clamp(0, 10))?)?;
    assert_eq!(clipped.range(), 0..=10);
    assert_eq!(secret.decrypt(&clipped)?.values(), [0, 10, 5]);
    // Values at 0 that are not 0 leave the padding alone.
    let low = x.at_most(5)?;
    assert_eq!(secret.decrypt(&low)?.values(), [1, 0, 1]);
    assert_eq!(secret.decrypt(&low.sum()?)?.value(), 2);
    Ok(())
}

#[test]
fn histograms_of_every_length() -> Result<()> {
    let context = Context::<Bgv>::for_comparisons(-2..=5)?;
    let (secret, public) = context.keys(&mut sotto::secure_rng()?)?;
    let slots = context.slots();
    for len in [1, 5, 64, slots / 2 + 3, slots, 2 * slots + 7] {
        let values: Vec<i64> = (0..len as i64).map(|i| (i * i + i / 3) % 8 - 2).collect();
        let edges = [-1, 0, 3, 5];
        let histogram = secret.encrypt(&values)?.histogram(&edges)?;
        let counted = |low: i64, high: i64| values.iter().filter(|v| (low..high).contains(*v)).count() as u64;
        let expected = [counted(-1, 0), counted(0, 3), counted(3, 6)];
        assert_eq!(secret.decrypt_histogram(&histogram)?, expected, "{len} values");
    }
    let read = public.read(&secret.encrypt_to_bytes(&[1])?)?;
    assert!(matches!(secret.decrypt_histogram(&read.histogram(&[0, 1])?), Err(Error::Claimed)));
    for edges in [&[][..], &[3], &[3, 3], &[3, 1]] {
        assert!(matches!(read.histogram(edges), Err(Error::Edges)), "{edges:?}");
    }
    Ok(())
}

#[test]
fn more_values_than_the_modulus_counts_are_added_after_decryption() -> Result<()> {
    let context = Context::<Bgv>::builder().range(0..=3).degree(16384).build()?;
    let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
    // Five ciphertexts: 65,536 values and more.
    let values: Vec<i64> = (0..5 * 16384 - 9).map(|i| i64::from(i % 5 == 0)).collect();
    let ones = values.iter().sum::<i64>() as u64;
    let histogram = secret.encrypt(&values)?.histogram(&[0, 1, 3])?;
    assert_eq!(secret.decrypt_histogram(&histogram)?, [values.len() as u64 - ones, ones]);
    Ok(())
}

#[test]
fn refusals_say_what_would_do() -> Result<()> {
    let context = Context::<Bfv>::for_comparisons(0..=15)?;
    let (secret, public) = context.keys(&mut sotto::secure_rng()?)?;
    for outside in [-1, 16, i64::MAX, i64::MIN] {
        let refused = secret.encrypt(&[3, outside]).map(drop);
        assert!(matches!(refused, Err(Error::OutsideRange { index: 1, first: 0, last: 15 })), "{outside}");
        assert!(matches!(public.encrypt(&[outside]), Err(Error::OutsideRange { index: 0, .. })));
        assert!(matches!(secret.encrypt_to_bytes(&[outside]), Err(Error::OutsideRange { index: 0, .. })));
    }
    let x = secret.encrypt(&[0, 15])?;
    let short = x.table(&Table::greater(0..=14, 3)?).map(drop).unwrap_err();
    assert_eq!(
        short.to_string(),
        "values may be 0..=15, and the table covers 0..=14: make the table for the whole range, or declare a tighter \
         one, `Encrypted::with_range(..)`"
    );
    let public_answer = x.greater_than(15).map(drop).unwrap_err();
    assert_eq!(
        public_answer.to_string(),
        "the table is 0 for every value of 0..=15: the answer is known without the readings"
    );
    let wide = Context::<Bfv>::for_comparisons(0..=600).map(drop).unwrap_err();
    assert_eq!(
        wide.to_string(),
        "a table has 1 to 511 steps, not 601: declare a smaller range, coarser steps, or send two digits"
    );
    let without = context.secret(sotto::DeviceSecret::from_bytes(&[7; 32])).encrypt(&[3])?;
    assert!(matches!(without.greater_than(3), Err(Error::NoKeys)));
    Ok(())
}
