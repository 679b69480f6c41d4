//! The cases of `bfv`, `bgv` and `ckks`. `V` is a slot's value: `i64`, or `f64` in CKKS.

use serde::Deserialize;
use sotto_ring::Seed;

use super::{Limb, Limbs, seed};

/// One case: a scheme and a chain with two ciphertexts, their product, a rotation and a drop, and all intermediates.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemeCase<V> {
    pub degree: usize,
    pub special: Limb,
    pub data: Limb,
    pub plain_modulus: Option<u64>,
    pub scale_bits: Option<u64>,
    pub scales: Option<Vec<f64>>,
    pub secret: Vec<i64>,
    pub public_key: PublicKeyAnswer,
    pub relinearisation_key: KeySwitchKeyAnswer,
    pub galois_key: GaloisKeyAnswer,
    pub left: LeftAnswer<V>,
    pub right: RightAnswer<V>,
    pub sum: CiphertextAnswer<V>,
    pub product: CiphertextAnswer<V>,
    pub product_intermediates: Option<ProductIntermediates>,
    pub relinearised: SwitchedAnswer<V>,
    pub dropped: CiphertextAnswer<V>,
    pub rotated: SwitchedAnswer<V>,
    pub dropped_rotated: SwitchedAnswer<V>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublicKeyAnswer {
    #[serde(deserialize_with = "seed")]
    pub seed: Seed,
    pub error: Vec<i64>,
    pub body: Limbs,
    pub mask: Limbs,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeySwitchKeyAnswer {
    #[serde(deserialize_with = "seed")]
    pub seed: Seed,
    pub digits: Vec<PairAnswer>,
}

/// A key-switching key with its automorphism.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GaloisKeyAnswer {
    pub step: i32,
    pub galois_element: usize,
    #[serde(deserialize_with = "seed")]
    pub seed: Seed,
    pub digits: Vec<PairAnswer>,
}

/// One digit of a key-switching key.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairAnswer {
    pub error: Vec<i64>,
    pub body: Limbs,
    pub mask: Limbs,
}

/// Encrypted with the secret key.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftAnswer<V> {
    pub slots: Option<Vec<V>>,
    pub message: Vec<i64>,
    #[serde(deserialize_with = "seed")]
    pub seed: Seed,
    pub error: Vec<i64>,
    pub ciphertext: CiphertextAnswer<V>,
}

/// Encrypted with the public key.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RightAnswer<V> {
    pub slots: Option<Vec<V>>,
    pub message: Vec<i64>,
    pub ternary: Vec<i64>,
    pub errors: [Vec<i64>; 2],
    pub ciphertext: CiphertextAnswer<V>,
}

/// A ciphertext and its decryption.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CiphertextAnswer<V> {
    pub level: usize,
    pub factor: u64,
    pub power: u64,
    pub components: Vec<Limbs>,
    pub phase: Limbs,
    pub message: Option<Vec<i64>>,
    pub slots: Option<Vec<V>>,
}

/// Operands and tensor of a BFV product before the division.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProductIntermediates {
    pub auxiliary: Vec<u64>,
    pub left: [Limbs; 2],
    pub right: [Limbs; 2],
    pub tensor: [Limbs; 3],
}

/// The result of key switching.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchedAnswer<V> {
    pub key_switch: KeySwitchAnswer,
    pub ciphertext: CiphertextAnswer<V>,
}

/// The steps of key switching.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeySwitchAnswer {
    pub input: Limbs,
    pub digits: Vec<Limbs>,
    pub accumulators: [Limbs; 2],
    pub output: [Limbs; 2],
}
