//! Public, relinearisation, Galois and secret keys. Secret keys are read and written unprotected.

use sotto_ring::{Eval, GaloisMap, Poly};
use sotto_rlwe::{GaloisKeys, KeyId, KeySwitchKey, PublicKey};
use zeroize::Zeroizing;

use crate::chain::Chain;
use crate::ciphertext::{self, Fields};
use crate::compression::Compression;
use crate::convention::Convention;
use crate::error::SealError;
use crate::header::{self, HEADER, Header, Writing};
use crate::parameters::ParmsId;
use crate::plaintext::FIELDS;
use crate::reader::Reader;
use crate::version::Version;
use crate::words::{self, ARRAY, Layout, WordForm, parms_id, write_array};

/// Bytes before the keys: `parms_id` and number of slots.
const SLOTS: usize = 32 + 8;

impl<S: Convention> Chain<S> {
    /// Returns the order of the primes of an object at the key level.
    fn order_of_key(&self, id: ParmsId) -> Result<Vec<usize>, SealError> {
        if id == self.key_parms_id() { Ok(self.key_order()) } else { Err(SealError::ParmsId) }
    }

    /// Returns true if a polynomial is over this chain's key limbs. Other parameters may have the same number
    /// of other primes.
    fn holds_key_limbs(&self, poly: &Poly<Eval>) -> bool {
        let (ours, theirs, limbs) = (self.params().ring(), poly.ring(), self.params().key_limbs());
        theirs.degree() == ours.degree()
            && poly.limbs() == limbs
            && limbs.into_iter().all(|limb| theirs.modulus(limb).value() == ours.modulus(limb).value())
    }

    fn key_bytes(&self) -> usize {
        HEADER + ciphertext::largest(self.params().degree(), self.params().key_limbs().len(), 2)
    }

    /// Checks the fields of a public key, and returns its body and mask.
    fn pair(&self, fields: &Fields, polys: Vec<Poly<Eval>>) -> Result<[Poly<Eval>; 2], SealError> {
        if !fields.transformed || fields.scale != 1.0 || fields.factor != 1 {
            return Err(SealError::Value("a key is transformed, and has neither scale nor factor"));
        }
        let pair: [_; 2] =
            polys.try_into().map_err(|_| SealError::Value("a public key has two polynomials"))?;
        if pair[1].is_zero() {
            return Err(SealError::Value("the key's mask is zero"));
        }
        Ok(pair)
    }

    fn key_fields(&self) -> Fields {
        Fields { id: self.key_parms_id(), transformed: true, components: 2, scale: 1.0, factor: 1 }
    }
}

/// Reads a public key. `key` names the secret key that it belongs to.
///
/// # Errors
/// [`SealError`] for bytes that are not a public key of these parameters.
pub fn read_public_key<S: Convention>(
    bytes: &[u8],
    chain: &Chain<S>,
    key: KeyId,
) -> Result<PublicKey<S>, SealError> {
    let order = |id| chain.order_of_key(id);
    let (fields, polys) = header::read(bytes, chain.key_bytes() as u64, |version, members| {
        ciphertext::parse(members, version, chain, order)
    })?;
    let [body, mask] = chain.pair(&fields, polys)?;
    Ok(PublicKey::from_pair(chain.params(), key, body, mask))
}

/// Writes a public key.
///
/// # Errors
/// [`SealError::ParmsId`] for a key of other parameters.
pub fn write_public_key<S: Convention>(
    key: &PublicKey<S>,
    chain: &Chain<S>,
    writing: Writing,
) -> Result<Vec<u8>, SealError> {
    if key.params() != chain.params() {
        return Err(SealError::ParmsId);
    }
    let pair = [key.body().clone(), key.mask().clone()];
    let members =
        ciphertext::compose(&chain.key_fields(), Version::PORTABLE, chain, chain.key_order(), &pair);
    Ok(header::close(&members, Version::PORTABLE, writing.compression))
}

