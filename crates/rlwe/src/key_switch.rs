//! Hybrid key switching (Gentry, Halevi and Smart, ePrint 2012/099, section 3; Han and Ki, ePrint 2019/688), once for
//! every scheme.
//!
//! Limb by limb: the digits of one limb are transformed, multiplied with that limb of the key and added up before the next
//! limb is touched, so that they are read from the cache. The special limbs come first, so that each other limb is divided
//! by them as soon as its sums are known.

use arrayvec::ArrayVec;
use sotto_ring::{Eval, Poly, Quotients, Rows, Scratch};

use crate::evaluation_key::KeySwitchKey;
use crate::parameters::{DigitTables, Params};
use crate::scheme::Scheme;

/// A chain has at most so many data primes, and a digit one or more.
const MOST_DIGITS: usize = 64;

/// Where the digits of a polynomial come from, limb by limb.
#[allow(clippy::large_enum_variant, reason = "one of them is held at a time, where nothing is allocated")]
enum Digits<'a> {
    /// Converted and transformed when a limb is due.
    Fresh {
        poly: &'a Poly<Eval>,
        tables: &'a [DigitTables],
        quotients: ArrayVec<Quotients, MOST_DIGITS>,
        /// One a digit.
        rows: Rows,
    },
    /// Written down before; the automorphism's map moves them.
    Hoisted { digits: &'a [Poly<Eval>], map: &'a [u32] },
}

impl<'a> Digits<'a> {
    fn fresh<S: Scheme>(
        params: &'a Params<S>,
        level: usize,
        poly: &'a Poly<Eval>,
        scratch: &mut Scratch,
    ) -> Self {
        let tables = &params.level(level).digits;
        let quotients = tables.iter().map(|t| prepare(params, t, poly, scratch)).collect();
        let rows = scratch.rows(tables.len(), params.degree());
        Self::Fresh { poly, tables, quotients, rows }
    }

    /// One limb of every digit, open, and the map that moves them.
    fn limb<S: Scheme>(
        &mut self,
        params: &Params<S>,
        limb: usize,
    ) -> (ArrayVec<&[u64], MOST_DIGITS>, Option<&[u32]>) {
        match self {
            Self::Fresh { poly, tables, quotients, rows } => {
                let table = params.ring().table(limb);
                let kernels = params.ring().kernels();
                for ((digit, quotients), row) in tables.iter().zip(quotients).zip(rows.iter_mut()) {
                    if let Some(target) = digit.target(limb) {
                        digit.conversion.write(kernels, quotients, target, row);
                        (kernels.ntt_forward_open)(table, row);
                    }
                }
                let of = |(digit, row)| if own(digit, limb) { poly.limb(limb) } else { row };
                (tables.iter().zip(rows.iter()).map(of).collect(), None)
            }
            Self::Hoisted { digits, map } => (digits.iter().map(|d| d.limb(limb)).collect(), Some(*map)),
        }
    }

    fn recycle(self, scratch: &mut Scratch) {
        if let Self::Fresh { quotients, rows, .. } = self {
            quotients.into_iter().for_each(|q| q.give(scratch));
            scratch.give_rows(rows);
        }
    }
}

fn own(digit: &DigitTables, limb: usize) -> bool {
    digit.own.contains(&limb)
}

/// What all limbs of one digit share.
fn prepare<S: Scheme>(
    params: &Params<S>,
    tables: &DigitTables,
    poly: &Poly<Eval>,
    scratch: &mut Scratch,
) -> Quotients {
    let ring = params.ring();
    let sources = tables.own.clone().map(|i| (ring.table(i), poly.limb(i)));
    tables.conversion.prepare_eval(ring.kernels(), sources, scratch)
}

/// The digits of a polynomial at a level: Eval form over special primes and level.
pub fn decompose<S: Scheme>(
    params: &Params<S>,
    level: usize,
    poly: &Poly<Eval>,
    scratch: &mut Scratch,
) -> Vec<Poly<Eval>> {
    let (ring, limbs) = (params.ring(), params.extended_limbs(level));
    let digit = |tables: &DigitTables| {
        let quotients = prepare(params, tables, poly, scratch);
        let mut out = scratch.poly::<Eval>(ring, limbs.clone());
        for i in limbs.clone() {
            let limb = out.limb_mut(i);
            match tables.target(i) {
                None => limb.copy_from_slice(poly.limb(i)),
                Some(target) => {
                    tables.conversion.write(ring.kernels(), &quotients, target, limb);
                    (ring.kernels().ntt_forward)(ring.table(i), limb);
                }
            }
        }
        quotients.give(scratch);
        out
    };
    params.level(level).digits.iter().map(digit).collect()
}

