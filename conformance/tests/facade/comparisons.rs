//! Approximate comparisons at real parameters, against arithmetic in the clear.

use sotto::{Ckks, Context, Encrypted, Error, Flag, Secret};
use sotto_circuits::{CircuitError, Sign};

const WITHIN: f64 = 100.0;

/// Repeatable numbers in [0, 1).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Values within ±100: the ends of the gap on both sides of the limit and next to them, the limit, the ends of the range, and
/// random ones, half of them near the limit.
fn readings(count: usize, limit: f64, gap: f64) -> Vec<f64> {
    let mut random = Random(count as u64);
    let mut values = vec![limit, WITHIN, -WITHIN, limit + 1e-12, limit - 1e-12, 0.0];
    for end in [-gap, gap] {
        values.extend([0.0, 1e-9, -1e-9, 1e-6, -1e-6, 0.01, -0.01].map(|off| limit + end * (1.0 + off)));
    }
    while values.len() < count {
        let uniform = 2.0 * random.next() - 1.0;
        let near = limit + gap * 4.0 * (2.0 * random.next() - 1.0).powi(3);
        values.push(if values.len().is_multiple_of(2) { WITHIN * uniform } else { near });
    }
    values.iter().map(|value| value.clamp(-WITHIN, WITHIN)).collect()
}

fn context(
    inputs: usize,
    work: impl Fn(&[Encrypted<Ckks>]) -> sotto::Result<Encrypted<Ckks>>,
) -> Context<Ckks> {
    Context::<Ckks>::builder().values_within(WITHIN).build_for(&vec![10; inputs], work).unwrap()
}

fn secret_for(
    context: &Context<Ckks>,
    lengths: &[usize],
    work: impl FnOnce(&[Encrypted<Ckks>]) -> sotto::Result<Encrypted<Ckks>>,
) -> Secret<Ckks> {
    let plan = context.plan(lengths, work).unwrap();
    context.keys_for(&plan, &mut sotto::secure_rng().unwrap()).unwrap().0
}

/// Compares `count` readings with a limit and checks every flag; returns the undecided ones.
fn flags(gap: f64, limit: f64, count: usize) -> usize {
    let work = |x: &[Encrypted<Ckks>]| Ok(x[0].greater_than(limit, gap)?.into_vector());
    let context = context(1, work);
    let secret = secret_for(&context, &[10], work);
    // The gap is rounded down to one that there is.
    let smallest = Sign::with_gap(gap).unwrap().gap() * (WITHIN + limit.abs());
    let values = readings(count, limit, smallest);
    let encrypted = secret.encrypt(&values).unwrap();
    let (above, below) =
        (encrypted.greater_than(limit, gap).unwrap(), encrypted.less_than(limit, gap).unwrap());
    assert!((above.gap() - smallest).abs() < 1e-9, "{above:?}");
    let found = secret.decrypt_flags(&above).unwrap();
    let numbers = secret.decrypt(above.vector()).unwrap();
    assert!(above.error() + numbers.bound() < 0.2, "{above:?} {numbers:?}");
    let opposite = secret.decrypt_flags(&below).unwrap();
    let mut undecided = 0;
    for (((value, flag), number), opposite) in values.iter().zip(&found).zip(numbers.values()).zip(&opposite)
    {
        let case = format!("{value} > {limit}, gap {smallest}: {flag:?} {number}, {context}");
        let truth = value - limit;
        // In f64, the distance itself is off by 1e-14.
        if truth.abs() >= smallest * (1.0 + 1e-12) {
            assert_eq!(*flag, if truth > 0.0 { Flag::Yes } else { Flag::No }, "{case}");
            assert_eq!(*opposite, if truth < 0.0 { Flag::Yes } else { Flag::No }, "{case}");
            let exact = f64::from(truth > 0.0);
            assert!((number - exact).abs() <= above.error(), "{case}");
        }
        match flag {
            Flag::Yes => assert!(truth > 0.0, "{case}"),
            Flag::No => assert!(truth < 0.0, "{case}"),
            Flag::Undecided => undecided += 1,
        }
        let exact = 0.5 + Sign::with_gap(gap).unwrap().at(truth / (WITHIN + limit.abs())) / 2.0;
        assert!((number - exact).abs() <= numbers.bound(), "{case}: {exact}");
    }
    undecided
}

#[test]
fn a_hundred_thousand_readings_against_a_gap_of_one_256th() {
    let undecided = flags(1.0 / 256.0, 80.0, 100_000);
    // About 10 % of the readings lie in the gap.
    assert!((1_000..60_000).contains(&undecided), "{undecided}");
}

