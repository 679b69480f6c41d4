//! Public numbers of any finite size beside encrypted ones, against f64 and the stated bound.

use sotto::{
    Arithmetic, Bfv, Bgv, Ckks, Context, Encrypted, Error, Flag, Public, Result, Secret, secure_rng,
};

const CONSTANTS: [f64; 9] = [1e-6, 0.25, -1.0, 1013.25, -3e4, 1e6, 1e9, 1e300, -1e-300];
const RANGES: [f64; 5] = [1e-3, 1.0, 50.0, 3e4, 1e6];

fn close(secret: &Secret<Ckks>, found: &Encrypted<Ckks>, exact: &[f64], case: &str) -> Result<f64> {
    let answer = secret.decrypt(found)?;
    assert_eq!(answer.values().len(), exact.len(), "{case}");
    for (value, exact) in answer.values().iter().zip(exact) {
        // The expected value is off by roundings of its own.
        let bound = answer.bound() + 1e-15 * (exact.abs() + found.magnitude());
        assert!((value - exact).abs() <= bound, "{case}: {value} is not {exact} ± {}", answer.bound());
        assert!(value.abs() <= found.magnitude() + answer.bound(), "{case}: {value}");
    }
    Ok(answer.bound())
}

#[test]
fn sums_with_public_numbers_lose_nothing() -> Result<()> {
    let context = Context::<Ckks>::builder().values_within(1024.0).depth(2).build()?;
    let (secret, public) = context.keys(&mut secure_rng()?)?;
    let shares = [0.5, -1.0, 0.125, 0.75, -0.3];
    for range in RANGES {
        let values = shares.map(|share| share * range);
        let x = secret.encrypt_within(&values, range)?;
        let alone = secret.decrypt(&x)?.bound();
        for c in CONSTANTS {
            let case = format!("range {range}, constant {c}");
            let near = |bound: f64, factor: f64, size: f64| {
                assert!(bound <= 1.01 * factor * alone + size * 1e-13, "{case}: {bound} beside {alone}");
            };
            let all = |f: &dyn Fn(f64) -> f64| values.map(f);
            let size = c.abs() + range;
            near(close(&secret, &(&x + c)?, &all(&|v| v + c), &case)?, 1.0, size);
            near(close(&secret, &(c - &x)?, &all(&|v| c - v), &case)?, 1.0, size);
            near(close(&secret, &((&x * 0.001)? + c)?, &all(&|v| v * 0.001 + c), &case)?, 0.001, size);
            let each: Vec<f64> = (1..=5).map(|i| c * f64::from(i)).collect();
            let vector = (&x + &each)?;
            let exact: Vec<f64> = values.iter().zip(&each).map(|(v, c)| v + c).collect();
            near(close(&secret, &vector, &exact, &case)?, 1.0, 5.0 * size);
            assert_eq!((&x + c)?.levels_left(), x.levels_left());
            // A selection with repeated indices, and with it the offset.
            let places = [4, 0, 0, 3, 1, 4, 4];
            close(&secret, &vector.select(&places)?, &places.map(|i| exact[i]), &case)?;
            let sum: f64 = exact.iter().sum();
            close(&secret, &vector.sum()?, &[sum], &case)?;
            close(&secret, &vector.mean()?, &[sum / 5.0], &case)?;
            close(&secret, &vector.sum_for_answer()?, &[sum], &case)?;
            let weights = [0.5, 0.0, -2.0, 1.0, 3.0];
            let dot: f64 = exact.iter().zip(weights).map(|(v, w)| v * w).sum();
            close(&secret, &vector.dot_plain(&weights)?, &[dot], &case)?;
            let exact: Vec<f64> = exact.iter().zip(weights).map(|(v, w)| v * w).collect();
            close(&secret, &(&vector * &weights)?, &exact, &case)?;
            // A number that is added and taken away again leaves nothing.
            let again = ((&x + c)? - c)?;
            near(close(&secret, &again, &values, &case)?, 1.0, 0.0);
            assert!(again.magnitude() <= range && x.len() == again.len());
            // Bytes keep the numbers, and a plan expects them.
            let sent = public.read(&secret.encrypt_to_bytes(&values.map(|v| v / 1e4))?)?;
            let run = |x: &Encrypted<Ckks>| ((x * 2.0)? + &each)?.select(&[1, 1, 2]);
            let plan = context.plan(&[5], |x| run(&x[0]))?;
            let bytes = run(&sent)?.to_bytes()?;
            let answer = secret.decrypt_answer(&bytes, &plan)?;
            for (value, i) in answer.values().iter().zip([1, 1, 2]) {
                assert!(
                    (value - (values[i] / 5e3 + each[i])).abs() <= answer.bound() + 1e-15 * each[i].abs()
                );
            }
            assert!(answer.bound() <= plan.error_bound());
            let other = context.plan(&[5], |x| (run(&x[0])? + 0.5)?.select(&[0, 1, 2]))?;
            if c.abs() < 1e9 {
                assert!(matches!(secret.decrypt_answer(&bytes, &other), Err(Error::Unplanned(_))), "{case}");
            }
            let back = Public::<Ckks>::from_bytes(&public.to_bytes())?.read(&bytes)?;
            assert_eq!(back.to_bytes()?, bytes);
        }
    }
    Ok(())
}

