//! AVX-512 with byte permutations (VBMI), AES in wide registers (VAES), bit counts and 52-bit products: the streams target.
//!
//! As in `ifma`: a kernel is a function with `#[target_feature]`, and its safe entry is handed out only after the processor has
//! been asked ([`streams`]).

mod aes;
mod bits;
mod lanes;
mod small;

use crate::ifma;
use crate::modulus::Modulus;
use crate::streams::{AesLanes, RoundKeys, Streams};

/// Whether this processor has the instructions.
fn detected() -> bool {
    ifma::detected()
        && std::arch::is_x86_feature_detected!("aes")
        && std::arch::is_x86_feature_detected!("vaes")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512vbmi")
        && std::arch::is_x86_feature_detected!("avx512vpopcntdq")
}

/// The target, if this processor can run it.
pub(crate) fn streams() -> Option<Streams> {
    detected().then_some(TABLE)
}

/// Writes the round keys of AES-128, if this processor has the instructions.
pub(crate) fn expand_key(key: &[u8; 16], rounds: &mut RoundKeys) -> Option<()> {
    // SAFETY: the processor has just been asked.
    std::arch::is_x86_feature_detected!("aes").then(|| unsafe { aes::expand_key(key, rounds) })
}

/// Safe entries.
macro_rules! entries {
    ($($name:ident($($argument:ident: $kind:ty),*) $(-> $out:ty)? = $kernel:path;)*) => {$(
        fn $name($($argument: $kind),*) $(-> $out)? {
            // SAFETY: the table is only handed out after `detected`.
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
    keystream: Some(keystream),
};
