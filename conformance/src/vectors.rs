//! The known answers of `conformance/vectors`, described in `vectors/README.md`: one struct a file, one field a name.
//! An unknown field is an error, so that no part of a file goes unread by mistake.

#![allow(missing_docs)] // the README documents the fields

mod expand;
mod limbs;
mod scheme;
mod transcript;

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use sotto_ring::Seed;

pub use expand::{
    CompactSlotsAnswer, ExpandCase, ExpandedAnswer, ExpansionKeyAnswer, KeptAnswer, TogetherAnswer,
};
pub use limbs::{assert_limbs, poly};
pub use scheme::{
    CiphertextAnswer, GaloisKeyAnswer, KeySwitchAnswer, KeySwitchKeyAnswer, LeftAnswer, PairAnswer,
    ProductIntermediates, PublicKeyAnswer, RightAnswer, SchemeCase, SwitchedAnswer,
};
pub use transcript::{ReceiptAnswer, Transcripts};

/// Residues modulo one prime.
pub type Limb = Vec<u64>;
/// Limbs in the order of the basis.
pub type Limbs = Vec<Limb>;

/// A file of cases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases<T> {
    cases: Vec<T>,
}

fn read<T: DeserializeOwned>(name: &str) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors").join(name).with_extension("json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Reads the cases of a file.
///
/// # Panics
/// If the file is missing or malformed, or has no case.
pub fn cases<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let file: Cases<T> = read(name);
    assert!(!file.cases.is_empty(), "{name} has no case");
    file.cases
}

/// The file `transcripts`.
pub fn transcripts() -> Transcripts {
    read("transcripts")
}

/// The file `encode`.
pub fn encode() -> Encode {
    read("encode")
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackingCase {
    pub degree: usize,
    pub primes: Vec<u64>,
    pub residues: Limbs,
    pub bytes: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReducedCase {
    pub scheme: String,
    pub degree: usize,
    pub data: Limb,
    pub plain: u64,
    pub width: u32,
    pub spacing: usize,
    pub count: usize,
    pub components: [Limbs; 2],
    pub body: Limb,
    pub mask: Limb,
    pub lifted: [Limbs; 2],
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NttCase {
    pub degree: usize,
    pub modulus: u64,
    pub root: u64,
    pub input: Limb,
    pub output: Limb,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainCase {
    pub scheme: String,
    pub degree: usize,
    pub special_bits: Vec<u32>,
    pub data_bits: Vec<u32>,
    pub scale_bits: Option<u64>,
    pub special: Vec<u64>,
    pub data: Vec<u64>,
    pub scales_log2: Option<Vec<f64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConversionCase {
    pub from: Vec<u64>,
    pub to: Vec<u64>,
    pub input: Limbs,
    pub output: Limbs,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DivideCase {
    pub primes: Vec<u64>,
    pub dropped: Vec<usize>,
    pub rounding: String,
    pub plain_modulus: Option<u64>,
    pub input: Limbs,
    pub output: Limbs,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeedCase {
    #[serde(deserialize_with = "seed")]
    pub seed: Seed,
    pub domain: u8,
    pub limb: usize,
    pub modulus: u64,
    pub degree: usize,
    #[serde(deserialize_with = "streams")]
    pub streams: [Vec<u8>; 2],
    pub residues: Limb,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GaloisCase {
    pub degree: usize,
    pub galois_element: usize,
    pub step: Option<i32>,
    pub permutation: Vec<u32>,
    pub modulus: u64,
    pub input: Limb,
    pub output: Limb,
    pub input_evaluated: Limb,
    pub output_evaluated: Limb,
}

/// The file `encode`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encode {
    pub batching: Vec<BatchingCase>,
    pub embedding: Vec<EmbeddingCase>,
    pub complex: Vec<ComplexCase>,
}

/// A BFV or BGV case of `encode`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchingCase {
    pub degree: usize,
    pub plain_modulus: u64,
    pub root: u64,
    pub slot_indices: Vec<usize>,
    pub slots: Vec<u64>,
    pub coefficients: Vec<u64>,
}

/// A CKKS case of `encode` with real slots.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbeddingCase {
    pub degree: usize,
    pub scale_bits: u64,
    pub slots: Vec<f64>,
    pub coefficients: Vec<i64>,
}

/// A CKKS case of `encode` with complex slots.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComplexCase {
    pub degree: usize,
    pub scale_bits: u64,
    pub slots: Vec<(f64, f64)>,
    pub coefficients: Vec<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScaleCase {
    pub degree: usize,
    pub scale_bits: u64,
    pub special: Vec<u64>,
    pub data: Vec<u64>,
    pub ratios: Vec<String>,
    pub matches: Vec<(usize, usize, i64)>,
}

fn bytes<E: serde::de::Error>(text: &str) -> Result<Vec<u8>, E> {
    hex::decode(text).map_err(E::custom)
}

pub(crate) fn seed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Seed, D::Error> {
    let bytes = bytes(&String::deserialize(deserializer)?)?;
    let wrong = |b: Vec<u8>| serde::de::Error::invalid_length(b.len(), &"the bytes of a seed");
    Ok(Seed(bytes.try_into().map_err(wrong)?))
}

fn streams<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[Vec<u8>; 2], D::Error> {
    let [main, redrawn] = <[String; 2]>::deserialize(deserializer)?;
    Ok([bytes(&main)?, bytes(&redrawn)?])
}
