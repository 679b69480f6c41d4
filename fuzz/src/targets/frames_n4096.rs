//! The frames of `frames` at n = 4096, where residues pass through the kernels of real parameters.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng as _;
use sotto_conformance::{Testable, golden};
use sotto_keys::SigningIdentity;
use sotto_rlwe::{Bfv, Bgv, Ckks, Params};
use sotto_wire::{AnyCiphertext, Envelope, EnvelopeHeader, write_evaluation_keys, write_public_key};

use super::frames::{Reader, ciphertext, envelope, evaluation_keys, public_key};
use super::{Inputs, Target, once};

/// Memory as at n = 16 (copies, and residues of less than 64 bits in 64), and the computation at n = 4096.
fn ciphertexts(bytes: &[u8]) -> usize {
    3 * bytes.len() + (8 << 20)
}

fn keys(bytes: &[u8]) -> usize {
    8 * bytes.len() + (1 << 20)
}

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    Target { name: "n4096-ciphertext-bfv", run: |bytes| ciphertext(bfv(), bytes), inputs: Inputs::MadeAnew(|| frames(bfv())), memory: ciphertexts },
    Target { name: "n4096-ciphertext-bgv", run: |bytes| ciphertext(bgv(), bytes), inputs: Inputs::MadeAnew(|| frames(bgv())), memory: ciphertexts },
    Target { name: "n4096-ciphertext-ckks", run: |bytes| ciphertext(ckks(), bytes), inputs: Inputs::MadeAnew(|| frames(ckks())), memory: ciphertexts },
    Target { name: "n4096-public-key", run: |bytes| public_key(&bfv().params, bytes), inputs: Inputs::MadeAnew(public_keys), memory: keys },
    Target { name: "n4096-evaluation-keys", run: |bytes| evaluation_keys(&bfv().params, bytes), inputs: Inputs::MadeAnew(evaluation_key_frames), memory: keys },
    Target { name: "n4096-envelope", run: envelope, inputs: Inputs::MadeAnew(envelopes), memory: ciphertexts },
];

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([4; 32])
}

fn reader<S: Testable>() -> Reader<S> {
    let params = Params::<S>::default_chain(4096, S::plain_modulus(4096)).expect("default parameters");
    let keys = golden::secret(&params).evaluation_keys(params.can_switch_keys(), &[1], &mut rng());
    Reader::new(params, keys.expect("keys"))
}

fn bfv() -> &'static Reader<Bfv> {
    once!(Reader<Bfv>, reader())
}

fn bgv() -> &'static Reader<Bgv> {
    once!(Reader<Bgv>, reader())
}

fn ckks() -> &'static Reader<Ckks> {
    once!(Reader<Ckks>, reader())
}

/// Returns a fresh ciphertext, the same written out, and one at the lowest level.
fn frames<S: Testable>(reader: &Reader<S>) -> Vec<Vec<u8>> {
    let params = &reader.params;
    let slots: Vec<S::Value> = (0..100).map(|i| S::small(i % 9 - 4)).collect();
    let plain = S::encode_slots(params, &slots, params.top_level()).expect("encodes").declare_magnitude(4.0);
    let seeded = reader.secret.encrypt(&plain, &mut rng()).expect("encrypts");
    let expanded = seeded.expand();
    let mut frames = vec![AnyCiphertext::Seeded(seeded).write()];
    if let Ok(lower) = reader.evaluator.lower(&expanded, 0) {
        frames.push(AnyCiphertext::Expanded(lower).write());
    }
    frames.push(AnyCiphertext::Expanded(expanded).write());
    frames
}

fn public_keys() -> Vec<Vec<u8>> {
    vec![write_public_key(&bfv().secret.public_key(&mut rng()))]
}

fn evaluation_key_frames() -> Vec<Vec<u8>> {
    vec![write_evaluation_keys(&bfv().keys)]
}

fn envelopes() -> Vec<Vec<u8>> {
    let (reader, identity) = (bfv(), SigningIdentity::from_bytes(&golden::SIGNING_KEY));
    let (parameters, key) = (reader.params.id(), reader.secret.id());
    let header = EnvelopeHeader { parameters, key, ..golden::envelope_header() };
    // Signed by another device: the target compares everything that its own key verifies with a single header.
    let body = frames(reader).swap_remove(0);
    let envelope = Envelope::sign(header, body, |message| {
        let mut signature = identity.sign(message);
        signature[0] ^= 1;
        signature
    });
    envelope.map(|envelope| envelope.write()).into_iter().collect()
}
