//! Tables, extremes and histograms on ciphertexts: exact for every value, and within the noise bound.

use sotto_circuits::{
    Chosen, CircuitError, Counted, Encrypted, Machine, Outline, PowerSums, Table, TwoDigits,
    choose_parameters, extremes,
};
use sotto_conformance::{Fixture, Testable, vectors};
use sotto_decrypt::Decryptor;
use sotto_ring::Scratch;
use sotto_rlwe::{Bfv, Bgv, Ciphertext, EvalError, Evaluator, Origin, Params, Shape};

const T: u64 = 65_537;

type Circuit<'a, S> = &'a dyn Fn(&mut Outline<'_, S>, &[Shape<S>]) -> Result<Shape<S>, CircuitError>;

fn fixture<S: Testable<Value = i64>>(inputs: usize, steps: &[i32], circuit: Circuit<'_, S>) -> Fixture<S> {
    let Chosen { spec, room, .. } = choose_parameters(T, Origin::SecretKey, inputs, circuit).unwrap();
    println!("{} n = {}, {} primes, {room:.1} bits left", S::ID, spec.degree, spec.data.len());
    Fixture::with_steps(Params::new(spec).unwrap(), steps, 5)
}

/// 20 limits of a range: its ends, the middle, and others.
fn limits(last: i64) -> Vec<i64> {
    let spread = (1..15).map(|k| k * 997 % last);
    [0, 1, last / 2, last / 2 + 1, last - 2, last - 1].into_iter().chain(spread).collect()
}

/// Panics unless the measured noise is within the bound, and the slots are the expected ones.
fn judge<S: Testable<Value = i64>>(f: &Fixture<S>, what: &str, found: &Ciphertext<S>, expected: &[i64]) {
    f.check(what, found, expected);
    let plaintext = S::encode_slots(&f.params, expected, found.level()).unwrap();
    let measured = Decryptor::new(&f.secret).measure_error_bits(found, Some(plaintext.coefficients()));
    let bound = found.shape().noise.error.0;
    assert!(measured <= bound, "{what}: measured 2^{measured:.1}, bound 2^{bound:.1}");
    println!("{} {what}: measured {measured:.1}, bound {bound:.1}", S::ID);
}

/// A table of the file `tables`.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct TableCase {
    first: i64,
    modulus: u64,
    values: Vec<i64>,
    coefficients: Vec<u64>,
}

#[test]
fn polynomials_are_those_of_the_specification() {
    for case in vectors::cases::<TableCase>("tables") {
        let table = Table::new(case.first, case.values).unwrap();
        assert_eq!(table.coefficients(case.modulus).unwrap(), case.coefficients);
    }
}

/// The operations behind tables, at every level.
fn operations<S: Testable<Value = i64>>() {
    let mut f = Fixture::<S>::with_steps(Params::default_chain(8192, T).unwrap(), &[], 6);
    let (e, mut scratch) = (Evaluator::new(&f.params), Scratch::new());
    let values = [(); 40].map(|()| f.values());
    let fresh: Vec<Ciphertext<S>> = values.iter().map(|values| f.encrypt(values, true)).collect();
    let product: Vec<i64> =
        values[0].iter().zip(&values[1]).map(|(a, b)| S::times(&f.params, *a, *b)).collect();
    let top = f.params.top_level();
    for level in 0..=top {
        let dropped = e.drop_to_with(&fresh[0], level, &mut scratch).unwrap();
        assert!(dropped.shape().noise.error <= e.lower(&fresh[0], level).unwrap().shape().noise.error);
        judge(&f, &format!("dropped to level {level}"), &dropped, &values[0]);
        let [a, b] = [0, 1].map(|i| e.lower(&fresh[i], level).unwrap());
        let Ok(three) = e.multiply(&a, &b) else { continue };
        match e.relinearise_and_drop_with(&three, &f.keys, &mut scratch) {
            Ok(found) => {
                let two = e.drop_modulus(&e.relinearise(&three, &f.keys).unwrap()).unwrap();
                assert_eq!(format!("{:?}", found.shape()), format!("{:?}", two.shape()));
                judge(&f, &format!("relinearised from level {level}"), &found, &product);
            }
            Err(error) => assert!(level < 2, "{error}"),
        }
    }
    let sum = e.sum_with(&fresh.iter().collect::<Vec<_>>(), &mut scratch).unwrap();
    let total = |slot: usize| values.iter().fold(0, |sum, values| S::plus(&f.params, sum, values[slot]));
    judge(&f, "a sum", &sum, &(0..values[0].len()).map(total).collect::<Vec<_>>());
    let one_by_one = fresh[1..].iter().fold(fresh[0].clone(), |sum, term| e.add(&sum, term).unwrap());
    assert_eq!(sum.components(), one_by_one.components());
    assert_eq!(format!("{:?}", sum.shape()), format!("{:?}", one_by_one.shape()));
    assert!(matches!(e.sum_with(&[], &mut scratch), Err(EvalError::Components { components: 0 })));
    // More terms than one pass takes, and weights at the ends.
    let weight = |i: usize, k: i64| [0, 1, -1, 32_768, -32_768, 7][(i + k as usize) % 6];
    let rows: Vec<Vec<i64>> = (0..3).map(|k| (0..fresh.len()).map(|i| weight(i, k)).collect()).collect();
    let terms: Vec<&Ciphertext<S>> = fresh.iter().collect();
    let sums = e.weighted_sums_with(&terms, &rows, &mut scratch).unwrap();
    for (row, sum) in rows.iter().zip(&sums) {
        let slot = |slot: usize| {
            let terms = values.iter().zip(row).map(|(values, w)| S::times(&f.params, values[slot], *w));
            terms.fold(0, |sum, term| S::plus(&f.params, sum, term))
        };
        judge(&f, "a weighted sum", sum, &(0..values[0].len()).map(slot).collect::<Vec<_>>());
    }
    assert!(matches!(
        e.weighted_sums_with(&terms, &[vec![0; 40]], &mut scratch),
        Err(EvalError::Transparent)
    ));
}

