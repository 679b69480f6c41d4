//! Versions of SEAL.

/// The version of SEAL that wrote an object.
///
/// Example: [`Header`](crate::Header)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// The 4 of SEAL 4.1.
    pub major: u8,
    /// The 1 of SEAL 4.1.
    pub minor: u8,
}

impl Version {
    /// A version that SEAL 3.6, 3.7 and every 4.x read.
    pub const PORTABLE: Self = Self { major: 3, minor: 6 };
    /// The latest version whose layout is known. Later files of SEAL 4 are read by the same layout.
    pub const LATEST_KNOWN: Self = Self { major: 4, minor: 4 };

    /// Returns version 4.`minor`. SEAL 4.0 to 4.3 read only their own minor version; later ones read all up
    /// to their own.
    pub fn four(minor: u8) -> Self {
        Self { major: 4, minor }
    }

    /// Returns true if this version is later than [`LATEST_KNOWN`](Self::LATEST_KNOWN).
    pub fn is_later_than_known(self) -> bool {
        (self.major, self.minor) > (Self::LATEST_KNOWN.major, Self::LATEST_KNOWN.minor)
    }

    /// Returns true if ciphertexts of this version hold a correction factor.
    pub(crate) fn has_factor(self) -> bool {
        self.major == 4
    }
}

impl core::fmt::Display for Version {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
