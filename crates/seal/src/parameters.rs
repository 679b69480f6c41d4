//! SEAL's encryption parameters.

use sotto_rlwe::{ParameterSpec, SchemeId, SecurityLevel, SecurityProfile, SecurityTarget};

use crate::error::SealError;
use crate::header::{self, HEADER, Header, Writing};
use crate::reader::Reader;
use crate::version::Version;

/// The identity of one level of a chain: BLAKE2b of scheme, degree, primes and plain modulus.
///
/// Example: [`SealParameters`]
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParmsId(pub [u8; 32]);

impl ParmsId {
    /// The identity of a plaintext in coefficient form.
    pub const ZERO: Self = Self([0; 32]);
}

impl core::fmt::Display for ParmsId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl core::fmt::Debug for ParmsId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "ParmsId({self})")
    }
}

/// The content of SEAL's `EncryptionParameters`. Only ranges are checked here; [`crate::Chain`] checks the
/// rest.
///
/// ```
/// use sotto_rlwe::{DefaultChain, SchemeId};
/// use sotto_seal::{ParmsId, SealParameters, Writing};
///
/// let parameters = SealParameters::of(&DefaultChain::spec(SchemeId::Bfv, 4096, 65537)?)?;
/// assert_eq!(parameters.primes.len(), 3); // two of data, then the special prime
/// let [fresh, last]: [ParmsId; 2] = [2, 1].map(|primes| parameters.parms_id(primes));
/// assert_ne!(fresh, last);
/// assert_eq!(SealParameters::read(&parameters.write(Writing::default()))?, parameters);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealParameters {
    /// BFV, BGV or CKKS.
    pub scheme: SchemeId,
    /// n.
    pub degree: usize,
    /// The primes in SEAL's order: the last of two or more is the special prime.
    pub primes: Vec<u64>,
    /// t; 0 for CKKS, because SEAL loads no CKKS parameters with another one.
    pub plain_modulus: u64,
}

const MOST_PRIMES: u64 = 256;
const LARGEST_DEGREE: u64 = 1 << 17;
/// Bytes of a modulus with its header.
const MODULUS: u64 = HEADER as u64 + 8;
/// Bytes of the members of the largest parameters.
pub(crate) const LARGEST: u64 = 17 + MODULUS * (MOST_PRIMES + 1);

impl SealParameters {
    /// Reads parameters, in any compression.
    ///
    /// # Errors
    /// [`SealError`] for bytes that are not parameters, or values out of range;
    /// [`SealError::PlainModulus`] for CKKS parameters with a plain modulus.
    pub fn read(bytes: &[u8]) -> Result<Self, SealError> {
        header::read(bytes, LARGEST, |_, reader| Self::parse(reader))
    }

    fn parse(reader: &mut Reader<'_>) -> Result<Self, SealError> {
        let scheme =
            SchemeId::from_number(reader.u8()?).ok_or(SealError::Value("the scheme is not known"))?;
        let degree = reader.u64()?;
        if !degree.is_power_of_two() || !(4..=LARGEST_DEGREE).contains(&degree) {
            return Err(SealError::Value("the degree is not a power of two from 4 to 131072"));
        }
        let count = reader.u64()?;
        if !(1..=MOST_PRIMES).contains(&count) {
            return Err(SealError::Value("a chain has 1 to 256 primes"));
        }
        let primes = (0..count).map(|_| modulus(reader)).collect::<Result<_, _>>()?;
        let plain_modulus = modulus(reader)?;
        reader.finish()?;
        let parameters = Self { scheme, degree: degree as usize, primes, plain_modulus };
        parameters.check_plain_modulus()?;
        Ok(parameters)
    }

    /// Refuses CKKS parameters with a plain modulus. It is part of each `parms_id`, and SEAL loads no parameters
    /// that have it: objects under such names belong to no chain.
    fn check_plain_modulus(&self) -> Result<(), SealError> {
        if !self.scheme.is_exact() && self.plain_modulus != 0 {
            return Err(SealError::PlainModulus(self.plain_modulus));
        }
        Ok(())
    }

