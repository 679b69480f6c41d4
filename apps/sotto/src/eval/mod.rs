//! `sotto eval`: key generation, encryption, operations on ciphertexts and decryption, in one process.

mod parameters;
mod partial;
mod report;
mod trip;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::ValueEnum;
use sotto_program::{ParseOptions, ParsedExpression, Program, SlotShape, clear, magnitudes, parse};
use sotto_rlwe::{Bfv, Bgv, Ckks, Origin, SchemeId};
use sotto_runtime::{ChooseError, Encoding, Requirements};

use report::Report;
use trip::Trip;

use crate::run::Run;
use crate::values::Number;

/// The schemes that compute on slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemeName {
    /// Integers modulo t.
    Bgv,
    /// Integers modulo t.
    Bfv,
    /// Real numbers, approximate.
    Ckks,
}

impl SchemeName {
    /// Returns the scheme.
    pub(crate) fn id(self) -> SchemeId {
        match self {
            Self::Bgv => SchemeId::Bgv,
            Self::Bfv => SchemeId::Bfv,
            Self::Ckks => SchemeId::Ckks,
        }
    }
}

/// The schemes that `sotto eval` offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EvalScheme {
    /// Integers modulo t.
    Bgv,
    /// Integers modulo t.
    Bfv,
    /// Real numbers, approximate.
    Ckks,
    /// Sums of signed integers.
    Paillier,
    /// Products of signed integers.
    Elgamal,
    /// Sums of signed integers below 2^40, in 64 bytes.
    ElgamalRistretto,
    /// Sums and products of signed integers; the recryptor converts factors from Paillier to ElGamal and products back,
    /// and sees these numbers in clear.
    #[value(name = "paillier+elgamal")]
    PaillierElgamal,
    /// Sums and products of signed integers; the recryptor multiplies blinded numbers, which tell it nothing.
    PaillierBlinded,
}

impl EvalScheme {
    /// Returns the name that the user types.
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// Arguments of `sotto eval`.
#[derive(clap::Args, Debug)]
pub(crate) struct Eval {
    /// The expression to compute, for example '3*4+3'. Every number in it is encrypted; exponents are public.
    #[arg(allow_hyphen_values = true)]
    expression: String,
    /// The scheme that computes.
    #[arg(long, value_enum, default_value = "bfv")]
    scheme: EvalScheme,
    /// Compute modulo this plain modulus t (BGV, BFV): answers are from 0 to t − 1. Without it, t is chosen from the
    /// values so that no answer wraps around.
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u64).range(2..=1 << 53))]
    plain_modulus: Option<u64>,
    /// With --plain-modulus: show answers from −t/2 to t/2 instead of from 0 to t − 1.
    #[arg(long)]
    signed: bool,
    /// The ring degree n [default: chosen from the expression].
    #[arg(long, value_name = "N")]
    degree: Option<usize>,
    /// Bits of the key of Paillier (2048, 3072, 4096) and ElGamal (2048, 3072) [default: 3072].
    #[arg(long, value_name = "BITS")]
    key_bits: Option<u32>,
    #[command(flatten)]
    recryptor: RecryptorArguments,
    /// Encrypt with a public key instead of the secret key.
    #[arg(long)]
    public_key: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// The address of a re-encryption agent (recryptor) outside this process, and the credentials for it.
#[derive(clap::Args, Debug)]
struct RecryptorArguments {
    /// Ask the recryptor at this address (paillier+elgamal, paillier-blinded), and encrypt under its keys.
    #[arg(long, value_name = "URL", requires = "recryptor_token", requires = "owner_key")]
    recryptor: Option<String>,
    /// Send the token over plain HTTP to another machine: anybody on the network path can read it.
    #[arg(long, requires = "recryptor")]
    allow_plain_http: bool,
    /// File with the certificate in PEM of the authority that signed the recryptor's certificate [default: Mozilla's
    /// list]
    #[arg(long, value_name = "FILE", requires = "recryptor")]
    recryptor_ca: Option<PathBuf>,
    /// File with the token of this caller at the recryptor.
    #[arg(long, value_name = "FILE", requires = "recryptor")]
    recryptor_token: Option<PathBuf>,
    /// The owner's key file of the device whose keys the recryptor has; it decrypts the answer.
    #[arg(long, value_name = "FILE", requires = "recryptor")]
    owner_key: Option<PathBuf>,
}

