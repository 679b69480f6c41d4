//! Kernels between residues and bytes: randomness to residues and to small integers, residues to packed bits and back.
//!
//! As with [`crate::Kernels`], a target is a value ([`Streams`]), and every target computes the same. Ranges and
//! distributions: docs/math/sampling.md.

mod blake3;
mod chacha;
mod scalar;

#[cfg(target_arch = "x86_64")]
pub(crate) use scalar::accept_from;

pub use blake3::{Blake3Kernel, ValueLanes};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use blake3::{CONSTANTS, ORDERS, round};
pub use chacha::ChaChaKernel;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use chacha::{ROUNDS, double_round};

use alloc::boxed::Box;

use crate::modulus::Modulus;
use crate::wiped::wipe;

/// Lanes of ChaCha20 and BLAKE3: inputs that are computed at once.
pub(crate) const LANES: usize = 16;

/// A block of 16 words of 32 bits in each of 16 lanes: `block[word][lane]`.
///
/// Example: [`ChaChaKernel`]
pub type BlockLanes = [[u32; LANES]; 16];

/// The functions of one target. All but [`Streams::accept`] and [`Streams::replace`], which draw public masks, are free
/// of branches and addresses that depend on the values.
///
/// ```
/// use sotto_kernels::{Modulus, Target};
///
/// let streams = &Target::best().streams;
/// // Four values of 12 bits in six bytes, and back.
/// let (q, values) = (Modulus::new(4093)?, [215, 198, 4092, 203]);
/// let mut bytes = [0; 6 + 64];
/// (streams.pack)(&values, 12, &mut bytes[..6]);
/// let mut read = [0; 4];
/// let beyond = (streams.residues)(&q, &bytes, 12, &mut read);
/// assert!(!beyond && read == values);
/// # Ok::<(), sotto_kernels::InvalidModulus>(())
/// ```
#[derive(Clone, Copy)]
pub struct Streams {
    /// The target's name in output and tests.
    pub name: &'static str,
    /// `(modulus, bytes, stride, out)`: sets `out[i]` to the low b(q) bits from bit i·stride of the bytes on, least
    /// significant bit first, and returns true if any is not below q. Range: b(q) ≤ stride ≤ 64; the bytes hold all
    /// values.
    pub residues: fn(&Modulus, &[u8], u32, &mut [u64]) -> bool,
    /// Moves the values below q to the front, in order, and returns their number; the entries behind them are
    /// unspecified. The time depends on the values.
    pub accept: fn(&Modulus, &mut [u64]) -> usize,
    /// `(modulus, values, fresh)`: replaces the values that are not below q by entries of `fresh`, in order, until
    /// `fresh` runs out. Returns the number of values processed and of fresh ones used. The time depends on the values.
    pub replace: ReplaceKernel,
    /// `(values, bits, out)`: packs values below 2^bits ≤ 2^61, one after another, least significant bit first. `out`
    /// has ceil(len·bits/8) bytes; spare bits of the last byte are zero.
    pub pack: fn(&[u64], u32, &mut [u8]),
    /// Draws `out[i]` = floor(3·w/2^64) − 1 from the i-th little-endian word w: 8 bytes a value.
    pub ternary: fn(&[u8], &mut [i64]),
    /// Draws `out[i]` = ones among the low 21 bits of the i-th little-endian word minus ones among the next 21: 8 bytes
    /// a value.
    pub centred_binomial: fn(&[u8], &mut [i64]),
    /// Computes sum += values·factor. Range: no result passes 2^63.
    pub add_scaled: fn(&mut [i64], &[i64], i64),
    /// Converts integers of magnitude below q to residues.
    pub lift: fn(&Modulus, &mut [u64], &[i64]),
    /// Returns true if any magnitude is at least the limit. Range: limit ≤ 2^63.
    pub any_beyond: fn(&[i64], u64) -> bool,
    /// Computes body −= mask·secret, entry by entry, for residues in [0, q).
    pub subtract_product: fn(&Modulus, &mut [u64], &[u64], &[u64]),
    /// `(states, out)`: computes a block of ChaCha20 (RFC 8439) in each of 16 lanes. A state is the four constants, the
    /// key's eight words, the block counter, the nonce's three words.
    pub chacha20: ChaChaKernel,
    /// `(values, block, bytes, flags)`: computes the compression function of BLAKE3 in each of 16 lanes, on a block of a
    /// first chunk. `values` are the chaining values, and become the first eight words of the output. Range: bytes ≤ 64.
    pub blake3: Blake3Kernel,
    pub(crate) aes: Option<AesKernels>,
}

