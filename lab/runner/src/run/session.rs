//! One engine in one span: started, prepared, checked.

use std::collections::BTreeMap;

use sotto_lab::LabError;
use sotto_lab::protocol::{Exchange, Exchanged, Measure, Measured, Prepare, Version};
use sotto_rlwe::SecurityProfile;

use super::setting::{Checked, Setting, start};
use super::tally::Outcome;
use crate::contender::{Contender, Speaker};
use crate::definition::{Chain, Check, Measurement, security_bits};
use crate::digits::{Purpose, Trial, best};
use crate::row::Row;
use crate::selection::{Selection, Span};

/// Failures after which an engine is not started again.
const MOST_FAILURES: u32 = 2;

/// Why there is no session.
pub(super) enum Closed {
    /// The library has no such scheme, at any n.
    Lacks(String),
    /// The engine cannot be started, or refuses the parameters.
    Failed(String),
}

/// An engine that is ready to measure.
pub(super) struct Session<'a> {
    contender: &'a Contender,
    chain: &'a Chain,
    check: Option<&'a Check>,
    trials: &'a [Trial],
    version: Version,
    /// The first is for everything; others have the digits that an operation is faster with.
    settings: Vec<Setting<'a>>,
    /// The place of each purpose that was asked for, and of the number of special primes.
    places: BTreeMap<Purpose, usize>,
    numbers: BTreeMap<Option<usize>, usize>,
    /// The place of what was asked last.
    last: usize,
    failures: u32,
}

impl<'a> Session<'a> {
    /// Starts the engine and prepares it with the first request that it takes; or says why not.
    pub(super) fn open(
        contender: &'a Contender,
        chain: &'a Chain,
        check: Option<&'a Check>,
        trials: &'a [Trial],
    ) -> Result<Self, Closed> {
        let failed = |error: LabError| Closed::Failed(error.to_string());
        let mut speaker = start(contender).map_err(failed)?;
        let version = speaker.version().map_err(failed)?;
        let scheme = chain.scheme.name();
        if !version.schemes.iter().any(|known| known == scheme) {
            return Err(Closed::Lacks(format!("{} has no {scheme}", version.library)));
        }
        let digits = best(&contender.name, chain, trials, Purpose::Everything);
        let first = match Setting::open(contender, speaker, chain.requests(digits), check) {
            Ok(setting) => setting,
            Err(LabError::Refused { reason, .. }) => return Err(Closed::Failed(reason)),
            Err(error) => return Err(failed(error)),
        };
        let (places, numbers) = ([(Purpose::Everything, 0)].into(), [(digits, 0)].into());
        let settings = vec![first];
        Ok(Self { contender, chain, check, trials, version, settings, places, numbers, last: 0, failures: 0 })
    }

    /// The place of the setting for an operation. One with other digits is made when it is first asked for; an engine that does
    /// not take them stays with those for everything.
    fn place(&mut self, operation: &str) -> usize {
        let purpose = Purpose::of(operation);
        if let Some(place) = self.places.get(&purpose) {
            return *place;
        }
        let digits = best(&self.contender.name, self.chain, self.trials, purpose);
        let place = match (self.numbers.get(&digits), digits) {
            (Some(place), _) => *place,
            (None, None) => 0,
            (None, Some(special)) => {
                self.settings.iter_mut().for_each(Setting::rest);
                let requests = self.chain.with_special(special);
                let made = start(self.contender)
                    .and_then(|speaker| Setting::open(self.contender, speaker, requests, self.check));
                made.map_or(0, |setting| {
                    self.settings.push(setting);
                    self.settings.len() - 1
                })
            }
        };
        self.numbers.insert(digits, place);
        self.places.insert(purpose, place);
        place
    }

    /// One step of a round trip, as the edge.
    pub(super) fn exchange(&mut self, request: &Exchange) -> Result<Exchanged, LabError> {
        self.settings[0].awake()?.exchange(request)
    }

    /// Another process of the engine, without keys, and the parameters that this one has.
    pub(super) fn cloud(&self) -> Result<(Box<dyn Speaker>, Prepare), LabError> {
        Ok((start(self.contender)?, self.settings[0].request.clone()))
    }

    /// Why the definition's program was refused, or that its answers are wrong: the rows are unverified then.
    pub(super) fn doubt(&self) -> Option<String> {
        match self.settings.last()?.checked.as_ref()? {
            Checked::Right => None,
            Checked::Wrong => Some("the answers of the check program are wrong".to_owned()),
            Checked::Refused(reason) => Some(format!("the check program was refused: {reason}")),
        }
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
        let place = self.place(&request.operation);
        if place != self.last {
            // An engine's processes do not hold large keys side by side.
            self.settings[self.last].rest();
            self.last = place;
        }
        let setting = &mut self.settings[place];
        let measured = setting.awake().and_then(|speaker| speaker.measure(request));
        if matches!(&measured, Err(error) if !matches!(error, LabError::Refused { .. })) {
            self.failures += 1;
            setting.end();
            if self.failures < MOST_FAILURES && setting.awake().is_err() {
                self.failures = MOST_FAILURES;
            }
        }
        measured
    }

    /// Ends what holds much memory; it is started again when it is asked for something.
    pub(super) fn rest(&mut self) {
        self.settings.iter_mut().for_each(Setting::rest);
    }

    /// The row of what was measured.
    pub(super) fn row(
        &self,
        selection: &Selection,
        span: &Span<'_>,
        measurement: &Measurement,
        outcome: Outcome,
    ) -> Row {
        let stood_in = measurement.instead.as_ref().filter(|other| outcome.instead.as_ref() == Some(*other));
        let purpose = Purpose::of(stood_in.unwrap_or(&measurement.operation));
        let setting = &self.settings[self.places.get(&purpose).copied().unwrap_or(0)];
        let (prepared, version) = (&setting.prepared, &self.version);
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
            mode: measurement.mode.clone(),
            latency_ms: measurement.latency_ms,
            instead: outcome.instead,
            median_us: outcome.statistics.median,
            mean_us: outcome.statistics.mean,
            sd_us: outcome.statistics.deviation,
            count: outcome.statistics.count,
            bytes: outcome.bytes,
            verified: outcome.verified && matches!(setting.checked, None | Some(Checked::Right)),
        }
    }
}

fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests;
