//! The functions of [`crate::Kernels`] for any lanes: selects the arithmetic for a prime, or the scalar function where
//! vectors gain nothing.

use super::arithmetic::LaneArithmetic;
use super::float::Float;
use super::lanes::Lanes;
use super::whole::Whole;
use super::{ntt, pointwise, products};
use crate::conversion::{Lift, Quotient};
use crate::modulus::{Factor, Modulus};
use crate::ntt::NttTable;
use crate::scalar;

/// Bit lengths of primes in floating point. Longer primes are words, on processors where that gains (`Lanes::WHOLE`).
const FLOAT: core::ops::RangeInclusive<u32> = 3..=50;
/// Up to this bit length floating-point transforms settle only a few sums.
const LAZY: u32 = 48;
/// Up to this bit length their unreduced output is below 2^52.
const OPEN: u32 = 47;
/// Up to this bit length their products are below 2^53.
const EXACT: u32 = 25;

/// Runs a transform with the arithmetic for a prime, or the scalar transform.
macro_rules! transform_by_prime {
    ($lanes:ident: $L:ty, $m:expr; $a:ident => $body:expr; $scalar:expr) => {{
        let m: &Modulus = $m;
        if FLOAT.contains(&m.bits()) && m.bits() > LAZY {
            let $a = Float::<$L, false>::new($lanes, m);
            $body
        } else if FLOAT.contains(&m.bits()) && m.bits() <= EXACT {
            let $a = Float::<$L, true, true>::new($lanes, m);
            $body
        } else {
            by_prime!($lanes: $L, m; $a => $body; $scalar)
        }
    }};
}

/// Runs a body with the arithmetic for a prime, or the scalar function.
macro_rules! by_prime {
    ($lanes:ident: $L:ty, $m:expr; $a:ident => $body:expr; $scalar:expr) => {{
        let m: &Modulus = $m;
        if FLOAT.contains(&m.bits()) {
            let $a = Float::<$L, true>::new($lanes, m);
            $body
        } else if <$L>::WHOLE && m.bits() > *FLOAT.end() {
            let $a = Whole::<$L>::new($lanes, m);
            $body
        } else {
            $scalar
        }
    }};
}

macro_rules! functions {
    ($($name:ident($m:ident: &Modulus $(, $argument:ident: $kind:ty)*) = $kernel:path;)*) => {$(
        #[inline(always)]
        pub(super) fn $name<L: Lanes>(lanes: L, $m: &Modulus $(, $argument: $kind)*) {
            by_prime!(lanes: L, $m; a => $kernel(a, $m $(, $argument)*); scalar::$name($m $(, $argument)*));
        }
    )*};
}

functions! {
    multiply(m: &Modulus, a: &mut [u64], b: &[u64]) = pointwise::multiply;
    add_product(m: &Modulus, sum: &mut [u64], x: &[u64], y: &[u64]) = pointwise::add_product;
    scale(m: &Modulus, x: &mut [u64], factor: Factor) = pointwise::scale;
    subtract_scale(m: &Modulus, x: &mut [u64], y: &[u64], factor: Factor) = pointwise::subtract_scale;
    product(m: &Modulus, out: &mut [u64], x: &[u64], y: &[u64]) = pointwise::product;
    product_sum(m: &Modulus, out: &mut [u64], x: &[u64], y: &[u64], addend: &[u64]) = pointwise::product_sum;
    tensor(m: &Modulus, out: [&mut [u64]; 3], x: [&[u64]; 2], y: [&[u64]; 2]) = products::tensor;
    subtract_rest(m: &Modulus, out: &mut [u64], sum: &[u64], rest: &[u64], by: [Factor; 2], addend: Option<&[u64]>)
        = products::subtract_rest;
    inner_products(m: &Modulus, out: [&mut [u64]; 2], digits: &[&[u64]], keys: &[[&[u64]; 2]], map: Option<&[u32]>)
        = products::inner_products;
}

#[cfg(target_arch = "x86_64")]
pub(super) use pointwise::{horner, permute};
/// Functions whose input is any word: they multiply whole words for primes of any size, as splitting a word into two
/// floating-point numbers takes longer.
macro_rules! of_words {
    ($($name:ident($m:ident: &Modulus $(, $argument:ident: $kind:ty)*);)*) => {$(
        #[inline(always)]
        pub(super) fn $name<L: Lanes>(lanes: L, $m: &Modulus $(, $argument: $kind)*) {
            if L::WHOLE && $m.bits() >= *FLOAT.start() {
                pointwise::$name(Whole::new(lanes, $m), $m $(, $argument)*);
            } else {
                scalar::$name($m $(, $argument)*);
            }
        }
    )*};
}

of_words! {
    from_signed(m: &Modulus, out: &mut [u64], values: &[i64]);
}