#[test]
fn bfv_operations_of_tables() {
    operations::<Bfv>();
}

#[test]
fn bgv_operations_of_tables() {
    operations::<Bgv>();
}

/// Tables of few steps: polynomials without leaves, without a constant, of the square alone.
fn few_steps<S: Testable<Value = i64>>() {
    let shapes: [fn(i64) -> i64; 5] =
        [|x| x, |x| x * x, |x| i64::from(x > 0), |x| (x * x * x) % 7, |x| 3 - x];
    for steps in [2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17] {
        let range = -(steps / 2)..=steps - steps / 2 - 1;
        let tables: Vec<Table> =
            shapes.iter().filter_map(|of| Table::from_fn(range.clone(), of).ok()).collect();
        // A table of two steps may be constant.
        let tables: Vec<Table> = tables
            .into_iter()
            .filter(|table| table.values().iter().any(|v| *v != table.values()[0]))
            .collect();
        let circuit = |machine: &mut Outline<'_, S>, x: &[Shape<S>]| {
            let mut sum = tables[0].evaluate(machine, &x[0])?;
            for table in &tables[1..] {
                let other = table.evaluate(machine, &x[0])?;
                sum = machine.add(&sum, &other)?;
            }
            Ok(sum)
        };
        let mut f = fixture::<S>(1, &[], &circuit);
        let values: Vec<i64> = (0..f.params.degree() as i64).map(|slot| slot % steps - steps / 2).collect();
        let x = f.encrypt(&values, false);
        let mut machine = Encrypted::new(&f.evaluator, &f.keys);
        for table in &tables {
            let found = table.evaluate(&mut machine, &x).unwrap();
            let expected: Vec<i64> = values.iter().map(|x| table.value(*x).unwrap()).collect();
            judge(&f, &format!("{:?} of {steps} steps", table.values()), &found, &expected);
        }
    }
}

#[test]
fn bfv_few_steps() {
    few_steps::<Bfv>();
}

#[test]
fn bgv_few_steps() {
    few_steps::<Bgv>();
}

fn eight_bits<S: Testable<Value = i64>>() {
    let circuit =
        |machine: &mut Outline<'_, S>, x: &[Shape<S>]| Table::greater(0..=255, 80)?.evaluate(machine, &x[0]);
    let mut f = fixture::<S>(1, &[], &circuit);
    let values: Vec<i64> = (0..f.params.degree() as i64).map(|slot| slot % 256).collect();
    let x = f.encrypt(&values, false);
    let mut machine = Encrypted::new(&f.evaluator, &f.keys);
    for limit in limits(255) {
        let table = Table::greater(0..=255, limit).unwrap();
        let found = table.evaluate(&mut machine, &x).unwrap();
        let outlined = table.evaluate(&mut machine.outline(), x.shape()).unwrap();
        assert_eq!(format!("{:?}", found.shape()), format!("{outlined:?}"), "as outlined");
        let expected: Vec<i64> = values.iter().map(|x| i64::from(*x > limit)).collect();
        judge(&f, &format!("x > {limit}"), &found, &expected);
    }
    // Several tables of one vector.
    let tables = [
        Table::equal(0..=255, 17).unwrap(),
        Table::from_fn(0..=255, |x| x * x % 1000 - 500).unwrap(),
        Table::between(0..=255, 100..=255).unwrap(),
    ];
    let found = Table::evaluate_many(&mut machine, &tables.iter().collect::<Vec<_>>(), &x).unwrap();
    for (table, found) in tables.iter().zip(found) {
        let expected: Vec<i64> = values.iter().map(|x| table.value(*x).unwrap()).collect();
        judge(&f, "one of three tables", &found, &expected);
    }
}

#[test]
fn bfv_eight_bits() {
    eight_bits::<Bfv>();
}

#[test]
fn bgv_eight_bits() {
    eight_bits::<Bgv>();
}

