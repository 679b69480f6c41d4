//! The tables of the targets in this module.

use alloc::vec::Vec;

use crate::conversion::{Lift, Quotient};
use crate::kernels::{self, for_each_kernel};
use crate::modulus::{Factor, Modulus};
use crate::ntt::NttTable;
use crate::slot_map::SlotMap;
use crate::table::Kernels;

/// Makes safe entries, each compiled for the instructions of some lanes, and their table.
macro_rules! entries {
    (($lanes:ty, $features:literal, $target:literal)
        $($(#[$document:meta])* $name:ident($($argument:ident: $kind:ty),*) if $small:expr;)*) => {
        $(
            pub(crate) fn $name($($argument: $kind),*) {
                #[target_feature(enable = $features)]
                fn run(lanes: $lanes, $($argument: $kind),*) {
                    kernels::$name::lanes(lanes, $($argument),*);
                }
                // SAFETY: the table, and the targets that use its entries, are returned only after `detected`.
                unsafe { run(<$lanes>::new(), $($argument),*) }
            }
        )*

        pub(super) const TABLE: Kernels =
            Kernels { name: $target, $($name,)* };
    };
}

/// Makes a module with the entries and the table of one target, and its function for the table of streams.
macro_rules! target {
    ($module:ident, $lanes:ty, $features:literal, $target:literal) => {
        pub(crate) mod $module {
            use super::*;

            for_each_kernel!(entries($lanes, $features, $target));

            pub(crate) fn subtract_product(m: &Modulus, body: &mut [u64], mask: &[u64], secret: &[u64]) {
                #[target_feature(enable = $features)]
                fn run(lanes: $lanes, m: &Modulus, body: &mut [u64], mask: &[u64], secret: &[u64]) {
                    kernels::subtract_product::lanes(lanes, m, body, mask, secret);
                }
                // SAFETY: as above.
                unsafe { run(<$lanes>::new(), m, body, mask, secret) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
target!(four, crate::vectors::avx2::Avx2, "avx2,fma", "avx2");
// Its 64-bit products are those of the target with 52-bit multiplication as well.
#[cfg(target_arch = "x86_64")]
target!(dq, crate::vectors::avx512::Avx512, "avx512f,avx512dq", "avx512-dq");
#[cfg(target_arch = "aarch64")]
target!(two, crate::vectors::neon::Neon, "neon", "neon");

/// Returns the targets of this module that this processor can run, the fastest last.
pub(crate) fn available() -> Vec<Kernels> {
    let mut targets = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        targets.extend(super::avx2::detected().then_some(four::TABLE));
        targets.extend(super::avx512::detected().then_some(dq::TABLE));
    }
    #[cfg(target_arch = "aarch64")]
    targets.extend(super::neon::detected().then_some(two::TABLE));
    targets
}
