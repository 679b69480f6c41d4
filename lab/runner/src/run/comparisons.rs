//! Runs comparisons of encrypted readings with a limit: one engine after the other, as each makes keys of its own that
//! may take gigabytes.

use sotto_harness::LabError;
use sotto_harness::protocol::{Compare, UNSUPPORTED, Values};
use sotto_rlwe::SecurityProfile;

use super::paths::without_paths;
use super::setting::start;
use super::span::Run;
use crate::comparison_row::{ComparisonRow, checked};
use crate::contender::Contender;
use crate::definition::{Comparison, Method, security_bits};
use crate::error::RunnerError;
use crate::readings::Series;
use crate::row::Gap;
use crate::statistics::Statistics;

/// The table of security for moduli of libraries that state none.
const PROFILE: SecurityProfile = SecurityProfile::Guidelines2024;

impl Run<'_> {
    /// Runs the comparisons of the definition.
    pub(super) fn comparisons(&mut self) -> Result<(), RunnerError> {
        let selection = self.selection;
        let series = Series::here();
        for (comparison, methods) in selection.comparisons() {
            let readings = series.readings(comparison);
            for method in methods {
                let title = format!("{}: {} {}", comparison.name, method.engine, method.label());
                self.observer.progress(0, &title);
                let contender =
                    self.contenders.iter().find(|one| one.name == method.engine && one.start.is_ok());
                if let Some(contender) = contender {
                    let asked =
                        ComparisonRequest { comparison, method, readings: &readings, source: series.source };
                    match self.compared(contender, &asked) {
                        Ok(row) => self.observer.comparison(row)?,
                        Err(reason) => self.observer.gap(self.missing(&asked, &reason))?,
                    }
                }
                self.done(1, &title);
            }
        }
        Ok(())
    }

    fn compared(
        &self,
        contender: &Contender,
        asked: &ComparisonRequest<'_>,
    ) -> Result<ComparisonRow, String> {
        if let Some(reason) = self.budget.used_up() {
            return Err(reason);
        }
        let told = |error: LabError| match error {
            LabError::Refused { reason, .. } if reason == UNSUPPORTED => "has no such method".to_owned(),
            LabError::Refused { reason, .. } => reason,
            error => error.to_string(),
        };
        let mut speaker = start(contender).map_err(told)?;
        let version = speaker.version().map_err(told)?;
        let ComparisonRequest { comparison, method, readings, source } = *asked;
        let repetitions = self.budget.asked();
        let request = Compare {
            method: method.method.clone(),
            scheme: method.scheme.clone(),
            readings: readings.clone(),
            range: comparison.range,
            limit: comparison.limit,
            gap: comparison.gap,
            tolerance: comparison.tolerance,
            least: if method.slow { 1 } else { repetitions.least },
            most: repetitions.most,
            seconds: repetitions.seconds,
        };
        let compared = speaker.compare(&request).map_err(told)?;
        let (score, statistics) = checked(comparison, readings, &compared)?;
        let by_profile = || security_bits(PROFILE, compared.n, compared.log2_qp?);
        Ok(ComparisonRow {
            definition: self.selection.definition.name.clone(),
            comparison: comparison.name.clone(),
            quick: self.selection.quick,
            source: source.to_owned(),
            engine: contender.name.clone(),
            version: version.version,
            flags: version.flags,
            threads: version.threads,
            method: method.label(),
            security_bits: compared.security.filter(|bits| *bits >= 128).or_else(by_profile),
            scheme: compared.scheme,
            n: compared.n,
            parameters: compared.parameters,
            log2_qp: compared.log2_qp,
            batch: compared.batch,
            median_us: statistics.median,
            mean_us: statistics.mean,
            sd_us: statistics.deviation,
            count: statistics.count,
            processor_us: Statistics::of(&compared.processor).map(|times| times.median),
            bytes_readings: compared.bytes_readings,
            bytes_answer: compared.bytes_answer,
            bytes_keys: compared.bytes_keys,
            exact: compared.exact,
            score,
        })
    }

    fn missing(&self, asked: &ComparisonRequest<'_>, reason: &str) -> Gap {
        Gap {
            definition: self.selection.definition.name.clone(),
            engine: asked.method.engine.clone(),
            scheme: asked.method.scheme.clone(),
            n: None,
            parameters: Some(asked.comparison.name.clone()),
            operation: Some(asked.method.method.clone()),
            reason: without_paths(reason),
            log: None,
        }
    }
}

/// One method of one comparison.
#[derive(Clone, Copy)]
struct ComparisonRequest<'a> {
    comparison: &'a Comparison,
    method: &'a Method,
    readings: &'a Values,
    source: &'a str,
}
