//! Division by dropped primes: one function for rescaling, modulus switching and the end of key switching.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use arrayvec::ArrayVec;
use sotto_kernels::{Factor, Modulus, NttTable};

use crate::convert::{Conversion, Quotients};
use crate::parallel;
use crate::poly::{Eval, Form, Poly};
use crate::ring::Ring;
use crate::scratch::{Rows, Scratch};

/// The rounding of the quotient.
///
/// Example: [`Division`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest integer polynomial.
    Nearest,
    /// To a quotient whose remainder is 0 modulo t, which preserves BGV's plaintext (up to its factor).
    CongruentMod(Modulus),
}

/// Constants to divide polynomials over some limbs by the product D of others.
///
/// ```
/// use sotto_ring::{Division, Poly, Ring, Rounding};
///
/// let ring = Ring::new(8, &[17, 97])?;
/// // 1000/97 = 10.3 and -500/97 = -5.2, as residues modulo 17.
/// let poly = Poly::from_signed(&ring, ring.all_limbs(), &[1000, -500]);
/// let division = Division::new(&ring, 1..2, 0..1, Rounding::Nearest).expect("distinct primes");
/// let quotient = division.apply(&poly);
/// assert_eq!(quotient, Poly::from_signed(&ring, 0..1, &[10, -5]));
/// # Ok::<(), sotto_ring::RingError>(())
/// ```
#[derive(Debug)]
pub struct Division {
    dropped: Vec<usize>,
    kept: Range<usize>,
    conversion: Conversion,
    /// D^-1 and −D^-1 modulo each kept prime.
    inverses: Vec<[Factor; 2]>,
}

/// Returns one row for each thread that divides limbs.
fn rests(ring: &Ring, scratch: &mut Scratch) -> ArrayVec<Rows, { parallel::MOST_WORKERS }> {
    parallel::for_workers(ring.degree(), || scratch.rows(1, ring.degree()))
}

impl Division {
    /// Prepares the division of limbs `kept` by the product of limbs `dropped`. With [`Rounding::CongruentMod`],
    /// returns None unless t is coprime to the dropped primes.
    pub fn new(ring: &Ring, dropped: Range<usize>, kept: Range<usize>, rounding: Rounding) -> Option<Self> {
        Self::of_limbs(ring, dropped.collect(), kept, rounding)
    }

    /// Like [`Division::new`], for any limbs outside `kept`.
    pub fn of_limbs(
        ring: &Ring,
        dropped: Vec<usize>,
        kept: Range<usize>,
        rounding: Rounding,
    ) -> Option<Self> {
        let sources: Vec<Modulus> = dropped.iter().map(|i| *ring.modulus(*i)).collect();
        let targets = ring.moduli(kept.clone());
        let inverse = |q: &Modulus| {
            let product = sources.iter().fold(1, |product, p| q.multiply(product, q.reduce(p.value())));
            let inverse = q.invert_vartime(product)?;
            Some([inverse, q.negate(inverse)].map(|x| q.factor(x)))
        };
        let inverses = targets.iter().map(inverse).collect::<Option<_>>()?;
        let conversion = match rounding {
            Rounding::Nearest => Conversion::new(&sources, &targets),
            Rounding::CongruentMod(t) => Conversion::congruent(&sources, &targets, &t)?,
        };
        Some(Self { dropped, kept, conversion, inverses })
    }

    /// Returns the limbs of the quotient.
    pub fn kept(&self) -> Range<usize> {
        self.kept.clone()
    }

    /// Divides `poly`, which holds the dropped and the kept limbs. In Eval form only the dropped limbs are transformed
    /// back to coefficients.
    pub fn apply<F: Form>(&self, poly: &Poly<F>) -> Poly<F> {
        self.apply_with(poly, &mut Scratch::new())
    }