/// Σ digit · key of one limb, for both halves of the key.
fn sum_limb<S: Scheme>(
    params: &Params<S>,
    limb: usize,
    digits: &mut Digits<'_>,
    key: &KeySwitchKey,
    out: [&mut [u64]; 2],
) {
    let (digits, map) = digits.limb(params, limb);
    let keys: ArrayVec<[&[u64]; 2], MOST_DIGITS> =
        key.pairs().take(digits.len()).map(|(body, mask)| [body.limb(limb), mask.limb(limb)]).collect();
    let ring = params.ring();
    (ring.kernels().inner_products)(ring.modulus(limb), out, &digits, &keys, map);
}

/// (k0, k1) at the level with k0 + k1·s ≈ poly·s' + addends. The parameters have special primes.
fn switch_digits<S: Scheme>(
    params: &Params<S>,
    level: usize,
    mut digits: Digits<'_>,
    key: &KeySwitchKey,
    addends: [Option<&Poly<Eval>>; 2],
    scratch: &mut Scratch,
) -> [Poly<Eval>; 2] {
    let ring = params.ring();
    let division = params.level(level).special.as_ref().expect("checked: the parameters have special primes");
    let special = params.extended_limbs(level).start..params.limbs(level).start;
    let mut sums = [(); 2].map(|()| scratch.rows(special.len(), params.degree()));
    for i in special.clone() {
        let out = sums.each_mut().map(|rows| rows.row_mut(i - special.start));
        sum_limb(params, i, &mut digits, key, out);
    }
    let quotients = sums.map(|rows| {
        let limbs = special.clone().map(|i| (ring.table(i), rows.row(i - special.start)));
        let quotients = division.prepare_eval(ring, limbs, scratch);
        scratch.give_rows(rows);
        quotients
    });
    let mut out = [(); 2].map(|()| scratch.poly::<Eval>(ring, params.limbs(level)));
    let mut sums = [(); 2].map(|()| scratch.rows(1, params.degree()));
    let mut rest = scratch.rows(1, params.degree());
    for i in params.limbs(level) {
        sum_limb(params, i, &mut digits, key, sums.each_mut().map(|rows| rows.row_mut(0)));
        for half in 0..2 {
            let addend = addends[half].map(|poly| poly.limb(i));
            let (sum, out) = (sums[half].row(0), out[half].limb_mut(i));
            division.divide_limb::<Eval>(ring, i, &quotients[half], sum, addend, rest.row_mut(0), out);
        }
    }
    scratch.give_rows(rest);
    sums.into_iter().for_each(|rows| scratch.give_rows(rows));
    quotients.into_iter().for_each(|q| q.give(scratch));
    digits.recycle(scratch);
    out
}

/// (k0, k1) at the level with k0 + k1·s ≈ poly·s'. The parameters have special primes.
pub fn switch<S: Scheme>(
    params: &Params<S>,
    level: usize,
    poly: &Poly<Eval>,
    key: &KeySwitchKey,
    scratch: &mut Scratch,
) -> [Poly<Eval>; 2] {
    switch_onto(params, level, poly, key, [None, None], scratch)
}

/// The same, and the addends are added.
pub(crate) fn switch_onto<S: Scheme>(
    params: &Params<S>,
    level: usize,
    poly: &Poly<Eval>,
    key: &KeySwitchKey,
    addends: [Option<&Poly<Eval>>; 2],
    scratch: &mut Scratch,
) -> [Poly<Eval>; 2] {
    let digits = Digits::fresh(params, level, poly, scratch);
    switch_digits(params, level, digits, key, addends, scratch)
}

/// (k0, k1) with k0 + k1·s ≈ p·s' + the addend, for the p that the map makes of the polynomial that was decomposed.
pub(crate) fn switch_hoisted<S: Scheme>(
    params: &Params<S>,
    level: usize,
    (digits, map): (&[Poly<Eval>], &[u32]),
    key: &KeySwitchKey,
    addend: &Poly<Eval>,
    scratch: &mut Scratch,
) -> [Poly<Eval>; 2] {
    switch_digits(params, level, Digits::Hoisted { digits, map }, key, [Some(addend), None], scratch)
}

/// Σ digit · key over special primes and level, before the division.
pub struct Sums([Poly<Eval>; 2]);

impl Sums {
    /// The sums themselves.
    pub fn polys(&self) -> &[Poly<Eval>; 2] {
        &self.0
    }
}

/// Σ digit · key over special primes and level, before the division: for known answers.
pub fn accumulate<S: Scheme>(
    params: &Params<S>,
    level: usize,
    digits: &[Poly<Eval>],
    key: &KeySwitchKey,
    scratch: &mut Scratch,
) -> Sums {
    let mut sums = [(); 2].map(|()| scratch.zero(params.ring(), params.extended_limbs(level)));
    for (digit, (body, mask)) in digits.iter().zip(key.pairs()) {
        sums[0].add_product(digit, body);
        sums[1].add_product(digit, mask);
    }
    Sums(sums)
}
