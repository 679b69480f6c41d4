//! AES-128 in counter mode: in SIMD lanes if the processor has them, else by the crate `aes`, which uses other AES
//! instructions or a portable version without table look-ups.

use alloc::boxed::Box;

use ctr::cipher::{KeyIvInit, StreamCipher};
use sotto_kernels::{AesLanes, Streams, Target};
use zeroize::Zeroizing;

use crate::random::SecretRng;

type Portable = ctr::Ctr32BE<aes::Aes128>;

/// A keystream under a 16-byte key and a 16-byte block whose last four bytes are the counter.
pub(crate) enum Keystream {
    Lanes { key: AesLanes, block: [u8; 16], counter: u32 },
    Portable(Box<Portable>),
}

impl Keystream {
    /// Starts at counter 0; the block's last four bytes are ignored.
    pub(crate) fn new(streams: &Streams, key: &[u8; 16], block: &[u8; 16]) -> Self {
        let mut block = *block;
        block[12..].fill(0);
        match AesLanes::new(streams, key) {
            Some(key) => Self::Lanes { key, block, counter: 0 },
            None => Self::Portable(Box::new(Portable::new(key.into(), (&block).into()))),
        }
    }

    /// Writes the next bytes. All calls but the last must take multiples of 16.
    pub(crate) fn fill(&mut self, out: &mut [u8]) {
        match self {
            Self::Lanes { key, block, counter } => {
                key.keystream(block, *counter, out);
                *counter = counter.wrapping_add(out.len().div_ceil(16) as u32);
            }
            Self::Portable(stream) => stream.write_keystream(out),
        }
    }
}

/// A secret stream for one polynomial, with a fresh key and first block from the generator. Both are boxed, as moving
/// them would leave copies behind.
pub(crate) struct SecretStream {
    key: AesLanes,
    drawn: Box<Zeroizing<Drawn>>,
    counter: u32,
}

/// A key and a first block.
type Drawn = [[u8; 16]; 2];

impl SecretStream {
    /// Returns None if AES does not run in SIMD lanes: then the generator itself is as fast.
    pub(crate) fn new(rng: &mut impl SecretRng) -> Option<Self> {
        let streams = &Target::best().streams;
        if !AesLanes::available(streams) {
            return None;
        }
        let mut drawn: Box<Zeroizing<Drawn>> = Box::default();
        rng.fill_bytes(drawn.as_flattened_mut());
        let key = AesLanes::new(streams, &drawn[0])?;
        Some(Self { key, drawn, counter: 0 })
    }

    /// Writes the next bytes. All calls but the last must take multiples of 16.
    pub(crate) fn fill(&mut self, out: &mut [u8]) {
        self.key.keystream(&self.drawn[1], self.counter, out);
        self.counter = self.counter.wrapping_add(out.len().div_ceil(16) as u32);
    }
}
