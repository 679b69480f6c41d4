//! Definitions of measurements: TOML files in `lab/definitions`, embedded in the program.

mod chain;
mod comparison;
mod parse;
mod published;
mod scheme;

use serde::Deserialize;
use sotto_harness::protocol::{Program, Values};

pub use chain::{Chain, security_bits};
pub use comparison::{Comparison, Method};
pub use published::{Figure, Paper, Published, Sizes, csv_table};
pub use scheme::Scheme;

/// One file of `lab/definitions`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// Its name, equal to the name of its file.
    pub name: String,
    /// A heading.
    pub title: String,
    /// The purpose and how to read the rows, for people.
    pub about: String,
    /// In the order in which they are measured.
    #[serde(default)]
    pub schemes: Vec<Scheme>,
    /// The values of n.
    #[serde(default)]
    pub degrees: Vec<usize>,
    /// The engines to measure unless the user names others.
    pub engines: Vec<String>,
    /// Parameter sets: one, or several with different names.
    #[serde(default)]
    pub parameters: Vec<Parameters>,
    /// The measured operations.
    #[serde(default)]
    pub operations: Vec<Measurement>,
    /// Comparisons of encrypted readings with a limit, instead of schemes, sizes, parameters and operations.
    #[serde(default)]
    pub comparisons: Vec<Comparison>,
    /// The number of repetitions.
    pub repetitions: Repetitions,
    /// The differences of `--quick`.
    pub quick: Quick,
    /// A program with known answers, which every engine runs before anything is timed.
    pub check: Option<Check>,
    /// Rows that are sums of other rows.
    #[serde(default)]
    pub sums: Vec<Sum>,
    /// True if the report shows schemes side by side in one table.
    #[serde(default)]
    pub across: bool,
    /// True if each round goes over all schemes and parameter sets, which do the same task, and the report shows them in
    /// one table.
    #[serde(default)]
    pub together: bool,
    /// Published figures shown beside the measured ones.
    #[serde(default)]
    pub published: Vec<Published>,
    /// A published table of the times of sums and products of named numbers, shown beside the parameter sets that have
    /// `values`.
    pub sizes: Option<Sizes>,
    /// Published tables that are shown unchanged, because their rows match none of ours.
    #[serde(default)]
    pub papers: Vec<Paper>,
}

/// A row that is the sum of others: the time of doing them one after the other.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sum {
    /// Its name, in place of an operation's.
    pub name: String,
    /// The operations; one that is done twice is listed twice.
    pub parts: Vec<String>,
}

/// Rules that determine the primes of every scheme and size.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Distinguishes the parameter set from others of the definition.
    #[serde(default)]
    pub name: String,
    /// The security profile, by its name.
    pub profile: String,
    /// 128, 192 or 256; 0 if `primes` may be below 128.
    pub security_bits: u32,
    /// t for BFV and BGV.
    pub plain_modulus: u64,
    /// Bits of the data modulus at each n, met within 3 %. Default: the chains of rlwe.
    #[serde(default)]
    pub data_bits: Vec<DataBits>,
    /// The most special primes. Default: each engine's fastest number.
    pub special_primes: Option<usize>,
    /// Bits of every prime, instead of a generated chain.
    pub primes: Option<PrimeBits>,
    /// One value in a plaintext instead of slots, which works with any t.
    #[serde(default)]
    pub scalar: bool,
    /// The two encrypted values if a plaintext holds one. Default: random.
    pub values: Option<[u32; 2]>,
    /// The operations measured with this set; empty for all.
    #[serde(default)]
    pub operations: Vec<String>,
    /// The engines measured with this set; empty for all.
    #[serde(default)]
    pub engines: Vec<String>,
    /// The sweeps that the set belongs to, and its value in each.
    #[serde(default)]
    pub sweeps: std::collections::BTreeMap<String, f64>,
    /// The schemes of this set; empty for all.
    #[serde(default)]
    pub schemes: Vec<Scheme>,
    /// The values of n of this set; empty for all.
    #[serde(default)]
    pub degrees: Vec<usize>,
}

/// The primes of a chain, in bits.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrimeBits {
    /// q_0 … q_L.
    pub data: Vec<u32>,
    /// The primes that only key switching uses.
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
    /// log2 of the modulus, rounded.
    pub bits: u32,
    /// The schemes of this entry; empty for all.
    #[serde(default)]
    pub schemes: Vec<Scheme>,
}

/// One measured operation.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// The operation, by its name in the protocol.
    pub operation: String,
    /// The expected result, for people; engines check it by decryption before they time it.
    pub expected: String,
    /// The codec of `serialise` and `parse`.
    pub codec: Option<String>,
    /// The object of `serialise` and `parse`.
    pub object: Option<String>,
    /// The operation to measure instead if an engine lacks this one.
    pub instead: Option<String>,
    /// The codec to measure instead if an engine lacks this one.
    pub instead_codec: Option<String>,
    /// For tasks with a re-encryption agent: `serial` or `parallel` requests.
    pub mode: Option<String>,
    /// For tasks with a re-encryption agent: the added milliseconds of a trip. The parser makes one measurement for
    /// each.
    #[serde(default)]
    pub latencies: Vec<u32>,
    /// Milliseconds added to each trip to the re-encryption agent: one of the latencies.
    #[serde(skip)]
    pub latency_ms: Option<u32>,
    /// The schemes of this measurement; empty for all.
    #[serde(default)]
    pub schemes: Vec<Scheme>,
    /// True if only parameter sets that name the operation have it.
    #[serde(default)]
    pub only_named: bool,
}

/// Numbers and limits of repetitions.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Repetitions {
    /// Rounds over the engines.
    pub rounds: u32,
    /// The fewest repetitions that count, however long one takes.
    pub least: u32,
    /// The most repetitions of one engine in one round.
    pub most: u32,
    /// Repetitions that are not counted.
    pub warm_up: u32,
    /// About how many seconds one engine spends on one operation, over all rounds.
    pub seconds: f64,
    /// The time limit of the definition; work beyond it becomes gaps that say so.
    pub minutes: f64,
}

/// The shorter variant.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quick {
    /// The values of n of the quick variant; empty for all.
    #[serde(default)]
    pub degrees: Vec<usize>,
    /// Fewer than those of the full variant.
    pub repetitions: Repetitions,
}

/// A program and its answers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// The program, in the protocol's form.
    pub program: Program,
    /// One list of values for each input of the program.
    pub inputs: Vec<Values>,
    /// The first slots of every output.
    pub outputs: Vec<Vec<f64>>,
    /// The largest error of a real answer.
    pub tolerance: f64,
}

/// Name and text of every definition.
const FILES: &[(&str, &str)] = &[
    ("operations", include_str!("../../../definitions/operations.toml")),
    ("seal-2024", include_str!("../../../definitions/seal-2024.toml")),
    ("iot-device-2022", include_str!("../../../definitions/iot-device-2022.toml")),
    ("sizes", include_str!("../../../definitions/sizes.toml")),
    ("thesis-2018", include_str!("../../../definitions/thesis-2018.toml")),
    ("edge-cloud-2023", include_str!("../../../definitions/edge-cloud-2023.toml")),
    ("practical-2022", include_str!("../../../definitions/practical-2022.toml")),
    ("practical-encryption", include_str!("../../../definitions/practical-encryption.toml")),
    ("comparisons", include_str!("../../../definitions/comparisons.toml")),
    ("window-sums", include_str!("../../../definitions/window-sums.toml")),
];

/// Returns the names of all definitions.
pub fn names() -> Vec<&'static str> {
    FILES.iter().map(|(name, _)| *name).collect()
}
