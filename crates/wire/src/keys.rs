//! Public and evaluation keys as bytes. Seeds replace their random halves; keys of other libraries have them written
//! out, in frames of their own kind.

use alloc::vec::Vec;

use sotto_ring::{Eval, GaloisMap, Poly, SEED_BYTES, Seed};
use sotto_rlwe::{EvaluationKeys, KeyId, KeySwitchKey, ParameterId, Params, PublicKey, Scheme, SeededKey};

use crate::bits::{packed_bytes, read_poly, write_poly};
use crate::error::WireError;
use crate::frame::{self, FRAME_OVERHEAD, frame_kind};
use crate::kind::Kind;
use crate::reader::Reader;

const NAMES: usize = 32 + 16;
/// Bytes of a flag and two counts.
const COUNTS: usize = 1 + 4 + 4;

/// Numbers of key-switching keys in a set of evaluation keys, by kind; also used as an upper limit.
///
/// ```
/// use sotto_keys::{DeviceSecret, SecretKey};
/// use sotto_rlwe::{Bfv, Params};
/// use sotto_wire::{EvaluationKeyCounts, read_evaluation_keys, write_evaluation_keys};
/// # let mut rng = sotto_ring::secure_rng()?;
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let secret = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
///
/// // Keys for rotations by 1 and 2 slots.
/// let bytes = write_evaluation_keys(&secret.evaluation_keys(false, &[1, 2], &mut rng)?);
/// let most = EvaluationKeyCounts { galois: 2, ..EvaluationKeyCounts::default() };
/// let keys = read_evaluation_keys(&bytes, &params, most)?;
/// assert_eq!(EvaluationKeyCounts::of(&keys), most);
/// let fewer = EvaluationKeyCounts { galois: 1, ..most };
/// assert!(read_evaluation_keys(&bytes, &params, fewer).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvaluationKeyCounts {
    /// True if there is a relinearisation key.
    pub relinearisation: bool,
    /// Number of Galois keys, for rotations and the row swap.
    pub galois: usize,
    /// Number of transfer keys, from other secret keys.
    pub transfers: usize,
}

impl EvaluationKeyCounts {
    /// Counts each kind of key.
    pub fn of<S: Scheme>(keys: &EvaluationKeys<S>) -> Self {
        let (galois, transfers) = (keys.galois.len(), keys.transfers.len());
        Self { relinearisation: keys.relinearisation.is_some(), galois, transfers }
    }

    /// Returns the length in bytes of all keys with their prefixes, for keys of `one` bytes each; `usize::MAX` if it
    /// exceeds the address space, as limits do on 32-bit processors.
    fn bytes(self, one: usize) -> usize {
        let [galois, transfers] =
            [(self.galois, 4), (self.transfers, 16)].map(|(count, name)| count.saturating_mul(name + one));
        (usize::from(self.relinearisation) * one).saturating_add(galois).saturating_add(transfers)
    }
}

fn check_parameters<S: Scheme>(reader: &mut Reader<'_>, params: &Params<S>) -> Result<KeyId, WireError> {
    let found = reader.parameter_id()?;
    if found != params.id() {
        return Err(WireError::Parameters { expected: params.id(), found });
    }
    reader.key_id()
}

/// Returns the frame of a public key.
pub fn write_public_key<S: Scheme>(key: &PublicKey<S>) -> Vec<u8> {
    let kind = if key.seed().is_some() { Kind::PublicKey } else { Kind::ExpandedPublicKey };
    frame::write(kind, public_key_payload(key.params(), kind), |out| {
        out.extend_from_slice(&key.params().id().0);
        out.extend_from_slice(&key.key().0);
        match key.seed() {
            Some(seed) => out.extend_from_slice(&seed.0),
            None => write_poly(out, key.mask()),
        }
        write_poly(out, key.body());
    })
}

fn public_key_payload<S: Scheme>(params: &Params<S>, kind: Kind) -> usize {
    let body = packed_bytes(params.ring(), params.key_limbs());
    NAMES + body + if kind == Kind::ExpandedPublicKey { body } else { SEED_BYTES }
}

/// Reads a public key of these parameters, seeded or written out.
///
/// # Errors
/// [`WireError`] if the bytes are not the frame of a public key of these parameters.
pub fn read_public_key<S: Scheme>(bytes: &[u8], params: &Params<S>) -> Result<PublicKey<S>, WireError> {
    let kind = either(bytes, Kind::PublicKey, Kind::ExpandedPublicKey);
    let payload = public_key_payload(params, kind);
    let mut reader = frame::open(bytes, kind, (payload + FRAME_OVERHEAD) as u64)?;
    let key = check_parameters(&mut reader, params)?;
    reader.expect_left(payload - NAMES)?;
    let (ring, limbs) = (params.ring(), params.key_limbs());
    if kind == Kind::ExpandedPublicKey {
        let mask = read_mask(&mut reader, params)?;
        return Ok(PublicKey::from_pair(params, key, read_poly(&mut reader, ring, limbs)?, mask));
    }
    let seed = Seed(reader.array()?);
    let body = read_poly(&mut reader, ring, limbs)?;
    Ok(PublicKey::from_parts(params, key, body, seed))
}

/// Returns `expanded` if the frame is of this kind, else `seeded`; opening the frame then refuses every other kind.
fn either(bytes: &[u8], seeded: Kind, expanded: Kind) -> Kind {
    if frame_kind(bytes) == Ok(expanded) { expanded } else { seeded }
}

fn switch_key_bytes<S: Scheme>(params: &Params<S>, kind: Kind) -> usize {
    let bodies = params.digit_count() * packed_bytes(params.ring(), params.key_limbs());
    bodies + if kind == Kind::ExpandedEvaluationKeys { bodies } else { SEED_BYTES }
}

