//! Parameters from SEAL's files or ours.

use std::path::Path;

use anyhow::Context;
use sotto_rlwe::{ParameterSpec, Params, Scheme, with_scheme};
use sotto_seal::{Chain, Convention, SealParameters};

use super::files;

/// Reads the parameters in a file, SEAL's or a frame of ours. CKKS parameters from SEAL need the scale.
pub(super) fn read(path: &Path, scale_bits: Option<u32>) -> anyhow::Result<ParameterSpec> {
    let bytes = files::read(path)?;
    let spec = if sotto_wire::frame_kind(&bytes).is_ok() {
        sotto_wire::read_parameters(&bytes)?
    } else {
        from_seal(&SealParameters::read(&bytes)?, scale_bits)?
    };
    Ok(spec)
}

/// Converts SEAL's parameters to ours.
pub(super) fn from_seal(seal: &SealParameters, scale_bits: Option<u32>) -> anyhow::Result<ParameterSpec> {
    if !seal.scheme.is_exact() && scale_bits.is_none() {
        anyhow::bail!(
            "SEAL's CKKS parameters have no scale: pass --scale-bits, log2 of the scale that values were encoded with"
        );
    }
    Ok(seal.spec(scale_bits)?)
}

/// Returns the chain of parameters. SEAL checks its parameters against the standard of 2018, whose noise bounds also
/// hold for SEAL's secrets; a degree that the standard has no entry for is checked against the guidelines of 2024.
pub(super) fn chain<S: Convention>(spec: ParameterSpec) -> anyhow::Result<Chain<S>> {
    let older = Params::with_security(spec.clone(), SealParameters::security());
    let params = older.or_else(|refused| Params::new(spec).map_err(|_| refused));
    Ok(Chain::new(&params?)?)
}

/// Refuses parameters that no computation could use. The readers of both formats check ranges only.
pub(super) fn check(spec: &ParameterSpec) -> anyhow::Result<()> {
    with_scheme!(spec.scheme, S => checked::<S>(spec.clone()))
}

fn checked<S: Convention>(spec: ParameterSpec) -> anyhow::Result<()> {
    chain::<S>(spec).map(|_| ())
}

/// Parses a key id: 16 bytes as hexadecimal digits.
pub(super) fn key_id(text: Option<&str>) -> anyhow::Result<sotto_rlwe::KeyId> {
    let text = text.context(
        "name the secret key with --key-id, 32 hexadecimal digits: converting the secret key prints them",
    )?;
    let mut id = [0; 16];
    hex::decode_to_slice(text, &mut id).context("a key id has 32 hexadecimal digits")?;
    Ok(sotto_rlwe::KeyId(id))
}

/// Names parameters for people.
pub(super) fn named<S: Scheme>(params: &Params<S>) -> String {
    format!("{} n = {}, parameters {}", S::ID, params.degree(), params.id())
}
