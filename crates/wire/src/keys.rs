//! Public and evaluation keys as bytes; their random halves are seeds.

use sotto_ring::{GaloisMap, SEED_BYTES, Seed};
use sotto_rlwe::{EvaluationKeys, KeyId, KeySwitchKey, ParameterId, Params, PublicKey, Scheme, SeededKey};

use crate::bits::{packed_bytes, read_poly, write_poly};
use crate::error::WireError;
use crate::frame::{self, FRAME_OVERHEAD, Kind};
use crate::reader::Reader;

const NAMES: usize = 32 + 16;
/// A flag and two counts.
const COUNTS: usize = 1 + 4 + 4;

/// How many key-switching keys of each sort a set of evaluation keys has, or may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvaluationKeyCounts {
    /// Whether there is a relinearisation key.
    pub relinearisation: bool,
    /// Keys of rotations and the row swap.
    pub galois: usize,
    /// Transfer keys, from other secret keys.
    pub transfers: usize,
}

impl EvaluationKeyCounts {
    /// Those of a set.
    pub fn of<S: Scheme>(keys: &EvaluationKeys<S>) -> Self {
        let (galois, transfers) = (keys.galois.len(), keys.transfers.len());
        Self { relinearisation: keys.relinearisation.is_some(), galois, transfers }
    }

    /// Bytes of the keys, each of `one` bytes, with what stands before them. Counts are below 2^32.
    fn bytes(self, one: usize) -> usize {
        usize::from(self.relinearisation) * one + self.galois * (4 + one) + self.transfers * (16 + one)
    }
}

fn check_parameters<S: Scheme>(reader: &mut Reader<'_>, params: &Params<S>) -> Result<KeyId, WireError> {
    let found = reader.parameter_id()?;
    if found != params.id() {
        return Err(WireError::Parameters { expected: params.id(), found });
    }
    reader.key_id()
}

/// Writes a public key.
pub fn write_public_key<S: Scheme>(key: &PublicKey<S>) -> Vec<u8> {
    frame::write(Kind::PublicKey, public_key_payload(key.params()), |out| {
        out.extend_from_slice(&key.params().id().0);
        out.extend_from_slice(&key.key().0);
        out.extend_from_slice(&key.seed().0);
        write_poly(out, key.body());
    })
}

fn public_key_payload<S: Scheme>(params: &Params<S>) -> usize {
    NAMES + SEED_BYTES + packed_bytes(params.ring(), params.key_limbs())
}

/// Reads a public key of these parameters.
pub fn read_public_key<S: Scheme>(bytes: &[u8], params: &Params<S>) -> Result<PublicKey<S>, WireError> {
    let payload = public_key_payload(params);
    let mut reader = frame::open(bytes, Kind::PublicKey, (payload + FRAME_OVERHEAD) as u64)?;
    let key = check_parameters(&mut reader, params)?;
    reader.expect_left(payload - NAMES)?;
    let seed = Seed(reader.array()?);
    let body = read_poly(&mut reader, params.ring(), params.key_limbs())?;
    Ok(PublicKey::from_parts(params, key, body, seed))
}

fn switch_key_bytes<S: Scheme>(params: &Params<S>) -> usize {
    SEED_BYTES + params.digit_count() * packed_bytes(params.ring(), params.key_limbs())
}

/// Bytes of a frame with this many key-switching keys.
pub fn evaluation_keys_bytes<S: Scheme>(params: &Params<S>, counts: EvaluationKeyCounts) -> usize {
    FRAME_OVERHEAD + NAMES + COUNTS + counts.bytes(switch_key_bytes(params))
}

/// Writes evaluation keys.
pub fn write_evaluation_keys<S: Scheme>(keys: &EvaluationKeys<S>) -> Vec<u8> {
    let counts = EvaluationKeyCounts::of(keys);
    frame::write(Kind::EvaluationKeys, evaluation_keys_bytes(&keys.params, counts), |out| {
        out.extend_from_slice(&keys.params.id().0);
        out.extend_from_slice(&keys.key.0);
        out.push(u8::from(counts.relinearisation));
        out.extend_from_slice(&(counts.galois as u32).to_le_bytes());
        out.extend_from_slice(&(counts.transfers as u32).to_le_bytes());
        if let Some(key) = &keys.relinearisation {
            write_switch_key(out, key);
        }
        for (element, key) in keys.galois.iter() {
            out.extend_from_slice(&(element as u32).to_le_bytes());
            write_switch_key(out, key);
        }
        for (from, key) in &keys.transfers {
            out.extend_from_slice(&from.0);
            write_switch_key(out, key);
        }
    })
}

