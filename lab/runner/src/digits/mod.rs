//! How many special primes an engine is fastest with: measured once for each chain, and kept in a table that is in the program.
//!
//! As many special primes as a digit has primes; none is key switching without them, where a library has that.

mod search;

use serde::{Deserialize, Serialize};

use crate::definition::{Chain, Definition, names};
use crate::error::RunnerError;
pub use search::{Cell, search};

/// The table; `sotto lab digits` makes it.
const TABLE: &str = include_str!("../../../digits.csv");
/// How the first line of a table begins that the program made.
const MADE: &str = "Made by `sotto lab digits --runs ";
/// The engines that let digits be chosen.
pub const CHOOSERS: [&str; 3] = ["sotto", "openfhe", "lattigo"];
/// Times that differ by less than this factor are taken for equal: the same program differs by as much on a machine that is shared.
const TIE: f64 = 1.25;
/// A product with relinearisation takes that many times as long as a rotation, in BGV and CKKS: both are one key switch.
const ONE_SWITCH: std::ops::RangeInclusive<f64> = 0.8..=1.4;

/// What digits are chosen for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// What needs the relinearisation key.
    Product,
    /// Rotations.
    Rotation,
    /// Keys, and everything else.
    Everything,
}

impl Purpose {
    /// What an operation of the protocol is chosen for.
    pub fn of(operation: &str) -> Self {
        match operation {
            "multiply_relin" => Self::Product,
            "rotate" | "rotate_hoisted" => Self::Rotation,
            task if task.starts_with("task_") => Self::Product,
            _ => Self::Everything,
        }
    }

    /// The factor within which costs are equal.
    fn tie(self) -> f64 {
        if self == Self::Everything { TIE * TIE } else { TIE }
    }
}

/// One engine, one chain, one number of special primes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The engine.
    pub engine: String,
    /// The library's version.
    pub version: String,
    /// The scheme.
    pub scheme: String,
    /// n.
    pub n: usize,
    /// The chain: data primes.
    pub data_primes: usize,
    /// The chain: bits of the data modulus, rounded.
    pub data_bits: u32,
    /// The chain: the most special primes that it has room for.
    pub most_special: usize,
    /// How many were asked for.
    pub special: usize,
    /// Bits of the data modulus that the engine has.
    pub log2_q: f64,
    /// Bits of its whole modulus, if known.
    pub log2_qp: Option<f64>,
    /// Whether that is within the definition's profile at 128 bits.
    pub secure: bool,
    /// The shortest of several products with relinearisation, microseconds; none, if its result was wrong or refused.
    pub multiply_relin_us: Option<f64>,
    /// The shortest of several rotations, microseconds; none, if its result was wrong or refused.
    pub rotate_us: Option<f64>,
}

impl Trial {
    fn is_about(&self, engine: &str, chain: &Key) -> bool {
        self.engine == engine
            && (&self.scheme, self.n, self.data_primes, self.data_bits, self.most_special)
                == (&chain.scheme, chain.n, chain.data_primes, chain.data_bits, chain.most_special)
    }

    /// Whether both times are of a machine that was the same: they are of one key switch each, but for BFV.
    pub fn is_coherent(&self) -> bool {
        let both = self.multiply_relin_us.zip(self.rotate_us).filter(|_| self.scheme != "bfv");
        both.is_none_or(|(product, rotation)| ONE_SWITCH.contains(&(product / rotation)))
    }

    /// What decides. For everything it is the product of both times, which is the least for the best of several; for one
    /// operation its time, or the geometric mean of both where they contradict each other.
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

/// What tells chains apart.
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

/// The trials of the table in the program. What cannot be read is not there.
pub fn table() -> Vec<Trial> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(TABLE.as_bytes());
    reader.deserialize().map_while(Result::ok).collect()
}

/// The number of special primes that an engine is fastest with on a chain, of those that are within its security where there is
/// one; None where the chain says how many, or nothing was measured. Where several are about as fast, one operation stays with
/// the number for everything, and that is the largest of them.
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

/// Every chain of the definitions on which digits are free, once; with its profile and the engines that are asked there.
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

/// The table as it is kept, of so many runs.
pub fn written(trials: &[Trial], runs: u32) -> String {
    format!(
        "# {MADE}{runs}`: the shortest of {runs} interleaved runs. Never edited by hand.\n{}",
        rows(trials)
    )
}

fn rows(trials: &[Trial]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Trials are flat and the writer is memory, so neither can fail.
    trials.iter().for_each(|trial| drop(writer.serialize(trial)));
    writer.into_inner().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
