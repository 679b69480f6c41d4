//! The targets of this machine, and the fastest of them.

use alloc::vec::Vec;

use crate::detect;
use crate::embedding::Width;
#[cfg(target_arch = "x86_64")]
use crate::ifma;
use crate::montgomery::{self, Montgomery, MontgomeryKernel, UnfitModulus};
use crate::once::Once;
use crate::streams::Streams;
use crate::table::Kernels;
#[cfg(target_arch = "x86_64")]
use crate::vbmi;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::vectors;

/// A target: the functions that run on one kind of processor. Chosen once, and held by what computes.
///
/// ```
/// use sotto_kernels::{Modulus, Target};
///
/// let q = Modulus::new(97)?;
/// // Every target of this machine gives the same sum.
/// for target in Target::available() {
///     let mut sum = [90, 21];
///     (target.kernels.add)(&q, &mut sum, &[10, 20]);
///     assert_eq!(sum, [3, 41], "{}", target.name());
/// }
/// assert!(Target::available().iter().any(|target| target.name() == Target::best().name()));
/// # Ok::<(), sotto_kernels::InvalidModulus>(())
/// ```
#[derive(Clone, Copy)]
pub struct Target {
    /// Loops modulo a prime, and transforms.
    pub kernels: Kernels,
    /// Loops between residues and bytes, ciphers and hashes.
    pub streams: Streams,
    /// The lanes of floating-point loops: see [`Embedding`](crate::Embedding).
    pub embedding: Width,
    /// Products modulo large numbers: see [`Montgomery`](crate::Montgomery).
    pub montgomery: MontgomeryKernel,
}

impl core::fmt::Debug for Target {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Target({})", self.name())
    }
}

impl Target {
    /// The scalar target, in plain Rust, for every machine.
    pub const SCALAR: Self = Self {
        kernels: Kernels::SCALAR,
        streams: Streams::SCALAR,
        embedding: Width::Baseline,
        montgomery: montgomery::scalar::KERNEL,
    };

    /// Returns every target that this machine can run, the scalar one first.
    pub fn available() -> Vec<Self> {
        Kernels::available().iter().map(|kernels| Self::named(Some(kernels.name))).collect()
    }

    /// Returns the fastest target that this machine can run. The environment variable `SOTTO_KERNELS` names other
    /// [`Kernels`] or [`Streams`], for tests and comparisons; a name that this machine does not have is ignored. Without
    /// the feature `std`, the fastest target of the processors that the program is compiled for.
    pub fn best() -> &'static Self {
        static BEST: Once<Target> = Once::new();
        BEST.or_init(|| Self::named(detect::forced().as_deref()))
    }

    /// Returns the name of its kernels.
    pub fn name(&self) -> &'static str {
        self.kernels.name
    }

    fn named(name: Option<&str>) -> Self {
        let (kernels, streams) = (Kernels::available(), Streams::available());
        let found = kernels.iter().find(|kernels| Some(kernels.name) == name);
        let kernels = *found.or(kernels.last()).unwrap_or(&Kernels::SCALAR);
        let name = if name == Some("avx512-dq") { Some("avx2") } else { name };
        let found = streams.iter().find(|streams| Some(streams.name) == name);
        let streams = *found.or(streams.last()).unwrap_or(&Streams::SCALAR);
        Self { kernels, streams, embedding: Width::of(&kernels), montgomery: montgomery_of(&kernels) }
    }
}

/// Returns the products modulo large numbers that belong to some kernels.
fn montgomery_of(_kernels: &Kernels) -> MontgomeryKernel {
    #[cfg(target_arch = "x86_64")]
    if ifma::kernels().is_some_and(|ifma| ifma.name == _kernels.name) {
        return ifma::montgomery::KERNEL;
    }
    montgomery::scalar::KERNEL
}

impl Kernels {
    /// Returns those of every target that this machine can run, the scalar ones first.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut, reason = "other architectures have the scalar target only")]
        let mut targets = vec![Self::SCALAR];
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        targets.extend(vectors::available());
        #[cfg(target_arch = "x86_64")]
        targets.extend(ifma::kernels());
        targets
    }
}

impl Streams {
    /// Returns those of every target that this machine can run, the scalar ones first.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut, reason = "other architectures have the scalar target only")]
        let mut targets = vec![Self::SCALAR];
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        targets.extend(vectors::available_streams());
        #[cfg(target_arch = "x86_64")]
        targets.extend(vbmi::streams());
        targets
    }
}

impl Montgomery {
    /// Prepares an odd modulus above 1, words least significant first, on the fastest target of this machine.
    ///
    /// # Errors
    /// [`UnfitModulus`] if the modulus is even or at most 1, or longer than [`LONGEST_MODULUS`](crate::LONGEST_MODULUS) bits.
    pub fn new(modulus: &[u64]) -> Result<Self, UnfitModulus> {
        Self::on(Target::best(), modulus)
    }

    /// Like [`Montgomery::new`], on a given target.
    ///
    /// # Errors
    /// As in [`Montgomery::new`].
    pub fn on(target: &Target, modulus: &[u64]) -> Result<Self, UnfitModulus> {
        Self::with(target.montgomery, modulus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modulus::Modulus;
    use crate::ntt::NttTable;

    fn table(q: u64, n: usize) -> NttTable {
        NttTable::new(Modulus::new(q).unwrap(), n).unwrap()
    }

    fn fill(q: u64, n: usize, mut state: u64) -> Vec<u64> {
        (0..n)
            .map(|i| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                if i % 5 == 0 { q - 1 } else { (state >> 3) % q }
            })
            .collect()
    }

    #[test]
    fn a_target_of_this_machine_that_is_named_is_the_best() {
        let forced = std::env::var("SOTTO_KERNELS").unwrap_or_default();
        if Kernels::available().iter().any(|target| target.name == forced) {
            assert_eq!(Target::best().name(), forced);
        }
    }

    #[test]
    fn transform_of_a_published_example() {
        for kernels in Kernels::available() {
            let t = table(17, 8);
            let mut a = vec![1, 2, 3, 4, 5, 6, 7, 8];
            (kernels.ntt_forward)(&t, &mut a);
            assert_eq!(a, [5, 0, 13, 8, 9, 11, 5, 8], "{}", kernels.name);
        }
    }

    #[test]
    fn transform_is_evaluation_and_inverts() {
        for kernels in Kernels::available() {
            for (q, n) in [(97, 16), (0xf_fffe_e001, 64), (1_152_921_504_606_830_593, 32)] {
                let t = table(q, n);
                let m = *t.modulus();
                let a = fill(q, n, 7);
                let mut out = a.clone();
                (kernels.ntt_forward)(&t, &mut out);
                let shift = usize::BITS - n.trailing_zeros();
                for (i, value) in out.iter().enumerate() {
                    let x = m.power_vartime(t.root(), 2 * (i.reverse_bits() >> shift) as u64 + 1);
                    let evaluated = a.iter().rev().fold(0, |acc, c| m.add(m.multiply(acc, x), *c));
                    assert_eq!(*value, evaluated);
                }
                (kernels.ntt_inverse)(&t, &mut out);
                assert_eq!(out, a, "{} {q} {n}", kernels.name);
            }
        }
    }
}
