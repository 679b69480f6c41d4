//! Maximum lengths of the contents of key files.

/// Maximum bytes of a cloud's address: 2 KiB.
pub const LONGEST_CLOUD: usize = 2 << 10;
/// Maximum bytes of an authority's certificates: 64 KiB.
pub const LONGEST_AUTHORITY: usize = 64 << 10;
/// Maximum bytes of a profile: 1 MiB.
pub const LONGEST_PROFILE: usize = 1 << 20;
/// Bytes before the address: two secrets and the address's length.
pub(crate) const HEAD: usize = 32 + 32 + 4;
/// Maximum bytes of a bundle without an authority.
pub(crate) const LONGEST_BUNDLE: usize = HEAD + LONGEST_CLOUD + LONGEST_PROFILE;
/// Maximum bytes of a bundle with an authority.
pub(crate) const LONGEST_BUNDLE_WITH_AUTHORITY: usize = LONGEST_BUNDLE + 4 + LONGEST_AUTHORITY;
/// Maximum bytes of a recryptor's secret: n of 4,096 bits, masks with h, an exponent of 288 bits.
#[cfg(feature = "partial")]
pub(crate) const LONGEST_RECRYPTOR: usize = 3 + 512 + 512 + 2 + 36;
