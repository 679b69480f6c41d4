//! Refusals by the security tables.

use alloc::borrow::ToOwned;
use core::str::FromStr;

use super::security::{SecurityProfile, SecurityTarget, largest_modulus_bits};
use super::spec::ParameterSpec;
use crate::error::ParameterError;

impl FromStr for SecurityProfile {
    type Err = ParameterError;

    fn from_str(name: &str) -> Result<Self, ParameterError> {
        let found = Self::ALL.into_iter().find(|profile| profile.name() == name);
        found.ok_or_else(|| ParameterError::NoSecurityProfile(name.to_owned()))
    }
}

impl SecurityTarget {
    /// Returns the largest log2 of the whole modulus (special primes included) at degree n.
    ///
    /// # Errors
    /// [`ParameterError::NoSecurityCell`] if the table has no limit for the degree.
    pub fn limit(self, degree: usize) -> Result<u32, ParameterError> {
        largest_modulus_bits(self.profile, self.level, degree).ok_or_else(|| {
            let degrees = self.degrees();
            let (smallest, largest) = (degrees[0], degrees[degrees.len() - 1]);
            ParameterError::NoSecurityCell { target: self, degree, smallest, largest }
        })
    }

    /// Refuses a modulus above the limit. Compares the product of the primes as an integer.
    pub(super) fn check(self, spec: &ParameterSpec) -> Result<(), ParameterError> {
        let (degree, limit) = (spec.degree, self.limit(spec.degree)?);
        if spec.modulus_bit_length() <= limit {
            return Ok(());
        }
        let bits = spec.modulus_bits();
        let holds = |n: &usize| self.limit(*n).is_ok_and(|limit| bits < f64::from(limit));
        let enough = self.degrees().into_iter().find(holds);
        Err(ParameterError::Insecure { target: self, degree, bits, limit, enough })
    }
}