fn write_switch_key(out: &mut Vec<u8>, key: &KeySwitchKey) {
    out.extend_from_slice(&key.seeded().seed.0);
    key.seeded().bodies.iter().for_each(|body| write_poly(out, body));
}

/// Parameters and key of a frame of evaluation keys whose digest holds, before its residues are read.
pub fn evaluation_keys_header(bytes: &[u8], limit: u64) -> Result<(ParameterId, KeyId), WireError> {
    let mut reader = frame::open(bytes, Kind::EvaluationKeys, limit)?;
    Ok((reader.parameter_id()?, reader.key_id()?))
}

/// Reads evaluation keys of these parameters, at most `most` of each sort. Nothing is allocated for keys before their
/// counts and the payload's length agree.
pub fn read_evaluation_keys<S: Scheme>(
    bytes: &[u8],
    params: &Params<S>,
    most: EvaluationKeyCounts,
) -> Result<EvaluationKeys<S>, WireError> {
    if !params.can_switch_keys() {
        return Err(WireError::Value("these parameters have no evaluation keys: they have no special prime"));
    }
    let limit = evaluation_keys_bytes(params, most);
    let mut reader = frame::open(bytes, Kind::EvaluationKeys, limit as u64)?;
    let key = check_parameters(&mut reader, params)?;
    let counts = counts(&mut reader, most)?;
    reader.expect_left(counts.bytes(switch_key_bytes(params)))?;
    let mut keys = EvaluationKeys::empty(params, key);
    if counts.relinearisation {
        keys.relinearisation = Some(read_switch_key(&mut reader, params)?);
    }
    let mut last = 0;
    for _ in 0..counts.galois {
        let element = reader.u32()? as usize;
        let map = GaloisMap::new(params.degree(), element).filter(|_| element > last);
        let map = map.ok_or(WireError::Value("Galois elements are odd, below 2n and in ascending order"))?;
        last = element;
        keys.galois.insert(map, read_switch_key(&mut reader, params)?);
    }
    let mut last = None;
    for _ in 0..counts.transfers {
        let from = reader.key_id()?;
        if from == key {
            return Err(WireError::Value("a transfer key leads from another secret key"));
        }
        if last.replace(from) >= Some(from) {
            return Err(WireError::Value("the keys that are transferred from are in ascending order"));
        }
        keys.transfers.insert(from, read_switch_key(&mut reader, params)?);
    }
    reader.finish()?;
    Ok(keys)
}

fn counts(reader: &mut Reader<'_>, most: EvaluationKeyCounts) -> Result<EvaluationKeyCounts, WireError> {
    let relinearisation = reader.flag()?;
    let (galois, transfers) = (reader.u32()? as usize, reader.u32()? as usize);
    if relinearisation && !most.relinearisation {
        return Err(WireError::Value("a relinearisation key is not allowed here"));
    }
    if galois > most.galois {
        return Err(WireError::Value("more rotation keys than are allowed here"));
    }
    if transfers > most.transfers {
        return Err(WireError::Value("more transfer keys than are allowed here"));
    }
    Ok(EvaluationKeyCounts { relinearisation, galois, transfers })
}

fn read_switch_key<S: Scheme>(
    reader: &mut Reader<'_>,
    params: &Params<S>,
) -> Result<KeySwitchKey, WireError> {
    let seed = Seed(reader.array()?);
    let bodies = (0..params.digit_count())
        .map(|_| read_poly(reader, params.ring(), params.key_limbs()))
        .collect::<Result<_, _>>()?;
    Ok(KeySwitchKey::new(params, SeededKey { bodies, seed }))
}