    /// Returns SEAL's file of an `EncryptionParameters`.
    pub fn write(&self, writing: Writing) -> Vec<u8> {
        let version = Version::PORTABLE;
        let mut members = vec![self.scheme as u8];
        members.extend_from_slice(&(self.degree as u64).to_le_bytes());
        members.extend_from_slice(&(self.primes.len() as u64).to_le_bytes());
        for value in self.primes.iter().chain([&self.plain_modulus]) {
            Header::write(&mut members, version, crate::Compression::None, MODULUS as usize);
            members.extend_from_slice(&value.to_le_bytes());
        }
        header::close(&members, version, writing.compression)
    }

    /// Returns the `parms_id` of the level of the first `count` primes.
    pub fn parms_id(&self, count: usize) -> ParmsId {
        let mut state = blake2b_simd::Params::new().hash_length(32).to_state();
        let head = [self.scheme as u64, self.degree as u64];
        let words = head.iter().chain(&self.primes[..count]).chain([&self.plain_modulus]);
        words.for_each(|word| {
            state.update(&word.to_le_bytes());
        });
        let mut id = [0; 32];
        id.copy_from_slice(state.finalize().as_bytes());
        ParmsId(id)
    }

    /// Returns our specification of these parameters: one special prime if there are two primes or more, one
    /// prime a digit. SEAL's parameters hold no scale: for CKKS it is 2^`scale_bits`, the scale that the
    /// values were encoded with.
    ///
    /// # Errors
    /// [`SealError::Value`] for CKKS without `scale_bits`; [`SealError::PlainModulus`] for CKKS with a plain
    /// modulus.
    pub fn spec(&self, scale_bits: Option<u32>) -> Result<ParameterSpec, SealError> {
        self.check_plain_modulus()?;
        let (special, data) = match self.primes.split_last() {
            Some((special, data)) if !data.is_empty() => (vec![*special], data.to_vec()),
            _ => (Vec::new(), self.primes.clone()),
        };
        let plain = match (self.scheme.is_exact(), scale_bits) {
            (false, Some(bits)) => u64::from(bits),
            (false, None) => {
                return Err(SealError::Value("CKKS: say with which scale the values were encoded"));
            }
            (true, _) => self.plain_modulus,
        };
        let (scheme, degree) = (self.scheme, self.degree);
        Ok(ParameterSpec { scheme, degree, special, data, digit_primes: 1, plain })
    }

    /// Makes SEAL's parameters of our specification.
    ///
    /// # Errors
    /// [`SealError::Unwritable`] if SEAL has no equivalent.
    pub fn of(spec: &ParameterSpec) -> Result<Self, SealError> {
        let refused = |reason| Err(SealError::Unwritable(reason));
        if spec.special.len() > 1 {
            return refused("it knows one special prime, and these parameters have several");
        }
        if spec.digit_primes != 1 {
            return refused("it takes one prime a digit of key switching, and these parameters several");
        }
        if spec.special.is_empty() && spec.data.len() > 1 {
            return refused("it takes the last of several primes as special prime, and these have none");
        }
        let primes: Vec<u64> = spec.data.iter().chain(&spec.special).copied().collect();
        if primes.iter().any(|q| q >> 60 != 0) {
            return refused("its primes have at most 60 bits");
        }
        let plain_modulus = if spec.scheme.is_exact() { spec.plain } else { 0 };
        Ok(Self { scheme: spec.scheme, degree: spec.degree, primes, plain_modulus })
    }

    /// Returns the security that SEAL requires by default: 128 bits by the standard of 2018.
    pub fn security() -> SecurityTarget {
        SecurityTarget::new(SecurityProfile::HeStandard2018, SecurityLevel::Bits128)
    }
}

fn modulus(reader: &mut Reader<'_>) -> Result<u64, SealError> {
    let (_, mut members) = Header::nested(reader)?;
    let value = members.u64()?;
    members.finish()?;
    Ok(value)
}
