//! Selects the part of a definition that is run.

use crate::definition::{Comparison, Definition, Measurement, Method, Parameters, Repetitions, Scheme};
use crate::error::RunnerError;

/// A definition, restricted to the requested sizes and schemes.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The definition as it was parsed.
    pub definition: Definition,
    /// True for the quick variant.
    pub quick: bool,
    /// The values of n, in order.
    degrees: Vec<usize>,
    /// The schemes, in order.
    schemes: Vec<Scheme>,
}

/// The unit that engines are prepared for: a parameter set, a scheme and a size.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    /// One of the definition's sets.
    pub parameters: &'a Parameters,
    /// One of the requested schemes.
    pub scheme: Scheme,
    /// n.
    pub degree: usize,
}

impl Selection {
    /// Restricts a definition to the named sizes and schemes; all if none is named. A named size is measured in the
    /// quick variant too.
    ///
    /// # Errors
    /// `Nothing` if no parameter set is left.
    pub fn new(
        definition: Definition,
        quick: bool,
        degrees: &[usize],
        schemes: &[Scheme],
    ) -> Result<Self, RunnerError> {
        let mut sizes = definition.degrees.clone();
        if !degrees.is_empty() {
            sizes.retain(|n| degrees.contains(n));
        } else if quick && !definition.quick.degrees.is_empty() {
            sizes = definition.quick.degrees.clone();
        }
        let mut named = definition.schemes.clone();
        named.retain(|scheme| schemes.is_empty() || schemes.contains(scheme));
        let selection = Self { definition, quick, degrees: sizes, schemes: named };
        // Comparisons have neither sizes nor schemes to choose from.
        let compares =
            !selection.definition.comparisons.is_empty() && degrees.is_empty() && schemes.is_empty();
        if selection.spans().is_empty() && !compares {
            let definition = &selection.definition;
            let sizes = definition.degrees.iter().map(usize::to_string);
            let names = definition.schemes.iter().map(|scheme| scheme.name().to_owned());
            let comparisons = definition.comparisons.iter().map(|one| one.name.clone());
            let has = sizes.chain(names).chain(comparisons).collect::<Vec<_>>().join(", ");
            return Err(RunnerError::Nothing { definition: definition.name.clone(), has });
        }
        Ok(selection)
    }

    /// Returns the spans in order: small sizes first, so that an interrupted run has rows.
    pub fn spans(&self) -> Vec<Span<'_>> {
        let mut spans = Vec::new();
        for parameters in &self.definition.parameters {
            for degree in self.degrees.iter().copied() {
                for scheme in self.schemes.iter().copied() {
                    if parameters.covers(scheme, degree) {
                        spans.push(Span { parameters, scheme, degree });
                    }
                }
            }
        }
        spans
    }

    /// Returns the comparisons with their methods; a quick run leaves out the slow ones.
    pub fn comparisons(&self) -> Vec<(&Comparison, Vec<&Method>)> {
        let asked = |method: &&Method| !(self.quick && method.slow);
        self.definition
            .comparisons
            .iter()
            .map(|one| (one, one.methods.iter().filter(asked).collect()))
            .collect()
    }

    /// Returns the repetitions of the variant.
    pub fn repetitions(&self) -> Repetitions {
        if self.quick { self.definition.quick.repetitions } else { self.definition.repetitions }
    }

    /// Returns what is timed on a span, in the definition's order.
    pub fn measurements(&self, span: &Span<'_>) -> Vec<&Measurement> {
        let named = &span.parameters.operations;
        let has = |m: &&Measurement| {
            (m.schemes.is_empty() || m.schemes.contains(&span.scheme))
                && (named.contains(&m.operation) || (named.is_empty() && !m.only_named))
        };
        self.definition.operations.iter().filter(has).collect()
    }

    /// Returns the work of a span for one engine, in arbitrary units. Below n = 8192 repetitions fill a fixed time;
    /// above it each repetition grows with n² and more.
    pub fn weight(&self, span: &Span<'_>) -> u64 {
        (self.measurements(span).len() * (4 + (span.degree / 1024).pow(2) / 8)) as u64
    }

    /// Returns the work of all spans.
    pub fn whole(&self) -> u64 {
        let compared: usize = self.comparisons().iter().map(|(_, methods)| methods.len()).sum();
        self.spans().iter().map(|span| self.weight(span)).sum::<u64>() + compared as u64
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn selection(quick: bool, degrees: &[usize], schemes: &[Scheme]) -> Result<Selection, RunnerError> {
        let small = Definition::parse("small", include_str!("../tests/small.toml")).unwrap();
        Selection::new(small, quick, degrees, schemes)
    }

    #[test]
    fn sizes_and_schemes_are_those_asked_for() {
        let spans = |s: &Selection| s.spans().iter().map(|s| (s.degree, s.scheme)).collect::<Vec<_>>();
        let all = selection(false, &[], &[]).unwrap();
        let (bfv, ckks) = (Scheme::Bfv, Scheme::Ckks);
        assert_eq!(spans(&all), [(4096, bfv), (4096, ckks), (8192, bfv), (8192, ckks)]);
        assert_eq!(spans(&selection(true, &[], &[]).unwrap()).len(), 2);
        assert_eq!(spans(&selection(true, &[8192], &[ckks]).unwrap()), [(8192, ckks)]);
        assert_eq!(selection(true, &[], &[]).unwrap().repetitions().rounds, 2);
        let error = selection(false, &[32768], &[]).unwrap_err().to_string();
        assert_eq!(error, "nothing of small is left to measure: it has 4096, 8192, bfv, ckks");
    }
}