impl Run for Eval {
    fn run(self) -> anyhow::Result<ExitCode> {
        let parsed = parse(&self.expression, &ParseOptions::encrypted_literals())?;
        let emulates = matches!(self.scheme, EvalScheme::PaillierElgamal | EvalScheme::PaillierBlinded);
        if self.recryptor.recryptor.is_some() && !emulates {
            bail!("{} does not use a recryptor: leave --recryptor out", self.scheme.name());
        }
        let report = match self.scheme {
            EvalScheme::Ckks => real(&self, &parsed)?,
            EvalScheme::Bfv => integer(&self, &parsed, trip::run::<Bfv>)?,
            EvalScheme::Bgv => integer(&self, &parsed, trip::run::<Bgv>)?,
            EvalScheme::Paillier
            | EvalScheme::Elgamal
            | EvalScheme::ElgamalRistretto
            | EvalScheme::PaillierElgamal
            | EvalScheme::PaillierBlinded => partial::run(&self, &parsed)?,
        };
        if self.json {
            crate::output::say(serde_json::to_string_pretty(&report)?);
        } else {
            report.print();
        }
        let right = report.error <= report.bound;
        if !right {
            eprintln!(
                "sotto: the answer is off by {:e}, more than its bound {:e}",
                report.error, report.bound
            );
        }
        Ok(if right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn asked(arguments: &Eval, plain_modulus: Option<u64>, largest_error: f64) -> Requirements {
    Requirements {
        encoding: Encoding::Scalar,
        origin: if arguments.public_key { Origin::PublicKey } else { Origin::SecretKey },
        plain_modulus,
        columns: 1,
        degree: arguments.degree,
        largest_error,
    }
}

fn integer(
    arguments: &Eval,
    parsed: &ParsedExpression,
    run: impl Fn(&Program, &Requirements, &[Number]) -> anyhow::Result<Trip>,
) -> anyhow::Result<Report> {
    let inputs = parsed
        .literal_integers()
        .context("BFV and BGV compute on whole numbers: scale the others, or use --scheme ckks")?;
    // Without a plain modulus from the user, the chosen one is so large that no answer wraps around: signed whole
    // numbers.
    let chosen = arguments.plain_modulus.is_none();
    let number = |value: i128| match arguments.plain_modulus {
        Some(t) => Number::Whole(value.rem_euclid(i128::from(t))),
        None => Number::Whole(value),
    };
    let numbers: Vec<Number> = inputs.iter().map(|v| number(v[0])).collect();
    let mut trip = run(&parsed.program, &asked(arguments, arguments.plain_modulus, f64::INFINITY), &numbers)?;
    let t = trip.plain_modulus.context("an exact scheme has a plain modulus")?;
    let whole = clear::run_integer(&parsed.program, &inputs, SlotShape::SCALAR, None);
    let modular = clear::run_integer(&parsed.program, &inputs, SlotShape::SCALAR, Some(t))?[0][0];
    let t = i128::from(t);
    let centre = |x: i128| if (arguments.signed || chosen) && 2 * x >= t { x - t } else { x };
    let Number::Whole(result) = trip.result else { bail!("the answer is no whole number") };
    let result = centre(result.rem_euclid(t));
    trip.result = Number::Whole(result);
    let expected = centre(modular);
    if chosen && whole.as_ref().is_ok_and(|values| values[0][0] != result) {
        bail!("the answer {result} is not the one in the clear: it wrapped around the plain modulus {t}");
    }
    // A clear answer above 128 bits is known only as a real number.
    let (clear, wrapped) = match &whole {
        Ok(values) => (Number::Whole(values[0][0]), values[0][0] != expected),
        Err(_) => (Number::Real(real_answer(parsed)?), true),
    };
    let error = (result - expected).abs();
    Ok(Report::new(arguments, trip, clear, wrapped, error.min(t - error) as f64, 0.0))
}

fn real(arguments: &Eval, parsed: &ParsedExpression) -> anyhow::Result<Report> {
    if arguments.plain_modulus.is_some() {
        bail!("CKKS has no plain modulus: leave --plain-modulus out");
    }
    let inputs =
        parsed.literal_reals().context("the expression holds a vector; eval takes single numbers")?;
    let clear = real_answer(parsed)?;
    let numbers: Vec<Number> = inputs.iter().map(|v| Number::Real(v[0])).collect();
    let run = |error| trip::run::<Ckks>(&parsed.program, &asked(arguments, None, error), &numbers);
    // First tries a precision of a thousandth of the largest possible answer; not all parameters reach it.
    let range = range(&parsed.program);
    let trip = match run(1e-3 * range) {
        Err(error) if matches!(error.downcast_ref(), Some(ChooseError::Precision { .. })) => {
            run(1e-3 * clear.abs().max(1.0))?
        }
        trip => trip?,
    };
    let (result, bound) = (trip.result.real(), trip.bound);
    // Adds the rounding error of f64.
    let bound = bound + clear.abs() * 1e-14;
    Ok(Report::new(arguments, trip, clear.into(), false, (result - clear).abs(), bound).within(range))
}

/// Returns a bound on the absolute value of the answer.
fn range(program: &Program) -> f64 {
    let all = magnitudes(program);
    program.outputs().iter().map(|(_, node)| all[node.index()]).fold(0.0, f64::max)
}

fn real_answer(parsed: &ParsedExpression) -> anyhow::Result<f64> {
    let inputs =
        parsed.literal_reals().context("the expression holds a vector; eval takes single numbers")?;
    Ok(clear::run_real(&parsed.program, &inputs, SlotShape::SCALAR)?[0][0])
}
