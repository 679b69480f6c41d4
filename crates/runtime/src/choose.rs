//! The choice of parameters: the smallest default parameters on which programs can be lowered.

use sotto_program::{LowerError, Program, magnitudes};
use sotto_ring::primes;
use sotto_rlwe::{DefaultChain, Origin, ParameterError, Params, SchemeId};

use crate::lower::{Encoding, Lowered, RlweTarget};
use crate::managed::Managed;

/// Requirements on the parameters.
///
/// Example: [`Choice`]
#[derive(Clone, Copy, Debug)]
pub struct Requirements {
    /// The encoding of values in plaintexts.
    pub encoding: Encoding,
    /// The way inputs are encrypted.
    pub origin: Origin,
    /// A plain modulus fixed by the user; answers may then wrap. None: chosen so that no answer wraps.
    pub plain_modulus: Option<u64>,
    /// Smallest number of slots in a row.
    pub columns: usize,
    /// A degree fixed by the user.
    pub degree: Option<usize>,
    /// The largest error allowed in a slot of an answer (CKKS); infinite if any error is allowed.
    pub largest_error: f64,
}

/// The chosen parameters and the plans of all programs on them.
///
/// ```
/// use sotto_program::{ParseOptions, parse};
/// use sotto_rlwe::{Bgv, Origin};
/// use sotto_runtime::{Requirements, Choice, Encoding, choose};
///
/// // The sum of 64 squared loads of at most 100 % each.
/// let options = ParseOptions { undeclared: Some(100.0), ..ParseOptions::default() };
/// let program = parse("sum(load^2, 64)", &options)?.program;
/// let asked = Requirements {
///     encoding: Encoding::Slots,
///     origin: Origin::SecretKey,
///     plain_modulus: None,
///     columns: 64,
///     degree: None,
///     largest_error: 0.0,
/// };
/// let choice: Choice<Bgv> = choose(&[program], &asked)?;
/// let params = &choice.target.params;
/// assert!(params.plain_modulus() > 2 * 64 * 100 * 100, "no answer wraps");
/// assert_eq!(choice.lowered[0].plan.counts()["multiply"], 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Choice<S: Managed> {
    /// The target, with its parameters.
    pub target: RlweTarget<S>,
    /// The plan of each program, in order.
    pub lowered: Vec<Lowered<S>>,
}

/// The reason why no default parameters are suitable.
///
/// ```
/// use sotto_program::{ParseOptions, parse};
/// use sotto_rlwe::{Bgv, Origin};
/// use sotto_runtime::{Requirements, ChooseError, Encoding, choose};
///
/// let options = ParseOptions { undeclared: Some(1e9), ..ParseOptions::default() };
/// let program = parse("energy * energy", &options)?.program;
/// let asked = Requirements {
///     encoding: Encoding::Slots,
///     origin: Origin::SecretKey,
///     plain_modulus: None,
///     columns: 64,
///     degree: None,
///     largest_error: 0.0,
/// };
/// // 10^18 is above 2^58.
/// let refused = choose::<Bgv>(&[program], &asked).err();
/// assert!(matches!(refused, Some(ChooseError::Range { declared: 1e9, .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ChooseError {
    /// The programs cannot be lowered on any of them.
    #[error("no default {scheme} parameters take this (largest tried: n = {degree}): {reason}")]
    None {
        /// The scheme asked for.
        scheme: SchemeId,
        /// The largest degree tried.
        degree: usize,
        /// The reason at the largest degree.
        reason: String,
    },
    /// Parameters exist, but none is precise enough.
    #[error(
        "no default {scheme} parameters are as precise as asked: an answer may be as large as {largest:.1e} and off by \
         {error:.1e} at best (n = {degree}), {asked:.1e} is asked: allow a larger error, or declare a smaller magnitude than \
         {declared:e}"
    )]
    Precision {
        /// The scheme asked for.
        scheme: SchemeId,
        /// The degree with the smallest error.
        degree: usize,
        /// The bound on the error at that degree.
        error: f64,
        /// The error allowed.
        asked: f64,
        /// A bound on the absolute value of the answers.
        largest: f64,
        /// The largest magnitude that an input declares.
        declared: f64,
    },
    /// No plain modulus is large enough for the answers.
    #[error(
        "an answer may be as large as {largest:.1e}, and {scheme} tells whole numbers apart up to 2^58 (2.9e17): declare a \
         smaller magnitude than {declared:e}, or multiply and sum fewer values"
    )]
    Range {
        /// The scheme asked for.
        scheme: SchemeId,
        /// A bound on the absolute value of the answers.
        largest: f64,
        /// The largest magnitude that an input declares.
        declared: f64,
    },
    /// The user's degree or plain modulus cannot be used.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
}