/// Lifts residues ([`crate::Kernels::lift`]). Those that stay between −q and q are handled as words; others as
/// floating-point numbers if both primes allow it.
#[inline(always)]
pub(super) fn lift<L: Lanes>(lanes: L, m: &Modulus, out: &mut [u64], values: &[u64], lift: &Lift) {
    let bits = m.bits().max(u64::BITS - lift.modulus.leading_zeros());
    if lift.threshold.saturating_sub(1).max(lift.modulus - lift.threshold) < m.value() {
        pointwise::lift_near(lanes, m, out, values, lift);
    } else if m.bits() >= *FLOAT.start() && bits <= *FLOAT.end() {
        pointwise::lift_float(Float::<L, true>::new(lanes, m), m, out, values, lift);
    } else if L::WHOLE && m.bits() >= *FLOAT.start() {
        pointwise::lift(Whole::new(lanes, m), m, out, values, lift);
    } else {
        scalar::lift(m, out, values, lift);
    }
}

pub(super) use pointwise::{add, centre, negate, subtract, sum};

/// The kernel for the table of streams.
#[inline(always)]
pub(super) fn subtract_product<L: Lanes>(
    lanes: L,
    m: &Modulus,
    body: &mut [u64],
    mask: &[u64],
    secret: &[u64],
) {
    by_prime!(lanes: L, m; a => pointwise::subtract_product(a, m, body, mask, secret); {
        (crate::Streams::SCALAR.subtract_product)(m, body, mask, secret);
    });
}

/// Converts between bases. Sources below 2^50 are floating-point numbers, others words.
#[inline(always)]
pub(super) fn convert<L: Lanes>(
    lanes: L,
    m: &Modulus,
    out: &mut [u64],
    sources: &[&[u64]],
    source_bits: u32,
    weights: &[u64],
    base: u64,
) {
    if m.bits() < *FLOAT.start() || sources.len() > products::MOST_SOURCES {
        scalar::convert(m, out, sources, source_bits, weights, base);
    } else if m.bits().max(source_bits) <= *FLOAT.end() {
        let a = Float::<L, true>::new(lanes, m);
        products::convert(a, m, out, sources, source_bits, weights, base);
    } else if L::WHOLE {
        let a = Whole::new(lanes, m);
        products::convert(a, m, out, sources, source_bits, weights, base);
    } else {
        scalar::convert(m, out, sources, source_bits, weights, base);
    }
}

/// Rounds a quotient. Sources are below 2^(shift − 26); floating-point integers must be below 2^52.
#[inline(always)]
pub(super) fn round_quotient<L: Lanes>(
    lanes: L,
    out: &mut [u64],
    sources: &[&[u64]],
    quotients: &[Quotient],
) {
    if sources.len() <= products::MOST_SOURCES && quotients.iter().all(|q| q.shift <= 26 + 52) {
        products::round_quotient(lanes, out, sources, quotients);
    } else {
        scalar::round_quotient(out, sources, quotients);
    }
}

#[inline(always)]
pub(super) fn ntt_forward<L: Lanes>(lanes: L, table: &NttTable, values: &mut [u64]) {
    let (m, degree) = (table.modulus(), table.degree());
    if !ntt::fits::<L>(degree) || values.len() != degree {
        return scalar::ntt_forward(table, values);
    }
    transform_by_prime!(lanes: L, m; a => ntt::forward::<_, false>(a, table, values); {
        scalar::ntt_forward(table, values);
    });
}

/// Runs the forward transform with output below 2^52 or below 4q, both of which readers accept like residues. For
/// floating-point primes above [`OPEN`] bits the output is reduced.
#[inline(always)]
pub(super) fn ntt_forward_open<L: Lanes>(lanes: L, table: &NttTable, values: &mut [u64]) {
    let (m, degree) = (table.modulus(), table.degree());
    if !ntt::fits::<L>(degree) || values.len() != degree {
        return scalar::ntt_forward_open(table, values);
    }
    if FLOAT.contains(&m.bits()) && m.bits() > OPEN {
        return ntt_forward(lanes, table, values);
    }
    by_prime!(lanes: L, m; a => ntt::forward::<_, true>(a, table, values); scalar::ntt_forward_open(table, values));
}

#[inline(always)]
pub(super) fn ntt_inverse<L: Lanes>(lanes: L, table: &NttTable, values: &mut [u64]) {
    inverse(lanes, table, values, None, table.inverse_degree);
}

#[inline(always)]
pub(super) fn ntt_inverse_from<L: Lanes>(
    lanes: L,
    table: &NttTable,
    out: &mut [u64],
    values: &[u64],
    scale: Factor,
) {
    if values.len() == out.len() {
        inverse(lanes, table, out, Some(values), scale);
    } else {
        scalar::ntt_inverse_from(table, out, values, scale);
    }
}

#[inline(always)]
fn inverse<L: Lanes>(lanes: L, table: &NttTable, values: &mut [u64], from: Option<&[u64]>, scale: Factor) {
    let (m, degree) = (table.modulus(), table.degree());
    if !ntt::fits::<L>(degree) || values.len() != degree {
        return scalar_inverse(table, values, from, scale);
    }
    transform_by_prime!(lanes: L, m; a => ntt::inverse(a, table, values, from, scale); {
        scalar_inverse(table, values, from, scale);
    });
}

fn scalar_inverse(table: &NttTable, values: &mut [u64], from: Option<&[u64]>, scale: Factor) {
    match from {
        Some(from) => scalar::ntt_inverse_from(table, values, from, scale),
        None => scalar::inverse(table, values, scale),
    }
}