    /// Like [`Division::apply`], with buffers from the caller; the quotient is in one of them.
    pub fn apply_with<F: Form>(&self, poly: &Poly<F>, scratch: &mut Scratch) -> Poly<F> {
        let ring = poly.ring();
        let dropped = self.dropped.iter().map(|i| (ring.table(*i), poly.limb(*i)));
        let quotients = if F::IS_EVAL {
            self.prepare_eval(ring, dropped, scratch)
        } else {
            self.conversion.prepare(ring.kernels(), dropped.map(|(_, limb)| limb), scratch)
        };
        let mut out = scratch.poly(ring, self.kept.clone());
        let mut rests = rests(ring, scratch);
        parallel::for_each_with(&mut rests, self.kept.clone().zip(out.limbs_mut()), |rest, (i, out)| {
            self.divide_limb::<F>(ring, i, &quotients, Some(poly.limb(i)), None, rest.row_mut(0), out);
        });
        rests.into_iter().for_each(|rest| scratch.give_rows(rest));
        quotients.give(scratch);
        out
    }

    /// Divides `poly`, whose first limbs are the kept ones, in place: it then holds those alone.
    pub fn assign_with(&self, poly: &mut Poly<Eval>, scratch: &mut Scratch) {
        let ring = Arc::clone(poly.ring());
        let dropped = self.dropped.iter().map(|i| (ring.table(*i), poly.limb(*i)));
        let quotients = self.prepare_eval(&ring, dropped, scratch);
        poly.keep_first(self.kept.clone());
        let mut rests = rests(&ring, scratch);
        parallel::for_each_with(&mut rests, self.kept.clone().zip(poly.limbs_mut()), |rest, (i, limb)| {
            self.divide_limb::<Eval>(&ring, i, &quotients, None, None, rest.row_mut(0), limb);
        });
        rests.into_iter().for_each(|rest| scratch.give_rows(rest));
        quotients.give(scratch);
    }

    /// Divides `multiple` times the polynomial.
    pub fn apply_to_multiple(&self, poly: &Poly<Eval>, multiple: u64, scratch: &mut Scratch) -> Poly<Eval> {
        let ring = poly.ring();
        let kernels = ring.kernels();
        let dropped = self.dropped.iter().map(|i| (ring.table(*i), poly.limb(*i)));
        let quotients = self.conversion.prepare_multiple(kernels, dropped, multiple, scratch);
        let mut out = scratch.poly(ring, self.kept.clone());
        let mut rests = rests(ring, scratch);
        let items = self.kept.clone().enumerate().zip(out.limbs_mut());
        parallel::for_each_with(&mut rests, items, |rest, ((j, i), out)| {
            let (m, [inverse, negated], rest) = (ring.modulus(i), self.inverses[j], rest.row_mut(0));
            self.conversion.write(kernels, &quotients, j, rest);
            (kernels.ntt_forward_open)(ring.table(i), rest);
            let by = [m.factor(m.multiply(inverse.value, m.reduce(multiple))), negated];
            (kernels.subtract_rest)(m, out, Some(poly.limb(i)), rest, by, None);
        });
        rests.into_iter().for_each(|rest| scratch.give_rows(rest));
        quotients.give(scratch);
        out
    }

    /// Computes the part that all limbs of the quotient share, from the dropped limbs in Eval form, given with their
    /// tables.
    pub fn prepare_eval<'a>(
        &self,
        ring: &Ring,
        dropped: impl Iterator<Item = (&'a NttTable, &'a [u64])>,
        scratch: &mut Scratch,
    ) -> Quotients {
        self.conversion.prepare_eval(ring.kernels(), dropped, scratch)
    }

    /// Divides one limb: `dividend` is the same limb of the polynomial, or else `out` holds it, and `addend`, if given,
    /// is added to the quotient. `rest` is overwritten.
    #[allow(clippy::too_many_arguments, reason = "one limb of everything")]
    pub fn divide_limb<F: Form>(
        &self,
        ring: &Ring,
        limb: usize,
        quotients: &Quotients,
        dividend: Option<&[u64]>,
        addend: Option<&[u64]>,
        rest: &mut [u64],
        out: &mut [u64],
    ) {
        let (kernels, j) = (ring.kernels(), limb - self.kept.start);
        self.conversion.write(kernels, quotients, j, rest);
        if F::IS_EVAL {
            (kernels.ntt_forward_open)(ring.table(limb), rest);
        }
        (kernels.subtract_rest)(ring.modulus(limb), out, dividend, rest, self.inverses[j], addend);
    }
}
