//! What is measured: TOML files in `lab/definitions`, which are in the program.

mod chain;
mod parse;
mod published;

use serde::Deserialize;
use sotto_lab::protocol::{Program, Values};

pub use chain::{Chain, security_bits};
pub use published::{Figure, Published};

/// A scheme that definitions name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Integers modulo t.
    Bfv,
    /// Integers modulo t.
    Bgv,
    /// Real numbers, approximate.
    Ckks,
}

impl Scheme {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Bfv, Self::Bgv, Self::Ckks];

    /// Its name as the protocol has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bfv => "bfv",
            Self::Bgv => "bgv",
            Self::Ckks => "ckks",
        }
    }

    /// By its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.name() == name)
    }
}

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
    /// Published figures to show beside.
    #[serde(default)]
    pub published: Vec<Published>,
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
    /// 128, 192 or 256.
    pub security_bits: u32,
    /// t for BFV and BGV.
    pub plain_modulus: u64,
    /// Bits of the data modulus at each n, met within 3 %; without it the default chains.
    #[serde(default)]
    pub data_bits: Vec<DataBits>,
    /// The most special primes; without it each engine takes as many as suit it best.
    pub special_primes: Option<usize>,
    /// The schemes that it is for; all, if it names none.
    #[serde(default)]
    pub schemes: Vec<Scheme>,
    /// The values of n that it is for; all, if it names none.
    #[serde(default)]
    pub degrees: Vec<usize>,
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
    /// The schemes that have it; all, if it names none.
    #[serde(default)]
    pub schemes: Vec<Scheme>,
}

/// How often things are done.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Repetitions {
    /// Rounds over the engines.
    pub rounds: u32,
    /// Rounds that are made however long one takes; with 0 one repetition is enough for what is slow.
    pub least_rounds: u32,
    /// The most repetitions of one engine in one round.
    pub most: u32,
    /// Repetitions that are not counted.
    pub warm_up: u32,
    /// About how many seconds one engine spends on one operation, in all rounds.
    pub seconds: f64,
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
];

/// The names of all definitions.
pub fn names() -> Vec<&'static str> {
    FILES.iter().map(|(name, _)| *name).collect()
}
