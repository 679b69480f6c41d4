//! Maximum lengths of the contents of key files.

/// Maximum bytes of a cloud's address: 2 KiB.
pub const LONGEST_CLOUD: usize = 2 << 10;
/// Maximum bytes of an authority's certificates: 64 KiB.
pub const LONGEST_AUTHORITY: usize = 64 << 10;
/// Maximum bytes of a profile: 1 MiB.
pub const LONGEST_PROFILE: usize = 1 << 20;
/// Maximum public keys of a bundle.
pub const MOST_PUBLIC_KEYS: usize = 64;
/// Maximum bytes of a bundle's public keys together: 64 MiB.
pub const LONGEST_PUBLIC_KEYS: usize = 64 << 20;
/// Maximum bytes of a secret text: 1 MiB.
pub(crate) const LONGEST_DOCUMENT: usize = 1 << 20;
/// Bytes of a length in a bundle.
pub(crate) const LENGTH: usize = 4;
/// Maximum bytes of a bundle without an authority: two secrets, address and profile.
pub(crate) const LONGEST_BUNDLE: usize = 2 * 32 + LENGTH + LONGEST_CLOUD + LONGEST_PROFILE;
/// Maximum bytes of a bundle with an authority.
pub(crate) const LONGEST_BUNDLE_WITH_AUTHORITY: usize = LONGEST_BUNDLE + LENGTH + LONGEST_AUTHORITY;
/// Maximum bytes of a bundle with public keys.
pub(crate) const LONGEST_BUNDLE_WITH_PUBLIC_KEYS: usize =
    LONGEST_BUNDLE_WITH_AUTHORITY + LENGTH * (1 + MOST_PUBLIC_KEYS) + LONGEST_PUBLIC_KEYS;
/// Maximum bytes of a recryptor's secret: n of 4,096 bits, masks with h, an exponent of 288 bits.
#[cfg(feature = "partial")]
pub(crate) const LONGEST_RECRYPTOR: usize = 3 + 512 + 512 + 2 + 36;