/// Reads relinearisation keys, and returns the one for products of two factors.
///
/// # Errors
/// [`SealError`] for bytes that are not a relinearisation key of these parameters.
pub fn read_relinearisation_key<S: Convention>(
    bytes: &[u8],
    chain: &Chain<S>,
) -> Result<KeySwitchKey, SealError> {
    let mut keys = slots(bytes, chain, 1, 1)?;
    match keys.pop() {
        Some((0, key)) if keys.is_empty() => Ok(key),
        _ => Err(SealError::Value("these are not relinearisation keys")),
    }
}

/// Reads Galois keys, at most `most` of them.
///
/// # Errors
/// [`SealError`] for bytes that are not Galois keys of these parameters, or more keys than `most`.
pub fn read_galois_keys<S: Convention>(
    bytes: &[u8],
    chain: &Chain<S>,
    most: usize,
) -> Result<GaloisKeys, SealError> {
    let degree = chain.params().degree();
    let mut keys = GaloisKeys::default();
    for (slot, key) in slots(bytes, chain, degree as u64, most)? {
        let map = GaloisMap::new(degree, 2 * slot + 1).filter(|_| slot > 0);
        keys.insert(map.ok_or(SealError::Value("there is no such Galois element"))?, key);
    }
    Ok(keys)
}

/// Reads keys, each with the index of its slot. Empty slots are skipped.
fn slots<S: Convention>(
    bytes: &[u8],
    chain: &Chain<S>,
    most_slots: u64,
    most: usize,
) -> Result<Vec<(usize, KeySwitchKey)>, SealError> {
    let params = chain.params();
    if !params.can_switch_keys() {
        return Err(SealError::Level(
            "these parameters have no special prime, so they have no evaluation keys",
        ));
    }
    let keys = most.saturating_mul(params.digit_count()).saturating_mul(chain.key_bytes());
    let limit = (SLOTS + 8 * most_slots as usize).saturating_add(keys);
    // Checks the head before all bytes within the limit are inflated: a few bytes can become gigabytes.
    header::first(bytes, SLOTS, |reader| slot_count(reader, chain, most_slots))?;
    header::read(bytes, limit as u64, |_, reader| {
        let count = slot_count(reader, chain, most_slots)?;
        parse_slots(reader, chain, count, most)
    })
}

/// Reads the number of slots.
fn slot_count<S: Convention>(
    reader: &mut Reader<'_>,
    chain: &Chain<S>,
    most_slots: u64,
) -> Result<u64, SealError> {
    chain.order_of_key(parms_id(reader)?)?;
    let count = reader.u64()?;
    if count > most_slots {
        return Err(SealError::Length { expected: most_slots, found: count });
    }
    Ok(count)
}

fn parse_slots<S: Convention>(
    reader: &mut Reader<'_>,
    chain: &Chain<S>,
    count: u64,
    most: usize,
) -> Result<Vec<(usize, KeySwitchKey)>, SealError> {
    let digits = chain.params().digit_count() as u64;
    let mut found = Vec::new();
    for slot in 0..count {
        let pairs = reader.u64()?;
        if pairs == 0 {
            continue;
        }
        if pairs != digits {
            return Err(SealError::Length { expected: digits, found: pairs });
        }
        if found.len() == most {
            return Err(SealError::Value("more keys than are allowed here"));
        }
        let (mut bodies, mut masks) = (Vec::new(), Vec::new());
        for _ in 0..pairs {
            let order = |id| chain.order_of_key(id);
            let (fields, polys) = ciphertext::nested(reader, chain, order)?;
            let [body, mask] = chain.pair(&fields, polys)?;
            bodies.push(body);
            masks.push(mask);
        }
        found.push((slot as usize, KeySwitchKey::from_pairs(chain.params(), bodies, masks)));
    }
    reader.finish()?;
    Ok(found)
}

/// Writes a relinearisation key.
///
/// # Errors
/// [`SealError::ParmsId`] for a key of other parameters.
pub fn write_relinearisation_key<S: Convention>(
    key: &KeySwitchKey,
    chain: &Chain<S>,
    writing: Writing,
) -> Result<Vec<u8>, SealError> {
    compose_slots(chain, 1, writing, |slot| (slot == 0).then_some(key))
}

