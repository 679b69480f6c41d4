//! Questions about the processor and the environment, which the standard library answers.

/// True if the processor has an instruction set. Asks at run time with the feature `std`; without it, true if the
/// program is compiled for processors that have it.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
macro_rules! has_feature {
    ($name:tt) => {
        std::arch::is_x86_feature_detected!($name)
    };
}

#[cfg(all(feature = "std", target_arch = "aarch64"))]
macro_rules! has_feature {
    ($name:tt) => {
        std::arch::is_aarch64_feature_detected!($name)
    };
}

#[cfg(all(not(feature = "std"), any(target_arch = "x86_64", target_arch = "aarch64")))]
macro_rules! has_feature {
    ($name:tt) => {
        cfg!(target_feature = $name)
    };
}

/// Returns the target's name in the environment variable `SOTTO_KERNELS`. None without the feature `std`.
#[cfg(feature = "std")]
pub(crate) fn forced() -> Option<alloc::string::String> {
    std::env::var("SOTTO_KERNELS").ok()
}

#[cfg(not(feature = "std"))]
pub(crate) fn forced() -> Option<alloc::string::String> {
    None
}
