//! The number of special primes with which an engine is fastest: measured once for each chain, and kept in an embedded
//! table.
//!
//! A digit of key switching has as many data primes as there are special primes; 0 means key switching without special
//! primes, if the library has that.

mod search;

use serde::{Deserialize, Serialize};

use crate::definition::{Chain, Definition, names};
use crate::error::RunnerError;
pub use search::{Cell, search};

/// The table; `sotto-lab digits` writes it.
const TABLE: &str = include_str!("../../../digits.csv");
/// The beginning of the first line of a table that the program wrote.
const MADE: &str = "Made by `sotto-lab digits --runs ";
/// The engines that offer a choice of digits.
pub const CHOOSERS: [&str; 3] = ["sotto", "openfhe", "lattigo"];
/// Times within this factor count as equal: on a shared machine, times of one program differ this much.
const TIE: f64 = 1.25;
/// The time of a product with relinearisation divided by that of a rotation, in BGV and CKKS: both are one key switch.
const ONE_SWITCH: std::ops::RangeInclusive<f64> = 0.8..=1.4;

/// The operations that a choice of digits is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Operations with the relinearisation key.
    Product,
    /// Operations with a Galois key, and the switch from one secret key to another.
    Rotation,
    /// Keys, and all other operations.
    Everything,
}

impl Purpose {
    /// Returns the purpose of an operation of the protocol.
    pub fn of(operation: &str) -> Self {
        match operation {
            "multiply_relin" => Self::Product,
            "rotate" | "rotate_hoisted" | "switch_keys" => Self::Rotation,
            task if task.starts_with("task_") => Self::Product,
            _ => Self::Everything,
        }
    }

    /// Returns the factor within which costs count as equal.
    fn tie(self) -> f64 {
        if self == Self::Everything { TIE * TIE } else { TIE }
    }
}

/// The measurement of one engine on one chain with one number of special primes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The engine's name.
    pub engine: String,
    /// The library's version.
    pub version: String,
    /// The scheme's name.
    pub scheme: String,
    /// The ring's degree.
    pub n: usize,
    /// The chain: data primes.
    pub data_primes: usize,
    /// The chain: bits of the data modulus, rounded.
    pub data_bits: u32,
    /// The chain: the most special primes that it has room for.
    pub most_special: usize,
    /// The requested number of special primes.
    pub special: usize,
    /// Bits of the engine's data modulus.
    pub log2_q: f64,
    /// Bits of the engine's whole modulus, if known.
    pub log2_qp: Option<f64>,
    /// True if the whole modulus is within the definition's profile at 128 bits.
    pub secure: bool,
    /// The shortest of several products with relinearisation, in microseconds; None if a result was wrong or refused.
    pub multiply_relin_us: Option<f64>,
    /// The shortest of several rotations, in microseconds; None if a result was wrong or refused.
    pub rotate_us: Option<f64>,
}

impl Trial {
    fn is_about(&self, engine: &str, chain: &Key) -> bool {
        self.engine == engine
            && (&self.scheme, self.n, self.data_primes, self.data_bits, self.most_special)
                == (&chain.scheme, chain.n, chain.data_primes, chain.data_bits, chain.most_special)
    }

    /// Returns true if both times agree: in BGV and CKKS each is one key switch, so that a larger ratio means a
    /// disturbed machine.
    pub fn is_coherent(&self) -> bool {
        let both = self.multiply_relin_us.zip(self.rotate_us).filter(|_| self.scheme != "bfv");
        both.is_none_or(|(product, rotation)| ONE_SWITCH.contains(&(product / rotation)))
    }

    /// Returns the cost that decides. For `Everything` it is the product of both times; for one operation its own time,
    /// or the geometric mean of both times if they contradict each other.
    fn cost(&self, purpose: Purpose) -> Option<f64> {
        let both = self.multiply_relin_us.zip(self.rotate_us).map(|(product, rotation)| product * rotation);
        match purpose {
            Purpose::Everything => both,
            _ if !self.is_coherent() => both.map(f64::sqrt),
            Purpose::Product => self.multiply_relin_us,
            Purpose::Rotation => self.rotate_us,
        }
    }
}

/// Identifies a chain.
struct Key {
    scheme: String,
    n: usize,
    data_primes: usize,
    data_bits: u32,
    most_special: usize,
}

