//! Parts of operations, timed alone.

use std::hint::black_box;
use std::time::{Duration, Instant};

use sotto_conformance::{Fixture, Testable};
use sotto_ring::{Kernels, Streams, Wiped};

/// The median, in microseconds.
pub(crate) fn time(mut run: impl FnMut(usize)) -> f64 {
    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < 15 || (start.elapsed() < Duration::from_millis(150) && times.len() < 2000) {
        let begin = Instant::now();
        run(times.len());
        times.push(begin.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// One operation: what it takes, and its parts.
pub(crate) struct Roofline {
    whole: f64,
    sum: f64,
}

impl Roofline {
    pub(crate) fn of(name: &str, whole: f64) -> Self {
        println!("\n{name:<44} {whole:>10.1} µs");
        Self { whole, sum: 0.0 }
    }

    /// A part that occurs `count` times.
    pub(crate) fn part(&mut self, name: &str, count: usize, run: impl FnMut(usize)) {
        let once = time(run);
        self.sum += once * count as f64;
        println!("  {name:<34} {count:>4} × {once:>8.2} = {:>10.1}", once * count as f64);
    }

    pub(crate) fn end(self) {
        println!("  accounted for: {:.0} %", 100.0 * self.sum / self.whole);
    }
}

/// Rows of residues, as limbs lie in memory.
pub(crate) struct Limbs {
    words: Vec<u64>,
    degree: usize,
}

impl Limbs {
    pub(crate) fn new(count: usize, degree: usize, q: u64) -> Self {
        let word = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) % q;
        Self { words: (0..count * degree).map(word).collect(), degree }
    }

    pub(crate) fn row(&self, index: usize) -> &[u64] {
        &self.words[index * self.degree..][..self.degree]
    }

    pub(crate) fn row_mut(&mut self, index: usize) -> &mut [u64] {
        &mut self.words[index * self.degree..][..self.degree]
    }
}

/// The kernels at one prime of a fixture's ring, and rows to run them on.
pub(crate) struct Parts<'a, S: Testable> {
    fixture: &'a Fixture<S>,
    pub(crate) limb: usize,
    pub(crate) rows: Limbs,
    pub signed: Vec<i64>,
}

pub(crate) const ROWS: usize = 8;

impl<'a, S: Testable> Parts<'a, S> {
    pub(crate) fn new(fixture: &'a Fixture<S>) -> Self {
        let (params, limb) = (&fixture.params, fixture.params.limbs(fixture.params.top_level()).start);
        let degree = params.degree();
        let rows = Limbs::new(ROWS, degree, params.modulus(limb).value());
        Self { fixture, limb, rows, signed: (0..degree as i64).map(|i| i % 21).collect() }
    }

    pub(crate) fn transforms(&mut self, roofline: &mut Roofline, forward: usize, inverse: usize) {
        let ring = self.fixture.params.ring();
        let (kernels, table) = (ring.kernels(), ring.table(self.limb));
        if forward > 0 {
            let run = |i: usize| (kernels.ntt_forward)(table, self.rows.row_mut(i % ROWS));
            roofline.part("forward transform", forward, run);
        }
        if inverse > 0 {
            let scale = table.inverse_scale(3);
            let mut out = vec![0; self.rows.degree];
            let run = |i: usize| (kernels.ntt_inverse_from)(table, &mut out, self.rows.row(i % ROWS), scale);
            roofline.part("inverse transform", inverse, run);
        }
    }

    pub(crate) fn lifts(&mut self, roofline: &mut Roofline, count: usize) {
        let q = *self.fixture.params.modulus(self.limb);
        let run = |i: usize| (Streams::best().lift)(&q, self.rows.row_mut(i % ROWS), &self.signed);
        roofline.part("small numbers to residues", count, run);
    }

    pub(crate) fn scales(&mut self, roofline: &mut Roofline, count: usize) {
        let q = *self.fixture.params.modulus(self.limb);
        let run = |i: usize| (Kernels::best().scale)(&q, self.rows.row_mut(i % ROWS), q.factor(12_345));
        roofline.part("times a constant", count, run);
    }

    pub(crate) fn wiped(&self, roofline: &mut Roofline, count: usize) {
        let run = |_| drop(black_box(Wiped::<u64>::zeros(self.rows.degree)));
        roofline.part("wiping a vector of n words", count, run);
    }

    /// The message of BFV: residues modulo t, times a constant, centred.
    pub(crate) fn message(&mut self, roofline: &mut Roofline) {
        let q = *self.fixture.params.modulus(self.limb);
        let mut values = self.signed.clone();
        let run = |i: usize| {
            let row = self.rows.row_mut(i % ROWS);
            (Kernels::best().from_signed)(&q, row, &self.signed);
            (Kernels::best().scale)(&q, row, q.factor(12_345));
            (Kernels::best().centre)(&q, &mut values, row);
        };
        roofline.part("message: three passes over n words", 1, run);
    }

    pub(crate) fn add_scaled(&self, roofline: &mut Roofline, count: usize) {
        let mut values = self.signed.clone();
        let run = |i: usize| {
            (Streams::best().add_scaled)(&mut values, &self.signed, if i.is_multiple_of(2) { 1 } else { -1 });
        };
        roofline.part("error beside the message", count, run);
    }
}

/// Bytes from memory in so many microseconds, and a plain sum over as many.
pub(crate) fn bandwidth(bytes: usize, whole: f64) {
    let words = vec![1u64; bytes / 8];
    let sum = time(|_| {
        black_box(black_box(&words).iter().fold(0u64, |sum, word| sum.wrapping_add(*word)));
    });
    println!(
        "  {:.1} MB are read, {:.1} GB/s; a plain sum over as many: {sum:.0} µs, {:.1} GB/s",
        bytes as f64 / 1e6,
        bytes as f64 / whole / 1e3,
        bytes as f64 / sum / 1e3
    );
}
