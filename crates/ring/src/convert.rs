//! Base conversion: from some primes to other moduli, on fixed-point integers.
//!
//! The method of Halevi, Polyakov and Shoup (ePrint 2018/117, section 2.2) with the quotient estimated on integers, so
//! that every machine gets the same result (docs/math/conventions.md, "Base conversion").

use alloc::vec::Vec;
use core::ops::Range;

use arrayvec::ArrayVec;
use sotto_kernels::{FRACTION_BITS, Kernels, Lift, Modulus, NttTable, Quotient, prefetch, words_mut};

use crate::parallel::{self, PART};
use crate::scratch::{Rows, Scratch};

/// The maximum number of primes that a conversion starts from.
pub const MOST_SOURCES: usize = 32;
/// Rows of a conversion: the sources, the quotients (how often their product is subtracted), and the addends of a
/// congruence.
const MOST_ROWS: usize = MOST_SOURCES + 2;
/// The maximum number of target moduli of one conversion.
const MOST_TARGETS: usize = parallel::MOST_ROWS;

/// Constants to convert from primes a_1 … a_k (at most 32) to a list of moduli. The result is the representative modulo
/// A = a_1 ⋯ a_k in [−A/2, A/2], or, on request, the multiple of a modulus t nearest to it that is congruent to it
/// modulo A.
///
/// ```
/// use sotto_ring::{Conversion, Modulus, Quotients, Scratch, Target};
///
/// let (from, to) = ([Modulus::new(97)?, Modulus::new(193)?], [Modulus::new(257)?]);
/// let (kernels, mut scratch) = (&Target::best().kernels, Scratch::new());
/// // 5 and -5 modulo 97 and 193.
/// let residues = [[5, 92], [5, 188]];
/// let conversion = Conversion::new(&from, &to);
/// let limbs = residues.iter().map(|limb| &limb[..]);
/// let quotients: Quotients = conversion.prepare(kernels, limbs, &mut scratch);
/// let mut out = [0; 2];
/// conversion.write(kernels, &quotients, 0, &mut out);
/// assert_eq!(out, [5, 252]);
/// # Ok::<(), sotto_ring::InvalidModulus>(())
/// ```
#[derive(Clone, Debug)]
pub struct Conversion {
    sources: Vec<Source>,
    quotients: Vec<Quotient>,
    targets: Vec<Destination>,
    /// Gives (k + floor(t/2)) mod t, where k·A is added to the representative.
    congruence: Option<Destination>,
    /// Bit length of the largest number in a row.
    row_bits: u32,
    /// Present for a single prime without a congruence: its row is the only one.
    lift: Option<Lift>,
}

/// One row of a part.
#[repr(align(64))]
struct Part([u64; PART]);

#[derive(Clone, Debug)]
struct Source {
    modulus: Modulus,
    /// (A/a_i)^-1 mod a_i.
    inverse: u64,
}

#[derive(Clone, Debug)]
struct Destination {
    modulus: Modulus,
    /// One weight a row: A/a_i mod m; −A mod m; A mod m if there is a congruence.
    weights: Vec<u64>,
    base: u64,
}

/// The rows of one conversion, shared by all targets.
///
/// Example: [`Conversion`]
pub struct Quotients {
    rows: Rows,
}

impl Quotients {
    /// Returns the buffers to the pool unwiped: for public data only.
    pub fn give(self, scratch: &mut Scratch) {
        scratch.give_rows(self.rows);
    }
}

impl Conversion {
    /// Prepares a conversion. Panics unless the sources are 1 to 32 distinct primes and there are at most 96 targets.
    pub fn new(from: &[Modulus], to: &[Modulus]) -> Self {
        assert!((1..=MOST_SOURCES).contains(&from.len()), "a conversion takes 1 to 32 primes");
        assert!(to.len() <= MOST_TARGETS, "a conversion goes to at most 96 moduli");
        let sources = from.iter().enumerate().map(|(i, a)| Source {
            modulus: *a,
            inverse: a.invert_vartime(product(from, i, a)).expect("distinct primes"),
        });
        // floor(2^(b+51)/a) and a shift of b + 51 − 25: the fraction y/a to 25 bits after the binary point.
        let quotient = |a: &Modulus| Quotient {
            constant: ((1u128 << (a.bits() + 51)) / u128::from(a.value())) as u64,
            shift: a.bits() + 51 - FRACTION_BITS,
        };
        let target = |m: &Modulus| {
            let others = (0..from.len()).map(|i| product(from, i, m));
            let all = product(from, usize::MAX, m);
            Destination { modulus: *m, weights: others.chain([m.negate(all)]).collect(), base: 0 }
        };
        // The number of times that A is subtracted takes 6 bits.
        let row_bits = from.iter().map(Modulus::bits).max().unwrap_or(0).max(6);
        let quotients: Vec<Quotient> = from.iter().map(quotient).collect();
        // The quotient of one residue is 1 once the sum reaches a half.
        let lift = |q: &Quotient| Lift {
            modulus: from[0].value(),
            threshold: (1u128 << (q.shift + FRACTION_BITS - 1)).div_ceil(u128::from(q.constant)) as u64,
        };
        Self {
            sources: sources.collect(),
            lift: (from.len() == 1).then(|| lift(&quotients[0])),
            quotients,
            targets: to.iter().map(target).collect(),
            congruence: None,
            row_bits,
        }
    }

