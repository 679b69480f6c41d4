//! The cases of `expand-exact` and `expand-real`. `V` is a value: `i64`, or `f64` in CKKS.

use serde::Deserialize;
use sotto_ring::Seed;
use sotto_rlwe::Kept;

use super::{CiphertextAnswer, Limb, Limbs, seed};

/// One case: a chain and a form; two windows expanded, and both results in one ciphertext.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpandCase<V> {
    pub scheme: String,
    pub degree: usize,
    pub special: Limb,
    pub data: Limb,
    pub plain_modulus: Option<u64>,
    pub scale_bits: Option<u64>,
    pub scales: Option<Vec<f64>>,
    pub kept: KeptAnswer,
    pub secret: Vec<i64>,
    pub galois_keys: Vec<ExpansionKeyAnswer>,
    pub windows: [ExpandedAnswer<V>; 2],
    pub together: Option<TogetherAnswer<V>>,
}

/// The form of a body.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind", content = "places", deny_unknown_fields)]
pub enum KeptAnswer {
    Whole(usize),
    Folded(usize),
}

impl From<KeptAnswer> for Kept {
    fn from(kept: KeptAnswer) -> Self {
        match kept {
            KeptAnswer::Whole(places) => Self::Whole(places),
            KeptAnswer::Folded(places) => Self::Folded(places),
        }
    }
}

/// The randomness of a Galois key.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpansionKeyAnswer {
    pub step: i32,
    pub galois_element: usize,
    #[serde(deserialize_with = "seed")]
    pub seed: Seed,
    pub errors: Vec<Vec<i64>>,
}

/// A window, and its residues that travel, limb by limb.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompactSlotsAnswer<V> {
    pub values: Vec<V>,
    pub message: Vec<i64>,
    #[serde(deserialize_with = "seed")]
    pub seed: Seed,
    pub error: Vec<i64>,
    pub sent: Limbs,
}

/// A window and its expansion.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpandedAnswer<V> {
    pub window: CompactSlotsAnswer<V>,
    pub steps: Vec<[Limbs; 2]>,
    pub expanded: CiphertextAnswer<V>,
}

/// Both results in one ciphertext.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TogetherAnswer<V> {
    pub components: [Limbs; 2],
    pub values: Vec<Vec<V>>,
}
