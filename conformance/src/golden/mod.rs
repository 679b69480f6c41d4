//! Every object of wire version 1 at toy parameters, as bytes that are kept: `vectors/golden`. Later versions of this library
//! must read these files to the same values, and write the same bytes.
//!
//! `cargo run --release --package sotto-conformance --example golden` makes files that are not there yet; one that is there
//! is never replaced.

mod compact;
mod device;
mod fleet;
mod partial;
mod reduced;
mod scheme;
mod transcript;

use std::path::{Path, PathBuf};

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use serde::{Deserialize, Serialize};
use sotto_rlwe::{Bfv, Bgv, Ckks};

pub use compact::{
    COMPACT_SLOTS, GROUPED, PLACES, SLOTS_WINDOW, WEIGHTS, WINDOWS, compact_form, compact_header, grouped,
    slots_header, stream_header, window,
};
pub use device::{DEVICE_SECRET, PASSPHRASE, SIGNING_KEY, envelope_header, plan, position_request};
pub use fleet::{FLEET, fleet_devices, fleet_readings, fleet_stream, fleet_window};
pub use partial::{BATCH, POSITIVE, PartialKeys, SIGNED, agent, partial_keys, requests};
pub use reduced::{plan_with_forms, reduced_from, reductions};
pub use scheme::{insecure_n16, secret, secret_from, slots};
pub use transcript::{
    CLOUD_KEY, cloud_key, cloud_signs, leaves, requested_sums, stream_head, sum_weights, summed_windows,
    transcript_parts, with_receipt,
};

/// Most keys of a golden set of evaluation keys, and one more of each sort.
pub const MOST_KEYS: sotto_wire::EvaluationKeyCounts =
    sotto_wire::EvaluationKeyCounts { relinearisation: true, galois: 4, transfers: 3 };

/// A file of `vectors/golden`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Golden {
    /// Its name.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// What the ciphertexts and keys of one scheme are, beside their bytes: `values.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Values {
    /// The scheme.
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
    /// The parameters' identity, in hexadecimal.
    pub parameter_id: String,
    /// The secret key's name.
    pub key_id: String,
    /// The Galois elements of the evaluation keys.
    pub galois: Vec<usize>,
    /// The keys that the transfer keys lead from.
    pub transfers: Vec<String>,
    /// What each ciphertext is.
    pub ciphertexts: Vec<CiphertextValues>,
}

/// What a ciphertext is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CiphertextValues {
    /// Its file.
    pub file: String,
    /// Its level.
    pub level: usize,
    /// Its components.
    pub components: usize,
    /// Scale or plaintext factor, as the frame has it.
    pub scaling: u64,
    /// Its first slots.
    pub slots: Vec<i64>,
}

/// The folder of the files.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/golden")
}

/// A file that is kept.
pub fn read(name: &str) -> Vec<u8> {
    let path = folder().join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A file, if it is kept already.
fn kept(name: &str) -> Option<Vec<u8>> {
    std::fs::read(folder().join(name)).ok()
}

/// Every file, made anew. What is encrypted is drawn from a fixed generator.
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
    compact::objects(&mut all);
    reduced::objects(&mut all);
    fleet::objects(&mut all);
    transcript::objects(&mut all);
    let json = serde_json::to_vec_pretty(&values).expect("values are written");
    all.push(Golden { name: "values.json".into(), bytes: json });
    all
}