    /// Prepares a conversion to multiples of t. Returns None unless t is coprime to the sources.
    pub fn congruent(from: &[Modulus], to: &[Modulus], t: &Modulus) -> Option<Self> {
        let mut conversion = Self::new(from, &[to, &[*t]].concat());
        let mut to_plain = conversion.targets.pop()?;
        // k = −x·A^-1 mod t for the representative x; half is added so that k − half below is centred.
        let (all, half) = (product(from, usize::MAX, t), t.value() / 2);
        let negated = t.negate(t.invert_vartime(all)?);
        to_plain.weights.iter_mut().for_each(|w| *w = t.multiply(*w, negated));
        to_plain.base = half;
        for target in &mut conversion.targets {
            let m = &target.modulus;
            let all = product(from, usize::MAX, m);
            target.weights.push(all);
            target.base = m.negate(m.multiply(all, m.reduce(half)));
        }
        conversion.congruence = Some(to_plain);
        conversion.lift = None;
        conversion.row_bits = conversion.row_bits.max(t.bits());
        Some(conversion)
    }

    /// Computes the part that all targets share. `residues` are the source limbs, in coefficient form.
    pub fn prepare<'a>(
        &self,
        kernels: &Kernels,
        residues: impl Iterator<Item = &'a [u64]>,
        scratch: &mut Scratch,
    ) -> Quotients {
        let scale = |source: &Source, x: &[u64], y: &mut [u64]| {
            y.copy_from_slice(x);
            if source.inverse != 1 {
                (kernels.scale)(&source.modulus, y, source.modulus.factor(source.inverse));
            }
        };
        self.prepare_rows(kernels, residues.map(|x| (x, x.len())), scale, scratch)
    }

    /// Like [`Conversion::prepare`], from limbs in Eval form, given with their tables.
    pub fn prepare_eval<'a>(
        &self,
        kernels: &Kernels,
        limbs: impl Iterator<Item = (&'a NttTable, &'a [u64])>,
        scratch: &mut Scratch,
    ) -> Quotients {
        self.prepare_multiple(kernels, limbs, 1, scratch)
    }

    /// Like [`Conversion::prepare_eval`], of a multiple of the polynomial.
    pub fn prepare_multiple<'a>(
        &self,
        kernels: &Kernels,
        limbs: impl Iterator<Item = (&'a NttTable, &'a [u64])>,
        multiple: u64,
        scratch: &mut Scratch,
    ) -> Quotients {
        let scale = |source: &Source, (table, x): (&NttTable, &[u64]), y: &mut [u64]| {
            let m = &source.modulus;
            let scale = table.inverse_scale(m.multiply(source.inverse, m.reduce(multiple)));
            (kernels.ntt_inverse_from)(table, y, x, scale);
        };
        let limbs = limbs.map(|(table, x)| ((table, x), x.len()));
        self.prepare_rows(kernels, limbs, scale, scratch)
    }

    fn prepare_rows<X>(
        &self,
        kernels: &Kernels,
        inputs: impl Iterator<Item = (X, usize)>,
        scale: impl Fn(&Source, X, &mut [u64]) + Sync,
        scratch: &mut Scratch,
    ) -> Quotients
    where
        X: Send,
    {
        let inputs: ArrayVec<(X, usize), MOST_SOURCES> = inputs.collect();
        assert_eq!(inputs.len(), self.sources.len(), "one slice a source prime");
        let degree = inputs[0].1;
        let mut rows = self.rows(degree, scratch);
        let items = self.sources.iter().zip(rows.iter_mut()).zip(inputs);
        parallel::for_each(degree, items, |((source, y), (x, _))| scale(source, x, y));
        self.complete(kernels, rows)
    }

    /// Returns rows for the caller to fill: one a source, then those that [`Conversion::complete`] computes.
    pub fn rows(&self, degree: usize, scratch: &mut Scratch) -> Rows {
        let extra = usize::from(self.lift.is_none()) + usize::from(self.congruence.is_some());
        scratch.rows(self.sources.len() + extra, degree)
    }

    /// Returns the factor of a source's residues at the start of a conversion.
    pub fn row_factor(&self, source: usize) -> u64 {
        self.sources[source].inverse
    }

    /// Computes the part that all targets share, from rows that hold each source's residues times its factor, in
    /// coefficient form.
    pub fn complete(&self, kernels: &Kernels, mut rows: Rows) -> Quotients {
        let count = self.sources.len();
        if self.lift.is_none() {
            let (sources, v) = rows.before_mut(count);
            let sources: ArrayVec<&[u64], MOST_ROWS> = sources.collect();
            (kernels.round_quotient)(v, &sources, &self.quotients);
        }
        if let Some(to_plain) = &self.congruence {
            let (rows, k) = rows.before_mut(count + 1);
            let rows: ArrayVec<&[u64], MOST_ROWS> = rows.collect();
            to_plain.write(kernels, &rows, self.row_bits, k);
        }
        Quotients { rows }
    }

    /// Writes the residues modulo target number `target`, in coefficient form.
    pub fn write(&self, kernels: &Kernels, quotients: &Quotients, target: usize, out: &mut [u64]) {
        let rows: ArrayVec<&[u64], MOST_ROWS> = quotients.rows.iter().collect();
        self.write_target(kernels, &self.targets[target], &rows, out);
    }

    /// Like [`Conversion::write`], for the words of a part.
    pub fn write_part(
        &self,
        kernels: &Kernels,
        quotients: &Quotients,
        target: usize,
        part: Range<usize>,
        out: &mut [u64],
    ) {
        let rows: ArrayVec<&[u64], MOST_ROWS> = quotients.rows.iter().map(|row| &row[part.clone()]).collect();
        self.write_target(kernels, &self.targets[target], &rows, out);
    }

    /// Writes the residues modulo every target, one a row, in coefficient form. Works part by part on rows as in
    /// [`Conversion::convert_part`]. For public data only.
    pub fn convert_rows(&self, kernels: &Kernels, rows: &Rows, out: &mut Rows) {
        assert_eq!(rows.iter().count(), self.sources.len(), "one row a source prime");
        let degree = rows.row(0).len();
        let mut workers = parallel::for_workers(degree, || ());
        let mut out: ArrayVec<&mut [u64], MOST_TARGETS> = out.iter_mut().collect();
        parallel::for_each_part(&mut workers, degree, &mut out, |(), [part, next], out| {
            let sources: ArrayVec<&[u64], MOST_SOURCES> = rows.iter().map(|row| &row[part.clone()]).collect();
            self.convert_part(kernels, &sources, out, rows.iter().map(|row| &row[next.clone()]));
        });
    }

    /// Writes the residues modulo every target of some words: at most [`parallel::PART`] of each source's residues, in
    /// coefficient form and times its factor ([`Conversion::row_factor`]). Meanwhile prefetches one slice of `ahead`,
    /// which is read next, for each target. For public data only: nothing is wiped.
    pub fn convert_part<'a>(
        &self,
        kernels: &Kernels,
        sources: &[&[u64]],
        out: &mut [&mut [u64]],
        mut ahead: impl Iterator<Item = &'a [u64]>,
    ) {
        assert_eq!(sources.len(), self.sources.len(), "one slice a source prime");
        assert_eq!(out.len(), self.targets.len(), "one slice a target");
        let length = sources[0].len();
        let [mut v, mut k] = [Part([0; PART]), Part([0; PART])];
        let [v, k] = [&mut v.0[..length], &mut k.0[..length]];
        let mut rows: ArrayVec<&[u64], MOST_ROWS> = sources.iter().copied().collect();
        if self.lift.is_none() {
            (kernels.round_quotient)(v, &rows, &self.quotients);
            rows.push(v);
        }
        if let Some(to_plain) = &self.congruence {
            to_plain.write(kernels, &rows, self.row_bits, k);
            rows.push(k);
        }
        for (target, out) in self.targets.iter().zip(out) {
            ahead.next().into_iter().for_each(prefetch);
            self.write_target(kernels, target, &rows, out);
        }
    }

    /// Writes the residues modulo one target, from all rows.
    fn write_target(&self, kernels: &Kernels, destination: &Destination, rows: &[&[u64]], out: &mut [u64]) {
        match &self.lift {
            Some(lift) => (kernels.lift)(&destination.modulus, out, rows[0], lift),
            None => destination.write(kernels, rows, self.row_bits, out),
        }
    }

    /// Writes the centred residues modulo target number `target`, times a factor. Range: factor below the target's
    /// modulus.
    pub fn write_centred(
        &self,
        kernels: &Kernels,
        quotients: &Quotients,
        target: usize,
        factor: u64,
        out: &mut [i64],
    ) {
        let target = &self.targets[target];
        let (m, residues) = (&target.modulus, words_mut(out));
        match &self.lift {
            Some(lift) => {
                (kernels.lift)(m, residues, quotients.rows.row(0), lift);
                (kernels.scale)(m, residues, m.factor(factor));
            }
            None => {
                let weights: ArrayVec<u64, MOST_ROWS> =
                    target.weights.iter().map(|w| m.multiply(*w, factor)).collect();
                let rows: ArrayVec<&[u64], MOST_ROWS> = quotients.rows.iter().collect();
                (kernels.convert)(m, residues, &rows, self.row_bits, &weights, 0);
            }
        }
        (kernels.centre)(m, residues);
    }
}

impl Destination {
    fn write(&self, kernels: &Kernels, rows: &[&[u64]], row_bits: u32, out: &mut [u64]) {
        (kernels.convert)(&self.modulus, out, rows, row_bits, &self.weights, self.base);
    }
}

/// Returns the product modulo m of all moduli except number `without`.
fn product(moduli: &[Modulus], without: usize, m: &Modulus) -> u64 {
    let others = moduli.iter().enumerate().filter(|(j, _)| *j != without);
    others.fold(m.reduce(1), |product, (_, a)| m.multiply(product, m.reduce(a.value())))
}
