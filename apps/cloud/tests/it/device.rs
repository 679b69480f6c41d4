//! A device: its keys and its envelopes.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};
use sotto_keys::{DeviceSecret, SecretKey, SigningIdentity};
use sotto_rlwe::{EvaluationKeys, Kept, Params, Scheme};
use sotto_wire::{AnyCiphertext, Envelope, EnvelopeHeader};

pub(crate) struct Device<S: Scheme> {
    pub(crate) name: String,
    pub(crate) secret: SecretKey<S>,
    pub(crate) identity: SigningIdentity,
    rng: ChaCha20Rng,
}

impl<S: Scheme> Device<S> {
    pub(crate) fn new(name: &str, params: &Params<S>, seed: u8) -> Self {
        let mut rng = ChaCha20Rng::from_seed([seed; 32]);
        let secret = SecretKey::derive(&DeviceSecret::generate(&mut rng), params);
        let identity = SigningIdentity::generate(&mut rng);
        Self { name: name.into(), secret, identity, rng }
    }

    pub(crate) fn registration(&self) -> Value {
        json!({
            "verifying_key": hex::encode(self.identity.verifying_key()),
            "keys": [{
                "parameter_id": self.secret.params().id().to_string(),
                "key_id": self.secret.id().to_string(),
            }],
        })
    }

    pub(crate) fn evaluation_keys(&mut self, relinearisation: bool, steps: &[i32]) -> EvaluationKeys<S> {
        self.secret.evaluation_keys(relinearisation, steps, &mut self.rng).unwrap()
    }

    /// Returns transfer keys from these devices, and no other keys.
    pub(crate) fn transfer_keys(&mut self, from: &[&Self]) -> EvaluationKeys<S> {
        let mut keys = EvaluationKeys::empty(self.secret.params(), self.secret.id());
        for device in from {
            let key = self.secret.transfer_key(&device.secret, &mut self.rng).unwrap();
            keys.transfers.insert(device.secret.id(), key);
        }
        keys
    }

    /// Returns the frame of a ciphertext.
    pub(crate) fn encrypt(&mut self, values: &[S::Value]) -> Vec<u8> {
        let params = self.secret.params();
        let plaintext = S::encode_slots(params, values, params.top_level()).unwrap();
        let seeded = self.secret.encrypt(&plaintext, &mut self.rng).unwrap();
        AnyCiphertext::Seeded(seeded).write()
    }

    /// Returns the frame of a compact ciphertext of values that repeat over all slots.
    pub(crate) fn encrypt_compact(&mut self, values: &[S::Value]) -> Vec<u8> {
        let params = self.secret.params();
        let plaintext = params.encode_folded(values, 1.0, params.top_level()).unwrap();
        let seeded = self.secret.encrypt(&plaintext, &mut self.rng).unwrap();
        sotto_wire::write_compact(&seeded.compact(Kept::Folded(values.len())).unwrap())
    }

    pub(crate) fn header(&self, sequence: u64) -> EnvelopeHeader {
        EnvelopeHeader {
            device: self.name.clone(),
            stream: "load".into(),
            sequence,
            parameters: self.secret.params().id(),
            key: self.secret.id(),
            started_at: 1_000,
            ended_at: 2_000,
            readings: 3,
            layout: br#"{"block":4}"#.to_vec(),
        }
    }

    /// Returns the frame of an envelope around a ciphertext's frame.
    pub(crate) fn seal(&self, header: EnvelopeHeader, ciphertext: Vec<u8>) -> Vec<u8> {
        Envelope::sign(header, ciphertext, |message| self.identity.sign(message)).unwrap().write()
    }

    /// Returns the frame of an envelope with these values.
    pub(crate) fn envelope(&mut self, sequence: u64, values: &[S::Value]) -> Vec<u8> {
        let ciphertext = self.encrypt(values);
        self.seal(self.header(sequence), ciphertext)
    }
}
