//! Hybrid key switching (Gentry, Halevi and Smart, ePrint 2012/099, section 3; Han and Ki, ePrint 2019/688), written
//! once for every scheme.
//!
//! The work goes limb by limb: the digits of one limb are transformed, multiplied with that limb of the key and summed
//! before the next limb, so that they are read from the cache. The special limbs come first, so that each other limb is
//! divided by them as soon as its sums are complete.

use alloc::vec::Vec;

use arrayvec::ArrayVec;
use sotto_ring::{Eval, Kernels, Poly, Quotients, Rows, Scratch, parallel};

use crate::evaluation_key::KeySwitchKey;
use crate::parameters::{DigitTables, Params};
use crate::scheme::Scheme;

/// Maximum number of digits: a chain has at most 64 data primes, and a digit at least one.
const MOST_DIGITS: usize = 64;

/// The source of a polynomial's digits, limb by limb.
#[allow(clippy::large_enum_variant, reason = "one of them is held at a time, where nothing is allocated")]
enum Digits<'a> {
    /// Converted and transformed when the limb is needed.
    Fresh { poly: &'a Poly<Eval>, tables: &'a [DigitTables], quotients: ArrayVec<Quotients, MOST_DIGITS> },
    /// Already computed; the automorphism's map permutes them.
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
        Self::Fresh { poly, tables, quotients }
    }

    /// Returns rows for one limb of every digit.
    fn rows(&self, degree: usize, scratch: &mut Scratch) -> Rows {
        let count = if let Self::Fresh { tables, .. } = self { tables.len() } else { 0 };
        scratch.rows(count, degree)
    }

    /// Returns one limb of every digit, unreduced, and the map that permutes them.
    fn limb<'r, S: Scheme>(
        &'r self,
        params: &Params<S>,
        limb: usize,
        rows: &'r mut Rows,
    ) -> (ArrayVec<&'r [u64], MOST_DIGITS>, Option<&'r [u32]>) {
        match self {
            Self::Fresh { poly, tables, quotients } => {
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
        if let Self::Fresh { quotients, .. } = self {
            quotients.into_iter().for_each(|q| q.give(scratch));
        }
    }
}

/// The buffers in which one thread computes limbs.
struct Workspace {
    /// One limb of every digit.
    digits: Rows,
    /// The rest of a division, and a permuted addend.
    rows: [Rows; 2],
}

impl Workspace {
    /// Makes one for each thread that shares loops over limbs of this degree.
    fn for_workers(digits: &Digits<'_>, degree: usize, scratch: &mut Scratch) -> Workspaces {
        let new =
            || Self { digits: digits.rows(degree, scratch), rows: [(); 2].map(|()| scratch.rows(1, degree)) };
        parallel::for_workers(degree, new)
    }

    fn give(self, scratch: &mut Scratch) {
        self.rows.into_iter().chain([self.digits]).for_each(|rows| scratch.give_rows(rows));
    }
}

type Workspaces = ArrayVec<Workspace, { parallel::MOST_WORKERS }>;

fn own(digit: &DigitTables, limb: usize) -> bool {
    digit.own.contains(&limb)
}

/// Computes the part that all limbs of one digit share.
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

/// Returns the digits of a polynomial at a level, in Eval form over special primes and level.
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
        let items = limbs.clone().zip(out.limbs_mut());
        parallel::for_each(params.degree(), items, |(i, limb)| match tables.target(i) {
            None => limb.copy_from_slice(poly.limb(i)),
            Some(target) => {
                tables.conversion.write(ring.kernels(), &quotients, target, limb);
                (ring.kernels().ntt_forward)(ring.table(i), limb);
            }
        });
        quotients.give(scratch);
        out
    };
    params.level(level).digits.iter().map(digit).collect()
}

/// Computes Σ digit·key of one limb, for both halves of the key.
fn sum_limb<S: Scheme>(
    params: &Params<S>,
    limb: usize,
    digits: &Digits<'_>,
    rows: &mut Rows,
    key: &KeySwitchKey,
    out: [&mut [u64]; 2],
) {
    let (digits, map) = digits.limb(params, limb, rows);
    let keys: ArrayVec<[&[u64]; 2], MOST_DIGITS> =
        key.pairs().take(digits.len()).map(|(body, mask)| [body.limb(limb), mask.limb(limb)]).collect();
    let ring = params.ring();
    (ring.kernels().inner_products)(ring.modulus(limb), out, &digits, &keys, map);
}