#[test]
fn long_sums_of_vectors_with_offsets() -> Result<()> {
    let context = Context::<Ckks>::for_depth(1)?;
    let (secret, _) = context.keys(&mut secure_rng()?)?;
    for len in [1, 2, 100, context.slots(), context.slots() + 1, 100_000] {
        let values: Vec<f64> = (0..len).map(|i| (i % 199) as f64 - 99.0).collect();
        let each: Vec<f64> = (0..len).map(|i| 1e5 + 0.1 * i as f64).collect();
        let x = (secret.encrypt(&values)? * 0.5)?;
        let exact: f64 = values.iter().sum::<f64>() * 0.5 + each.iter().sum::<f64>();
        let case = format!("{len} values");
        let y = (&x + &each)?;
        close(&secret, &y.sum()?, &[exact], &case)?;
        close(&secret, &y.sum_for_answer()?, &[exact], &case)?;
        let shifted = (&x + 1013.25)?;
        let exact = values.iter().sum::<f64>() * 0.5 + 1013.25 * len as f64;
        close(&secret, &shifted.sum()?, &[exact], &case)?;
        close(&secret, &shifted.mean()?, &[exact / len as f64], &case)?;
    }
    Ok(())
}

#[test]
fn products_of_vectors_with_offsets() -> Result<()> {
    let context = Context::<Ckks>::builder().values_within(1024.0).depth(3).build()?;
    let (secret, _) = context.keys(&mut secure_rng()?)?;
    let (a, b) = ([0.5, -1.0, 0.125], [-0.75, 0.3, 1.0]);
    for range in [1e-3, 1.0, 1e6] {
        let (a, b) = (a.map(|v| v * range), b.map(|v| v * range));
        let (x, y) = (secret.encrypt_within(&a, range)?, secret.encrypt_within(&b, range)?);
        for c in [1e-6, 1.0, 1013.25, 1e6, 1e9] {
            let case = format!("range {range}, constant {c}");
            let each = [c, -2.0 * c, 0.5 * c];
            let left: Vec<f64> = a.iter().map(|v| v + c).collect();
            let right: Vec<f64> = b.iter().zip(each).map(|(v, c)| v + c).collect();
            let (u, v) = ((&x + c)?, (&y + &each)?);
            let products: Vec<f64> = left.iter().zip(&right).map(|(a, b)| a * b).collect();
            let product = (&u * &v)?;
            assert!(product.levels_left() + 2 >= x.levels_left(), "{case}: {} levels", product.levels_left());
            let bound = close(&secret, &product, &products, &case)?;
            assert!(bound <= 1e-4 * (range + 2.0 * c) * (range + c), "{case}: {bound}");
            close(&secret, &u.dot(&v)?, &[products.iter().sum()], &case)?;
            close(&secret, &u.dot_for_answer(&v)?, &[products.iter().sum()], &case)?;
            close(&secret, &u.dot(&y)?, &[left.iter().zip(b).map(|(a, b)| a * b).sum()], &case)?;
            let squares: Vec<f64> = right.iter().map(|v| v * v).collect();
            close(&secret, &v.square()?, &squares, &case)?;
            close(&secret, &v.pow(2)?, &squares, &case)?;
            close(&secret, &u.dot(&u)?, &[left.iter().map(|v| v * v).sum()], &case)?;
            let mean = left.iter().sum::<f64>() / 3.0;
            let variance = left.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 3.0;
            let found = secret.decrypt(&u.variance()?)?;
            assert!((found.value() - variance).abs() <= found.bound() + 1e-9 * c * range, "{case}");
            let sum = Encrypted::weighted_sum(&[&u, &v], &[0.25, -3.0])?;
            let exact: Vec<f64> = left.iter().zip(&right).map(|(a, b)| 0.25 * a - 3.0 * b).collect();
            close(&secret, &sum, &exact, &case)?;
            // Single values go with vectors.
            let single = (&u.sum()? + &v)?;
            let total: f64 = left.iter().sum();
            close(&secret, &single, &right.iter().map(|v| v + total).collect::<Vec<_>>(), &case)?;
            let spread = (&x.sum()? + &each)?;
            let total: f64 = a.iter().sum();
            close(&secret, &spread, &each.map(|c| c + total), &case)?;
        }
    }
    Ok(())
}

