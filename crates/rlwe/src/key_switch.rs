//! Hybrid key switching (Gentry, Halevi and Smart, ePrint 2012/099, section 3; Han and Ki, ePrint 2019/688), once for
//! every scheme.

use sotto_ring::{Coeff, Eval, Poly, Scratch};

use crate::evaluation_key::KeySwitchKey;
use crate::parameters::{DigitTables, Params};
use crate::scheme::Scheme;

/// The digits of a polynomial at a level: Eval form over special primes and level.
pub fn decompose<S: Scheme>(
    params: &Params<S>,
    level: usize,
    poly: &Poly<Eval>,
    scratch: &mut Scratch,
) -> Vec<Poly<Eval>> {
    let coefficients = scratch.copy(poly).into_coeff();
    let tables = &params.level(level).digits;
    let digits = tables.iter().map(|t| digit(params, level, t, poly, &coefficients, scratch)).collect();
    scratch.give(coefficients);
    digits
}

/// One digit, of a polynomial given in both forms.
fn digit<S: Scheme>(
    params: &Params<S>,
    level: usize,
    tables: &DigitTables,
    poly: &Poly<Eval>,
    coefficients: &Poly<Coeff>,
    scratch: &mut Scratch,
) -> Poly<Eval> {
    let ring = params.ring();
    let kernels = ring.kernels();
    let sources = tables.own.clone().map(|i| coefficients.limb(i));
    let quotients = tables.conversion.prepare(kernels, sources, scratch);
    let mut out = scratch.poly::<Eval>(ring, params.extended_limbs(level));
    for i in tables.own.clone() {
        out.limb_mut(i).copy_from_slice(poly.limb(i));
    }
    for (j, i) in tables.others.iter().enumerate() {
        tables.conversion.write(kernels, &quotients, j, out.limb_mut(*i));
        (kernels.ntt_forward)(ring.table(*i), out.limb_mut(*i));
    }
    quotients.give(scratch);
    out
}

/// Σ digit · key over special primes and level, before the division.
pub struct Sums([Poly<Eval>; 2]);

impl Sums {
    /// No digit yet.
    pub fn new<S: Scheme>(params: &Params<S>, level: usize, scratch: &mut Scratch) -> Self {
        Self([(); 2].map(|()| scratch.zero(params.ring(), params.extended_limbs(level))))
    }

    /// Adds a digit times its body and mask.
    pub fn add(&mut self, digit: &Poly<Eval>, (body, mask): (&Poly<Eval>, &Poly<Eval>)) {
        self.0[0].add_product(digit, body);
        self.0[1].add_product(digit, mask);
    }

    /// The sums themselves.
    pub fn polys(&self) -> &[Poly<Eval>; 2] {
        &self.0
    }

    /// Divides by the special primes, which the parameters have.
    pub fn divide<S: Scheme>(
        self,
        params: &Params<S>,
        level: usize,
        scratch: &mut Scratch,
    ) -> [Poly<Eval>; 2] {
        let division =
            params.level(level).special.as_ref().expect("checked: the parameters have special primes");
        self.0.map(|sum| {
            let quotient = division.apply_with(&sum, scratch);
            scratch.give(sum);
            quotient
        })
    }
}

/// Σ digit · key over special primes and level, before the division.
pub fn accumulate<S: Scheme>(
    params: &Params<S>,
    level: usize,
    digits: &[Poly<Eval>],
    key: &KeySwitchKey,
    scratch: &mut Scratch,
) -> Sums {
    let mut sums = Sums::new(params, level, scratch);
    digits.iter().zip(key.pairs()).for_each(|(digit, pair)| sums.add(digit, pair));
    sums
}

/// (k0, k1) at the level with k0 + k1·s ≈ poly·s'. The parameters have special primes. One digit is held at a time.
pub fn switch<S: Scheme>(
    params: &Params<S>,
    level: usize,
    poly: &Poly<Eval>,
    key: &KeySwitchKey,
    scratch: &mut Scratch,
) -> [Poly<Eval>; 2] {
    let coefficients = scratch.copy(poly).into_coeff();
    let mut sums = Sums::new(params, level, scratch);
    for (tables, pair) in params.level(level).digits.iter().zip(key.pairs()) {
        let digit = digit(params, level, tables, poly, &coefficients, scratch);
        sums.add(&digit, pair);
        scratch.give(digit);
    }
    scratch.give(coefficients);
    sums.divide(params, level, scratch)
}
