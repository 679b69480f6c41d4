//! The inputs of measured operations.

use sotto_decrypt::Decryptor;
use sotto_harness::protocol::Values;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::Scratch;
use sotto_rlwe::{Addend, Ciphertext, EvaluationKeys, Multiplier, Plaintext};

use super::clear::Clear;
use crate::error::EngineError;
use crate::session::Session;
use crate::spoken::{Said as _, Spoken, read};

/// Two inputs in every form, keys for products, for the rotation by one and from another secret key, and buffers.
pub(crate) struct Fixture<S: Spoken> {
    pub(super) slots: [Vec<S::Value>; 2],
    pub(super) clear: [Clear; 2],
    pub(super) plain: [Plaintext<S>; 2],
    pub(super) ciphertext: [Ciphertext<S>; 2],
    /// The first input under another secret key.
    pub(super) elsewhere: Ciphertext<S>,
    pub(super) addend: Addend<S>,
    pub(super) multiplier: Multiplier<S>,
    pub(super) keys: EvaluationKeys<S>,
    pub(super) scratch: Scratch,
}

impl<S: Spoken> Fixture<S> {
    pub(super) fn new(session: &mut Session<S>) -> Result<Self, EngineError> {
        let params = session.target.params.clone();
        let (rows, columns) = session.rows_and_columns()?;
        let top = params.top_level();
        let mut make = || S::Value::random(rows * columns, params.plain_modulus(), &mut session.rng);
        let mut slots = [make(), make()];
        for (slots, value) in slots.iter_mut().zip(&session.values) {
            *slots = read::<S>(&Values::Integers(vec![i64::from(*value)]))?;
        }
        let packing = session.packing;
        let encode = |slots: &Vec<S::Value>| packing.encode(&params, slots, top);
        let plain = [encode(&slots[0])?, encode(&slots[1])?];
        let ciphertext = [
            session.public.encrypt(&plain[0], &mut session.rng)?,
            session.public.encrypt(&plain[1], &mut session.rng)?,
        ];
        let other = SecretKey::derive(&DeviceSecret::generate(&mut session.rng), &params);
        let elsewhere = other.public_key(&mut session.rng).encrypt(&plain[0], &mut session.rng)?;
        let mut keys = if params.can_switch_keys() {
            session.secret.evaluation_keys(true, &[1], &mut session.rng)?
        } else {
            EvaluationKeys::empty(&params, session.secret.id())
        };
        if params.can_switch_keys() {
            let transfer = session.secret.transfer_key(&other, &mut session.rng)?;
            keys.transfers.insert(other.id(), transfer);
        }
        let clear = |slots: &Vec<S::Value>| Clear {
            values: S::Value::written(slots, params.plain_modulus()),
            columns,
            modulus: params.plain_modulus(),
        };
        Ok(Self {
            clear: [clear(&slots[0]), clear(&slots[1])],
            addend: Addend::new(&params, &plain[1], top, ciphertext[0].shape().scaling),
            multiplier: Multiplier::new(&params, &plain[1], top),
            slots,
            plain,
            ciphertext,
            elsewhere,
            keys,
            scratch: Scratch::new(),
        })
    }
}

/// The most bits of a scaled message that decryption supports.
const MOST_BITS: f64 = 62.0;

/// Refuses a ciphertext that does not decrypt to `expected`. Rescales a product of reals first if it is not rescaled
/// yet.
pub(super) fn require<S: Spoken>(
    session: &Session<S>,
    ciphertext: &Ciphertext<S>,
    expected: &Clear,
) -> Result<(), EngineError> {
    let noise = ciphertext.shape().noise;
    if !S::EXACT && (noise.message + noise.error).0 > MOST_BITS {
        return require(session, &session.evaluator.drop_modulus(ciphertext)?, expected);
    }
    let decryptor = Decryptor::new(&session.secret);
    let found: Values = session.packing.values(&decryptor, ciphertext)?;
    expected.require(&found, session.slot_error(ciphertext.shape()))
}