#[test]
fn functions_of_slots_take_offsets_that_fit() -> Result<()> {
    let compared = |x: &Encrypted<Ckks>| ((x * 0.001)? + 1013.25)?.greater_than(1013.0, 1.0 / 16.0);
    let context = Context::<Ckks>::builder()
        .values_within(500.0)
        .build_for(&[3], |x| Ok(compared(&x[0])?.into_vector()))?;
    let (secret, _) = context.keys(&mut secure_rng()?)?;
    let x = secret.encrypt(&[100.0, -400.0, 499.0])?;
    assert_eq!(secret.decrypt_flags(&compared(&x)?)?, [Flag::Yes, Flag::No, Flag::Yes]);
    let public = (&x * 0.0)?;
    let flags = secret.decrypt_flags(&(&public + &[1.0, 2.0, 3.0])?.greater_than(2.0, 1.0 / 16.0)?)?;
    assert_eq!(flags, [Flag::No, Flag::Undecided, Flag::Yes]);
    let cube = ((&x * 0.01)? + 3.0)?.polynomial(&[1.0, 0.0, 2.0])?;
    close(&secret, &cube, &[33.0, 3.0, 2.0 * 7.99 * 7.99 + 1.0], "a polynomial")?;
    let refused = (&x + 1e20)?.polynomial(&[0.0, 0.0, 1.0]).unwrap_err();
    assert!(matches!(refused, Error::Constant { .. }), "{refused}");
    Ok(())
}

/// x·0 + 5 and what follows from it.
fn public_values<S: Arithmetic>(values: [S::Value; 3], number: impl Fn(i64) -> S::Value) -> Result<()>
where
    for<'a> &'a Encrypted<S>: core::ops::Mul<S::Value, Output = Result<Encrypted<S>>>
        + core::ops::Add<S::Value, Output = Result<Encrypted<S>>>
        + core::ops::Mul<&'a [S::Value], Output = Result<Encrypted<S>>>
        + core::ops::Add<&'a [S::Value], Output = Result<Encrypted<S>>>,
{
    let real = |value: S::Value| Into::<sotto::Real>::into(value).0;
    let context = Context::<S>::builder().results_within(1e8).depth(2).build()?;
    let (secret, public) = context.keys(&mut secure_rng()?)?;
    let x = secret.encrypt(&values)?;
    let v = values.map(real);
    /// A result, its values, and true if they are public.
    type Case<S> = (Encrypted<S>, Vec<f64>, bool);
    let run = |x: &Encrypted<S>| -> Result<Vec<Case<S>>> {
        let five = (&(x * number(0))? + number(5))?;
        let each = (&(x * number(0))? + [number(1), number(-2), number(1000)].as_slice())?;
        let e = [1.0, -2.0, 1000.0];
        Ok(vec![
            ((&five + number(3))?, vec![8.0; 3], true),
            ((&five * number(-2))?, vec![-10.0; 3], true),
            ((&five + &each)?, e.map(|e| e + 5.0).to_vec(), true),
            ((&five * &each)?, e.map(|e| e * 5.0).to_vec(), true),
            (each.square()?, e.map(|e| e * e).to_vec(), true),
            (each.pow(3)?, e.map(|e| e * e * e).to_vec(), true),
            (each.sum()?, vec![999.0], true),
            (each.dot(&each)?, vec![1_000_005.0], true),
            (each.select(&[2, 2, 0, 1])?, vec![1000.0, 1000.0, 1.0, -2.0], true),
            (each.polynomial(&[number(1), number(2)])?, e.map(|e| 1.0 + 2.0 * e).to_vec(), true),
            (Encrypted::weighted_sum(&[&five, x], &[number(2), number(0)])?, vec![10.0; 3], true),
            ((x + &each)?, v.iter().zip(e).map(|(v, e)| v + e).collect(), false),
            ((&each - x)?, v.iter().zip(e).map(|(v, e)| e - v).collect(), false),
            ((x * &each)?, v.iter().zip(e).map(|(v, e)| e * v).collect(), false),
            ((&five * x)?, v.iter().map(|v| 5.0 * v).collect(), false),
            (x.dot(&each)?, vec![v.iter().zip(e).map(|(v, e)| e * v).sum()], false),
            (five.dot_for_answer(x)?, vec![5.0 * v.iter().sum::<f64>()], false),
            ((&x.sum()? + &each)?, e.map(|e| e + v.iter().sum::<f64>()).to_vec(), false),
            ((&x.sum()? * &five)?, vec![5.0 * v.iter().sum::<f64>(); 3], false),
            (
                Encrypted::weighted_sum(&[&each, x], &[number(3), number(2)])?,
                v.iter().zip(e).map(|(v, e)| 3.0 * e + 2.0 * v).collect(),
                false,
            ),
        ])
    };
    let results = run(&x)?;
    let plans =
        context.plan_all(&[3], |x| Ok(run(&x[0])?.into_iter().map(|(result, ..)| result).collect()))?;
    let there = run(&public.read(&secret.encrypt_to_bytes(&values)?)?)?;
    for (index, ((found, exact, public), plan)) in results.iter().zip(&plans).enumerate() {
        let bytes = there[index].0.to_bytes()?;
        for answer in [secret.decrypt(found)?, secret.decrypt_answer(&bytes, plan)?] {
            assert_eq!(answer.values().len(), exact.len(), "{index}");
            for (value, exact) in answer.values().iter().zip(exact) {
                assert!((real(*value) - exact).abs() <= answer.bound(), "{index}: {value:?} {exact}");
            }
            assert!(!public || (answer.bound() == 0.0 && plan.error_bound() == 0.0), "{index}");
        }
    }
    // Zeros over one whole ciphertext of a mask.
    let len = context.slots() + 5;
    let many: Vec<_> = (0..len).map(|i| number(i as i64 % 100)).collect();
    for kept in [0..3, len - 2..len] {
        let mask: Vec<_> = (0..len).map(|i| number(i64::from(kept.contains(&i)))).collect();
        let masked = (&secret.encrypt(&many)? * mask.as_slice())?;
        let answer = secret.decrypt(&masked)?;
        for (i, value) in answer.values().iter().enumerate() {
            let exact = if kept.contains(&i) { real(many[i]) } else { 0.0 };
            assert!((real(*value) - exact).abs() <= answer.bound(), "{i}: {value:?}");
        }
        assert!(answer.bound() < 1e-2);
        assert!(masked.to_bytes().is_ok());
        let sum = secret.decrypt(&masked.sum()?)?;
        let exact: f64 = kept.map(|i| real(many[i])).sum();
        assert!((real(sum.value()) - exact).abs() <= sum.bound());
    }
    Ok(())
}

