//! One engine in one span: started, prepared, checked.

use sotto_lab::LabError;
use sotto_lab::protocol::{
    Exchange, Exchanged, Measure, Measured, Prepare, Prepared, UNSUPPORTED, Verify, Version,
};
use sotto_rlwe::SecurityProfile;

use super::tally::Outcome;
use crate::contender::{Contender, Speaker};
use crate::definition::{Chain, Check, Measurement, security_bits};
use crate::row::Row;
use crate::selection::{Selection, Span};

/// Failures after which an engine is not started again.
const MOST_FAILURES: u32 = 2;

/// Why there is no lane.
pub(super) enum Closed {
    /// The library has no such scheme, at any n.
    Lacks(String),
    /// The engine cannot be started, or refuses the parameters.
    Failed(String),
}

/// An engine that is ready to measure.
pub(super) struct Lane<'a> {
    contender: &'a Contender,
    speaker: Box<dyn Speaker>,
    version: Version,
    request: Prepare,
    prepared: Prepared,
    /// Whether the definition's program gave the answers that it has to give; None if it could not be asked.
    checked: Option<bool>,
    failures: u32,
}

impl<'a> Lane<'a> {
    /// Starts the engine and prepares it with the first request that it takes; or says why not.
    pub(super) fn open(
        contender: &'a Contender,
        chain: &Chain,
        check: Option<&Check>,
    ) -> Result<Self, Closed> {
        let failed = |error: LabError| Closed::Failed(error.to_string());
        let mut speaker = start(contender).map_err(failed)?;
        let version = speaker.version().map_err(failed)?;
        let scheme = chain.scheme.name();
        if !version.schemes.iter().any(|known| known == scheme) {
            return Err(Closed::Lacks(format!("{} has no {scheme}", version.library)));
        }
        let mut refusal = None;
        for request in chain.requests() {
            match speaker.prepare(&request) {
                Ok(prepared) => {
                    let checked = check.and_then(|check| passes(check, speaker.as_mut()));
                    return Ok(Self { contender, speaker, version, request, prepared, checked, failures: 0 });
                }
                // The last words are about what was asked for when all else had been refused.
                Err(LabError::Refused { reason, .. }) => {
                    if reason != UNSUPPORTED || refusal.is_none() {
                        refusal = Some(reason);
                    }
                }
                Err(error) => return Err(failed(error)),
            }
        }
        Err(Closed::Failed(refusal.unwrap_or_else(|| "takes no parameters".to_owned())))
    }

    /// One step of a round trip, as the edge.
    pub(super) fn exchange(&mut self, request: &Exchange) -> Result<Exchanged, LabError> {
        self.speaker.exchange(request)
    }

    /// Another process of the engine, without keys, and the parameters that this one has.
    pub(super) fn cloud(&self) -> Result<(Box<dyn Speaker>, Prepare), LabError> {
        Ok((start(self.contender)?, self.request.clone()))
    }

    pub(super) fn name(&self) -> &str {
        &self.contender.name
    }

    /// Whether it failed so often that it is not asked again.
    pub(super) fn is_lost(&self) -> bool {
        self.failures >= MOST_FAILURES
    }

    /// Times an operation. An engine that dies or hangs is started again for the next one.
    pub(super) fn measure(&mut self, request: &Measure) -> Result<Measured, LabError> {
        let measured = self.speaker.measure(request);
        if matches!(&measured, Err(error) if !matches!(error, LabError::Refused { .. })) {
            self.failures += 1;
            if !self.is_lost() && self.restart().is_err() {
                self.failures = MOST_FAILURES;
            }
        }
        measured
    }

    fn restart(&mut self) -> Result<(), LabError> {
        self.speaker = start(self.contender)?;
        self.prepared = self.speaker.prepare(&self.request)?;
        Ok(())
    }

    /// The row of what was measured.
    pub(super) fn row(
        &self,
        selection: &Selection,
        span: &Span<'_>,
        measurement: &Measurement,
        outcome: Outcome,
    ) -> Row {
        let (prepared, version) = (&self.prepared, &self.version);
        let bits = |primes: &[u64]| primes.iter().map(|prime| (*prime as f64).log2()).sum::<f64>();
        let log2_q = if prepared.data.is_empty() { prepared.log2_q } else { bits(&prepared.data) };
        let special_limbs = prepared.special_limbs.max(prepared.special.len());
        let known = (special_limbs == prepared.special.len()).then(|| log2_q + bits(&prepared.special));
        let log2_qp = prepared.log2_qp.or(known).filter(|bits| *bits > 0.0);
        let by_profile = |modulus: f64| {
            if !span.scheme.has_ring() {
                return span.scheme.conventional_security(span.degree);
            }
            let profile = span.parameters.profile.parse::<SecurityProfile>().ok()?;
            security_bits(profile, span.degree, modulus)
        };
        let stated = || match span.scheme.has_ring() {
            true => prepared.security.filter(|bits| *bits >= 128),
            false => span.scheme.conventional_security(span.degree),
        };
        Row {
            definition: selection.definition.name.clone(),
            parameters: span.parameters.name.clone(),
            quick: selection.quick,
            engine: self.contender.name.clone(),
            version: version.version.clone(),
            flags: version.flags.clone(),
            threads: version.threads,
            scheme: span.scheme.name().to_owned(),
            n: span.degree,
            limbs: prepared.limbs.max(prepared.data.len()),
            special_limbs,
            log2_q: hundredths(log2_q),
            log2_qp: log2_qp.map(hundredths),
            security_profile: span.parameters.profile.clone(),
            security_bits: log2_qp.map_or_else(stated, by_profile),
            operation: measurement.operation.clone(),
            codec: measurement.codec.clone(),
            object: measurement.object.clone(),
            instead: outcome.instead,
            median_us: outcome.statistics.median,
            mean_us: outcome.statistics.mean,
            sd_us: outcome.statistics.deviation,
            count: outcome.statistics.count,
            bytes: outcome.bytes,
            verified: outcome.verified && self.checked != Some(false),
        }
    }
}

fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

fn start(contender: &Contender) -> Result<Box<dyn Speaker>, LabError> {
    match &contender.start {
        Ok(start) => start(),
        Err(reason) => Err(LabError::Refused { engine: contender.name.clone(), reason: reason.clone() }),
    }
}

/// Whether the program's answers are right; None if the engine runs no programs.
fn passes(check: &Check, speaker: &mut dyn Speaker) -> Option<bool> {
    let asked = Verify { program: check.program.clone(), inputs: check.inputs.clone() };
    let answers = match speaker.verify(&asked) {
        Ok(verified) => verified.outputs,
        Err(LabError::Refused { reason, .. }) if reason == UNSUPPORTED => return None,
        Err(_) => return Some(false),
    };
    let right = |answer: &[f64], expected: &[f64]| {
        answer.len() >= expected.len()
            && answer.iter().zip(expected).all(|(a, b)| (a - b).abs() <= check.tolerance)
    };
    let all = answers.iter().zip(&check.outputs).all(|(answer, expected)| right(&answer.reals(), expected));
    Some(answers.len() == check.outputs.len() && all)
}
