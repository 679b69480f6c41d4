//! Independent work on one thread and on every core, side by side: `cargo bench -p sotto-runtime --bench threads`.
#![allow(clippy::unwrap_used, missing_docs)]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_program::{InputDeclaration, ParseOptions, parse};
use sotto_rlwe::{Bfv, Evaluator, Origin, Scheme};
use sotto_runtime::{Asked, Encoding, Threads, choose, run_on};

/// Products that do not depend on each other.
const PRODUCTS: usize = 16;
const ROUNDS: usize = 15;

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn main() {
    limbs();
    [8192, 16384].into_iter().for_each(independent);
}

/// Products that do not depend on each other: these are shared before limbs are.
fn independent(degree: usize) {
    let mut text = String::new();
    (0..PRODUCTS).for_each(|i| write!(text, "{}(x+{i})*(y-{i})", if i == 0 { "" } else { " + " }).unwrap());
    let inputs = ["x", "y"].map(|name| InputDeclaration::new(name, 50.0)).to_vec();
    let program = parse(&text, &ParseOptions { inputs, ..ParseOptions::default() }).unwrap().program;
    let asked = Asked {
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

    let sides = [Threads::one(), Threads::new(0).unwrap()];
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (threads, times) in sides.iter().zip(&mut times) {
            let start = Instant::now();
            run_on(threads, plan, &evaluator, inputs.clone(), &keys, u64::MAX).unwrap();
            times.push(start.elapsed());
        }
    }
    let [one, all] = times.map(median);
    let cores = sides[1].count();
    println!("{PRODUCTS} products and relinearisations, BFV, n = {}, median of {ROUNDS}:", params.degree());
    println!("1 thread {one:?}, {cores} threads {all:?}: {:.2} times", one.as_secs_f64() / all.as_secs_f64());
}

/// One product at a time at n = 32768: its loops over limbs are shared.
fn limbs() {
    let params = sotto_rlwe::Params::<Bfv>::default_chain(32768, 786_433).unwrap();
    let mut rng = ChaCha20Rng::from_seed([6; 32]);
    let secret = SecretKey::<Bfv>::derive(&DeviceSecret::generate(&mut rng), &params);
    let keys = secret.evaluation_keys(true, &[1], &mut rng).unwrap();
    let plain = Bfv::encode_slots(&params, &[7; 64], params.top_level()).unwrap();
    let a = secret.encrypt(&plain, &mut rng).unwrap().expand();
    let evaluator = Evaluator::new(&params);
    let product = |()| {
        let start = Instant::now();
        evaluator.relinearise(&evaluator.multiply(&a, &a).unwrap(), &keys).unwrap();
        start.elapsed()
    };
    let rotation = |()| {
        let start = Instant::now();
        evaluator.rotate(&a, 1, &keys).unwrap();
        start.elapsed()
    };
    let sides = [Threads::one(), Threads::new(0).unwrap()];
    type Timed<'a> = &'a (dyn Fn(()) -> Duration + Sync);
    for (name, run) in [("square and relinearisation", &product as Timed<'_>), ("rotation", &rotation)] {
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for (threads, times) in sides.iter().zip(&mut times) {
                times.push(threads.map(vec![()], run)[0]);
            }
        }
        let [one, all] = times.map(median);
        let ratio = one.as_secs_f64() / all.as_secs_f64();
        println!(
            "one {name}, BFV, n = 32768: 1 thread {one:?}, {} threads {all:?}: {ratio:.2} times",
            sides[1].count()
        );
    }
}
