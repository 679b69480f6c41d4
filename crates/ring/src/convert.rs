//! Base conversion: from some primes to other moduli, on fixed-point integers.
//!
//! The method of Halevi, Polyakov and Shoup (ePrint 2018/117, section 2.2) with the quotient estimated on integers, so
//! that every machine gets the same result (docs/math/conventions.md, "Base conversion").

use sotto_kernels::{Factor, Kernels, Modulus};
use zeroize::Zeroize;

use crate::poly::{Buffer, empty_buffer};
use crate::scratch::Scratch;

const FRACTION_BITS: u32 = 25;
/// The most primes that a conversion starts from.
pub const MOST_SOURCES: usize = 32;

/// Constants to convert from primes a_1 … a_k (at most 32) to a list of moduli.
#[derive(Clone, Debug)]
pub struct Conversion {
    sources: Vec<Source>,
    targets: Vec<Target>,
    /// Bits of the largest source prime.
    source_bits: u32,
}

#[derive(Clone, Debug)]
struct Source {
    modulus: Modulus,
    /// (A/a_i)^-1 mod a_i.
    inverse: Factor,
    /// floor(2^(b+51) / a_i) and the shift b + 26.
    reciprocal: u64,
    shift: u32,
}

#[derive(Clone, Debug)]
struct Target {
    modulus: Modulus,
    /// A/a_i mod m.
    weights: Vec<u64>,
    /// A mod m.
    product: u64,
}

/// The y_i and v of one conversion; serves every target. Wiped on drop: it may be another form of a secret.
pub struct Quotients {
    /// One row a source.
    y: Buffer,
    v: Buffer,
}

impl Drop for Quotients {
    fn drop(&mut self) {
        self.y.as_mut_slice().zeroize();
        self.v.as_mut_slice().zeroize();
    }
}

impl Quotients {
    /// Takes the buffers back unwiped: for public data only.
    pub fn give(mut self, scratch: &mut Scratch) {
        scratch.give_words(core::mem::replace(&mut self.y, empty_buffer()));
        scratch.give_words(core::mem::replace(&mut self.v, empty_buffer()));
    }
}

/// A few slices, without an allocation for the list of them.
struct Slices<'a>([&'a [u64]; MOST_SOURCES], usize);

impl<'a> Slices<'a> {
    fn of(slices: impl Iterator<Item = &'a [u64]>) -> Self {
        let mut list: [&[u64]; MOST_SOURCES] = [&[]; MOST_SOURCES];
        let mut count = 0;
        for slice in slices {
            list[count] = slice;
            count += 1;
        }
        Self(list, count)
    }

    fn list(&self) -> &[&'a [u64]] {
        &self.0[..self.1]
    }
}

impl Conversion {
    /// Prepares a conversion. The sources are distinct primes, 1 to 32 of them.
    pub fn new(from: &[Modulus], to: &[Modulus]) -> Self {
        assert!((1..=MOST_SOURCES).contains(&from.len()), "a conversion takes 1 to 32 primes");
        let others = |i: usize, m: &Modulus| {
            from.iter()
                .enumerate()
                .filter(|(j, _)| *j != i)
                .fold(m.reduce(1), |product, (_, a)| m.multiply(product, m.reduce(a.value())))
        };
        let sources = from
            .iter()
            .enumerate()
            .map(|(i, a)| Source {
                modulus: *a,
                inverse: a.factor(a.invert_vartime(others(i, a)).expect("distinct primes")),
                reciprocal: ((1u128 << (a.bits() + 51)) / u128::from(a.value())) as u64,
                shift: a.bits() + 51 - FRACTION_BITS,
            })
            .collect();
        let targets = to
            .iter()
            .map(|m| Target {
                modulus: *m,
                weights: (0..from.len()).map(|i| others(i, m)).collect(),
                product: others(usize::MAX, m),
            })
            .collect();
        let source_bits = from.iter().map(Modulus::bits).max().unwrap_or(0);
        Self { sources, targets, source_bits }
    }

    /// The part that all targets share. `residues` are the source limbs, in coefficient form.
    pub fn prepare<'a>(
        &self,
        kernels: &Kernels,
        residues: impl Iterator<Item = &'a [u64]>,
        scratch: &mut Scratch,
    ) -> Quotients {
        let residues = Slices::of(residues);
        let residues = residues.list();
        assert_eq!(residues.len(), self.sources.len(), "one slice a source prime");
        let degree = residues[0].len();
        let mut y = scratch.words(degree * residues.len());
        let mut v = scratch.words(degree);
        v.as_mut_slice().fill(1 << (FRACTION_BITS - 1));
        for ((source, x), y) in self.sources.iter().zip(residues).zip(y.chunks_exact_mut(degree)) {
            y.copy_from_slice(x);
            (kernels.scale)(&source.modulus, y, source.inverse);
            (kernels.add_quotient)(&mut v, y, source.reciprocal, source.shift);
        }
        for v in v.iter_mut() {
            *v >>= FRACTION_BITS;
        }
        Quotients { y, v }
    }

    /// The residues modulo target number `target`, in coefficient form.
    pub fn write(&self, kernels: &Kernels, quotients: &Quotients, target: usize, out: &mut [u64]) {
        let t = &self.targets[target];
        let y = Slices::of(quotients.y.chunks_exact(out.len()));
        (kernels.convert)(&t.modulus, out, y.list(), self.source_bits, &t.weights, &quotients.v, t.product);
    }

    /// Number of target moduli.
    pub fn target_count(&self) -> usize {
        self.targets.len()
    }
}
