//! The functions of [`crate::Streams`] for four and two lanes, and AES in counter mode by blocks of 16 bytes. Redrawing
//! moves values across lanes and exists for four lanes only, and so does packing by pairs.

mod aes;
mod bits;
pub(super) mod lanes;
#[cfg(target_arch = "x86_64")]
mod pairs;
#[cfg(target_arch = "x86_64")]
mod redraw;
mod small;

use crate::modulus::Modulus;
use crate::streams::{AesKernels, AesLanes, BlockLanes, RoundKeys, Streams, ValueLanes};
use crate::vectors::arx;

/// Makes safe entries, each compiled for the instructions that its first argument proves.
macro_rules! entries {
    ($proof:ty, $features:literal; $($seen:vis $name:ident($($argument:ident: $kind:ty),*) -> $out:ty = $kernel:path;)*) => {$(
        $seen fn $name($($argument: $kind),*) -> $out {
            #[target_feature(enable = $features)]
            fn run(proof: $proof, $($argument: $kind),*) -> $out {
                $kernel(proof, $($argument),*)
            }
            // SAFETY: the table is returned only after `detected`, and has AES only after `aes_detected`.
            unsafe { run(<$proof>::new(), $($argument),*) }
        }
    )*};
}

macro_rules! target {
    ($module:ident, $lanes:ty, $features:literal, $aes:ty, $aes_features:literal, $name:literal, $kernels:ident) => {
        mod $module {
            use super::*;

            entries! { $lanes, $features;
                residues(m: &Modulus, bytes: &[u8], stride: u32, out: &mut [u64]) -> bool = bits::residues;
                ternary(bytes: &[u8], out: &mut [i64]) -> () = small::ternary;
                centred_binomial(bytes: &[u8], out: &mut [i64]) -> () = small::centred_binomial;
                lift(m: &Modulus, out: &mut [u64], values: &[i64]) -> () = small::lift;
                any_beyond(values: &[i64], limit: u64) -> bool = small::any_beyond;
                chacha20(states: &BlockLanes, out: &mut BlockLanes) -> () = arx::chacha20;
                blake3(values: &mut ValueLanes, block: &BlockLanes, bytes: u32, flags: u32) -> () = arx::blake3;
            }
            entries! { $aes, $aes_features;
                keystream(key: &AesLanes, block: &[u8; 16], counter: u32, out: &mut [u8]) -> () = aes::keystream;
            }

            pub(super) fn table(aes: bool) -> Streams {
                Streams {
                    name: $name,
                    residues,
                    pack: bits::pack,
                    ternary,
                    centred_binomial,
                    lift,
                    any_beyond,
                    chacha20,
                    blake3,
                    subtract_product: crate::vectors::targets::$kernels::subtract_product,
                    aes: if aes { Some(AesKernels { expand_key, keystream }) } else { None },
                    ..Streams::SCALAR
                }
            }
        }
    };
}

/// Writes the round keys of AES-128.
fn expand_key(key: &[u8; 16], rounds: &mut RoundKeys) {
    #[cfg(target_arch = "x86_64")]
    use crate::vbmi::aes::expand_key;
    #[cfg(target_arch = "aarch64")]
    use crate::vectors::neon::expand_key;
    // SAFETY: the table has AES only after `aes_detected`.
    unsafe { expand_key(key, rounds) }
}

#[cfg(target_arch = "x86_64")]
target!(
    four,
    crate::vectors::avx2::Avx2,
    "avx2,fma",
    crate::vectors::avx2::aes::AesNi,
    "avx2,aes",
    "avx2",
    four
);
#[cfg(target_arch = "aarch64")]
target!(two, crate::vectors::neon::Neon, "neon", crate::vectors::neon::NeonAes, "neon,aes", "neon", two);

/// Ciphers and hashes in 16 lanes, for the tables of processors that have AVX-512 F and DQ.
#[cfg(target_arch = "x86_64")]
pub(crate) mod sixteen {
    use super::*;

    entries! { crate::vectors::avx512::Avx512, "avx512f,avx512dq";
        pub(crate) chacha20(states: &BlockLanes, out: &mut BlockLanes) -> () = arx::chacha20;
        pub(crate) blake3(values: &mut ValueLanes, block: &BlockLanes, bytes: u32, flags: u32) -> () = arx::blake3;
    }
}

/// Returns the targets of this module that this processor can run: with AES on one block at a time if it has that, and
/// on two.
#[cfg(target_arch = "x86_64")]
pub(crate) fn available() -> impl Iterator<Item = Streams> {
    use crate::vectors::avx2;
    entries! { avx2::Avx2, "avx2,fma";
        add_scaled(sum: &mut [i64], values: &[i64], factor: i64) -> () = small::add_scaled;
        accept(m: &Modulus, values: &mut [u64]) -> usize = redraw::accept;
        pack(values: &[u64], bits: u32, out: &mut [u8]) -> () = pairs::pack;
        replace(m: &Modulus, values: &mut [u64], fresh: &[u64]) -> (usize, usize) = redraw::replace;
    }
    entries! { avx2::aes::Vaes, "avx2,aes,vaes";
        keystream(key: &AesLanes, block: &[u8; 16], counter: u32, out: &mut [u8]) -> () = aes::keystream;
    }
    let narrow = avx2::detected().then(|| Streams {
        add_scaled,
        accept,
        replace,
        pack,
        ..four::table(avx2::aes::detected())
    });
    let wide = narrow.filter(|_| avx2::aes::wide_detected());
    let aes = Some(AesKernels { expand_key, keystream });
    let wide = wide.map(|narrow| Streams { name: "avx2-vaes", aes, ..narrow });
    narrow.into_iter().chain(wide)
}

/// Returns the target of this module, or None if this processor cannot run it. Loops that the compiler vectorises
/// equally well, and the product of words, use the scalar functions: see the counts of `cargo ci arm-instructions`.
#[cfg(target_arch = "aarch64")]
pub(crate) fn available() -> Option<Streams> {
    use crate::vectors::neon;
    let Streams { lift, any_beyond, centred_binomial, .. } = Streams::SCALAR;
    neon::detected().then(|| Streams {
        lift,
        any_beyond,
        centred_binomial,
        ..two::table(neon::aes_detected())
    })
}
