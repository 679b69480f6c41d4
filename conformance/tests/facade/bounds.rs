//! Bounds on the error of real numbers: never below a measured error, and near it for vectors of every length.

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sotto::{Ckks, Context, Encrypted, Plan, Result, Secret};

type Computation = fn(&[Encrypted<Ckks>]) -> Result<Encrypted<Ckks>>;
type Clear = fn(&[Vec<f64>]) -> f64;

fn context(depth: usize) -> Context<Ckks> {
    Context::builder().values_within(1.0).depth(depth).build().unwrap()
}

fn secret(context: &Context<Ckks>) -> Secret<Ckks> {
    context.keys(&mut sotto::secure_rng().unwrap()).unwrap().0
}

/// Kinds of data: spread, at the ends of the range, all equal.
const KINDS: usize = 3;

fn values(kind: usize, len: usize, rng: &mut ChaCha20Rng) -> Vec<f64> {
    let mut unit = || f64::from(rng.next_u32()) / f64::from(u32::MAX) * 2.0 - 1.0;
    match kind % KINDS {
        0 => (0..len).map(|_| unit()).collect(),
        1 => (0..len).map(|_| unit().signum()).collect(),
        _ => vec![0.7; len],
    }
}

/// Sums in f64 with the rounding errors added separately (Kahan and Babuška).
fn total(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, rest) = values.fold((0.0, 0.0), |(sum, rest): (f64, f64), value| {
        let next = sum + value;
        let lost = if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        (next, rest + lost)
    });
    sum + rest
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    total(a.iter().zip(b).map(|(a, b)| a * b))
}

fn variance(x: &[f64]) -> f64 {
    let mean = total(x.iter().copied()) / x.len() as f64;
    total(x.iter().map(|value| (value - mean) * (value - mean))) / x.len() as f64
}

/// Computations on two vectors whose answer is one number.
const REDUCTIONS: [(&str, Computation, Clear); 9] = [
    ("sum", |v| v[0].sum(), |v| total(v[0].iter().copied())),
    ("sum for an answer", |v| v[0].sum_for_answer(), |v| total(v[0].iter().copied())),
    ("sum, lowered", |v| v[0].sum()?.for_answer(), |v| total(v[0].iter().copied())),
    ("mean", |v| v[0].mean(), |v| total(v[0].iter().copied()) / v[0].len() as f64),
    ("dot", |v| v[0].dot(&v[1]), |v| dot(&v[0], &v[1])),
    ("dot for an answer", |v| v[0].dot_for_answer(&v[1]), |v| dot(&v[0], &v[1])),
    ("variance", |v| v[0].variance(), |v| variance(&v[0])),
    (
        "sum twice",
        |v| (&v[0].sum()? + &v[1].sum()?)?.scaled_by_three(),
        |v| 3.0 * (total(v[0].iter().copied()) + total(v[1].iter().copied())),
    ),
    ("difference", |v| (&v[0] - &v[1])?.sum(), |v| total(v[0].iter().zip(&v[1]).map(|(a, b)| a - b))),
];

trait Three: Sized {
    fn scaled_by_three(self) -> Result<Self>;
}

impl Three for Encrypted<Ckks> {
    fn scaled_by_three(self) -> Result<Self> {
        &self + &(&self + &self)?
    }
}

