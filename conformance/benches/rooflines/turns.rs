//! Repeats operations kernel by kernel, in their own order, on buffers of their own sizes, and times each call at its
//! place, so that it finds the same data in the cache as in the operation. A kernel that is timed by itself finds more
//! of its data there, as far as other processes leave the cache to this processor.

use std::time::{Duration, Instant};

use sotto_ring::{Conversion, Quotients, Ring, Rows};

use crate::parts::{Roofline, median};

/// Times of parts by name, round by round.
#[derive(Default)]
pub(crate) struct Turns(Vec<Part>);

#[derive(Default)]
struct Part {
    name: &'static str,
    /// Number of calls in all rounds.
    count: usize,
    /// Microseconds in this round.
    time: f64,
    rounds: Vec<f64>,
}

impl Turns {
    /// Times a call.
    pub(crate) fn part<T>(&mut self, name: &'static str, run: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = run();
        let time = begin.elapsed().as_secs_f64() * 1e6;
        let index = self.0.iter().position(|part| part.name == name).unwrap_or_else(|| {
            self.0.push(Part { name, ..Part::default() });
            self.0.len() - 1
        });
        self.0[index].count += 1;
        self.0[index].time += time;
        result
    }

    /// Times the forward transform of a limb.
    pub(crate) fn forward(&mut self, ring: &Ring, limb: usize, row: &mut [u64]) {
        self.part("forward transform", || (ring.kernels().ntt_forward)(ring.table(limb), row));
    }

    /// Times the inverse transform of a limb, from another row.
    pub(crate) fn inverse(&mut self, ring: &Ring, limb: usize, to: &mut [u64], from: &[u64]) {
        let table = ring.table(limb);
        let scale = table.inverse_scale(3);
        self.part("inverse transform", || (ring.kernels().ntt_inverse_from)(table, to, from, scale));
    }

    /// Times the part of a conversion that all targets share.
    pub(crate) fn complete(&mut self, ring: &Ring, conversion: &Conversion, rows: Rows) -> Quotients {
        self.part("quotient of limbs that are converted", || conversion.complete(ring.kernels(), rows))
    }

    /// Repeats the operation round by round, and reports the median of each part over the rounds.
    pub(crate) fn rounds(r: &mut Roofline, mut operation: impl FnMut(&mut Self)) {
        let (mut turns, start) = (Self::default(), Instant::now());
        for round in 0..2000 {
            if round >= 15 && start.elapsed() > Duration::from_millis(300) {
                break;
            }
            operation(&mut turns);
            for part in &mut turns.0 {
                part.rounds.push(core::mem::take(&mut part.time));
            }
        }
        turns.report(r);
    }

    fn report(self, r: &mut Roofline) {
        for part in self.0 {
            let count = part.count / part.rounds.len();
            r.add(part.name, count, median(part.rounds) / count as f64);
        }
    }
}