impl Key {
    fn of(chain: &Chain) -> Option<Self> {
        let spec = chain.spec.as_ref().filter(|_| chain.free_digits)?;
        Some(Self {
            scheme: chain.scheme.name().to_owned(),
            n: chain.degree,
            data_primes: spec.data.len(),
            data_bits: spec.data_bits().round() as u32,
            most_special: spec.special.len(),
        })
    }
}

/// Returns the embedded table's trials, up to the first line that cannot be read.
pub fn table() -> Vec<Trial> {
    read(TABLE)
}

/// Returns a table's trials, up to the first line that cannot be read.
pub fn read(table: &str) -> Vec<Trial> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(table.as_bytes());
    reader.deserialize().map_while(Result::ok).collect()
}

/// Returns the trials of a chain by an engine, unless there are none or the times of one contradict each other.
pub fn settled(trials: &[Trial], engine: &str, chain: &Chain) -> Option<Vec<Trial>> {
    let key = Key::of(chain)?;
    let of: Vec<Trial> = trials.iter().filter(|trial| trial.is_about(engine, &key)).cloned().collect();
    (!of.is_empty() && of.iter().all(Trial::is_coherent)).then_some(of)
}

/// Returns the engine's fastest number of special primes on a chain, among the secure ones if there are any. None if
/// the chain fixes the number, or nothing was measured. If several are equally fast, a single operation keeps the
/// number for everything, and that number is the largest of them.
pub fn best(engine: &str, chain: &Chain, trials: &[Trial], purpose: Purpose) -> Option<usize> {
    let key = Key::of(chain)?;
    let of: Vec<&Trial> = trials.iter().filter(|trial| trial.is_about(engine, &key)).collect();
    let everything = fastest(&of, Purpose::Everything, None);
    if purpose == Purpose::Everything { everything } else { fastest(&of, purpose, everything) }
}

fn fastest(trials: &[&Trial], purpose: Purpose, usual: Option<usize>) -> Option<usize> {
    let of = |secure: bool| {
        let right = trials.iter().filter(|trial| trial.secure || !secure);
        let costs: Vec<(usize, f64)> =
            right.filter_map(|trial| Some((trial.special, trial.cost(purpose)?))).collect();
        let least = costs.iter().map(|(_, cost)| *cost).min_by(f64::total_cmp)?;
        let tied = costs.into_iter().filter(|(_, cost)| *cost <= least * purpose.tie());
        let tied: Vec<usize> = tied.map(|(special, _)| special).collect();
        usual.filter(|usual| tied.contains(usual)).or(tied.into_iter().max())
    };
    of(true).or_else(|| of(false))
}

/// Returns every chain with free digits of the definitions, without repetition, with its profile and its engines.
///
/// # Errors
/// Those of [`Definition::named`] and [`Parameters::chain`](crate::definition::Parameters::chain).
pub fn chains() -> Result<Vec<(Chain, String, Vec<String>)>, RunnerError> {
    let mut found: Vec<(Chain, String, Vec<String>)> = Vec::new();
    for name in names() {
        let definition = Definition::named(name)?;
        for parameters in &definition.parameters {
            for (degree, scheme) in
                definition.degrees.iter().flat_map(|n| definition.schemes.iter().map(move |s| (*n, *s)))
            {
                if !parameters.covers(scheme, degree) || !scheme.has_ring() {
                    continue;
                }
                let chain = parameters.chain(scheme, degree)?;
                let Some(key) = Key::of(&chain) else { continue };
                let same = |known: &&mut (Chain, String, Vec<String>)| {
                    let other = Key::of(&known.0);
                    other.is_some_and(|other| {
                        (other.scheme, other.n, other.data_primes, other.data_bits, other.most_special)
                            == (key.scheme.clone(), key.n, key.data_primes, key.data_bits, key.most_special)
                    })
                };
                match found.iter_mut().find(same) {
                    Some((_, _, engines)) => engines.extend(definition.engines.iter().cloned()),
                    None => found.push((chain, parameters.profile.clone(), definition.engines.clone())),
                }
            }
        }
    }
    found.sort_by_key(|(chain, _, _)| chain.degree);
    Ok(found)
}

/// Returns the table's text, for the number of runs.
pub fn written(trials: &[Trial], runs: u32) -> String {
    format!(
        "# {MADE}{runs}`: the shortest of {runs} interleaved runs. Never edited by hand.\n{}",
        rows(trials)
    )
}

fn rows(trials: &[Trial]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Trials are flat and the writer is in memory, so that neither can fail.
    trials.iter().for_each(|trial| drop(writer.serialize(trial)));
    writer.into_inner().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
