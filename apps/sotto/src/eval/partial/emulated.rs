//! Sums and products with Paillier and a re-encryption agent (recryptor).

use anyhow::{Context, bail, ensure};
use sotto_emulate::{Emulation, LARGEST_CLEAR_BITS, Products, Progress, Schedule};
use sotto_partial::elgamal::GroupName;
use sotto_partial::paillier::security_bits;
use sotto_program::{ParsedExpression, SlotShape, clear};
use sotto_ring::secure_rng;

use super::super::parameters::Parameters;
use super::super::report::{RecryptorReport, Report};
use super::super::trip::Trip;
use super::super::{Eval, EvalScheme};
use super::agents::Parties;
use crate::phases::Phases;

pub(super) fn run(arguments: &Eval, parsed: &ParsedExpression, bits: u32) -> anyhow::Result<Report> {
    let program = &parsed.program;
    let inputs = parsed
        .literal_integers()
        .context("this scheme computes on whole numbers: scale the others, or use --scheme ckks")?;
    let converts = arguments.scheme == EvalScheme::PaillierElgamal;
    let lower = |bits, group_bits: Option<u32>| {
        let products = group_bits.map_or(Products::Blinded, |group_bits| Products::Converted { group_bits });
        Emulation { key_bits: bits, products }.lower(program)
    };
    let mut phases = Phases::default();
    let (flow, bits, asked) = match &arguments.recryptor.recryptor {
        None => {
            let group = converts.then(|| group_of(bits)).transpose()?;
            // Lowered before keys are made, so that a refusal costs no key generation.
            let flow = lower(bits, group.map(GroupName::bits))?;
            (flow, bits, phases.time("key generation", || Parties::here(bits, group))?)
        }
        Some(url) => {
            ensure!(
                arguments.key_bits.is_none(),
                "the recryptor's keys fix the key length: leave --key-bits out"
            );
            let asked = phases.time("connect", || Parties::far_away(url, &arguments.recryptor, converts))?;
            let bits = asked.public.paillier.bits();
            (lower(bits, asked.group_bits())?, bits, asked)
        }
    };
    let expected = clear::run_integer(program, &inputs, SlotShape::SCALAR, None)
        .context("the answer is beyond 128 bits")?[0][0];
    let Parties { agent, public, decryptor } = asked;
    let key = &*public.paillier;
    let mut ciphertexts = Vec::new();
    for input in &inputs {
        let plaintext = key.signed(input[0]);
        ciphertexts.push(
            phases.time("encrypt", || key.encrypt(&plaintext, &mut secure_rng()?).context("encryption"))?,
        );
    }
    let mut progress = Progress::new(&flow, &public, &ciphertexts)?;
    phases.time("evaluate", || progress.advance(&*agent, Schedule::parallel()))?;
    let answers = progress.outputs().context("the expression has no answer")?;
    let answer = answers.first().context("the expression has no answer")?;
    let plaintext = phases.time("decrypt", || decryptor.decrypt(key, answer))?;
    let value = plaintext.to_signed(key).context("the answer is beyond 128 bits")?;

    let bytes = key.ciphertext_bytes();
    let tally = progress.tally();
    let trip = Trip {
        plain_modulus: None,
        result: value.into(),
        bound: 0.0,
        parameters: Parameters::Partial {
            key_bits: bits,
            message_bits: LARGEST_CLEAR_BITS,
            security_bits: security_bits(bits).unwrap_or(0),
        },
        phases,
        fresh_bytes: bytes,
        result_bytes: bytes,
        key_bytes: 0,
        plan: flow.to_string(),
    };
    let report = Report::new(arguments, trip, expected.into(), false, value.abs_diff(expected) as f64, 0.0);
    Ok(report.with_agent(RecryptorReport {
        requests: tally.requests,
        trips: tally.trips,
        values_seen: flow.seen().len(),
        values_blinded: flow.blinded(),
    }))
}

fn group_of(bits: u32) -> anyhow::Result<GroupName> {
    match bits {
        2048 => Ok(GroupName::Ffdhe2048),
        3072 => Ok(GroupName::Ffdhe3072),
        _ => bail!(
            "elgamal has groups of 2048 and 3072 bits, not {bits}: take one of them, or --scheme paillier-blinded"
        ),
    }
}
