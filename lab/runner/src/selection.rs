//! What of a definition is run.

use crate::definition::{Definition, Measurement, Parameters, Repetitions, Scheme};
use crate::error::RunnerError;

/// A definition, narrowed to what somebody asks for.
#[derive(Clone, Debug)]
pub struct Selection {
    /// What is measured.
    pub definition: Definition,
    /// Whether in its quick variant.
    pub quick: bool,
    /// n, in order.
    degrees: Vec<usize>,
    /// Schemes, in order.
    schemes: Vec<Scheme>,
}

/// What engines are prepared for once: a parameter set, a scheme and a size.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    /// The parameter set.
    pub parameters: &'a Parameters,
    /// The scheme.
    pub scheme: Scheme,
    /// n.
    pub degree: usize,
}

impl Selection {
    /// Of a definition the named sizes and schemes; all of them, if none is named. Whoever names a size gets it, in the quick
    /// variant too.
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
        if selection.spans().is_empty() {
            let definition = &selection.definition;
            let sizes = definition.degrees.iter().map(usize::to_string);
            let names = definition.schemes.iter().map(|scheme| scheme.name().to_owned());
            let has = sizes.chain(names).collect::<Vec<_>>().join(", ");
            return Err(RunnerError::Nothing { definition: definition.name.clone(), has });
        }
        Ok(selection)
    }

    /// What engines are prepared for, in order: small sizes first, so that a run that is ended early has something.
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

    /// How often things are done.
    pub fn repetitions(&self) -> Repetitions {
        if self.quick { self.definition.quick.repetitions } else { self.definition.repetitions }
    }

    /// What is measured in a span.
    pub fn measurements(&self, span: &Span<'_>) -> Vec<&Measurement> {
        let named = &span.parameters.operations;
        let has = |m: &&Measurement| {
            (m.schemes.is_empty() || m.schemes.contains(&span.scheme))
                && (named.contains(&m.operation) || (named.is_empty() && !m.only_named))
        };
        self.definition.operations.iter().filter(has).collect()
    }

    /// How much work a span is for one engine, in no particular unit: below n = 8192 what is repeated takes as long as it is asked
    /// for, above it each time takes the square of n and more.
    pub fn weight(&self, span: &Span<'_>) -> u64 {
        (self.measurements(span).len() * (4 + (span.degree / 1024).pow(2) / 8)) as u64
    }

    /// How much work all of it is.
    pub fn whole(&self) -> u64 {
        self.spans().iter().map(|span| self.weight(span)).sum()
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