/// Returns true if a value of `stride` bits always lies within eight bytes. Values begin at multiples of the stride's
/// power of two, modulo 8.
#[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(dead_code))]
pub(crate) fn within_eight_bytes(stride: u32) -> bool {
    stride + 8 - (1 << stride.trailing_zeros().min(3)) <= 64
}

/// See [`Streams::replace`].
///
/// ```
/// use sotto_kernels::{Modulus, ReplaceKernel, Target};
///
/// let replace: ReplaceKernel = Target::best().streams.replace;
/// // 120 and 101 are not below 97; the fresh values take their places.
/// let mut values = [5, 120, 7, 101];
/// let done = replace(&Modulus::new(97)?, &mut values, &[50, 60, 70]);
/// assert_eq!((values, done), ([5, 50, 7, 60], (4, 2)));
/// # Ok::<(), sotto_kernels::InvalidModulus>(())
/// ```
pub type ReplaceKernel = fn(&Modulus, &mut [u64], &[u64]) -> (usize, usize);
/// The functions of one target for AES-128.
#[derive(Clone, Copy)]
pub(crate) struct AesKernels {
    /// Writes the round keys of a key.
    pub(crate) expand_key: fn(&[u8; 16], &mut RoundKeys),
    /// `(key, block, counter, out)`: see [`AesLanes::keystream`].
    pub(crate) keystream: KeystreamKernel,
}

pub(crate) type KeystreamKernel = fn(&AesLanes, &[u8; 16], u32, &mut [u8]);
/// The round keys of AES-128.
pub(crate) type RoundKeys = [[u8; 16]; 11];

impl core::fmt::Debug for Streams {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Streams({})", self.name)
    }
}

impl Streams {
    /// The scalar target, in plain Rust, for every machine.
    pub const SCALAR: Self = Self {
        name: "scalar",
        residues: scalar::residues,
        accept: scalar::accept,
        replace: scalar::replace,
        pack: scalar::pack,
        ternary: scalar::ternary,
        centred_binomial: scalar::centred_binomial,
        add_scaled: scalar::add_scaled,
        lift: scalar::lift,
        any_beyond: scalar::any_beyond,
        subtract_product: scalar::subtract_product,
        chacha20: chacha::chacha20,
        blake3: blake3::blake3,
        aes: None,
    };
}

/// The eleven round keys of AES-128, for a target that runs many blocks at once. They are boxed, as moving them would
/// leave copies behind, and are wiped on drop.
///
/// ```
/// use sotto_kernels::{AesLanes, Streams, Target};
///
/// // Not every machine has AES in lanes.
/// if let Some(aes) = AesLanes::new(&Target::best().streams, &[0; 16]) {
///     let mut block = [0; 16];
///     aes.keystream(&[0; 16], 0, &mut block);
///     // AES-128 of zeros under the key of zeros.
///     assert_eq!(block[..4], [0x66, 0xe9, 0x4b, 0xd4]);
/// }
/// assert!(AesLanes::new(&Streams::SCALAR, &[0; 16]).is_none());
/// ```
pub struct AesLanes {
    pub(crate) rounds: Box<RoundKeys>,
    keystream: KeystreamKernel,
}

impl Drop for AesLanes {
    fn drop(&mut self) {
        wipe(self.rounds.as_flattened_mut());
    }
}

impl AesLanes {
    /// Returns true if a target has AES in lanes.
    pub fn available(streams: &Streams) -> bool {
        streams.aes.is_some()
    }

    /// Expands a key for a target. Returns None if the target has no AES in lanes; the caller then uses another
    /// implementation.
    pub fn new(streams: &Streams, key: &[u8; 16]) -> Option<Self> {
        let AesKernels { expand_key, keystream } = streams.aes?;
        let mut lanes = Self { rounds: Box::default(), keystream };
        expand_key(key, &mut lanes.rounds);
        Some(lanes)
    }

    /// Writes the keystream of AES-128 in counter mode: the blocks are `block` with its last four bytes replaced by
    /// counter, counter + 1, …, big-endian and modulo 2^32. The last block may be partial.
    pub fn keystream(&self, block: &[u8; 16], counter: u32, out: &mut [u8]) {
        (self.keystream)(self, block, counter, out);
    }
}