/// No answer is off by more than its bound, nor its bound larger than the plan's; also where one vector stands for both.
#[test]
fn no_reduction_is_off_by_more_than_its_bound() {
    let mut rng = ChaCha20Rng::from_seed([7; 32]);
    let mut nearest = f64::INFINITY;
    for depth in [2, 3] {
        let context = context(depth);
        let secret = secret(&context);
        for (at, len) in [1, 2, 3, 100, 1025, 2048, 4097, 8193, 20_000, 100_000].into_iter().enumerate() {
            let data = [values(at, len, &mut rng), values(at + 1, len, &mut rng)];
            let inputs = [0, 1].map(|at| secret.encrypt(&data[at]).unwrap());
            for same in [false, true] {
                let (data, inputs) = if same {
                    ([0, 0].map(|at: usize| data[at].clone()), [0, 0].map(|at: usize| inputs[at].clone()))
                } else {
                    (data.clone(), inputs.clone())
                };
                for (name, work, clear) in REDUCTIONS {
                    if len > 20_000 && (same || depth == 2) && name != "dot" {
                        continue;
                    }
                    let found = secret.decrypt(&work(&inputs).unwrap()).unwrap();
                    let plan = context.plan(&[len, len], work).unwrap();
                    let off = (found.value() - clear(&data)).abs();
                    assert!(off <= found.bound(), "{name} of {len}, {same}: {off:e} {:e}", found.bound());
                    let most = plan.error_bound() * (1.0 + 1e-9);
                    assert!(found.bound() <= most, "{name} of {len}, {same}: {:e} {most:e}", found.bound());
                    nearest = nearest.min(found.bound() / off);
                }
            }
        }
    }
    println!("the nearest error was 1/{nearest:.1} of its bound");
}

/// Parts that are one ciphertext several times, and slots that are one slot several times, add as they are.
#[test]
fn repeated_values_stay_within_their_bound() {
    let mut rng = ChaCha20Rng::from_seed([8; 32]);
    let context = context(3);
    let secret = secret(&context);
    let slots = context.slots();
    let data = values(0, 3 * slots, &mut rng);
    let x = secret.encrypt(&data).unwrap();
    let selections: [Vec<usize>; 4] = [
        // Whole ciphertexts again and again.
        (0..8).flat_map(|_| 0..slots).collect(),
        (0..4).flat_map(|_| slots..2 * slots).chain(0..slots).collect(),
        (0..500).map(|i| i * 37 % 91).collect(),
        vec![slots + 17; 100],
    ];
    for indices in selections {
        let chosen = x.select(&indices).unwrap();
        let exact: Vec<f64> = indices.iter().map(|index| data[*index]).collect();
        let found = secret.decrypt(&chosen).unwrap();
        for (found_value, exact) in found.values().iter().zip(&exact) {
            assert!((found_value - exact).abs() <= found.bound());
        }
        let sum = secret.decrypt(&chosen.sum().unwrap()).unwrap();
        assert!((sum.value() - total(exact.iter().copied())).abs() <= sum.bound(), "{sum}");
        let square = secret.decrypt(&chosen.dot(&chosen).unwrap()).unwrap();
        assert!((square.value() - dot(&exact, &exact)).abs() <= square.bound(), "{square}");
    }
    // The bound knows that one ciphertext stands eight times: eight times the error of one.
    let often = |times: usize| {
        let indices: Vec<usize> = (0..times).flat_map(|_| 0..slots).collect();
        let plan = context.plan(&[3 * slots], |v| v[0].select(&indices)?.sum()).unwrap();
        plan.error_bound()
    };
    assert!(often(64) > 2.0 * often(8), "{} {}", often(64), often(8));
}

/// Encryptions with the public key are noisier; senders and the owner encrypt under one bound.
#[test]
fn public_encryptions_stay_within_their_bound() {
    let mut rng = ChaCha20Rng::from_seed([10; 32]);
    let context = Context::<Ckks>::builder().values_within(1.0).depth(2).public_inputs().build().unwrap();
    let (secret, public) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    for (kind, len) in [1, 5, 4096, 30_000].into_iter().enumerate() {
        let data = [0; 2].map(|_| values(kind, len, &mut rng));
        for inputs in [
            [0, 1].map(|at| public.encrypt(&data[at]).unwrap()),
            [secret.encrypt(&data[0]).unwrap(), public.encrypt(&data[1]).unwrap()],
        ] {
            for (name, work, clear) in REDUCTIONS {
                let found = secret.decrypt(&work(&inputs).unwrap()).unwrap();
                let plan = context.plan(&[len, len], work).unwrap();
                let off = (found.value() - clear(&data)).abs();
                assert!(off <= found.bound(), "{name} of {len}: {off:e} {:e}", found.bound());
                assert!(found.bound() <= plan.error_bound() * (1.0 + 1e-9), "{name} of {len}");
            }
        }
    }
}

