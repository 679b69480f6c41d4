//! The security tables: the largest modulus for each degree.

use alloc::vec::Vec;
use core::fmt;

/// A published table of largest moduli, for a uniform ternary secret and classical attacks.
///
/// ```
/// use sotto_rlwe::{SecurityLevel, SecurityProfile, largest_modulus_bits};
///
/// let profile: SecurityProfile = "guidelines-2024".parse()?;
/// assert_eq!(largest_modulus_bits(profile, SecurityLevel::Bits128, 4096), Some(106));
/// assert_eq!(largest_modulus_bits(SecurityProfile::HeStandard2018, SecurityLevel::Bits128, 4096), Some(109));
/// # Ok::<(), sotto_rlwe::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SecurityProfile {
    /// Bossuat et al., *Security Guidelines for Implementing Homomorphic Encryption*, ePrint 2024/463, table 5.2 (σ =
    /// 3.19). The default.
    #[default]
    Guidelines2024,
    /// Albrecht et al., *Homomorphic Encryption Security Standard* v1.1, HomomorphicEncryption.org, 2018. Its limits
    /// are above those of 2024: use it to read and compare with the data of other libraries.
    HeStandard2018,
}

/// The required security: bits of work for the best known classical attack.
///
/// ```
/// use sotto_rlwe::SecurityLevel;
///
/// assert_eq!(SecurityLevel::from_bits(192), Some(SecurityLevel::Bits192));
/// assert_eq!(SecurityLevel::from_bits(160), None);
/// assert_eq!(SecurityLevel::default().bits(), 128);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SecurityLevel {
    /// 128 bits, the default.
    #[default]
    Bits128,
    /// 192 bits.
    Bits192,
    /// 256 bits.
    Bits256,
}

/// The security that parameters must reach: a level by a profile. The default is 128 bits by the 2024 guidelines.
///
/// ```
/// use sotto_rlwe::{SecurityLevel, SecurityProfile, SecurityTarget};
///
/// let target = SecurityTarget::new(SecurityProfile::Guidelines2024, SecurityLevel::Bits192);
/// assert_eq!(target.to_string(), "192-bit security by guidelines-2024");
/// assert_eq!(target.limit(8192)?, 147);
/// assert!(target.limit(1024).is_err());
/// # Ok::<(), sotto_rlwe::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SecurityTarget {
    /// The table.
    pub profile: SecurityProfile,
    /// The column.
    pub level: SecurityLevel,
}

/// A degree and its limits at 128, 192 and 256 bits; 0 is an empty cell.
type Row = (usize, [u32; 3]);

const GUIDELINES_2024: [Row; 8] = [
    (1024, [26, 0, 0]),
    (2048, [53, 36, 27]),
    (4096, [106, 73, 56]),
    (8192, [214, 147, 114]),
    (16384, [430, 297, 230]),
    (32768, [868, 597, 462]),
    (65536, [1747, 1199, 929]),
    (131_072, [3523, 2411, 1866]),
];

const HE_STANDARD_2018: [Row; 6] = [
    (1024, [27, 19, 14]),
    (2048, [54, 37, 29]),
    (4096, [109, 75, 58]),
    (8192, [218, 152, 118]),
    (16384, [438, 305, 237]),
    (32768, [881, 611, 476]),
];

impl SecurityProfile {
    /// All profiles, the default first.
    pub const ALL: [Self; 2] = [Self::Guidelines2024, Self::HeStandard2018];

    /// Returns its name in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Guidelines2024 => "guidelines-2024",
            Self::HeStandard2018 => "he-standard-2018",
        }
    }

    /// Returns true if secrets drawn by other libraries are expected. They have no limit on the canonical norm, so
    /// noise bounds use the size that a ternary polynomial exceeds with probability 2^-128.
    pub(super) fn allows_imported_secrets(self) -> bool {
        self == Self::HeStandard2018
    }

    fn rows(self) -> &'static [Row] {
        match self {
            Self::Guidelines2024 => &GUIDELINES_2024,
            Self::HeStandard2018 => &HE_STANDARD_2018,
        }
    }
}

impl fmt::Display for SecurityProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl SecurityLevel {
    /// All levels, the default first.
    pub const ALL: [Self; 3] = [Self::Bits128, Self::Bits192, Self::Bits256];

    /// Returns 128, 192 or 256.
    pub fn bits(self) -> u32 {
        match self {
            Self::Bits128 => 128,
            Self::Bits192 => 192,
            Self::Bits256 => 256,
        }
    }

    /// Returns the level of 128, 192 or 256 bits, or None for another number.
    pub fn from_bits(bits: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.bits() == bits)
    }
}

impl fmt::Display for SecurityTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-bit security by {}", self.level.bits(), self.profile)
    }
}

impl SecurityTarget {
    /// Combines a table with a strength in bits.
    pub fn new(profile: SecurityProfile, level: SecurityLevel) -> Self {
        Self { profile, level }
    }

    /// Returns the degrees that have a cell, smallest first; there is at least one.
    pub(super) fn degrees(self) -> Vec<usize> {
        let has_cell = |row: &&Row| largest_modulus_bits(self.profile, self.level, row.0).is_some();
        self.profile.rows().iter().filter(has_cell).map(|row| row.0).collect()
    }
}

/// Returns the largest log2 of the whole modulus (special primes included) at degree n, or None if the table has no
/// cell.
pub fn largest_modulus_bits(profile: SecurityProfile, level: SecurityLevel, degree: usize) -> Option<u32> {
    let (_, limits) = profile.rows().iter().find(|row| row.0 == degree)?;
    Some(limits[level as usize]).filter(|limit| *limit > 0)
}
