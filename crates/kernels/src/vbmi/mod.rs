//! The streams target for AVX-512 with byte permutations (VBMI), AES in wide registers (VAES), bit counts and 52-bit
//! products.
//!
//! As in `ifma`, a kernel is a function with `#[target_feature]` behind a safe entry; [`streams`] returns the table
//! only after it has checked the processor.

pub(crate) mod aes;
mod bits;
mod lanes;
mod small;

use crate::ifma;
use crate::modulus::Modulus;
use crate::streams::{AesKernels, AesLanes, RoundKeys, Streams};
use crate::vectors;

/// Returns true if this processor has the instructions.
fn detected() -> bool {
    ifma::lanes::detected()
        && vectors::avx2::detected()
        && has_feature!("aes")
        && has_feature!("vaes")
        && has_feature!("avx512bw")
        && has_feature!("avx512vbmi")
        && has_feature!("avx512vpopcntdq")
}

/// Returns the target, or None if this processor cannot run it.
pub(crate) fn streams() -> Option<Streams> {
    detected().then_some(TABLE)
}

/// Makes safe entries.
macro_rules! entries {
    ($($name:ident($($argument:ident: $kind:ty),*) $(-> $out:ty)? = $kernel:path;)*) => {$(
        fn $name($($argument: $kind),*) $(-> $out)? {
            // SAFETY: `streams` returns this table only after `detected`.
            unsafe { $kernel($($argument),*) }
        }
    )*};
}

entries! {
    residues(m: &Modulus, bytes: &[u8], stride: u32, out: &mut [u64]) -> bool = bits::residues;
    accept(m: &Modulus, values: &mut [u64]) -> usize = bits::accept;
    replace(m: &Modulus, values: &mut [u64], fresh: &[u64]) -> (usize, usize) = bits::replace;
    pack(values: &[u64], bits: u32, out: &mut [u8]) = bits::pack;
    ternary(bytes: &[u8], out: &mut [i64]) = small::ternary;
    centred_binomial(bytes: &[u8], out: &mut [i64]) = small::centred_binomial;
    add_scaled(sum: &mut [i64], values: &[i64], factor: i64) = small::add_scaled;
    lift(m: &Modulus, out: &mut [u64], values: &[i64]) = small::lift;
    any_beyond(values: &[i64], limit: u64) -> bool = small::any_beyond;
    expand_key(key: &[u8; 16], rounds: &mut RoundKeys) = aes::expand_key;
    keystream(key: &AesLanes, block: &[u8; 16], counter: u32, out: &mut [u8]) = aes::keystream;
}

const TABLE: Streams = Streams {
    name: "avx512-vbmi",
    residues,
    accept,
    replace,
    pack,
    ternary,
    centred_binomial,
    add_scaled,
    lift,
    any_beyond,
    subtract_product: ifma::subtract_product,
    chacha20: vectors::sixteen::chacha20,
    blake3: vectors::sixteen::blake3,
    aes: Some(AesKernels { expand_key, keystream }),
};