#[test]
fn readings_against_the_other_gaps() {
    for (gap, limit, count) in
        [(0.1, 80.0, 20_000), (1.0 / 64.0, -33.25, 20_000), (1.0 / 4096.0, 0.0, 17_000)]
    {
        assert!(flags(gap, limit, count) > 0);
    }
}

#[test]
fn signs_are_those_of_the_composition() {
    let gap = 1.0 / 64.0;
    let work = |x: &[Encrypted<Ckks>]| Ok(x[0].sign(gap)?.0);
    let context = context(1, work);
    let secret = secret_for(&context, &[10], work);
    let values = readings(5_000, 0.0, gap * WITHIN);
    let (signs, bound) = secret.encrypt(&values).unwrap().sign(gap).unwrap();
    let found = secret.decrypt(&signs).unwrap();
    assert!(bound.noise <= found.bound() && found.bound() < 1e-3);
    for (value, sign) in values.iter().zip(found.values()) {
        let exact = Sign::with_gap(gap).unwrap().at(value / WITHIN);
        assert!((sign - exact).abs() <= found.bound(), "{value} {sign} {exact}");
        if value.abs() >= gap * WITHIN {
            assert!((sign - value.signum()).abs() <= bound.error + found.bound(), "{value} {sign}");
        }
    }
}