#[test]
fn values_that_are_public() -> Result<()> {
    public_values::<Ckks>([1.5, -2.0, 30.0], |number| number as f64)?;
    public_values::<Bfv>([1, -2, 30], |number| number)?;
    public_values::<Bgv>([1, -2, 30], |number| number)
}

macro_rules! exact_functions {
    ($scheme:ty) => {{
        let builder = Context::<$scheme>::builder().range(0..=15);
        let context = builder.build_for(&[4, 4], |x| x[0].max(&((&x[1] * 0)? + 15)?))?;
        let (secret, _) = context.keys(&mut secure_rng()?)?;
        let x = secret.encrypt(&[3, 12, 8, 15])?;
        let public = ((&x * 0)? + &[7, 0, 9, 15])?;
        assert_eq!(public.range(), 0..=15);
        assert_eq!(secret.decrypt(&public.greater_than(8)?)?.values(), [0, 0, 1, 1]);
        let eights = ((&x * 0)? + 8)?;
        assert_eq!(secret.decrypt(&public.max(&eights)?)?.values(), [8, 8, 9, 15]);
        assert_eq!(secret.decrypt(&x.max(&public)?)?.values(), [7, 12, 9, 15]);
        assert_eq!(secret.decrypt(&public.min(&x)?)?.values(), [3, 0, 8, 15]);
        assert_eq!(secret.decrypt_histogram(&public.histogram(&[0, 8, 15])?)?, [2, 2]);
        assert_eq!(secret.decrypt(&(&public + 1_000_000_000_000)?)?.value(), 1_000_000_000_007);
        assert!(matches!(&public * (1 << 53), Err(Error::PublicWhole { .. })));
    }};
}

#[test]
fn public_whole_numbers_are_compared_and_counted() -> Result<()> {
    exact_functions!(Bfv);
    exact_functions!(Bgv);
    Ok(())
}

/// An answer that no prime can be dropped from, like a fresh vector plus a number, travels with the seeds of its masks.
#[test]
fn fresh_answers_travel_with_seeds() {
    let context = Context::<Ckks>::builder().values_within(1.0).build().unwrap();
    let (secret, _) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    let x = secret.encrypt(&vec![0.5; context.slots()]).unwrap();
    let answer = (&(&x * 1.02).unwrap() - 0.4).unwrap().for_answer().unwrap();
    assert!(2 * answer.to_bytes().unwrap().len() < 3 * x.to_bytes().unwrap().len());
    let plan = context.plan(&[context.slots()], |x| (&(&x[0] * 1.02)? - 0.4)?.for_answer()).unwrap();
    let found = secret.decrypt_answer(&answer.to_bytes().unwrap(), &plan).unwrap();
    assert!(found.values().iter().all(|value| (value - 0.11).abs() <= found.bound()));
}
