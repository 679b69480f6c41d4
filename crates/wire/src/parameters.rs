//! Parameters as bytes.

use alloc::vec::Vec;

use sotto_rlwe::{ParameterSpec, SchemeId};

use crate::error::WireError;
use crate::frame;
use crate::kind::Kind;

const LARGEST: u64 = 4096;
const MOST_PRIMES: usize = 64;

/// Returns the frame of the numbers that define a parameter set.
pub fn write_parameters(spec: &ParameterSpec) -> Vec<u8> {
    frame::write(Kind::Parameters, 64, |out| {
        out.push(spec.scheme as u8);
        out.extend_from_slice(&(spec.degree as u32).to_le_bytes());
        for primes in [&spec.special, &spec.data] {
            out.push(primes.len() as u8);
            primes.iter().for_each(|p| out.extend_from_slice(&p.to_le_bytes()));
        }
        out.push(spec.digit_primes as u8);
        out.extend_from_slice(&spec.plain.to_le_bytes());
    })
}

/// Reads the numbers of a parameter set. They are not yet checked: [`sotto_rlwe::Params::new`] does that.
///
/// # Errors
/// [`WireError`] if the bytes are not a frame of parameters.
pub fn read_parameters(bytes: &[u8]) -> Result<ParameterSpec, WireError> {
    let mut reader = frame::open(bytes, Kind::Parameters, LARGEST)?;
    let scheme = SchemeId::from_number(reader.u8()?).ok_or(WireError::Value("the scheme is not known"))?;
    let degree = reader.u32()? as usize;
    let mut primes = || -> Result<Vec<u64>, WireError> {
        let count = usize::from(reader.u8()?);
        if count > MOST_PRIMES {
            return Err(WireError::Value("a chain has at most 64 primes"));
        }
        (0..count).map(|_| reader.u64()).collect()
    };
    let (special, data) = (primes()?, primes()?);
    let digit_primes = usize::from(reader.u8()?);
    let plain = reader.u64()?;
    reader.finish()?;
    Ok(ParameterSpec { scheme, degree, special, data, digit_primes, plain })
}