fn mean_bound(context: &Context<Ckks>, len: usize) -> f64 {
    let plan: Plan<Ckks> = context.plan(&[len], |v| v[0].mean()).unwrap();
    plan.error_bound()
}

/// Lengths around powers of two and around full ciphertexts, and between.
fn dense(slots: usize) -> Vec<usize> {
    let powers = (0..17).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1, (1 << bit) * 5 / 4]);
    let full = (1..=12).flat_map(|parts| [parts * slots - 1, parts * slots, parts * slots + 1]);
    let mut all: Vec<usize> = powers
        .chain(full)
        .chain((1..50).map(|i| i * i * 40))
        .chain([100_000])
        .filter(|len| *len > 1)
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A mean of more values is at least as exact as one of two or more, but for the noise in padding: a vector that half fills its period has twice
/// the error of a full one. Rounding to powers of two adds a third, and a level a quarter.
#[test]
fn means_of_more_values_are_no_less_exact() {
    for depth in [2, 3] {
        let context = context(depth);
        let slots = context.slots();
        let (mut least, mut full) = (f64::INFINITY, f64::INFINITY);
        for len in dense(slots) {
            let bound = mean_bound(&context, len);
            let growth = bound / least;
            assert!(
                growth <= 2.0 * 1.25 * 4.0 / 3.0,
                "mean of {len}: {growth:.2} times that of fewer values"
            );
            if len >= slots {
                assert!(bound <= 4.0 / 3.0 * 1.25 * full, "mean of {len}: {bound:e}, of fewer: {full:e}");
                full = full.min(bound);
            }
            least = least.min(bound);
        }
        println!("{context}: means of up to 100,000 within {least:.1e}");
    }
}

/// Bounds and errors of sums grow no faster than the root of the number of values.
#[test]
fn sums_grow_as_the_root() {
    let mut rng = ChaCha20Rng::from_seed([9; 32]);
    let context = context(3);
    let secret = secret(&context);
    let slots = context.slots();
    let bound = |len: usize| context.plan(&[len], |v| v[0].sum()).unwrap().error_bound();
    let full = bound(slots) / (slots as f64).sqrt();
    for len in dense(slots) {
        assert!(bound(len) <= 3.4 * full * (len as f64).sqrt(), "sum of {len}");
    }
    for len in [slots, 4 * slots, 12 * slots] {
        let runs = 6;
        let mut squares = 0.0;
        for kind in 0..runs {
            let data = values(kind, len, &mut rng);
            let found = secret.decrypt(&secret.encrypt(&data).unwrap().sum().unwrap()).unwrap();
            squares += (found.value() - total(data.iter().copied())).powi(2);
        }
        let error = (squares / runs as f64).sqrt();
        println!("sum of {len}: {error:.1e} on average, bound {:.1e}", bound(len));
        assert!(error * 3.0 <= bound(len) && bound(len) <= error * 64.0, "sum of {len}");
    }
}

/// Bounds near powers of two, of values as large as the bound.
#[test]
fn values_as_large_as_a_bound_of_their_own() {
    let rng = &mut sotto::secure_rng().unwrap();
    for context in [
        Context::<Ckks>::for_depth(1).unwrap(),
        context(1),
        Context::builder().values_within(0.6).depth(1).public_inputs().build().unwrap(),
    ] {
        let (secret, public) = context.keys(rng).unwrap();
        let powers = [-1000, -10, -1, 0, 1, 7, 10, 1000].map(|power| 2.0_f64.powi(power));
        for bound in
            powers.iter().flat_map(|power| [power.next_down(), *power, power.next_up(), power * 0.99])
        {
            let values = [bound, -bound];
            for x in [secret.encrypt_within(&values, bound), public.encrypt_within(&values, bound)] {
                let found = secret.decrypt(&x.unwrap()).unwrap();
                assert!(found.bound() < bound * 1e-6, "{bound}: {found}");
                for (value, exact) in found.values().iter().zip(values) {
                    assert!((value - exact).abs() <= found.bound(), "{bound}: {found}");
                }
            }
        }
    }
}
