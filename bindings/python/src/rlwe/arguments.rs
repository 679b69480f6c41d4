//! The arguments of parameters: scheme names, security levels, primes.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use sotto_rlwe::{
    ParameterError, ParameterSpec, Params, Scheme, SchemeId, SecurityLevel, SecurityProfile, SecurityTarget,
    in_any_scheme,
};

use super::error::OrRefuse as _;
use super::scheme::AnyParams;
use crate::error::named;

/// Returns the scheme of a name in any case.
pub(super) fn scheme_of(name: &str) -> PyResult<SchemeId> {
    let unknown =
        || PyTypeError::new_err(format!("there is no scheme {name:?}: take \"bfv\", \"bgv\" or \"ckks\""));
    SchemeId::ALL.into_iter().find(|id| id.name().eq_ignore_ascii_case(name)).ok_or_else(unknown)
}

/// Returns the plain modulus of a default or requested chain; 0 for CKKS.
pub(super) fn plain(scheme: SchemeId, plain_modulus: Option<u64>) -> PyResult<u64> {
    match (scheme.is_exact(), plain_modulus) {
        (false, None) => Ok(0),
        (false, Some(_)) => {
            Err(PyTypeError::new_err("CKKS has no plain_modulus: the scale follows from the chain"))
        }
        (true, Some(value)) => Ok(value),
        (true, None) => {
            Err(PyTypeError::new_err("BFV and BGV need a plain_modulus: 65537 has slots up to degree 32768"))
        }
    }
}

/// Returns the specification of given primes, unchecked.
pub(super) fn given(
    scheme: &str,
    degree: usize,
    data: Vec<u64>,
    special: Vec<u64>,
    digit_primes: Option<usize>,
    plain_modulus: Option<u64>,
    log2_scale: Option<u64>,
) -> PyResult<ParameterSpec> {
    let scheme = scheme_of(scheme)?;
    let plain = match (scheme.is_exact(), plain_modulus, log2_scale) {
        (false, None, Some(bits)) => bits,
        (true, Some(modulus), None) => modulus,
        _ => return Err(PyTypeError::new_err("CKKS takes log2_scale; BFV and BGV take plain_modulus")),
    };
    let digit_primes = digit_primes.unwrap_or(special.len().max(1));
    Ok(ParameterSpec { scheme, degree, special, data, digit_primes, plain })
}

/// Returns the security target of a level and a table's name.
pub(super) fn target(py: Python<'_>, bits: u32, profile: &str) -> PyResult<SecurityTarget> {
    let profile: SecurityProfile = profile.parse().or_refuse(py)?;
    let none = || {
        named(
            py,
            "WrongParameters",
            format!("there is no security level of {bits} bits: take 128, 192 or 256"),
        )
    };
    Ok(SecurityTarget::new(profile, SecurityLevel::from_bits(bits).ok_or_else(none)?))
}

/// Checks a specification; without a target for its form alone.
pub(super) fn of_spec(
    spec: ParameterSpec,
    security: Option<SecurityTarget>,
) -> Result<AnyParams, ParameterError> {
    /// Parameters of one scheme.
    fn checked<S: Scheme>(
        spec: ParameterSpec,
        security: Option<SecurityTarget>,
    ) -> Result<Params<S>, ParameterError> {
        match security {
            Some(target) => Params::with_security(spec, target),
            None => Params::insecure(spec),
        }
    }
    Ok(in_any_scheme!(spec.scheme, S => checked::<S>(spec, security)?))
}
