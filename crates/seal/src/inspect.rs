//! What a file is. SEAL's objects do not say their kind: it is found from where their parts lie.

use sotto_rlwe::SchemeId;
use zeroize::Zeroizing;

use crate::error::SealError;
use crate::header::{self, Compression, HEADER, Header, Version};
use crate::inflate::survey;
use crate::parameters::{self, ParmsId, SealParameters};
use crate::reader::Reader;
use crate::words::{ARRAY, parms_id};

/// A kind of object, as far as the bytes show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Encryption parameters.
    Parameters,
    /// A plaintext.
    Plaintext,
    /// A secret key.
    SecretKey,
    /// A ciphertext.
    Ciphertext,
    /// A public key.
    PublicKey,
    /// A ciphertext or a public key: only the parameters tell.
    CiphertextOrPublicKey,
    /// Relinearisation keys.
    RelinearisationKeys,
    /// Galois keys.
    GaloisKeys,
}

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parameters => "parameters",
            Self::Plaintext => "plaintext",
            Self::SecretKey => "secret key",
            Self::Ciphertext => "ciphertext",
            Self::PublicKey => "public key",
            Self::CiphertextOrPublicKey => "ciphertext or public key",
            Self::RelinearisationKeys => "relinearisation keys",
            Self::GaloisKeys => "Galois keys",
        }
    }
}

/// What is known of a file without its words. `None` is what the bytes do not say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Description {
    /// The kind.
    pub kind: Kind,
    /// The writer's version.
    pub version: Version,
    /// The compression.
    pub compression: Compression,
    /// Bytes of the file.
    pub bytes: u64,
    /// Bytes that it would have without compression; None above the limit given.
    pub inflated: Option<u64>,
    /// The scheme.
    pub scheme: Option<SchemeId>,
    /// n.
    pub degree: Option<u64>,
    /// Number of primes.
    pub primes: Option<u64>,
    /// The level: 0 holds one prime. None for keys, and where the parameters are not known and one level cannot be told from
    /// another.
    pub level: Option<u64>,
    /// Polynomials of a ciphertext, or keys of a set.
    pub parts: Option<u64>,
    /// Whether the random half is a seed.
    pub seeded: Option<bool>,
    /// CKKS: the scale.
    pub scale: Option<f64>,
    /// BGV: the correction factor.
    pub factor: Option<u64>,
    /// The plain modulus, of parameters.
    pub plain_modulus: Option<u64>,
    /// The level's name, of anything but parameters.
    pub parms_id: Option<ParmsId>,
}

/// The counters of empty slots before the first Galois key, at the largest degree, and the key's fields.
const PREFIX: usize = 8 * (1 << 17) + 4096;
/// Where the words of a plaintext begin.
const PLAINTEXT_ARRAY: usize = 32 + 8 + 8;

/// What these bytes are. With the parameters, level and kind are certain. At most `limit` bytes are inflated, of which a
/// megabyte is held.
pub fn inspect(
    bytes: &[u8],
    parameters: Option<&SealParameters>,
    limit: u64,
) -> Result<Description, SealError> {
    let (header, members) = header::split(bytes)?;
    let (start, total) = survey(members, header.compression, PREFIX, limit)?;
    let blank = Description {
        kind: Kind::Parameters,
        version: header.version,
        compression: header.compression,
        bytes: header.bytes,
        inflated: total.map(|total| total + HEADER as u64),
        scheme: None,
        degree: None,
        primes: None,
        level: None,
        parts: None,
        seeded: None,
        scale: None,
        factor: None,
        plain_modulus: None,
        parms_id: None,
    };
    if let Some(seal) = parameters_in(&start, total) {
        return Ok(Description {
            scheme: Some(seal.scheme),
            degree: Some(seal.degree as u64),
            primes: Some(seal.primes.len() as u64),
            plain_modulus: Some(seal.plain_modulus).filter(|t| *t != 0),
            ..blank
        });
    }
    let described = if nested_at(&start, PLAINTEXT_ARRAY).is_some() && scale_of_plaintext(&start).is_normal()
    {
        plaintext(&start, blank)
    } else if nested_at(&start, fields_bytes(header.version)).is_some() {
        ciphertext(&mut Reader::new(&start), header.version, blank)
    } else {
        keys(&start, blank)
    }?;
    Ok(match parameters {
        Some(seal) => placed(described, seal)?,
        None => described,
    })
}

fn fields_bytes(version: Version) -> usize {
    65 + if version.has_factor() { 8 } else { 0 }
}

/// A header of an uncompressed object at a place.
fn nested_at(start: &[u8], at: usize) -> Option<Header> {
    let header = Header::read(start.get(at..)?).ok()?;
    (header.compression == Compression::None).then_some(header)
}

/// The scale of a plaintext; in relinearisation keys a small integer stands there, which is no normal number.
fn scale_of_plaintext(start: &[u8]) -> f64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&start[PLAINTEXT_ARRAY - 8..PLAINTEXT_ARRAY]);
    f64::from_le_bytes(bytes)
}

fn parameters_in(start: &[u8], total: Option<u64>) -> Option<SealParameters> {
    if total? != start.len() as u64 || total? > parameters::LARGEST {
        return None;
    }
    // Something else of this length does not have a modulus in each place.
    SealParameters::read(&uncompressed(start)).ok()
}

/// An object without compression: a copy, of what may be a secret key's members.
fn uncompressed(members: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut whole = Zeroizing::new(Vec::with_capacity(HEADER + members.len()));
    Header::write(&mut whole, Version::PORTABLE, Compression::None, HEADER + members.len());
    whole.extend_from_slice(members);
    whole
}