/// The polynomials added to the result.
pub(crate) enum Addends<'a> {
    /// No addend.
    None,
    /// An addend for the first half.
    First(&'a Poly<Eval>),
    /// An addend for each half.
    Both([&'a Poly<Eval>; 2]),
    /// An addend for the first half, permuted by the automorphism's map.
    Moved(&'a Poly<Eval>, &'a [u32]),
}

impl Addends<'_> {
    /// Returns one limb of a half's addend; `row` is the buffer for a permuted one.
    fn limb<'a>(
        &'a self,
        kernels: &Kernels,
        half: usize,
        limb: usize,
        row: &'a mut [u64],
    ) -> Option<&'a [u64]> {
        match self {
            Self::Both(polys) => Some(polys[half].limb(limb)),
            Self::Moved(poly, map) if half == 0 => {
                (kernels.permute)(row, poly.limb(limb), map);
                Some(row)
            }
            Self::First(poly) if half == 0 => Some(poly.limb(limb)),
            Self::None | Self::First(_) | Self::Moved(..) => None,
        }
    }
}

/// Returns (k0, k1) at the level with k0 + k1·s ≈ poly·s' + addends. Without special primes the sums are the result
/// (Brakerski and Vaikuntanathan, ePrint 2011/344, section 1.2, with the primes as base).
fn switch_digits<S: Scheme>(
    params: &Params<S>,
    level: usize,
    digits: Digits<'_>,
    key: &KeySwitchKey,
    addends: &Addends<'_>,
    scratch: &mut Scratch,
) -> [Poly<Eval>; 2] {
    let (ring, degree) = (params.ring(), params.degree());
    let special = params.extended_limbs(level).start..params.limbs(level).start;
    let mut workspaces = Workspace::for_workers(&digits, degree, scratch);
    let division = params.level(level).special.as_ref().map(|division| {
        let mut sums = [(); 2].map(|()| scratch.rows(special.len(), degree));
        let [first, second] = &mut sums;
        let items = special.clone().zip(first.iter_mut().zip(second.iter_mut()));
        parallel::for_each_with(&mut workspaces, items, |workspace, (i, (first, second))| {
            sum_limb(params, i, &digits, &mut workspace.digits, key, [first, second]);
        });
        let quotients = sums.map(|rows| {
            let limbs = special.clone().map(|i| (ring.table(i), rows.row(i - special.start)));
            let quotients = division.prepare_eval(ring, limbs, scratch);
            scratch.give_rows(rows);
            quotients
        });
        (division, quotients)
    });
    let mut out = [(); 2].map(|()| scratch.poly::<Eval>(ring, params.limbs(level)));
    let [first, second] = &mut out;
    let items = params.limbs(level).zip(first.limbs_mut().zip(second.limbs_mut()));
    parallel::for_each_with(&mut workspaces, items, |workspace, (i, (first, second))| {
        let [rest, moved] = &mut workspace.rows;
        sum_limb(params, i, &digits, &mut workspace.digits, key, [&mut *first, &mut *second]);
        for (half, out) in [first, second].into_iter().enumerate() {
            let addend = addends.limb(ring.kernels(), half, i, moved.row_mut(0));
            if let Some((division, quotients)) = &division {
                division.divide_limb::<Eval>(ring, i, &quotients[half], None, addend, rest.row_mut(0), out);
            } else if let Some(addend) = addend {
                (ring.kernels().add)(ring.modulus(i), out, addend);
            }
        }
    });
    workspaces.into_iter().for_each(|workspace| workspace.give(scratch));
    division.into_iter().flat_map(|(_, quotients)| quotients).for_each(|q| q.give(scratch));
    digits.recycle(scratch);
    out
}

/// Returns (k0, k1) at the level with k0 + k1·s ≈ poly·s'.
pub fn switch<S: Scheme>(
    params: &Params<S>,
    level: usize,
    poly: &Poly<Eval>,
    key: &KeySwitchKey,
    scratch: &mut Scratch,
) -> [Poly<Eval>; 2] {
    switch_onto(params, level, poly, key, &Addends::None, scratch)
}