/// A function of two values with its definition in the clear.
type Function<'a> =
    (&'a str, &'a dyn Fn(&[Encrypted<Ckks>]) -> sotto::Result<Encrypted<Ckks>>, &'a dyn Fn(f64, f64) -> f64);

#[test]
fn functions_made_of_the_sign() {
    let gap = 1.0 / 256.0;
    let cases: [Function<'_>; 8] = [
        ("abs", &|v| v[0].abs(gap), &|x, _| x.abs()),
        ("relu", &|v| v[0].relu(gap), &|x, _| x.max(0.0)),
        ("relu of the negative", &|v| (-&v[0])?.relu(gap), &|x, _| (-x).max(0.0)),
        ("max", &|v| v[0].max(&v[1], gap), &f64::max),
        ("min", &|v| v[0].min(&v[1], gap), &f64::min),
        ("clip", &|v| v[0].clip(-20.0, 30.5, gap), &|x, _| x.clamp(-20.0, 30.5)),
        ("sum of absolutes", &|v| v[0].abs(gap)? + v[1].clone(), &|x, y| x.abs() + y),
        ("distance", &|v| (&v[0] - &v[1])?.abs(gap), &|x, y| (x - y).abs()),
    ];
    let deepest = |v: &[Encrypted<Ckks>]| v[0].clip(-20.0, 30.5, gap)? + v[0].max(&v[1], gap)?;
    let context = context(2, deepest);
    let secret = secret_for(&context, &[10, 10], deepest);
    let x = readings(3_000, 0.0, gap * WITHIN);
    let y: Vec<f64> = x.iter().rev().copied().collect();
    let inputs = [secret.encrypt(&x).unwrap(), secret.encrypt(&y).unwrap()];
    for (name, function, exact) in cases {
        let found = secret.decrypt(&function(&inputs).unwrap()).unwrap();
        assert!(found.bound() <= 2.0 * gap * WITHIN, "{name}: {found:?}");
        for ((x, y), value) in x.iter().zip(&y).zip(found.values()) {
            let exact = exact(*x, *y);
            assert!(
                (value - exact).abs() <= found.bound(),
                "{name} of {x}, {y}: {value}, not {exact} ± {}",
                found.bound()
            );
        }
    }
}

#[test]
fn flags_travel_as_bytes_and_count() {
    let hot = |x: &[Encrypted<Ckks>]| x[0].greater_than(80.0, 0.07)?.for_answer();
    let count = |x: &[Encrypted<Ckks>]| x[0].greater_than(80.0, 0.07)?.vector().sum();
    let lengths = [100];
    let context = Context::<Ckks>::builder()
        .values_within(WITHIN)
        .build_for(&lengths, |x| hot(x)?.into_vector().sum())
        .unwrap();
    let (plan, sum) = (context.plan_flags(&lengths, hot).unwrap(), context.plan(&lengths, count).unwrap());
    assert!(plan.to_string().contains("undecided within 11.25"), "{plan}");
    let (secret, public) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    let values: Vec<f64> = (0..100).map(|i| if i % 10 == 3 { 99.5 } else { 40.0 - f64::from(i) }).collect();
    let read = public.read(&secret.encrypt_to_bytes(&values).unwrap()).unwrap();
    let bytes = hot(std::slice::from_ref(&read)).unwrap().into_vector().to_bytes().unwrap();
    assert!((0..200).contains(&(bytes.len() - plan.plan().answer_bytes())), "{} bytes", bytes.len());
    let found = secret.decrypt_flags_answer(&bytes, &plan).unwrap();
    for (value, flag) in values.iter().zip(&found) {
        assert_eq!(*flag, if *value > 80.0 { Flag::Yes } else { Flag::No });
    }
    // Padding does not count.
    let bytes = count(&[read]).unwrap().to_bytes().unwrap();
    let counted = secret.decrypt_answer(&bytes, &sum).unwrap();
    assert!((counted.value() - 10.0).abs() <= counted.bound() + 100.0 * plan.error());
    // A vector from elsewhere is not decrypted by its own claims.
    let claimed = hot(&[public.read(&secret.encrypt_to_bytes(&values).unwrap()).unwrap()]).unwrap();
    assert!(matches!(secret.decrypt_flags(&claimed), Err(Error::Claimed)));
}

#[test]
fn slots_of_any_size_are_compared() {
    let gap = 1.0 / 16.0;
    // A mean has large slots, a declared bound leaves small ones.
    let work = |x: &[Encrypted<Ckks>]| {
        let mean = x[0].mean()?.greater_than(20.0, gap)?.into_vector();
        mean + x[0].clone().with_magnitude(0.75).sign(gap)?.0
    };
    let context = Context::<Ckks>::builder().values_within(100.0).build_for(&[64], work).unwrap();
    let (secret, _) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    let values: Vec<f64> = (0..64).map(|i| if i % 2 == 0 { 0.5 } else { -0.05 }).collect();
    let x = secret.encrypt(&values).unwrap();
    let mean = x.mean().unwrap().greater_than(20.0, gap).unwrap();
    assert_eq!(secret.decrypt_flags(&mean).unwrap(), [Flag::No]);
    let (signs, bound) = x.with_magnitude(0.75).sign(gap).unwrap();
    let found = secret.decrypt(&signs).unwrap();
    for (value, sign) in values.iter().zip(found.values()) {
        assert!((sign - value.signum()).abs() <= bound.error + found.bound(), "{value} {sign}");
    }
}

#[test]
fn refusals_name_the_gap_or_the_degree_that_would_do() {
    let context = Context::<Ckks>::with_degree(16384).unwrap();
    let refused = |gap: f64| context.plan(&[4], |x| Ok(x[0].sign(gap)?.0)).unwrap_err().to_string();
    let fine = refused(1.0 / 256.0);
    assert!(
        fine.contains("takes 12 levels, 7 are left: a gap of 2^-4 fits, or n = 32768 has the levels"),
        "{fine}"
    );
    let tiny = refused(1e-6);
    assert!(tiny.contains("the least gap is") && tiny.contains("2^-12"), "{tiny}");
    let work = |x: &[Encrypted<Ckks>]| x[0].abs(f64::NAN);
    assert!(matches!(context.plan(&[4], work), Err(Error::Circuit(CircuitError::Gap { .. }))));
    let work = |x: &[Encrypted<Ckks>]| x[0].clip(2.0, 1.0, 0.1);
    assert!(matches!(context.plan(&[4], work), Err(Error::Limits { .. })));
    // A scale of 25 bits is too coarse for a gap of 2^-4.
    let request = sotto_rlwe::ChainRequest {
        levels: Some(7),
        other_bits: Some(25),
        first_bits: Some(40),
        ..sotto_rlwe::ChainRequest::new(sotto_rlwe::SchemeId::Ckks, 16384, 0)
    };
    if let Ok(spec) = request.build() {
        let coarse = Context::<Ckks>::with_params(&sotto_rlwe::Params::new(spec).unwrap(), 1.0).unwrap();
        let error = coarse.plan(&[4], |x| Ok(x[0].sign(0.1)?.0)).unwrap_err().to_string();
        assert!(error.contains("larger scale"), "{error}");
    }
}

/// The parameters of the Python package for one gap.
fn searched(gap: f64) -> sotto::Result<Context<Ckks>> {
    Context::<Ckks>::builder().values_within(1.0).build_for(&[1], |inputs| {
        let values = &inputs[0];
        values.greater_than(1.0, gap)?;
        Ok(values.clone().with_magnitude(0.5).greater_than(f64::EPSILON, gap)?.into_vector())
    })
}

#[test]
fn every_gap_has_parameters() {
    let mut before = 0;
    for halves in 2..=24 {
        let gap = (-f64::from(halves) / 2.0).exp2();
        let context =
            searched(gap).unwrap_or_else(|error| panic!("gap 2^-{}: {error}", f64::from(halves) / 2.0));
        let degree = context.params().degree();
        assert!(degree >= before, "gap 2^-{}: {degree} after {before}", f64::from(halves) / 2.0);
        before = degree;
    }
}
