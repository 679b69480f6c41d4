//! Wishes of a plan beside the declarations: another length of windows, another level of security.

use sotto_rlwe::{SecurityLevel, SecurityProfile, SecurityTarget};

/// Wishes of a plan beside the declarations. Devices are enrolled with the default, which has none.
///
/// ```
/// use sotto_owner::{SecurityLevel, Wishes};
///
/// let stronger = Wishes { security: SecurityLevel::Bits192, ..Wishes::default() };
/// assert_eq!((stronger.window_ms, Wishes::default().security.bits()), (None, 128));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// The longest window, in milliseconds; windows that the questions make shorter stay so. None: as long as the questions allow,
    /// at most a day.
    pub window_ms: Option<u32>,
    /// The security of ciphertexts. Sums are encrypted by a stream cipher with a key of 256 bits at every level.
    pub security: SecurityLevel,
}

impl Wishes {
    /// Returns the security that parameters must reach.
    pub(super) fn target(self) -> SecurityTarget {
        SecurityTarget::new(SecurityProfile::default(), self.security)
    }

    /// Returns the reason for a degree at which no chain of primes fits.
    pub(super) fn no_room(self) -> String {
        format!("{}-bit security leaves no room for the modulus that it needs", self.security.bits())
    }
}