/// Returns (k0, k1) one level below with k0 + k1·s ≈ (poly·s' + addends)/q, where q is the last prime of the level. One
/// division by q and the special primes takes the place of two. Panics at level 0.
pub(crate) fn switch_and_drop<S: Scheme>(
    params: &Params<S>,
    level: usize,
    poly: &Poly<Eval>,
    key: &KeySwitchKey,
    addends: [&Poly<Eval>; 2],
    scratch: &mut Scratch,
) -> [Poly<Eval>; 2] {
    let (ring, degree, kernels) = (params.ring(), params.degree(), params.ring().kernels());
    let division = params.level(level).special_and_last.as_ref().expect("checked: a level above 0");
    let (special, last) = (0..params.limbs(level).start, params.limbs(level).end - 1);
    let digits = Digits::fresh(params, level, poly, scratch);
    let mut workspaces = Workspace::for_workers(&digits, degree, scratch);
    // The sums are P times too large beside the addends.
    let scaled = |limb: usize, row: &mut [u64], by: u64| {
        let q = ring.modulus(limb);
        (kernels.scale)(q, row, q.factor(by));
    };
    let mut sums = [(); 2].map(|()| scratch.rows(special.len() + 1, degree));
    let [first, second] = &mut sums;
    let items = special.clone().chain([last]).zip(first.iter_mut().zip(second.iter_mut()));
    parallel::for_each_with(&mut workspaces, items, |workspace, (i, (first, second))| {
        sum_limb(params, i, &digits, &mut workspace.digits, key, [&mut *first, &mut *second]);
        if i == last {
            let row = workspace.rows[0].row_mut(0);
            for (sum, addend) in [first, second].into_iter().zip(addends) {
                row.copy_from_slice(addend.limb(i));
                scaled(i, row, ring.product_modulo(special.clone(), ring.modulus(i)));
                (kernels.add)(ring.modulus(i), sum, row);
            }
        }
    });
    let quotients = sums.map(|rows| {
        let limbs = special.clone().chain([last]).zip(rows.iter()).map(|(i, row)| (ring.table(i), row));
        let quotients = division.prepare_eval(ring, limbs, scratch);
        scratch.give_rows(rows);
        quotients
    });
    let mut out = [(); 2].map(|()| scratch.poly::<Eval>(ring, params.limbs(level - 1)));
    let [first, second] = &mut out;
    let items = params.limbs(level - 1).zip(first.limbs_mut().zip(second.limbs_mut()));
    parallel::for_each_with(&mut workspaces, items, |workspace, (i, (first, second))| {
        let [rest, moved] = &mut workspace.rows;
        sum_limb(params, i, &digits, &mut workspace.digits, key, [&mut *first, &mut *second]);
        let q = ring.modulus(i);
        let inverse = q.invert_vartime(q.reduce(ring.modulus(last).value())).expect("distinct primes");
        for (half, out) in [first, second].into_iter().enumerate() {
            let addend = moved.row_mut(0);
            addend.copy_from_slice(addends[half].limb(i));
            scaled(i, addend, inverse);
            division.divide_limb::<Eval>(ring, i, &quotients[half], None, Some(addend), rest.row_mut(0), out);
        }
    });
    workspaces.into_iter().for_each(|workspace| workspace.give(scratch));
    quotients.into_iter().for_each(|q| q.give(scratch));
    digits.recycle(scratch);
    out
}

/// Like [`switch`], then adds `addends`.
pub(crate) fn switch_onto<S: Scheme>(
    params: &Params<S>,
    level: usize,
    poly: &Poly<Eval>,
    key: &KeySwitchKey,
    addends: &Addends<'_>,
    scratch: &mut Scratch,
) -> [Poly<Eval>; 2] {
    let digits = Digits::fresh(params, level, poly, scratch);
    switch_digits(params, level, digits, key, addends, scratch)
}

/// Returns (k0, k1) with k0 + k1·s ≈ p·s' + q, where the map turns the decomposed polynomial into p and the addend into
/// q.
pub(crate) fn switch_hoisted<S: Scheme>(
    params: &Params<S>,
    level: usize,
    digits: &[Poly<Eval>],
    map: &[u32],
    key: &KeySwitchKey,
    addend: &Poly<Eval>,
    scratch: &mut Scratch,
) -> [Poly<Eval>; 2] {
    switch_digits(params, level, Digits::Hoisted { digits, map }, key, &Addends::Moved(addend, map), scratch)
}

/// Σ digit·key over special primes and level, before the division.
#[doc(hidden)]
pub struct Sums([Poly<Eval>; 2]);

impl Sums {
    /// Returns the sums, one for each half of the key.
    pub fn polys(&self) -> &[Poly<Eval>; 2] {
        &self.0
    }
}

/// Computes Σ digit·key over special primes and level, before the division: for known answers.
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
