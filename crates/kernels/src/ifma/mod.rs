//! AVX-512 with 52-bit multiplication (IFMA), for primes below 2^50. Larger primes go to the target without IFMA
//! (`avx512-dq`).
//!
//! A kernel here is a function with `#[target_feature]`. The table's entries are safe wrappers, made by one macro;
//! [`kernels`] returns the table only after it has checked the processor.

pub(crate) mod lanes;
mod lines;
pub(crate) mod montgomery;
pub(crate) mod ntt;

pub(crate) use lines::{SIDE, lines, side};
pub(crate) use ntt::LaneTwiddles;

use lanes::{BITS, detected};

use crate::conversion::{Lift, Quotient};
use crate::kernels::{for_each_kernel, round_quotient};
use crate::modulus::{Factor, Modulus};
use crate::ntt::NttTable;
use crate::slot_map::SlotMap;
use crate::table::Kernels;
use crate::vectors::dq as larger;

/// Returns the target, or None if this processor cannot run it.
pub(crate) fn kernels() -> Option<Kernels> {
    detected().then_some(TABLE)
}

/// Returns true if 52-bit products hold those modulo this number.
fn small(m: &Modulus) -> bool {
    BITS.contains(&m.bits())
}

/// Makes safe entries: the vector kernel if the values are in range, else the kernel of the target for larger ones.
macro_rules! entries {
    (() $($(#[$document:meta])* $name:ident($($argument:ident: $kind:ty),*) if $small:expr;)*) => {
        mod entries {
            use super::*;

            $(pub(super) fn $name($($argument: $kind),*) {
                if !$small {
                    return larger::$name($($argument),*);
                }
                // SAFETY: `kernels` returns this table only after `detected`.
                unsafe { crate::kernels::$name::ifma::run($($argument),*) }
            })*
        }

        const TABLE: Kernels =
            Kernels { name: "avx512-ifma", $($name: entries::$name,)* };
    };
}
for_each_kernel!(entries());

/// The entry for the table of streams, whose target includes these instructions.
pub(crate) fn subtract_product(m: &Modulus, body: &mut [u64], mask: &[u64], secret: &[u64]) {
    if !small(m) {
        return larger::subtract_product(m, body, mask, secret);
    }
    // SAFETY: `vbmi::streams` too returns its table only after `detected`.
    unsafe { crate::kernels::subtract_product::ifma::run(m, body, mask, secret) }
}
