//! Dividing by dropped primes: rescaling, modulus switching and the end of key switching are this one function.

use core::ops::Range;

use sotto_kernels::{Factor, Modulus};

use crate::convert::Conversion;
use crate::poly::{Form, Poly};
use crate::ring::Ring;
use crate::scratch::Scratch;

/// How the quotient is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest integer polynomial.
    Nearest,
    /// To a quotient whose remainder is 0 modulo t, so that BGV's plaintext survives (up to its factor).
    CongruentMod(Modulus),
}

/// Constants to divide polynomials over some limbs by the product D of others.
#[derive(Debug)]
pub struct Division {
    dropped: Range<usize>,
    kept: Range<usize>,
    conversion: Conversion,
    /// D^-1 modulo each kept prime.
    inverses: Vec<Factor>,
    congruence: Option<Congruence>,
}

#[derive(Debug)]
struct Congruence {
    modulus: Modulus,
    /// −D^-1 mod t.
    negated_inverse: Factor,
    /// D modulo each kept prime.
    products: Vec<Factor>,
}

impl Division {
    /// Prepares the division of limbs `kept` by the product of limbs `dropped`. With [`Rounding::CongruentMod`], t must be
    /// coprime to the dropped primes; None if it is not.
    pub fn new(ring: &Ring, dropped: Range<usize>, kept: Range<usize>, rounding: Rounding) -> Option<Self> {
        let mut targets = ring.moduli(kept.clone());
        let product = |m: &Modulus| ring.product_modulo(dropped.clone(), m);
        let inverses = targets
            .iter()
            .map(|q| q.invert_vartime(product(q)).map(|x| q.factor(x)))
            .collect::<Option<_>>()?;
        let congruence = match rounding {
            Rounding::Nearest => None,
            Rounding::CongruentMod(t) => {
                let products = targets.iter().map(|q| q.factor(product(q))).collect();
                targets.push(t);
                let negated_inverse = t.factor(t.negate(t.invert_vartime(product(&t))?));
                Some(Congruence { modulus: t, negated_inverse, products })
            }
        };
        let conversion = Conversion::new(&ring.moduli(dropped.clone()), &targets);
        Some(Self { dropped, kept, conversion, inverses, congruence })
    }

    /// The limbs of the quotient.
    pub fn kept(&self) -> Range<usize> {
        self.kept.clone()
    }

    /// Divides; `poly` holds the dropped and the kept limbs. In Eval form only the dropped limbs go back to coefficients.
    pub fn apply<F: Form>(&self, poly: &Poly<F>) -> Poly<F> {
        self.apply_with(poly, &mut Scratch::new())
    }

    /// Divides with buffers of the caller's; the quotient is in one of them.
    pub fn apply_with<F: Form>(&self, poly: &Poly<F>, scratch: &mut Scratch) -> Poly<F> {
        let ring = poly.ring();
        let kernels = ring.kernels();
        let mut dropped = scratch.restricted(poly, self.dropped.clone());
        if F::IS_EVAL {
            for i in self.dropped.clone() {
                (kernels.ntt_inverse)(ring.table(i), dropped.limb_mut(i));
            }
        }
        let limbs = self.dropped.clone().map(|i| dropped.limb(i));
        let quotients = self.conversion.prepare(kernels, limbs, scratch);
        scratch.give(dropped);
        let mut remainder = scratch.words(ring.degree());
        let mut correction = self.congruence.as_ref().map(|c| {
            self.conversion.write(kernels, &quotients, self.kept.len(), &mut remainder);
            (kernels.scale)(&c.modulus, &mut remainder, c.negated_inverse);
            let mut centred = scratch.signed(ring.degree());
            for (k, x) in centred.iter_mut().zip(remainder.iter()) {
                *k = c.modulus.centre(*x);
            }
            (centred, scratch.words(ring.degree()))
        });
        let mut out = scratch.restricted(poly, self.kept.clone());
        for (j, i) in self.kept.clone().enumerate() {
            let q = ring.modulus(i);
            self.conversion.write(kernels, &quotients, j, &mut remainder);
            if let (Some((k, lifted)), Some(c)) = (&mut correction, &self.congruence) {
                (kernels.from_signed)(q, lifted, k);
                (kernels.scale)(q, lifted, c.products[j]);
                (kernels.add)(q, &mut remainder, lifted);
            }
            if F::IS_EVAL {
                (kernels.ntt_forward)(ring.table(i), &mut remainder);
            }
            (kernels.subtract_scale)(q, out.limb_mut(i), &remainder, self.inverses[j]);
        }
        if let Some((k, lifted)) = correction {
            scratch.give_signed(k);
            scratch.give_words(lifted);
        }
        scratch.give_words(remainder);
        quotients.give(scratch);
        out
    }
}
