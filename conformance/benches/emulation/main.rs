//! The paper's three tasks over Paillier, ElGamal and a re-encryption agent, in three modes, with simulated latency, on
//! all cores.
//!
//! `cargo bench -p sotto-conformance --bench emulation`, with `-- 2048` for keys of that length (3072 by default), `--
//! weighted` for the task of that name alone. The lab's `practical-2022` has the tasks on one core, beside other
//! libraries. The modes run in turns and the fastest run of each counts, as other work takes a core from the parallel
//! modes and hardly anything from the serial one.

mod lattice;

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_engine::{Emulator, Mode};
use sotto_harness::protocol::Task;
use sotto_rlwe::{Bfv, Bgv, Ckks};

const TASKS: [&str; 3] = ["task_expression", "task_weighted_sum", "task_regression"];
/// Latencies: a round trip to the re-encryption agent takes this long on top of its work.
const LATENCIES: [u64; 3] = [0, 1, 20];
/// Repetitions; fewer where sleep dominates.
const ROUNDS: [usize; 3] = [25, 15, 4];

fn milliseconds(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1e3
}

fn main() {
    let bits = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(3072);
    let mut emulator = Emulator::new(bits, ChaCha20Rng::from_seed([1; 32])).expect("keys");
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    println!("keys of {bits} bits; milliseconds; {threads} threads");
    println!(
        "{:<20} {:>7}  {:<20} {:>9} {:>9} {:>9} {:>6} {:>6} {:>6} {:>6}",
        "task", "latency", "mode", "encrypt", "run", "both", "faster", "asked", "trips", "seen"
    );
    let named: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let wanted = |task: &&str| {
        let words = named.iter().filter(|word| word.parse::<u32>().is_err());
        words.clone().count() == 0 || words.clone().any(|word| task.contains(word.as_str()))
    };
    for name in TASKS.into_iter().filter(wanted) {
        let task = Task::named(name, false).expect("a task");
        measure(name.trim_start_matches("task_"), &task, &mut emulator);
        on_lattices::<Bfv>(name, &task);
        on_lattices::<Bgv>(name, &task);
        on_lattices::<Ckks>(name, &task);
    }
}

/// Runs a task at every latency, in every mode.
fn measure(name: &str, task: &Task, emulator: &mut Emulator) {
    let flows = Mode::ALL.map(|mode| emulator.flows(task, mode).expect("fits"));
    for (latency, rounds) in LATENCIES.into_iter().zip(ROUNDS) {
        let mut runs = [f64::INFINITY; 3];
        let mut encrypt = f64::INFINITY;
        let mut tallies = [(0, 0); 3];
        for _ in 0..rounds {
            for (at, mode) in Mode::ALL.into_iter().enumerate() {
                let begin = Instant::now();
                let inputs = emulator.encrypt(task).expect("encrypts");
                encrypt = encrypt.min(milliseconds(begin));
                let begin = Instant::now();
                let ran = emulator.run(task, &flows[at], &inputs, mode, Duration::from_millis(latency));
                let (answers, tally) = ran.expect("runs");
                runs[at] = runs[at].min(milliseconds(begin));
                tallies[at] = (tally.requests, tally.trips);
                emulator.require(task, &answers).expect("the answers");
            }
        }
        for (at, mode) in Mode::ALL.into_iter().enumerate() {
            let seen: usize = flows[at].iter().map(|flow| flow.seen().len()).sum();
            println!(
                "{name:<20} {latency:>4} ms  {:<20} {encrypt:>9.2} {:>9.2} {:>9.2} {:>5.2}x {:>6} {:>6} {seen:>6}",
                mode.name(),
                runs[at],
                encrypt + runs[at],
                runs[0] / runs[at],
                tallies[at].0,
                tallies[at].1,
            );
        }
    }
}

/// Times the parts that do not depend on the latency, as nothing travels.
fn on_lattices<S: lattice::Single>(name: &str, task: &Task) {
    let name = name.trim_start_matches("task_");
    match lattice::measure::<S>(task, ROUNDS[1]) {
        Some((encrypt, run, n)) => println!(
            "{name:<20} {:>7}  {:<20} {encrypt:>9.2} {run:>9.2} {:>9.2}",
            "any",
            format!("{}, n = {n}", S::NAME),
            encrypt + run
        ),
        None => println!("{name:<20} {:>7}  {:<20} no default parameters take it", "any", S::NAME),
    }
}
