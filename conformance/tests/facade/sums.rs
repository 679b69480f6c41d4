//! Sums of real numbers of every length: as exact as the parameters allow, whether or not their slots have to shrink.

use sotto::{Ckks, Context, Encrypted, Plan, Result, Secret};

const LENGTHS: [usize; 5] = [2047, 2048, 4096, 8760, 100_000];

/// The context that an owner of real numbers has by default.
fn usual() -> Context<Ckks> {
    Context::builder().values_within(1.0).build().unwrap()
}

fn secret(context: &Context<Ckks>) -> Secret<Ckks> {
    context.keys(&mut sotto::secure_rng().unwrap()).unwrap().0
}

/// Readings of −40 to 60 in steps of 0.1, as whole steps.
fn steps(len: usize) -> Vec<i32> {
    (0..len).map(|i| ((i * 7919 + i / 13) % 1001) as i32 - 400).collect()
}

#[test]
fn readings_of_a_thousand_steps_add_up_exactly() {
    let secret = secret(&usual());
    for len in LENGTHS {
        let steps = steps(len);
        let exact: i64 = steps.iter().map(|step| i64::from(*step)).sum();
        let readings: Vec<f64> = steps.iter().map(|step| f64::from(*step) / 10.0).collect();
        let x = secret.encrypt_within(&readings, 60.0).unwrap();
        for sum in [x.sum(), x.sum().and_then(|sum| sum.for_answer()), x.sum_for_answer()] {
            let found = secret.decrypt(&sum.unwrap()).unwrap();
            assert!(found.bound() < 0.05, "{len}: ±{}", found.bound());
            assert!((found.value() - exact as f64 / 10.0).abs() <= found.bound(), "{len}: {found}");
            assert_eq!((found.value() * 10.0).round() as i64, exact, "{len}");
        }
    }
}

type Computation = fn(&[Encrypted<Ckks>]) -> Result<Encrypted<Ckks>>;

/// Computations on two vectors whose answer is one number, and whether it grows with their length.
const REDUCTIONS: [(&str, Computation, bool); 6] = [
    ("sum", |v| v[0].sum(), true),
    ("sum of squares", |v| v[0].square()?.sum(), true),
    ("inner product", |v| v[0].dot(&v[1]), true),
    ("inner product, last", |v| v[0].dot_for_answer(&v[1]), true),
    ("mean", |v| v[0].mean(), false),
    ("variance", |v| v[0].variance(), false),
];

/// A bound of a longer sum is at most as many times larger as the sum has more values: no bit is lost where slots have to
/// shrink. A vector that half fills its period has twice the error of a mean of a full one; a level is worth a quarter, and
/// rounding to powers of two a third.
#[test]
fn no_length_costs_bits() {
    let context = usual();
    for (name, work, grows) in REDUCTIONS {
        let plan = |len| context.plan(&[len, len], work);
        let bound = |len| {
            let plan: Plan<Ckks> = plan(len).unwrap_or_else(|error| panic!("{name} of {len}: {error}"));
            plan.error_bound() / if grows { len as f64 } else { 1.0 }
        };
        let short = bound(1024);
        for len in [1500, 2047, 2048, 2049, 4096, 8192, 8760, 65_536, 100_000, 1_000_000] {
            let found = bound(len);
            println!(
                "{name:>20} of {len:>8}: {:.1e} of the range; {:.2} of that at 1024",
                found,
                found / short
            );
            let most = match name {
                "variance" => 4.0 * 4.0 / 3.0,
                "sum of squares" => 2.0 * 1.25 * 4.0 / 3.0,
                _ if len <= context.slots() => 2.0 * 1.25 * 4.0 / 3.0,
                _ => 1.3,
            };
            assert!(found <= most * short, "{name} of {len}: {found:e}, and {short:e} at 1024");
        }
    }
}

/// If a length is refused, so is every longer one.
#[test]
fn no_length_is_refused_alone() {
    for depth in [1, 2, 3, 4] {
        let context = Context::<Ckks>::builder().values_within(1.0).depth(depth).build().unwrap();
        for (name, work, _) in REDUCTIONS {
            let mut refused = None;
            for len in [2, 100, 500, 1000, 1024, 2047, 2048, 3000, 4096, 8192, 8760, 100_000, 1_000_000] {
                match context.plan(&[len, len], work) {
                    Ok(_) => assert_eq!(refused, None, "{context}: {name} of {len}"),
                    Err(error) => {
                        refused = Some(len);
                        println!("{context}: {name} of {len}: {error}");
                    }
                }
            }
            assert!(refused.is_none() || name == "variance" && depth == 1, "{context}: {name}");
        }
    }
}

/// Padding that a public number fills is cleared before the sum, also where one level is left for that and for shrinking.
#[test]
fn sums_of_cleared_padding_shrink_too() {
    let secret = secret(&usual());
    let len = 5000;
    let readings: Vec<f64> = steps(len).iter().map(|step| f64::from(*step) / 1000.0).collect();
    let exact: f64 = readings.iter().map(|reading| reading + 0.25).sum();
    let x = secret.encrypt(&readings).unwrap();
    let filled = (&x + &vec![0.25; len]).unwrap();
    let found = secret.decrypt(&filled.sum().unwrap()).unwrap();
    assert!((found.value() - exact).abs() <= found.bound() && found.bound() < 1e-4, "{found}");
    let context = secret.context();
    let last = |v: &[Encrypted<Ckks>]| {
        let low = v[0].square()?;
        assert_eq!(low.levels_left(), 1);
        (&low + &vec![0.25; len])?.sum()
    };
    let plan = context.plan(&[len], last).unwrap();
    let found = secret.decrypt(&last(&[x]).unwrap()).unwrap();
    let exact: f64 = readings.iter().map(|reading| reading.powi(2) + 0.25).sum();
    assert!((found.value() - exact).abs() <= found.bound() && found.bound() <= plan.error_bound(), "{found}");
}
