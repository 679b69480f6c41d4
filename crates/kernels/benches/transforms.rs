//! Compares the transforms with the limit of the processor's multiplication ports: `cargo bench -p sotto-kernels
//! --bench transforms`.
//!
//! The port limit is for the lazy forward transform with unreduced output, on a core of 4.1 GHz whose two vector ports
//! do nothing but its instructions. It is scaled to the measured clock, which a chain of dependent instructions shows.
//! A core with more ports may be faster than the limit. The output is the fastest and the median of many runs that
//! cycle through eight limbs, in microseconds.

use std::hint::black_box;
use std::time::{Duration, Instant};

use aligned_vec::{AVec, ConstAlign};
use sotto_kernels::{Kernels, Modulus, NttTable};

const LIMBS: usize = 8;
/// log2 n, and the port limit in microseconds at 4.1 GHz.
const PORT_LIMITS: [(u32, f64); 4] = [(12, 2.1), (13, 4.6), (14, 9.8), (15, 20.8)];
/// Bit length, and a prime of that length that is 1 modulo 2^16.
const PRIMES: [(u32, u64); 3] =
    [(43, 8_796_087_255_041), (50, 1_125_899_902_124_033), (60, 1_152_921_504_606_584_833)];

type Limb = AVec<u64, ConstAlign<64>>;

/// Cycles of one step of the chain: a dependent multiplication takes three, an addition one.
const STEP_CYCLES: f64 = 4.0;

/// Returns the clock in cycles per nanosecond: the fastest of 200 chains of dependent multiplications and additions.
fn gigahertz() -> f64 {
    const STEPS: u32 = 100_000;
    let run = || {
        let begin = Instant::now();
        black_box((0..STEPS).fold(black_box(1u64), |x, _| x.wrapping_mul(x).wrapping_add(x)));
        begin.elapsed().as_secs_f64() * 1e9
    };
    let fastest = (0..200).map(|_| run()).fold(f64::INFINITY, f64::min);
    f64::from(STEPS) * STEP_CYCLES / fastest
}

/// Returns the fastest and the median time in microseconds, cycling through eight limbs. `renew` resets the limbs
/// before each round.
fn time(limbs: &mut [Limb], renew: impl Fn(&mut [Limb]), run: impl Fn(&mut [u64])) -> (f64, f64) {
    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < 100 || (start.elapsed() < Duration::from_millis(400) && times.len() < 20_000) {
        let turn = times.len() % LIMBS;
        if turn == 0 {
            renew(limbs);
        }
        let begin = Instant::now();
        run(black_box(&mut limbs[turn]));
        times.push(begin.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    (times[0], times[times.len() / 2])
}

fn main() {
    let clock = gigahertz();
    println!("clock {clock:.2} GHz; fastest / median in microseconds, and the fastest over the port limit");
    for target in Kernels::available() {
        for (bits, q) in PRIMES {
            println!("\n{} {bits} bits", target.name);
            for (log, limit) in PORT_LIMITS {
                let degree = 1 << log;
                let limit = limit * 4.1 / clock;
                let table = NttTable::new(Modulus::new(q).expect("a modulus"), degree).expect("a prime");
                let word = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) % q;
                let fresh: Vec<Limb> =
                    (0..LIMBS).map(|l| AVec::from_iter(64, (0..degree).map(|i| word(i + l)))).collect();
                let row = |name: &str, kernel: &dyn Fn(&mut [u64])| {
                    // Unreduced output is not a valid input of a transform.
                    let renew = |limbs: &mut [Limb]| {
                        limbs.iter_mut().zip(&fresh).for_each(|(limb, fresh)| limb.copy_from_slice(fresh));
                    };
                    let (fastest, median) = time(&mut fresh.clone(), renew, kernel);
                    let ratio = fastest / limit;
                    println!(
                        "{degree:>6} {name:<16} {fastest:>8.2} {median:>8.2}   limit {limit:>6.2} × {ratio:.2}"
                    );
                };
                row("forward, open", &|x| (target.ntt_forward_open)(&table, x));
                row("forward", &|x| (target.ntt_forward)(&table, x));
                row("inverse", &|x| (target.ntt_inverse)(&table, x));
            }
        }
    }
}