/// Writes Galois keys.
///
/// # Errors
/// [`SealError::ParmsId`] for keys of other parameters.
pub fn write_galois_keys<S: Convention>(
    keys: &GaloisKeys,
    chain: &Chain<S>,
    writing: Writing,
) -> Result<Vec<u8>, SealError> {
    let key = |slot| keys.key(2 * slot + 1).map(|(_, key)| key);
    compose_slots(chain, chain.params().degree(), writing, key)
}

fn compose_slots<'k, S: Convention>(
    chain: &Chain<S>,
    count: usize,
    writing: Writing,
    key: impl Fn(usize) -> Option<&'k KeySwitchKey>,
) -> Result<Vec<u8>, SealError> {
    let (params, version) = (chain.params(), Version::PORTABLE);
    let mut out = Vec::new();
    out.extend_from_slice(&chain.key_parms_id().0);
    out.extend_from_slice(&(count as u64).to_le_bytes());
    for slot in 0..count {
        let Some(key) = key(slot) else {
            out.extend_from_slice(&0u64.to_le_bytes());
            continue;
        };
        let mut halves = key.bodies().iter().chain(key.masks());
        if key.bodies().len() != params.digit_count() || !halves.all(|half| chain.holds_key_limbs(half)) {
            return Err(SealError::ParmsId);
        }
        out.extend_from_slice(&(key.bodies().len() as u64).to_le_bytes());
        for (body, mask) in key.bodies().iter().zip(key.masks()) {
            let pair = [body.clone(), mask.clone()];
            let members = ciphertext::compose(&chain.key_fields(), version, chain, chain.key_order(), &pair);
            Header::write(&mut out, version, Compression::None, HEADER + members.len());
            out.extend_from_slice(&members);
        }
    }
    Ok(header::close(&out, version, writing.compression))
}

/// Reads a secret key, which SEAL's files do not protect. Returns s in Eval form over all key limbs.
/// `sotto-keys` makes a key of it, and checks that it is a ternary polynomial.
///
/// # Errors
/// [`SealError`] for bytes that are not a secret key's polynomial of these parameters.
pub fn read_unprotected_secret_key<S: Convention>(
    bytes: &[u8],
    chain: &Chain<S>,
) -> Result<Zeroizing<Poly<Eval>>, SealError> {
    let layout = Layout::new(chain.params(), chain.key_order());
    header::read(bytes, (FIELDS + ARRAY + 8 * layout.words()) as u64, |_, reader| {
        chain.order_of_key(parms_id(reader)?)?;
        let (count, scale) = (reader.u64()?, reader.f64()?);
        if scale != 1.0 {
            return Err(SealError::Value("a secret key has no scale"));
        }
        words::single(reader, &layout, count)
    })
}

/// Writes a secret key for SEAL, unprotected: anybody with the bytes can read all data encrypted under the
/// key. Never compressed, because encoders do not wipe their buffers, and residues hardly compress.
///
/// # Errors
/// [`SealError::ParmsId`] for a polynomial of other parameters.
pub fn write_unprotected_secret_key<S: Convention>(
    secret: &Poly<Eval>,
    chain: &Chain<S>,
) -> Result<Zeroizing<Vec<u8>>, SealError> {
    let layout = Layout::new(chain.params(), chain.key_order());
    if !chain.holds_key_limbs(secret) {
        return Err(SealError::ParmsId);
    }
    let count = layout.words();
    let mut members = Zeroizing::new(Vec::with_capacity(FIELDS + ARRAY + 8 * count));
    members.extend_from_slice(&chain.key_parms_id().0);
    members.extend_from_slice(&(count as u64).to_le_bytes());
    members.extend_from_slice(&1f64.to_le_bytes());
    write_array(&mut members, Version::PORTABLE, count);
    layout.write(&mut members, secret, WordForm::Transformed);
    Ok(Zeroizing::new(header::close(&members, Version::PORTABLE, Compression::None)))
}
