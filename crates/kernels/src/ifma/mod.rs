//! AVX-512 with 52-bit multiplication (IFMA), for primes below 2^50. Larger primes go to the target without IFMA
//! (`avx512-dq`).
//!
//! A kernel here is a function with `#[target_feature]`. The table's entries are safe wrappers, made by one macro;
//! [`kernels`] returns the table only after it has checked the processor.

mod convert;
pub(crate) mod lanes;
mod montgomery;
mod ntt;
pub(crate) mod pointwise;
mod products;

pub(crate) use ntt::LaneTwiddles;

use lanes::{BITS, detected};

use crate::conversion::{Lift, Quotient};
use crate::modulus::{Factor, Modulus};
use crate::ntt::NttTable;
use crate::table::Kernels;
use crate::vectors::dq as larger;

/// Returns the target, or None if this processor cannot run it.
pub(crate) fn kernels() -> Option<Kernels> {
    detected().then_some(TABLE)
}

/// Makes safe entries: the vector kernel if the modulus is in range, else the kernel of the target for larger ones.
macro_rules! entries {
    ($($name:ident($m:ident: &Modulus $(, $argument:ident: $kind:ty)*) = $kernel:path;)*) => {$(
        fn $name($m: &Modulus $(, $argument: $kind)*) {
            if !BITS.contains(&$m.bits()) {
                return larger::$name($m $(, $argument)*);
            }
            // SAFETY: `kernels` returns this table only after `detected`.
            unsafe { $kernel($m $(, $argument)*) }
        }
    )*};
}

entries! {
    add(m: &Modulus, a: &mut [u64], b: &[u64]) = pointwise::add;
    subtract(m: &Modulus, a: &mut [u64], b: &[u64]) = pointwise::subtract;
    negate(m: &Modulus, a: &mut [u64]) = pointwise::negate;
    multiply(m: &Modulus, a: &mut [u64], b: &[u64]) = pointwise::multiply;
    add_product(m: &Modulus, sum: &mut [u64], a: &[u64], b: &[u64]) = pointwise::add_product;
    scale(m: &Modulus, a: &mut [u64], factor: Factor) = pointwise::scale;
    subtract_scale(m: &Modulus, a: &mut [u64], b: &[u64], factor: Factor) = pointwise::subtract_scale;
    from_signed(m: &Modulus, out: &mut [u64], values: &[i64]) = pointwise::from_signed;
    sum(m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64]) = pointwise::sum;
    product(m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64]) = pointwise::product;
    product_sum(m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64], addend: &[u64]) = pointwise::product_sum;
    centre(m: &Modulus, out: &mut [i64], values: &[u64]) = pointwise::centre;
    tensor(m: &Modulus, out: [&mut [u64]; 3], a: [&[u64]; 2], b: [&[u64]; 2]) = products::tensor;
    subtract_rest(m: &Modulus, out: &mut [u64], sum: &[u64], rest: &[u64], by: [Factor; 2], addend: Option<&[u64]>)
        = products::subtract_rest;
    inner_products(m: &Modulus, out: [&mut [u64]; 2], digits: &[&[u64]], keys: &[[&[u64]; 2]], map: Option<&[u32]>)
        = products::inner_products;
}

/// The entry for the table of streams, whose target includes these instructions.
pub(crate) fn subtract_product(m: &Modulus, body: &mut [u64], mask: &[u64], secret: &[u64]) {
    if !BITS.contains(&m.bits()) {
        return larger::subtract_product(m, body, mask, secret);
    }
    // SAFETY: `vbmi::streams` too returns its table only after `detected`.
    unsafe { pointwise::subtract_product(m, body, mask, secret) }
}

fn ntt_forward(table: &NttTable, values: &mut [u64]) {
    match &table.lanes {
        // SAFETY: as above; `table.lanes` exists for primes in range only.
        Some(lanes) if values.len() == table.degree() => unsafe {
            ntt::forward::<false>(table, lanes, values);
        },
        _ => larger::ntt_forward(table, values),
    }
}

fn ntt_forward_open(table: &NttTable, values: &mut [u64]) {
    match &table.lanes {
        // SAFETY: as above.
        Some(lanes) if values.len() == table.degree() => unsafe {
            ntt::forward::<true>(table, lanes, values);
        },
        _ => larger::ntt_forward_open(table, values),
    }
}

fn ntt_inverse(table: &NttTable, values: &mut [u64]) {
    match &table.lanes {
        // SAFETY: as above.
        Some(lanes) if values.len() == table.degree() => unsafe {
            ntt::inverse(table, lanes, values, None, table.inverse_degree);
        },
        _ => larger::ntt_inverse(table, values),
    }
}

fn ntt_inverse_from(table: &NttTable, out: &mut [u64], values: &[u64], scale: Factor) {
    match &table.lanes {
        // SAFETY: as above.
        Some(lanes) if out.len() == table.degree() && values.len() == out.len() => unsafe {
            ntt::inverse(table, lanes, out, Some(values), scale);
        },
        _ => larger::ntt_inverse_from(table, out, values, scale),
    }
}

fn round_quotient(out: &mut [u64], sources: &[&[u64]], quotients: &[Quotient]) {
    // y is below 2^(shift − 26).
    if quotients.iter().any(|q| q.shift > 26 + BITS.end()) {
        return larger::round_quotient(out, sources, quotients);
    }
    // SAFETY: as above.
    unsafe { convert::round_quotient(out, sources, quotients) }
}

fn convert(m: &Modulus, out: &mut [u64], sources: &[&[u64]], source_bits: u32, weights: &[u64], base: u64) {
    if !BITS.contains(&m.bits()) || source_bits > *BITS.end() {
        return larger::convert(m, out, sources, source_bits, weights, base);
    }
    // SAFETY: as above.
    unsafe { convert::convert(m, out, sources, source_bits, weights, base) }
}

fn lift(m: &Modulus, out: &mut [u64], values: &[u64], lift: &Lift) {
    if !BITS.contains(&m.bits()) || lift.modulus >> BITS.end() != 0 {
        return larger::lift(m, out, values, lift);
    }
    // SAFETY: as above.
    unsafe { convert::lift(m, out, values, lift) }
}

fn horner(out: &mut [i64], radix: i64, digits: &[i64]) {
    // SAFETY: as above.
    unsafe { pointwise::horner(out, radix, digits) }
}

fn permute(out: &mut [u64], values: &[u64], map: &[u32]) {
    // SAFETY: as above.
    unsafe { pointwise::permute(out, values, map) }
}

const TABLE: Kernels = Kernels {
    name: "avx512-ifma",
    ntt_forward,
    ntt_forward_open,
    ntt_inverse,
    ntt_inverse_from,
    add,
    subtract,
    negate,
    multiply,
    add_product,
    scale,
    subtract_scale,
    from_signed,
    round_quotient,
    convert,
    lift,
    inner_products,
    subtract_rest,
    tensor,
    sum,
    product,
    product_sum,
    centre,
    horner,
    permute,
    montgomery: montgomery::KERNEL,
};
