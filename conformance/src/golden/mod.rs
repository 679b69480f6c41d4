//! Golden files (`vectors/golden`): the kept bytes of every object of wire version 1 at toy parameters. Later versions
//! of this library must read them to the same values, and write the same bytes.
//!
//! `cargo run --release --package sotto-conformance --example golden` makes missing files; it never replaces a file.

mod device;
mod partial;
mod reduced;
mod scheme;
mod slots;
mod sums;
mod transcript;

use std::path::{Path, PathBuf};

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use serde::{Deserialize, Serialize};
use sotto_rlwe::{Bfv, Bgv, Ckks};

pub use device::{
    PASSPHRASE, SIGNING_KEY, envelope_header, heads_request, order, plan, position_request, roll_up,
};
pub use partial::{BATCH, POSITIVE, PartialKeys, SIGNED, agent, partial_keys, requests};
pub use reduced::{plan_with_forms, reduced_from, reductions};
pub use scheme::{DEVICE_SECRET, insecure_n16, secret, secret_from, slots};
pub use slots::{COMPACT_SLOTS, GROUPED, SLOTS_WINDOW, grouped, slots_header, slots_mask};
pub use sums::{
    SUMS_EDGES, SUMS_SECRET, SUMS_WEIGHTS, log_page, sums_group, sums_header, sums_heads, sums_readings,
    sums_windows,
};
pub use transcript::{
    CLOUD_KEY, cloud_key, cloud_signs, leaves, logged_windows, stream_head, transcript_parts, with_receipt,
};

/// Limits for reading golden evaluation keys: one Galois and one transfer key more than the set has.
pub const MOST_KEYS: sotto_wire::EvaluationKeyCounts =
    sotto_wire::EvaluationKeyCounts { relinearisation: true, galois: 4, transfers: 3 };

/// A file of `vectors/golden`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Golden {
    /// The file's name, with its ending.
    pub name: String,
    /// The whole file.
    pub bytes: Vec<u8>,
}

/// The contents of one scheme's ciphertexts and keys, beside their bytes: `values.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Values {
    /// The scheme's name.
    pub scheme: String,
    /// n.
    pub degree: usize,
    /// Special primes.
    pub special: Vec<u64>,
    /// Data primes.
    pub data: Vec<u64>,
    /// Data primes a digit.
    pub digit_primes: usize,
    /// t, or log2 of the scale.
    pub plain: u64,
    /// The id of the parameters, in hexadecimal.
    pub parameter_id: String,
    /// The id of the secret key, in hexadecimal.
    pub key_id: String,
    /// The Galois elements of the evaluation keys.
    pub galois: Vec<usize>,
    /// Ids of the keys that the transfer keys lead from.
    pub transfers: Vec<String>,
    /// The contents of each ciphertext.
    pub ciphertexts: Vec<CiphertextValues>,
}

/// The contents of a ciphertext.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CiphertextValues {
    /// The name of the file that holds it.
    pub file: String,
    /// Index of the highest data prime left.
    pub level: usize,
    /// Number of polynomials: 2 or 3.
    pub components: usize,
    /// Power of the scale or plaintext factor, as in the frame.
    pub scaling: u64,
    /// Its first slots.
    pub slots: Vec<i64>,
}

/// The folder of the golden files.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/golden")
}

/// Reads a golden file.
///
/// # Panics
/// If the file is missing.
pub fn read(name: &str) -> Vec<u8> {
    let path = folder().join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Reads a golden file; None if it is missing.
fn kept(name: &str) -> Option<Vec<u8>> {
    std::fs::read(folder().join(name)).ok()
}

/// Makes every file anew. A generator with a fixed seed draws the encrypted values and the randomness.
pub fn make() -> Vec<Golden> {
    let mut rng = ChaCha20Rng::from_seed([6; 32]);
    let mut all = Vec::new();
    let values = [
        scheme::objects::<Bfv>(&mut all, &mut rng),
        scheme::objects::<Bgv>(&mut all, &mut rng),
        scheme::objects::<Ckks>(&mut all, &mut rng),
    ];
    let seeded = all.iter().find(|golden| golden.name == "bfv-seeded.bin").map(|golden| golden.bytes.clone());
    device::objects(&mut all, seeded.unwrap_or_default(), &mut rng);
    partial::objects(&mut all);
    slots::objects(&mut all);
    reduced::objects(&mut all);
    transcript::objects(&mut all);
    sums::objects(&mut all);
    let json = serde_json::to_vec_pretty(&values).expect("values are written");
    all.push(Golden { name: "values.json".into(), bytes: json });
    all
}