fn plaintext(start: &[u8], blank: Description) -> Result<Description, SealError> {
    let mut reader = Reader::new(start);
    let (id, count, scale) = (parms_id(&mut reader)?, reader.u64()?, reader.f64()?);
    // Without scale and with a level: a secret key, or a CKKS plaintext of scale 1, which nobody writes.
    let is_key = id != ParmsId::ZERO && scale == 1.0;
    Ok(Description {
        kind: if is_key { Kind::SecretKey } else { Kind::Plaintext },
        scheme: (id != ParmsId::ZERO && !is_key).then_some(SchemeId::Ckks),
        scale: (!is_key && id != ParmsId::ZERO).then_some(scale),
        parts: Some(count),
        parms_id: Some(id).filter(|id| *id != ParmsId::ZERO),
        ..blank
    })
}

fn ciphertext(
    reader: &mut Reader<'_>,
    version: Version,
    blank: Description,
) -> Result<Description, SealError> {
    let (id, transformed) = (parms_id(reader)?, reader.u8()? != 0);
    let (components, degree, primes, scale) = (reader.u64()?, reader.u64()?, reader.u64()?, reader.f64()?);
    let factor = if version.has_factor() { Some(reader.u64()?) } else { None };
    let array = Header::parse(reader)?;
    let one = degree.saturating_mul(primes).saturating_mul(8).saturating_add(ARRAY as u64);
    let scheme = match (transformed, scale == 1.0) {
        (_, false) => Some(SchemeId::Ckks),
        (false, true) => Some(SchemeId::Bfv),
        // BGV, or a public key of any scheme.
        (true, true) if factor.is_some_and(|f| f != 1) => Some(SchemeId::Bgv),
        _ => None,
    };
    Ok(Description {
        kind: if scheme.is_some() { Kind::Ciphertext } else { Kind::CiphertextOrPublicKey },
        scheme,
        degree: Some(degree),
        primes: Some(primes),
        parts: Some(components),
        seeded: Some(components == 2 && array.bytes == one),
        scale: Some(scale).filter(|s| *s != 1.0),
        factor: factor.filter(|f| *f != 1),
        parms_id: Some(id),
        ..blank
    })
}

fn keys(start: &[u8], blank: Description) -> Result<Description, SealError> {
    let mut reader = Reader::new(start);
    let (id, slots) = (parms_id(&mut reader)?, reader.u64()?);
    let unknown = SealError::Value("this is no object of SEAL's that is known here");
    if slots == 0 || slots > 1 << 17 {
        return Err(unknown);
    }
    let mut digits = 0;
    for _ in 0..slots {
        digits = reader.u64()?;
        if digits != 0 {
            break;
        }
    }
    if digits == 0 {
        return Err(SealError::Value("the keys are empty"));
    }
    let first = Header::parse(&mut reader).map_err(|_| unknown)?;
    let one = ciphertext(&mut reader, first.version, blank)?;
    // What is not a counter is a key; every key has as many digits of the same length.
    let members = blank.inflated.map(|all| all.saturating_sub(HEADER as u64));
    let rest = members.and_then(|members| members.checked_sub(40 + 8 * slots));
    let each = digits.saturating_mul(first.bytes).max(1);
    Ok(Description {
        kind: if slots == 1 { Kind::RelinearisationKeys } else { Kind::GaloisKeys },
        degree: one.degree,
        primes: one.primes,
        // Seeded and written-out keys are not mixed.
        seeded: one.seeded,
        parts: rest.map(|rest| rest / each),
        parms_id: Some(id),
        ..blank
    })
}

/// With parameters: which level, or whether it is a key.
fn placed(described: Description, seal: &SealParameters) -> Result<Description, SealError> {
    let total = seal.primes.len();
    let data = if total > 1 { total - 1 } else { 1 };
    let known = Description { scheme: Some(seal.scheme), degree: Some(seal.degree as u64), ..described };
    let Some(id) = known.parms_id else { return Ok(known) };
    if let Some(count) = (1..=data).rev().find(|count| seal.parms_id(*count) == id) {
        let kind = match known.kind {
            // With one prime, keys and data are at one level.
            Kind::CiphertextOrPublicKey if total > 1 => Kind::Ciphertext,
            // Transformed and without scale, which a ciphertext is in BGV only.
            Kind::CiphertextOrPublicKey if seal.scheme != SchemeId::Bgv => Kind::PublicKey,
            Kind::SecretKey if total > 1 => Kind::Plaintext,
            other => other,
        };
        let level = (count - 1) as u64;
        return Ok(Description { kind, primes: Some(count as u64), level: Some(level), ..known });
    }
    if seal.parms_id(total) != id {
        return Err(SealError::ParmsId);
    }
    let kind = match known.kind {
        Kind::CiphertextOrPublicKey | Kind::Ciphertext => Kind::PublicKey,
        other => other,
    };
    Ok(Description { kind, primes: Some(total as u64), ..known })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_that_is_read_as_parameters_is_taken_once_and_small() {
        let copy = uncompressed(&[7; 3000]);
        assert_eq!(
            (copy.len(), copy.capacity()),
            (HEADER + 3000, HEADER + 3000),
            "a vector that grew leaves copies"
        );
        let largest = vec![0; parameters::LARGEST as usize + 1];
        assert_eq!(parameters_in(&largest, Some(largest.len() as u64)), None);
    }
}
