//! `sotto plan --scheme`: the parameters that would be chosen for an expression, and why. Makes no key.

use std::process::ExitCode;

use serde::Serialize;
use sotto_program::{InputDeclaration, KeyNumber, ParseOptions, Plan, Program, parse};
use sotto_rlwe::{Origin, with_scheme};
use sotto_runtime::{Encoding, Managed, Requirements, choose};

use crate::eval::SchemeName;
use crate::output::say;

/// Arguments of `sotto plan`.
#[derive(clap::Args, Debug)]
pub(crate) struct Expression {
    /// Plan an expression on the vectors x and y in this scheme, not a question
    #[arg(long, value_enum)]
    pub(crate) scheme: Option<SchemeName>,
    /// The largest |value| of an input.
    #[arg(long, default_value_t = 1000.0)]
    magnitude: f64,
    /// How many neighbouring slots a sum adds: a power of two.
    #[arg(long, default_value_t = 64)]
    width: u32,
    /// The largest error that an answer may have (CKKS).
    #[arg(long, default_value_t = 1e-3)]
    largest_error: f64,
    /// Inputs are encrypted with a public key, not with the secret key.
    #[arg(long)]
    public_key: bool,
    /// The vector y is under the secret key of another device than x and the answer.
    #[arg(long)]
    two_keys: bool,
    /// Print one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Serialize)]
struct Report {
    scheme: String,
    n: usize,
    log2_q: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    plain_modulus: Option<u64>,
    security_bits: u32,
    fresh_ciphertext_bytes: usize,
    evaluation_keys_bytes: usize,
    /// A bound on the error of an answer's slot; 0 for exact schemes.
    error_bound: f64,
    /// The expected error of the worst slot; 0 for exact schemes. For people only: it decides nothing.
    error_expected: f64,
    noise_bits_left: NoiseBitsLeft,
    plan: Plan,
}

/// Bits between the noise and the limit of correct decryption, in the worst answer.
#[derive(Serialize)]
struct NoiseBitsLeft {
    /// From the noise bound, which decides.
    bound: f64,
    /// From the estimate of the noise.
    expected: f64,
}

/// Runs the command.
pub(crate) fn run(expression: &str, scheme: SchemeName, arguments: &Expression) -> anyhow::Result<ExitCode> {
    let mut inputs = vec![InputDeclaration::new("x", arguments.magnitude)];
    if expression.contains('y') {
        let key = KeyNumber(u16::from(arguments.two_keys));
        inputs.push(InputDeclaration::new("y", arguments.magnitude).under(key));
    }
    let options = ParseOptions { inputs, sum_width: Some(arguments.width), ..ParseOptions::default() };
    let program = parse(expression, &options)?.program;
    let report = with_scheme!(scheme.id(), S => report::<S>(&program, arguments))?;
    if arguments.json {
        say(serde_json::to_string_pretty(&report)?);
        return Ok(ExitCode::SUCCESS);
    }
    let plain = report.plain_modulus.map_or(String::new(), |t| format!(", t = {t}"));
    say(format!(
        "{}: n = {}, log2 Q = {:.1}{plain}, {}-bit security",
        report.scheme, report.n, report.log2_q, report.security_bits
    ));
    say(format!(
        "bytes: {} a fresh ciphertext, {} evaluation keys; an answer is off by at most {:.1e} ({:.1e} expected)",
        report.fresh_ciphertext_bytes,
        report.evaluation_keys_bytes,
        report.error_bound,
        report.error_expected
    ));
    say(format!(
        "noise: at least {:.1} bits left ({:.1} expected)\n",
        report.noise_bits_left.bound, report.noise_bits_left.expected
    ));
    say(report.plan);
    Ok(ExitCode::SUCCESS)
}

fn report<S: Managed>(program: &Program, arguments: &Expression) -> anyhow::Result<Report> {
    let asked = Requirements {
        encoding: Encoding::Slots,
        origin: if arguments.public_key { Origin::PublicKey } else { Origin::SecretKey },
        plain_modulus: None,
        columns: arguments.width as usize,
        degree: None,
        largest_error: arguments.largest_error,
    };
    let mut choice = choose::<S>(core::slice::from_ref(program), &asked)?;
    let (params, lowered) = (&choice.target.params, choice.lowered.remove(0));
    let keys = &lowered.plan.keys;
    let counts = sotto_wire::EvaluationKeyCounts {
        relinearisation: keys.relinearisation,
        galois: keys.rotations.len() + usize::from(keys.swap_rows),
        transfers: keys.transfers.len(),
    };
    let fresh = if arguments.public_key {
        sotto_wire::expanded_bytes(params, params.top_level(), 2)
    } else {
        sotto_wire::seeded_bytes(params)
    };
    let outputs = &lowered.outputs;
    let least = |bits: &dyn Fn(&sotto_rlwe::Shape<S>) -> f64| {
        outputs.iter().map(|output| bits(&output.shape)).fold(f64::INFINITY, f64::min)
    };
    let noise_bits_left =
        NoiseBitsLeft { bound: least(&|s| s.room(params)), expected: least(&|s| s.estimated_room(params)) };
    Ok(Report {
        scheme: S::ID.to_string(),
        n: params.degree(),
        log2_q: params.spec().modulus_bits(),
        plain_modulus: S::EXACT.then(|| params.plain_modulus()),
        security_bits: 128,
        fresh_ciphertext_bytes: fresh,
        evaluation_keys_bytes: if keys.is_empty() {
            0
        } else {
            sotto_wire::evaluation_keys_bytes(params, counts)
        },
        error_bound: outputs.iter().map(|output| output.slot_error).fold(0.0, f64::max),
        error_expected: outputs
            .iter()
            .map(|output| output.shape.estimated_slot_error(params).min(output.slot_error))
            .fold(0.0, f64::max),
        noise_bits_left,
        plan: lowered.plan,
    })
}