/// Returns the length in bytes of a frame with these numbers of seeded key-switching keys.
pub fn evaluation_keys_bytes<S: Scheme>(params: &Params<S>, counts: EvaluationKeyCounts) -> usize {
    frame_bytes(params, counts, Kind::EvaluationKeys)
}

fn frame_bytes<S: Scheme>(params: &Params<S>, counts: EvaluationKeyCounts, kind: Kind) -> usize {
    counts.bytes(switch_key_bytes(params, kind)).saturating_add(FRAME_OVERHEAD + NAMES + COUNTS)
}

/// Returns the frame of evaluation keys. All keys are written out if one of them has no seed.
pub fn write_evaluation_keys<S: Scheme>(keys: &EvaluationKeys<S>) -> Vec<u8> {
    let counts = EvaluationKeyCounts::of(keys);
    let galois = keys.galois.iter().map(|(_, key)| key);
    let mut all = keys.relinearisation.iter().chain(galois).chain(keys.transfers.values());
    let kind =
        if all.all(|key| key.seed().is_some()) { Kind::EvaluationKeys } else { Kind::ExpandedEvaluationKeys };
    frame::write(kind, frame_bytes(&keys.params, counts, kind), |out| {
        out.extend_from_slice(&keys.params.id().0);
        out.extend_from_slice(&keys.key.0);
        out.push(u8::from(counts.relinearisation));
        out.extend_from_slice(&(counts.galois as u32).to_le_bytes());
        out.extend_from_slice(&(counts.transfers as u32).to_le_bytes());
        if let Some(key) = &keys.relinearisation {
            write_switch_key(out, key, kind);
        }
        for (element, key) in keys.galois.iter() {
            out.extend_from_slice(&(element as u32).to_le_bytes());
            write_switch_key(out, key, kind);
        }
        for (from, key) in &keys.transfers {
            out.extend_from_slice(&from.0);
            write_switch_key(out, key, kind);
        }
    })
}

fn write_switch_key(out: &mut Vec<u8>, key: &KeySwitchKey, kind: Kind) {
    match key.seed() {
        Some(seed) if kind == Kind::EvaluationKeys => out.extend_from_slice(&seed.0),
        _ => key.masks().iter().for_each(|mask| write_poly(out, mask)),
    }
    key.bodies().iter().for_each(|body| write_poly(out, body));
}

/// Returns the parameters and key of a frame of evaluation keys of at most `limit` bytes. Checks the digest, not the
/// residues.
///
/// # Errors
/// [`WireError`] if the frame is invalid.
pub fn evaluation_keys_header(bytes: &[u8], limit: u64) -> Result<(ParameterId, KeyId), WireError> {
    let kind = either(bytes, Kind::EvaluationKeys, Kind::ExpandedEvaluationKeys);
    let mut reader = frame::open(bytes, kind, limit)?;
    Ok((reader.parameter_id()?, reader.key_id()?))
}

/// Reads evaluation keys of these parameters, at most `most` of each kind. Allocates keys only after the counts and the
/// payload's length agree.
///
/// # Errors
/// [`WireError`] if the bytes are not the frame of evaluation keys of these parameters, or if there are more keys than
/// `most`.
pub fn read_evaluation_keys<S: Scheme>(
    bytes: &[u8],
    params: &Params<S>,
    most: EvaluationKeyCounts,
) -> Result<EvaluationKeys<S>, WireError> {
    if !params.can_switch_keys() {
        return Err(WireError::Value("these parameters have no evaluation keys: they have no special prime"));
    }
    let kind = either(bytes, Kind::EvaluationKeys, Kind::ExpandedEvaluationKeys);
    let limit = frame_bytes(params, most, kind);
    let mut reader = frame::open(bytes, kind, limit as u64)?;
    let key = check_parameters(&mut reader, params)?;
    let counts = counts(&mut reader, most)?;
    reader.expect_left(counts.bytes(switch_key_bytes(params, kind)))?;
    let mut keys = EvaluationKeys::empty(params, key);
    if counts.relinearisation {
        keys.relinearisation = Some(read_switch_key(&mut reader, params, kind)?);
    }
    let mut last = 0;
    for _ in 0..counts.galois {
        let element = reader.u32()? as usize;
        let map = GaloisMap::new(params.degree(), element).filter(|_| element > last);
        let map = map.ok_or(WireError::Value("Galois elements are odd, below 2n and in ascending order"))?;
        last = element;
        keys.galois.insert(map, read_switch_key(&mut reader, params, kind)?);
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
        keys.transfers.insert(from, read_switch_key(&mut reader, params, kind)?);
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
    kind: Kind,
) -> Result<KeySwitchKey, WireError> {
    let digits = 0..params.digit_count();
    let bodies = |reader: &mut Reader<'_>| -> Result<Vec<_>, WireError> {
        digits.clone().map(|_| read_poly(reader, params.ring(), params.key_limbs())).collect()
    };
    if kind == Kind::ExpandedEvaluationKeys {
        let masks = digits.clone().map(|_| read_mask(reader, params)).collect::<Result<_, _>>()?;
        return Ok(KeySwitchKey::from_pairs(params, bodies(reader)?, masks));
    }
    let seed = Seed(reader.array()?);
    Ok(KeySwitchKey::new(params, SeededKey { bodies: bodies(reader)?, seed }))
}

/// Reads a written-out mask. Refuses zero, which would leave the body's message unhidden.
fn read_mask<S: Scheme>(reader: &mut Reader<'_>, params: &Params<S>) -> Result<Poly<Eval>, WireError> {
    let mask = read_poly(reader, params.ring(), params.key_limbs())?;
    if mask.is_zero() { Err(WireError::Value("the key's mask is zero")) } else { Ok(mask) }
}
