//! Compares one thread with one thread per core: `cargo bench -p sotto-runtime --bench threads`.
#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_program::ProgramBuilder;
use sotto_rlwe::{Bfv, Evaluator, Origin, Scheme};
use sotto_runtime::{Encoding, Requirements, Threads, choose, run_on};

/// Number of independent products.
const PRODUCTS: usize = 16;
const ROUNDS: usize = 41;

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

/// Some milliseconds of arithmetic in registers. Only a core of its own makes it faster.
fn registers() {
    let mut words = [1u64, 2, 3, 4];
    for _ in 0..4_000_000 {
        words = black_box(words.map(|word| word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1)));
    }
}

/// Alternates between one thread and one per core, and each time measures arithmetic in registers on as many threads:
/// the cores of a virtual machine may temporarily be halves of one.
fn compare(name: &str, run: impl Fn(&Threads) -> Duration) {
    let sides = [Threads::one(), Threads::new(0).unwrap()];
    let cores = sides[1].count();
    let mut times = [const { Vec::new() }; 4];
    for _ in 0..ROUNDS {
        for (side, threads) in sides.iter().enumerate() {
            times[side].push(run(threads));
            times[2 + side].push(timed(|| drop(threads.map(vec![(); cores], |()| registers()))));
        }
    }
    let [one, all, one_in_registers, all_in_registers] = times.map(median);
    let ratio = |one: Duration, all: Duration| one.as_secs_f64() / all.as_secs_f64();
    println!(
        "{name}, median of {ROUNDS}: 1 thread {one:.2?}, {cores} threads {all:.2?}: {:.2} times; arithmetic in registers: {:.2}",
        ratio(one, all),
        ratio(one_in_registers, all_in_registers)
    );
}

fn main() {
    limbs();
    [8192, 16384].into_iter().for_each(independent);
}

/// Independent products. Whole products are shared among the threads before their limbs are.
fn independent(degree: usize) {
    let mut asked_for = ProgramBuilder::new();
    let [x, y] = ["x", "y"].map(|name| asked_for.input(name, 50.0));
    for i in 0..PRODUCTS {
        let number = asked_for.integer(i as i128);
        let factors = [asked_for.add(x, number), asked_for.sub(y, number)];
        let product = asked_for.mul(factors[0], factors[1]);
        asked_for.output(format!("product-{i}"), product);
    }
    let program = asked_for.finish().unwrap();
    let asked = Requirements {
        encoding: Encoding::Slots,
        origin: Origin::SecretKey,
        plain_modulus: None,
        columns: 64,
        degree: Some(degree),
        largest_error: 0.5,
    };
    let choice = choose::<Bfv>(&[program], &asked).unwrap();
    let (params, plan) = (choice.target.params.clone(), &choice.lowered[0].plan);
    let mut rng = ChaCha20Rng::from_seed([5; 32]);
    let secret = SecretKey::<Bfv>::derive(&DeviceSecret::generate(&mut rng), &params);
    let keys = secret.evaluation_keys(plan.keys.relinearisation, &plan.keys.rotations, &mut rng).unwrap();
    let plain = Bfv::encode_slots(&params, &[7; 64], params.top_level()).unwrap().declare_magnitude(50.0);
    let inputs: Vec<_> = (0..2).map(|_| secret.encrypt(&plain, &mut rng).unwrap().expand()).collect();
    let evaluator = Evaluator::new(&params);

    let run =
        |threads: &Threads| drop(run_on(threads, plan, &evaluator, inputs.clone(), &keys, u64::MAX).unwrap());
    let what = format!("{PRODUCTS} products and relinearisations, BFV, n = {degree}");
    compare(&what, |threads| timed(|| run(threads)));
    // The plans share only keys and tables: a speed-up below the number of cores is due to memory.
    let cores = Threads::new(0).unwrap().count();
    compare(&format!("{cores} plans of them"), |threads| {
        timed(|| drop(threads.map(vec![Threads::one(); cores], |alone| run(&alone))))
    });
}

/// One product at a time at n = 32768; the threads share its loops over limbs.
fn limbs() {
    let params = sotto_rlwe::Params::<Bfv>::default_chain(32768, 786_433).unwrap();
    let mut rng = ChaCha20Rng::from_seed([6; 32]);
    let secret = SecretKey::<Bfv>::derive(&DeviceSecret::generate(&mut rng), &params);
    let keys = secret.evaluation_keys(true, &[1], &mut rng).unwrap();
    let plain = Bfv::encode_slots(&params, &[7; 64], params.top_level()).unwrap();
    let a = secret.encrypt(&plain, &mut rng).unwrap().expand();
    let evaluator = Evaluator::new(&params);
    let product =
        |()| timed(|| drop(evaluator.relinearise(&evaluator.multiply(&a, &a).unwrap(), &keys).unwrap()));
    let rotation = |()| timed(|| drop(evaluator.rotate(&a, 1, &keys).unwrap()));
    type Timed<'a> = &'a (dyn Fn(()) -> Duration + Sync);
    for (name, run) in [("square and relinearisation", &product as Timed<'_>), ("rotation", &rotation)] {
        compare(&format!("one {name}, BFV, n = 32768"), |threads| threads.map(vec![()], run)[0]);
    }
}
