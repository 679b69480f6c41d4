//! What is measured: TOML files in `lab/definitions`, which are in the program.

mod chain;
mod parse;
mod published;
mod scheme;

use serde::Deserialize;
use sotto_lab::protocol::{Program, Values};

pub use chain::{Chain, security_bits};
pub use published::{Figure, Paper, Published, Sizes, csv_table};
pub use scheme::Scheme;

/// One definition.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// Its name, which is that of its file.
    pub name: String,
    /// A heading.
    pub title: String,
    /// What it is for and how to read it, for a person.
    pub about: String,
    /// The schemes.
    pub schemes: Vec<Scheme>,
    /// The values of n.
    pub degrees: Vec<usize>,
    /// The engines that are asked, if nobody asks for others.
    pub engines: Vec<String>,
    /// Parameter sets: one, or several that are told apart by their names.
    pub parameters: Vec<Parameters>,
    /// What is measured.
    pub operations: Vec<Measurement>,
    /// How often.
    pub repetitions: Repetitions,
    /// What changes with `--quick`.
    pub quick: Quick,
    /// A program whose answers are known, run by every engine before anything is timed.
    pub check: Option<Check>,
    /// Rows that are sums of others.
    #[serde(default)]
    pub sums: Vec<Sum>,
    /// Whether schemes stand side by side, in one table.
    #[serde(default)]
    pub across: bool,
    /// Published figures to show beside.
    #[serde(default)]
    pub published: Vec<Published>,
    /// A published table of how long sums and products of named numbers take, to stand beside the parameter sets that have `values`.
    pub sizes: Option<Sizes>,
    /// Published tables that are shown as they are, because their rows are not ours.
    #[serde(default)]
    pub papers: Vec<Paper>,
}

/// A row that is the sum of others: what somebody waits for who does them one after the other.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sum {
    /// Its name, in place of an operation's.
    pub name: String,
    /// The operations; one that is done twice stands there twice.
    pub parts: Vec<String>,
}

/// Rules from which the primes of every scheme and size are made.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Tells it from the others of a definition.
    #[serde(default)]
    pub name: String,
    /// The security profile, by its name.
    pub profile: String,
    /// 128, 192 or 256; 0 where `primes` may be below.
    pub security_bits: u32,
    /// t for BFV and BGV.
    pub plain_modulus: u64,
    /// Bits of the data modulus at each n, met within 3 %; without it the default chains.
    #[serde(default)]
    pub data_bits: Vec<DataBits>,
    /// The most special primes; without it each engine takes as many as suit it best.
    pub special_primes: Option<usize>,
    /// Bits of every prime, in place of a chain that is made.
    pub primes: Option<PrimeBits>,
    /// One value a plaintext in place of slots, which takes any t.
    #[serde(default)]
    pub scalar: bool,
    /// The two values that are encrypted, where a plaintext holds one; random ones, if it names none.
    pub values: Option<[u32; 2]>,
    /// The operations that are measured with it; all, if it names none.
    #[serde(default)]
    pub operations: Vec<String>,
    /// The engines that are asked with it; all, if it names none.
    #[serde(default)]
    pub engines: Vec<String>,
    /// The sweeps that it belongs to, and where it stands there.
    #[serde(default)]
    pub sweeps: std::collections::BTreeMap<String, f64>,
    /// The schemes that it is for; all, if it names none.
    #[serde(default)]
    pub schemes: Vec<Scheme>,
    /// The values of n that it is for; all, if it names none.
    #[serde(default)]
    pub degrees: Vec<usize>,
}

/// The primes of a chain, in bits.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrimeBits {
    /// q_0 … q_L.
    pub data: Vec<u32>,
    /// Those of key switching alone.
    pub special: Vec<u32>,
    /// log2 of the scale, for CKKS.
    pub scale: Option<u32>,
}

/// The data modulus at one n.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataBits {
    /// n.
    pub degree: usize,
    /// Bits.
    pub bits: u32,
    /// The schemes that it is for; all, if it names none.
    #[serde(default)]
    pub schemes: Vec<Scheme>,
}

/// One thing that is timed.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// The operation, by its name in the protocol.
    pub operation: String,
    /// What its result has to be: checked by decryption before it is timed.
    pub expected: String,
    /// For `serialise` and `parse`.
    pub codec: Option<String>,
    /// For `serialise` and `parse`.
    pub object: Option<String>,
    /// What stands in its place where an engine lacks it.
    pub instead: Option<String>,
    /// The codec that stands in its codec's place where an engine lacks that.
    pub instead_codec: Option<String>,
    /// For tasks with an agent: how trips to it are made.
    pub mode: Option<String>,
    /// For tasks with an agent: how far away it is. A list in the file is a measurement for each.
    #[serde(default)]
    pub latencies: Vec<u32>,
    /// Milliseconds that a trip to the agent takes on top of its work: one of the latencies.
    #[serde(skip)]
    pub latency_ms: Option<u32>,
    /// The schemes that have it; all, if it names none.
    #[serde(default)]
    pub schemes: Vec<Scheme>,
    /// Whether only parameter sets that name it have it.
    #[serde(default)]
    pub only_named: bool,
}

/// How often things are done.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Repetitions {
    /// Rounds over the engines.
    pub rounds: u32,
    /// The least repetitions that are counted, however long one takes.
    pub least: u32,
    /// The most repetitions of one engine in one round.
    pub most: u32,
    /// Repetitions that are not counted.
    pub warm_up: u32,
    /// About how many seconds one engine spends on one operation, in all rounds.
    pub seconds: f64,
    /// What the definition may take in all; what would go beyond is left out, and said so.
    pub minutes: f64,
}

/// The shorter variant.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quick {
    /// Its values of n; all, if it names none.
    #[serde(default)]
    pub degrees: Vec<usize>,
    /// Its repetitions.
    pub repetitions: Repetitions,
}

/// A program and its answers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// The program, as the protocol writes it.
    pub program: Program,
    /// Its inputs.
    pub inputs: Vec<Values>,
    /// The first slots of every output.
    pub outputs: Vec<Vec<f64>>,
    /// How far a real answer may be off.
    pub tolerance: f64,
}

/// Every definition: its file's name and text.
const FILES: &[(&str, &str)] = &[
    ("operations", include_str!("../../../definitions/operations.toml")),
    ("seal-2024", include_str!("../../../definitions/seal-2024.toml")),
    ("iot-device-2022", include_str!("../../../definitions/iot-device-2022.toml")),
    ("sizes", include_str!("../../../definitions/sizes.toml")),
    ("thesis-2018", include_str!("../../../definitions/thesis-2018.toml")),
    ("edge-cloud-2023", include_str!("../../../definitions/edge-cloud-2023.toml")),
    ("practical-2022", include_str!("../../../definitions/practical-2022.toml")),
    ("practical-encryption", include_str!("../../../definitions/practical-encryption.toml")),
];

/// The names of all definitions.
pub fn names() -> Vec<&'static str> {
    FILES.iter().map(|(name, _)| *name).collect()
}
