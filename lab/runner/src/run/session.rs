//! A session: one engine in one span, started, prepared and checked.

use std::collections::BTreeMap;

use sotto_harness::LabError;
use sotto_harness::protocol::{Exchange, Exchanged, Measure, Measured, Prepare, Version};
use sotto_rlwe::SecurityProfile;

use super::outcome::Outcome;
use super::setting::{Checked, Setting, start};
use crate::contender::{Contender, Speaker};
use crate::definition::{Chain, Check, Measurement, security_bits};
use crate::digits::{Purpose, Trial, best};
use crate::row::Row;
use crate::selection::{Selection, Span};

/// Number of failures after which an engine is not started again.
const MOST_FAILURES: u32 = 2;

/// The reason why there is no session.
pub(super) enum Closed {
    /// The library has no such scheme, at any n.
    Lacks(String),
    /// The engine cannot be started, or refuses the parameters.
    Failed(String),
}

/// An engine that is ready to measure.
pub(super) struct Session<'a> {
    contender: &'a Contender,
    span: Span<'a>,
    chain: &'a Chain,
    check: Option<&'a Check>,
    trials: &'a [Trial],
    version: Version,
    /// The first setting is for everything; others have digits with which some operation is faster.
    settings: Vec<Setting<'a>>,
    /// Index of the setting of each requested purpose, and of each number of special primes.
    places: BTreeMap<Purpose, usize>,
    numbers: BTreeMap<Option<usize>, usize>,
    /// Index of the setting used last.
    last: usize,
    failures: u32,
}

impl<'a> Session<'a> {
    /// Starts the engine and prepares it with the first request that it accepts; returns the reason if it accepts none.
    pub(super) fn open(
        contender: &'a Contender,
        span: Span<'a>,
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
        Ok(Self {
            contender,
            span,
            chain,
            check,
            trials,
            version,
            settings,
            places,
            numbers,
            last: 0,
            failures: 0,
        })
    }

    /// Returns the index of the setting for an operation. A setting with other digits is made at its first use; an
    /// engine that refuses them keeps the setting for everything.
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

    /// Carries out one step of a round trip as the edge.
    pub(super) fn exchange(&mut self, request: &Exchange) -> Result<Exchanged, LabError> {
        self.settings[0].awake()?.exchange(request)
    }

    /// Starts a further process of the engine, without keys. Returns it with the parameters of this session.
    pub(super) fn cloud(&self) -> Result<(Box<dyn Speaker>, Prepare), LabError> {
        Ok((start(self.contender)?, self.settings[0].request.clone()))
    }

    /// Returns the reason why the check program failed. The session's rows are then unverified. None if it passed.
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

    pub(super) fn span(&self) -> Span<'a> {
        self.span
    }

    /// Returns true if the engine failed so often that it is not tried again.
    pub(super) fn is_lost(&self) -> bool {
        self.failures >= MOST_FAILURES
    }

    /// Times an operation. An engine that dies or hangs is restarted for the next one.
    pub(super) fn measure(&mut self, request: &Measure) -> Result<Measured, LabError> {
        let place = self.place(&request.operation);
        if place != self.last {
            // Two processes of an engine must not hold large keys at the same time.
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

    /// Ends processes that hold much memory; the next request restarts them.
    pub(super) fn rest(&mut self) {
        self.settings.iter_mut().for_each(Setting::rest);
    }

    /// Returns the row of an outcome.
    pub(super) fn row(&self, selection: &Selection, measurement: &Measurement, outcome: Outcome) -> Row {
        let stood_in = measurement.instead.as_ref().filter(|other| outcome.instead.as_ref() == Some(*other));
        let purpose = Purpose::of(stood_in.unwrap_or(&measurement.operation));
        let span = self.span;
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
            least_us: Some(outcome.statistics.least),
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
