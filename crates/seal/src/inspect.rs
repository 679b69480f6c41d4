//! Describes a file. SEAL's objects do not state their kind: it is inferred from the positions of their
//! parts.

use sotto_rlwe::SchemeId;
use zeroize::Zeroizing;

use crate::compression::Compression;
use crate::description::{Description, Kind};
use crate::error::SealError;
use crate::header::{self, HEADER, Header};
use crate::inflate::survey;
use crate::parameters::{self, ParmsId, SealParameters};
use crate::reader::Reader;
use crate::version::Version;
use crate::words::{ARRAY, parms_id};

/// Bytes that hold the counters of empty slots before the first Galois key, at the largest degree, and that
/// key's fields.
const PREFIX: usize = 8 * (1 << 17) + 4096;
/// Position of the words of a plaintext.
const PLAINTEXT_ARRAY: usize = 32 + 8 + 8;

/// Describes a file. Level and kind are certain only with the parameters. Inflates at most `limit` bytes, and
/// keeps one megabyte of them.
///
/// # Errors
/// [`SealError`] for bytes that are not a known object, or not of these parameters.
pub fn inspect(
    bytes: &[u8],
    parameters: Option<&SealParameters>,
    limit: u64,
) -> Result<Description, SealError> {
    header::opened(bytes, |header, stored| {
        let (start, total) = survey(stored, header.compression, PREFIX, limit)?;
        let blank = Description::blank(&header, total.map(|total| total + HEADER as u64));
        if let Some(seal) = parameters_in(&start, total)? {
            return Ok(of_parameters(&seal, blank));
        }
        let described = object(&start, blank)?;
        match parameters {
            Some(seal) => placed(described, seal),
            None => Ok(described),
        }
    })
}

fn of_parameters(seal: &SealParameters, blank: Description) -> Description {
    Description {
        scheme: Some(seal.scheme),
        degree: Some(seal.degree as u64),
        primes: Some(seal.primes.len() as u64),
        plain_modulus: Some(seal.plain_modulus).filter(|t| *t != 0),
        ..blank
    }
}

/// Describes any object but parameters.
fn object(start: &[u8], blank: Description) -> Result<Description, SealError> {
    if nested_at(start, PLAINTEXT_ARRAY).is_some() && scale_of_plaintext(start).is_normal() {
        plaintext(start, blank)
    } else if nested_at(start, fields_bytes(blank.version)).is_some() {
        ciphertext(&mut Reader::new(start), blank.version, blank)
    } else {
        keys(start, blank)
    }
}

fn fields_bytes(version: Version) -> usize {
    65 + if version.has_factor() { 8 } else { 0 }
}

/// Returns the header of an uncompressed object at a position, if there is one.
fn nested_at(start: &[u8], at: usize) -> Option<Header> {
    let header = Header::read(start.get(at..)?).ok()?;
    (header.compression == Compression::None).then_some(header)
}

/// Returns the scale of a plaintext. Relinearisation keys have a small integer at this position, which is not
/// a normal `f64`.
fn scale_of_plaintext(start: &[u8]) -> f64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&start[PLAINTEXT_ARRAY - 8..PLAINTEXT_ARRAY]);
    f64::from_le_bytes(bytes)
}

/// Returns the parameters in members, if they are parameters.
fn parameters_in(start: &[u8], total: Option<u64>) -> Result<Option<SealParameters>, SealError> {
    if total != Some(start.len() as u64) || start.len() as u64 > parameters::LARGEST {
        return Ok(None);
    }
    match SealParameters::read(&uncompressed(start)) {
        Ok(seal) => Ok(Some(seal)),
        Err(refused @ SealError::PlainModulus(_)) => Err(refused),
        // Another object of this length does not have a modulus at each position.
        Err(_) => Ok(None),
    }
}

/// Returns an object without compression: a copy of members that may be a secret key's.
fn uncompressed(members: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut whole = Zeroizing::new(Vec::with_capacity(HEADER + members.len()));
    Header::write(&mut whole, Version::PORTABLE, Compression::None, HEADER + members.len());
    whole.extend_from_slice(members);
    whole
}

fn plaintext(start: &[u8], blank: Description) -> Result<Description, SealError> {
    let mut reader = Reader::new(start);
    let (id, count, scale) = (parms_id(&mut reader)?, reader.u64()?, reader.f64()?);
    // With a level but without a scale, it is a secret key, or a CKKS plaintext of scale 1, which is not used
    // in practice.
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
        // The object is BGV, or a public key of any scheme.
        (true, true) if factor.is_some_and(|f| f != 1) => Some(SchemeId::Bgv),
        _ => None,
    };
    // A public key has two parts: a product of ciphertexts has three.
    let is_ciphertext = scheme.is_some() || components != 2;
    Ok(Description {
        kind: if is_ciphertext { Kind::Ciphertext } else { Kind::CiphertextOrPublicKey },
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
    let unknown = SealError::Value("this is not a known object of SEAL");
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
    // Bytes other than counters are keys; every key has the same number of digits of the same length.
    let members = blank.inflated.map(|all| all.saturating_sub(HEADER as u64));
    let rest = members.and_then(|members| members.checked_sub(40 + 8 * slots));
    let each = digits.saturating_mul(first.bytes).max(1);
    Ok(Description {
        kind: if slots == 1 { Kind::RelinearisationKeys } else { Kind::GaloisKeys },
        degree: one.degree,
        primes: one.primes,
        // SEAL does not mix seeded and written-out keys.
        seeded: one.seeded,
        parts: rest.map(|rest| rest / each),
        parms_id: Some(id),
        ..blank
    })
}

/// Adds the level and the exact kind, from the parameters.
fn placed(described: Description, seal: &SealParameters) -> Result<Description, SealError> {
    let total = seal.primes.len();
    let data = if total > 1 { total - 1 } else { 1 };
    let known = Description { scheme: Some(seal.scheme), degree: Some(seal.degree as u64), ..described };
    let Some(id) = known.parms_id else { return Ok(known) };
    if let Some(count) = (1..=data).rev().find(|count| seal.parms_id(*count) == id) {
        let kind = match known.kind {
            // With one prime, keys and data are at one level.
            Kind::CiphertextOrPublicKey if total > 1 => Kind::Ciphertext,
            // Transformed and without scale: a ciphertext has these only in BGV.
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
        assert_eq!(parameters_in(&largest, Some(largest.len() as u64)), Ok(None));
    }
}
