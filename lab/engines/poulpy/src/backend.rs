//! The library's backend for the processor that this program is compiled for.

#[cfg(all(target_arch = "x86_64", target_feature = "avx512ifma", target_feature = "avx512vl"))]
mod chosen {
    pub type Backend = poulpy_cpu_avx512::NTT3x42Ifma;
    pub const NAME: &str = "NTT3x42Ifma";
}

#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx2",
    target_feature = "fma",
    not(all(target_feature = "avx512ifma", target_feature = "avx512vl"))
))]
mod chosen {
    pub type Backend = poulpy_cpu_avx::NTT4x30Avx;
    pub const NAME: &str = "NTT4x30Avx";
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "avx2", target_feature = "fma")))]
mod chosen {
    pub type Backend = poulpy_cpu_portable::NTT4x30Portable;
    pub const NAME: &str = "NTT4x30Portable";
}

pub use chosen::{Backend, NAME};

use poulpy_core::layouts::{
    BackendGLWESecret, GLWEAutomorphismKey, GLWEAutomorphismKeyPrepared, GLWEPublicKey,
    GLWEPublicKeyPrepared, GLWESecretPrepared, GLWESwitchingKeyPrepared, GLWETensorKey,
    GLWETensorKeyPrepared,
};
use poulpy_hal::AlignedBuf;

pub type Ring = poulpy_hal::layouts::Module<Backend>;
pub type Scratch = poulpy_hal::layouts::ScratchOwned<Backend>;
pub type Ciphertext = poulpy_ckks::layouts::CKKSCiphertextOwned<Backend>;
pub type Plaintext = poulpy_ckks::layouts::CKKSPlaintextOwned<Backend>;
pub type Secret = BackendGLWESecret<Backend>;
pub type PreparedSecret = GLWESecretPrepared<AlignedBuf, Backend>;
pub type PublicKey = GLWEPublicKey<AlignedBuf, i64>;
pub type PreparedPublicKey = GLWEPublicKeyPrepared<AlignedBuf, Backend>;
pub type ProductKey = GLWETensorKey<AlignedBuf, i64>;
pub type PreparedProductKey = GLWETensorKeyPrepared<AlignedBuf, Backend>;
pub type PreparedSwitchingKey = GLWESwitchingKeyPrepared<AlignedBuf, Backend>;
pub type RotationKey = GLWEAutomorphismKey<AlignedBuf, i64>;
pub type PreparedRotationKey = GLWEAutomorphismKeyPrepared<AlignedBuf, Backend>;
