//! The tables of the targets in this module.

use alloc::vec::Vec;

use super::kernels;
use crate::conversion::{Lift, Quotient};
use crate::modulus::{Factor, Modulus};
use crate::montgomery;
use crate::ntt::NttTable;
#[cfg(target_arch = "aarch64")]
use crate::scalar;
use crate::table::Kernels;

/// Makes safe entries, each compiled for the instructions of some lanes.
macro_rules! entries {
    ($lanes:ty, $features:literal; $($name:ident($($argument:ident: $kind:ty),*);)*) => {$(
        pub(crate) fn $name($($argument: $kind),*) {
            #[target_feature(enable = $features)]
            fn run(lanes: $lanes, $($argument: $kind),*) {
                kernels::$name(lanes, $($argument),*);
            }
            // SAFETY: the table, and the targets that use its entries, are returned only after `detected`.
            unsafe { run(<$lanes>::new(), $($argument),*) }
        }
    )*};
}

/// Makes a module with the entries and the table of one target.
macro_rules! target {
    ($module:ident, $lanes:ty, $features:literal, $name:literal, {$($field:ident: $function:expr),*}, {$($more:tt)*}) => {
        pub(crate) mod $module {
            use super::*;

            entries! { $lanes, $features;
                ntt_forward(table: &NttTable, values: &mut [u64]);
                ntt_forward_open(table: &NttTable, values: &mut [u64]);
                ntt_inverse(table: &NttTable, values: &mut [u64]);
                ntt_inverse_from(table: &NttTable, out: &mut [u64], values: &[u64], scale: Factor);
                add(m: &Modulus, a: &mut [u64], b: &[u64]);
                subtract(m: &Modulus, a: &mut [u64], b: &[u64]);
                negate(m: &Modulus, a: &mut [u64]);
                multiply(m: &Modulus, a: &mut [u64], b: &[u64]);
                add_product(m: &Modulus, sum: &mut [u64], a: &[u64], b: &[u64]);
                scale(m: &Modulus, a: &mut [u64], factor: Factor);
                subtract_scale(m: &Modulus, a: &mut [u64], b: &[u64], factor: Factor);
                from_signed(m: &Modulus, out: &mut [u64], values: &[i64]);
                convert(m: &Modulus, out: &mut [u64], sources: &[&[u64]], bits: u32, weights: &[u64], base: u64);
                round_quotient(out: &mut [u64], sources: &[&[u64]], quotients: &[Quotient]);
                lift(m: &Modulus, out: &mut [u64], values: &[u64], lift: &Lift);
                inner_products(m: &Modulus, out: [&mut [u64]; 2], digits: &[&[u64]], keys: &[[&[u64]; 2]], map: Option<&[u32]>);
                subtract_rest(m: &Modulus, out: &mut [u64], sum: &[u64], rest: &[u64], by: [Factor; 2], addend: Option<&[u64]>);
                tensor(m: &Modulus, out: [&mut [u64]; 3], a: [&[u64]; 2], b: [&[u64]; 2]);
                sum(m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64]);
                product(m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64]);
                product_sum(m: &Modulus, out: &mut [u64], a: &[u64], b: &[u64], addend: &[u64]);
                centre(m: &Modulus, out: &mut [i64], values: &[u64]);
                subtract_product(m: &Modulus, body: &mut [u64], mask: &[u64], secret: &[u64]);
                $($more)*
            }

            pub(super) const TABLE: Kernels = Kernels {
                name: $name,
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
                $($field: $function,)*
                montgomery: montgomery::scalar::KERNEL,
            };
        }
    };
}

#[cfg(target_arch = "x86_64")]
target!(four, crate::vectors::avx2::Avx2, "avx2,fma", "avx2", { horner: horner, permute: permute }, {
    horner(out: &mut [i64], radix: i64, digits: &[i64]);
    permute(out: &mut [u64], values: &[u64], map: &[u32]);
});
/// The permutation of automorphisms, shared with the target with 52-bit multiplication.
#[cfg(target_arch = "x86_64")]
fn permute_groups(out: &mut [u64], values: &[u64], map: &[u32]) {
    // SAFETY: the table is returned only after `avx512::detected`; no other instructions are needed.
    unsafe { crate::ifma::pointwise::permute(out, values, map) }
}

// Its 64-bit products are those of the target with 52-bit multiplication as well.
#[cfg(target_arch = "x86_64")]
target!(dq, crate::vectors::avx512::Avx512, "avx512f,avx512dq", "avx512-dq", {
    horner: horner, permute: permute_groups
}, {
    horner(out: &mut [i64], radix: i64, digits: &[i64]);
});
#[cfg(target_arch = "aarch64")]
target!(two, crate::vectors::neon::Neon, "neon", "neon", { horner: scalar::horner, permute: scalar::permute }, {});

/// The target for NEON. It uses the scalar function where two lanes take more instructions than `mul` and `umulh`, or
/// than the compiler's version of the scalar loop: see the counts of `cargo ci arm-instructions`.
#[cfg(target_arch = "aarch64")]
const NEON: Kernels = Kernels {
    add: scalar::add,
    subtract: scalar::subtract,
    negate: scalar::negate,
    scale: scalar::scale,
    sum: scalar::sum,
    ..two::TABLE
};

/// Returns the targets of this module that this processor can run, the fastest last.
pub(crate) fn available() -> Vec<Kernels> {
    let mut targets = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        targets.extend(super::avx2::detected().then_some(four::TABLE));
        targets.extend(super::avx512::detected().then_some(dq::TABLE));
    }
    #[cfg(target_arch = "aarch64")]
    targets.extend(super::neon::detected().then_some(NEON));
    targets
}
