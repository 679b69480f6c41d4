//! Parts of operations, timed separately.

use core::ops::Range;
use std::hint::black_box;
use std::time::{Duration, Instant};

use sotto_conformance::{Fixture, Testable};
use sotto_ring::{Modulus, NttTable, Rows, Scratch, Seed, SlotMap, Target, Wiped, words_mut};
use sotto_rlwe::Injection;

/// Returns the median, in microseconds.
pub(crate) fn time(mut run: impl FnMut(usize)) -> f64 {
    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < 15 || (start.elapsed() < Duration::from_millis(150) && times.len() < 2000) {
        let begin = Instant::now();
        run(times.len());
        times.push(begin.elapsed().as_secs_f64() * 1e6);
    }
    median(times)
}

pub(crate) fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Returns a new seed, so that no branch predictor has learned the rejections of its masks.
pub(crate) fn unseen(number: u64) -> Seed {
    let mut seed = [0; 24];
    seed[..8].copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
    Seed(seed)
}

/// The time of one operation, and its parts.
pub(crate) struct Roofline {
    whole: f64,
    sum: f64,
}

impl Roofline {
    pub(crate) fn of(name: &str, whole: f64) -> Self {
        println!("\n{name:<44} {whole:>10.1} µs");
        Self { whole, sum: 0.0 }
    }

    /// Times a part that occurs `count` times: all of them, or enough that every prime of a chain has its share.
    pub(crate) fn part(&mut self, name: &str, count: usize, mut run: impl FnMut(usize)) {
        const MOST: usize = 240; // a multiple of 3, 4, 5, 10 and 20 primes
        if count == 0 {
            return;
        }
        let together = count.min(MOST);
        let all = time(|turn| (turn * together..(turn + 1) * together).for_each(&mut run));
        self.add(name, count, all / together as f64);
    }

    /// Adds a measured part.
    pub(crate) fn add(&mut self, name: &str, count: usize, once: f64) {
        self.sum += once * count as f64;
        println!("  {name:<34} {count:>4} × {once:>8.2} = {:>10.1}", once * count as f64);
    }

    pub(crate) fn end(&self) {
        println!("  accounted for: {:.0} %", 100.0 * self.sum / self.whole);
    }
}

/// Numbers below this are residues modulo every prime.
pub(crate) const SMALL: u64 = 1 << 20;

/// Rows of residues, laid out in memory as limbs are. The first row follows the last.
pub(crate) struct Limbs {
    rows: Rows,
    count: usize,
}

impl Limbs {
    pub(crate) fn new(count: usize, degree: usize, q: u64) -> Self {
        let word = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) % q;
        let mut rows = Scratch::new().rows(count, degree);
        for (index, row) in rows.iter_mut().enumerate() {
            (index * degree..).zip(row).for_each(|(i, x)| *x = word(i));
        }
        Self { rows, count }
    }

    pub(crate) fn row(&self, index: usize) -> &[u64] {
        self.rows.row(index % self.count)
    }

    pub(crate) fn row_mut(&mut self, index: usize) -> &mut [u64] {
        self.rows.row_mut(index % self.count)
    }

    pub(crate) fn rows_mut(&mut self) -> impl Iterator<Item = &mut [u64]> {
        self.rows.iter_mut()
    }
}

/// Picks these limbs one after the other.
fn turn(limbs: &Range<usize>, index: usize) -> usize {
    limbs.start + index % limbs.len()
}

/// The kernels at one prime of a fixture's ring, and rows for them.
pub(crate) struct Parts<'a, S: Testable> {
    pub(crate) fixture: &'a Fixture<S>,
    pub(crate) limb: usize,
    pub(crate) rows: Limbs,
    pub(crate) count: usize,
    pub(crate) signed: Wiped<i64>,
}

const ROWS: usize = 8;

impl<'a, S: Testable> Parts<'a, S> {
    pub(crate) fn new(fixture: &'a Fixture<S>) -> Self {
        Self::on(fixture, ROWS)
    }

    /// Makes this number of rows, for kernels that read from beyond the cache.
    pub(crate) fn on(fixture: &'a Fixture<S>, count: usize) -> Self {
        let (params, limb) = (&fixture.params, fixture.params.limbs(fixture.params.top_level()).start);
        let degree = params.degree();
        let rows = Limbs::new(count, degree, params.modulus(limb).value());
        let signed: Vec<i64> = (0..degree as i64).map(|i| i % 21).collect();
        Self { fixture, limb, rows, count, signed: signed.into() }
    }

    /// Times the residues of an injection modulo these primes in turn.
    pub(crate) fn residues_of(
        &mut self,
        roofline: &mut Roofline,
        what: &str,
        injection: &Injection,
        limbs: &Range<usize>,
        count: usize,
    ) {
        roofline.part(&format!("residues of {what}, a limb"), count, |i| {
            injection.write_limb(&self.fixture.params, turn(limbs, i), self.rows.row_mut(i));
        });
    }

    /// Times forward transforms modulo these primes in turn.
    pub(crate) fn transforms_of(&mut self, roofline: &mut Roofline, limbs: &Range<usize>, count: usize) {
        let ring = self.fixture.params.ring();
        roofline.part("forward transform", count, |i| {
            (ring.kernels().ntt_forward)(ring.table(turn(limbs, i)), self.rows.row_mut(i));
        });
    }

    /// Times the subtraction of secret times mask from rows; each prime rejects another share of the mask's words.
    pub(crate) fn masks_of(&mut self, roofline: &mut Roofline, limbs: &Range<usize>, count: usize) {
        let (params, secret) = (&self.fixture.params, self.fixture.secret.expose_secret_eval());
        roofline.part("mask expanded, times the secret", count, |i| {
            let limb = turn(limbs, i);
            let mut mask = unseen(i as u64).limb(0, limb, params.modulus(limb));
            mask.subtract_product(self.rows.row_mut(i), secret.limb(limb));
        });
    }

    /// Times the ways of slots to their places and back, and a transform modulo t: encoding, or decoding.
    pub(crate) fn slots(&mut self, roofline: &mut Roofline) {
        let params = &self.fixture.params;
        let degree = params.degree();
        let t = Modulus::new(params.plain_modulus()).expect("a modulus");
        let map = SlotMap::new(degree);
        let table = NttTable::new(t, degree).expect("slots");
        let (mut out, mut values) = (Wiped::zeros(degree), Wiped::zeros(degree));
        roofline.part("slots: to their places, or back, and centred", 1, |_| {
            (Target::best().kernels.scatter_slots)(&t, &mut out, &self.signed, &map);
            (Target::best().kernels.centre)(&t, words_mut(&mut values));
        });
        roofline.part("a transform modulo t", 1, |_| (Target::best().kernels.ntt_forward)(&table, &mut out));
    }

    pub(crate) fn wiped(&self, roofline: &mut Roofline, count: usize) {
        let run = |_| drop(black_box(Wiped::<u64>::zeros(self.fixture.params.degree())));
        roofline.part("wiping a vector of n words", count, run);
    }
}

/// Prints the rate of reading these bytes in these microseconds, and that of a plain sum over as many.
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
