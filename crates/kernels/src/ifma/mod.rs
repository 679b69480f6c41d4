//! AVX-512 with 52-bit multiplication (IFMA), for primes below 2^50; larger ones go to the scalar target.
//!
//! A kernel here is a function with `#[target_feature]`; the table's entries are safe wrappers, made by one macro, that are
//! handed out only after the processor has been asked ([`kernels`]).

mod convert;
mod lanes;
mod montgomery;
mod ntt;
mod pointwise;

pub(crate) use ntt::LaneTwiddles;

use crate::modulus::{Factor, Modulus};
use crate::ntt::NttTable;
use crate::scalar;
use crate::table::Kernels;

/// Primes below 2^50, and above what the shifts of [`lanes::Barrett`] take.
const BITS: core::ops::RangeInclusive<u32> = 3..=50;

/// Whether this processor has the instructions.
pub(crate) fn detected() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512dq")
        && std::arch::is_x86_feature_detected!("avx512ifma")
}

/// The target, if this processor can run it.
pub(crate) fn kernels() -> Option<Kernels> {
    detected().then_some(TABLE)
}

/// Safe entries: the vector kernel where the modulus is in range, else its scalar twin.
macro_rules! entries {
    ($($name:ident($m:ident: &Modulus $(, $argument:ident: $kind:ty)*) = $kernel:path;)*) => {$(
        fn $name($m: &Modulus $(, $argument: $kind)*) {
            if !BITS.contains(&$m.bits()) {
                return scalar::$name($m $(, $argument)*);
            }
            // SAFETY: this table is only handed out after `detected`.
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
}

fn ntt_forward(table: &NttTable, values: &mut [u64]) {
    match &table.lanes {
        // SAFETY: as above; lanes are made for primes in range only.
        Some(lanes) if values.len() == table.degree() => unsafe { ntt::forward(table, lanes, values) },
        _ => scalar::ntt_forward(table, values),
    }
}

fn ntt_inverse(table: &NttTable, values: &mut [u64]) {
    match &table.lanes {
        // SAFETY: as above.
        Some(lanes) if values.len() == table.degree() => unsafe { ntt::inverse(table, lanes, values) },
        _ => scalar::ntt_inverse(table, values),
    }
}

fn add_quotient(quotients: &mut [u64], y: &[u64], constant: u64, shift: u32) {
    // y is below 2^(shift − 26).
    if shift > 26 + BITS.end() {
        return scalar::add_quotient(quotients, y, constant, shift);
    }
    // SAFETY: as above.
    unsafe { pointwise::add_quotient(quotients, y, constant, shift) }
}

fn convert(
    m: &Modulus,
    out: &mut [u64],
    sources: &[&[u64]],
    source_bits: u32,
    weights: &[u64],
    quotients: &[u64],
    product: u64,
) {
    if !BITS.contains(&m.bits()) || source_bits > *BITS.end() {
        return scalar::convert(m, out, sources, source_bits, weights, quotients, product);
    }
    // SAFETY: as above.
    unsafe { convert::convert(m, out, sources, source_bits, weights, quotients, product) }
}

fn permute(out: &mut [u64], values: &[u64], map: &[u32]) {
    // SAFETY: as above.
    unsafe { pointwise::permute(out, values, map) }
}

const TABLE: Kernels = Kernels {
    name: "avx512-ifma",
    ntt_forward,
    ntt_inverse,
    add,
    subtract,
    negate,
    multiply,
    add_product,
    scale,
    subtract_scale,
    from_signed,
    add_quotient,
    convert,
    permute,
    montgomery: montgomery::KERNEL,
};

/// The last layers' twiddle factors, where this target runs and the prime is in its range.
pub(crate) fn lane_twiddles(
    modulus: &Modulus,
    forward: &[Factor],
    inverse: &[Factor],
) -> Option<LaneTwiddles> {
    if detected() && BITS.contains(&modulus.bits()) { LaneTwiddles::new(forward, inverse) } else { None }
}