fn twelve_bits<S: Testable<Value = i64>>() {
    let digits = TwoDigits::new(0..=4095, 64).unwrap();
    let circuit = |machine: &mut Outline<'_, S>, x: &[Shape<S>]| {
        digits.between(100..=2000)?.evaluate(machine, &x[0], &x[1])
    };
    let mut f = fixture::<S>(2, &[], &circuit);
    let values: Vec<i64> = (0..f.params.degree() as i64).map(|slot| slot % 4096).collect();
    let [high, low] = [0, 1].map(|d| {
        let digit: Vec<i64> = values.iter().map(|x| digits.split(*x).unwrap()[d]).collect();
        f.encrypt(&digit, false)
    });
    let mut machine = Encrypted::new(&f.evaluator, &f.keys);
    for limit in limits(4095) {
        let found = digits.greater(limit).unwrap().evaluate(&mut machine, &high, &low).unwrap();
        let expected: Vec<i64> = values.iter().map(|x| i64::from(*x > limit)).collect();
        judge(&f, &format!("x > {limit}"), &found, &expected);
    }
    let found = digits.between(100..=2000).unwrap().evaluate(&mut machine, &high, &low).unwrap();
    let expected: Vec<i64> = values.iter().map(|x| i64::from((100..=2000).contains(x))).collect();
    judge(&f, "between", &found, &expected);
}

#[test]
fn bfv_twelve_bits() {
    twelve_bits::<Bfv>();
}

#[test]
fn bgv_twelve_bits() {
    twelve_bits::<Bgv>();
}

fn pairs<S: Testable<Value = i64>>() {
    let circuit = |machine: &mut Outline<'_, S>, x: &[Shape<S>]| {
        let [_, larger] = extremes(machine, &x[0], &x[1], -128..=127)?;
        Ok(larger)
    };
    let mut f = fixture::<S>(2, &[], &circuit);
    let n = f.params.degree() as i64;
    // The ends against everything, equal values, neighbours, and all differences.
    let ends = [-128, -127, -1, 0, 1, 126, 127];
    let a: Vec<i64> = (0..n)
        .map(|i| if i < 1792 { ends[(i / 256) as usize] } else { (i * 31 + i / 256) % 256 - 128 })
        .collect();
    let b: Vec<i64> = (0..n)
        .map(|i| match i % 4 {
            _ if i < 1792 => i % 256 - 128,
            0 => a[i as usize],
            1 => (a[i as usize] + 1).min(127),
            _ => (i * 7 + i / 128) % 256 - 128,
        })
        .collect();
    let (x, y) = (f.encrypt(&a, false), f.encrypt(&b, false));
    let [smaller, larger] = extremes(&mut Encrypted::new(&f.evaluator, &f.keys), &x, &y, -128..=127).unwrap();
    let each =
        |choose: fn(i64, i64) -> i64| a.iter().zip(&b).map(|(a, b)| choose(*a, *b)).collect::<Vec<_>>();
    judge(&f, "min", &smaller, &each(i64::min));
    judge(&f, "max", &larger, &each(i64::max));
}

#[test]
fn bfv_extremes() {
    pairs::<Bfv>();
}

#[test]
fn bgv_extremes() {
    pairs::<Bgv>();
}

fn histogram<S: Testable<Value = i64>>(first: i64, last: i64) {
    let sums = PowerSums::new(first..=last).unwrap();
    let circuit =
        |machine: &mut Outline<'_, S>, x: &[Shape<S>]| Ok(sums.evaluate(machine, &[&x[0], &x[1]])?.vector);
    let mut f = fixture::<S>(2, &sums.rotations(), &circuit);
    let (n, steps) = (f.params.degree() as i64, last - first + 1);
    let parts = [1, 3].map(|k| (0..n).map(|i| first + (i * i / 7 * k + i % 3) % steps).collect::<Vec<i64>>());
    let [a, b] = [0, 1].map(|k| f.encrypt(&parts[k], false));
    let packed = sums.evaluate(&mut Encrypted::new(&f.evaluator, &f.keys), &[&a, &b]).unwrap();
    let polynomial = Decryptor::new(&f.secret).decrypt(&packed.vector).unwrap();
    let facts = Counted { modulus: T, total: 2 * n as u64, copies: 1, factors: &packed.factors };
    let counts = sums.counts(polynomial.coefficients(), &facts).unwrap();
    let mut expected = vec![0; steps as usize];
    parts.iter().flatten().for_each(|x| expected[(x - first) as usize] += 1);
    assert_eq!(counts, expected);
    // Sums that no values have are noticed.
    let moved: Vec<i64> = polynomial.coefficients().iter().map(|c| c * 3).collect();
    assert!(matches!(sums.counts(&moved, &facts), Err(CircuitError::PowerSums { .. })));
    assert!(matches!(
        sums.counts(polynomial.coefficients(), &Counted { total: T, ..facts }),
        Err(CircuitError::Counts { .. })
    ));
}

#[test]
fn bfv_histograms() {
    histogram::<Bfv>(0, 255);
    histogram::<Bfv>(-3, 8);
}

#[test]
fn bgv_histograms() {
    histogram::<Bgv>(0, 255);
    histogram::<Bgv>(-3, 8);
}