/// Returns the parameters of the smallest degree on which every program can be lowered.
///
/// # Errors
/// [`ChooseError`] if there are none; it names the magnitude, the error or the reason of the largest degree.
pub fn choose<S: Managed>(programs: &[Program], asked: &Requirements) -> Result<Choice<S>, ChooseError> {
    let (largest, declared) = sizes(programs);
    let widest = 2.0 * largest.max(declared) + 1.0;
    if S::EXACT && asked.plain_modulus.is_none() && widest >= LARGEST_PLAIN_MODULUS {
        return Err(ChooseError::Range { scheme: S::ID, largest, declared });
    }
    let mut last = (0, String::from("no degree fits"));
    let mut precise: Option<(usize, f64)> = None;
    for chain in DefaultChain::all(S::ID) {
        let rows_fit = asked.encoding == Encoding::Scalar || chain.degree / 2 >= asked.columns;
        if asked.degree.is_some_and(|degree| degree != chain.degree) || !rows_fit {
            continue;
        }
        match attempt(programs, asked, chain.degree) {
            Ok(choice) => return Ok(choice),
            Err(Refusal::Parameters(error)) if asked.degree.is_some() => return Err(error.into()),
            Err(Refusal::Parameters(error)) => last = (chain.degree, error.to_string()),
            Err(Refusal::Program(error)) => last = (chain.degree, error.to_string()),
            Err(Refusal::Precision(error)) => {
                if precise.is_none_or(|(_, least)| error < least) {
                    precise = Some((chain.degree, error));
                }
            }
        }
    }
    if let Some((degree, error)) = precise {
        let asked = asked.largest_error;
        return Err(ChooseError::Precision { scheme: S::ID, degree, error, asked, largest, declared });
    }
    if let (Some(degree), 0) = (asked.degree, last.0) {
        Params::<S>::default_chain(degree, asked.plain_modulus.unwrap_or(65537))?;
    }
    Err(ChooseError::None { scheme: S::ID, degree: last.0, reason: last.1 })
}

// Plain moduli have less than 60 bits, and there must be room to find a prime above the bound.
const LARGEST_PLAIN_MODULUS: f64 = (1_u64 << 59) as f64;

/// Returns bounds on the absolute values of all outputs, and of all inputs.
fn sizes(programs: &[Program]) -> (f64, f64) {
    let outputs = programs.iter().map(|program| {
        let all = magnitudes(program);
        program.outputs().iter().map(|(_, node)| all[node.index()]).fold(0.0, f64::max)
    });
    let inputs = programs.iter().flat_map(Program::inputs).map(|input| input.magnitude);
    (outputs.fold(0.0, f64::max), inputs.fold(0.0, f64::max))
}

enum Refusal {
    Parameters(ParameterError),
    Program(LowerError),
    Precision(f64),
}

fn attempt<S: Managed>(
    programs: &[Program],
    asked: &Requirements,
    degree: usize,
) -> Result<Choice<S>, Refusal> {
    let plain_modulus = match asked.plain_modulus {
        Some(t) => t,
        None => smallest_plain_modulus(programs, asked.encoding, degree),
    };
    let params = Params::default_chain(degree, plain_modulus).map_err(Refusal::Parameters)?;
    let may_wrap = asked.plain_modulus.is_some();
    let target = RlweTarget { params, encoding: asked.encoding, origin: asked.origin, kept: None, may_wrap };
    let lowered: Vec<Lowered<S>> = programs
        .iter()
        .map(|p| target.lower_with_shapes(p))
        .collect::<Result<_, _>>()
        .map_err(Refusal::Program)?;
    let errors = lowered.iter().flat_map(|l| &l.outputs).map(|output| output.slot_error);
    let worst = errors.fold(0.0, f64::max);
    if worst > asked.largest_error {
        return Err(Refusal::Precision(worst));
    }
    Ok(Choice { target, lowered })
}

/// Returns the smallest prime that no output wraps around. It supports slots if the encoding needs them.
fn smallest_plain_modulus(programs: &[Program], encoding: Encoding, degree: usize) -> u64 {
    let (outputs, inputs) = sizes(programs);
    // The parameters refuse a value that saturated.
    let floor = (2.0 * outputs.max(inputs) + 1.0) as u64;
    if floor >> 59 != 0 {
        return floor;
    }
    let spacing = match encoding {
        Encoding::Slots => degree,
        Encoding::Scalar => 1,
    };
    primes::above(floor.max(2 * spacing as u64), spacing).next().unwrap_or(u64::MAX)
}
