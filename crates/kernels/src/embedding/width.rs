//! The lanes of floating-point loops.

/// The number of `f64` lanes that floating-point loops use. Every width computes the same numbers.
///
/// ```
/// use sotto_kernels::{Embedding, Target, Width};
///
/// assert_eq!(Target::SCALAR.embedding, Width::Baseline);
/// assert!(Embedding::on(8, Width::Baseline).is_some());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Width {
    /// That of any processor of the architecture.
    Baseline,
    /// Four lanes: AVX2.
    #[cfg(target_arch = "x86_64")]
    Four(Detected),
    /// Eight lanes: AVX-512.
    #[cfg(target_arch = "x86_64")]
    Eight(Detected),
}

/// Proof that this processor has the instructions of a [`Width`].
///
/// Example: [`Width`]
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detected(());

impl Width {
    /// Returns the width that belongs to some kernels, as far as this processor has it.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn of(kernels: &crate::Kernels) -> Self {
        if kernels.name.starts_with("avx512") && has_feature!("avx512vl") && detected() {
            Self::Eight(Detected(()))
        } else if kernels.name == crate::Kernels::SCALAR.name || !has_feature!("avx2") {
            Self::Baseline
        } else {
            Self::Four(Detected(()))
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn of(_kernels: &crate::Kernels) -> Self {
        Self::Baseline
    }
}

/// Returns true if this processor has the instructions.
#[cfg(target_arch = "x86_64")]
fn detected() -> bool {
    has_feature!("avx512f") && has_feature!("avx512dq")
}
