//! Bounds on a combination of polynomials.

use sotto_rlwe::{Log2, Noise, Params, Scheme, Shape};

use super::rules::ErrorRules;
use super::runs::{Extent, Run, extent, insert};
use super::terms::{Errors, Kind, Term};

impl ErrorRules {
    /// Returns a bound on the error of every slot; at most the shape's. With `read` values that repeat in the slots, on the
    /// mean of each value's copies, or on the coefficients of one result of this many values among several.
    pub fn slot_error<S: Scheme>(
        &self,
        params: &Params<S>,
        errors: &Errors,
        shape: &Shape<S>,
        read: Option<usize>,
    ) -> f64 {
        let (own, error) = (shape.slot_error(params), Log2::of(self.total(errors, read)));
        let noise = Noise { error: error.min(shape.noise.error), ..shape.noise };
        let bound = Shape { noise, ..*shape }.slot_error(params);
        // The sum may overflow f64; then the shape's bound is used.
        if bound.is_nan() { own } else { bound.min(own) }
    }

    /// Turns sums of roundings over whole rows into a bound, before factors that differ between slots hide that they are
    /// equal in all slots.
    pub(super) fn settle(&self, errors: &mut Errors) {
        let whole = |Term { group, run }: &Term| match group.2 {
            Kind::Rounding(period) => even_sum(run, period).map(|each| each * run.polynomials.len() as f64),
            _ => None,
        };
        let settled: f64 = errors.terms.iter().filter_map(whole).sum();
        if settled > 0.0 {
            errors.worst += settled;
            errors.terms.retain(|term| whole(term).is_none());
        }
    }

    /// Returns a bound on the canonical norm of an error, or of the mean of `read` values' copies.
    ///
    /// That mean is the mean of the error's rotations by multiples of `read`.
    pub(super) fn total(&self, errors: &Errors, read: Option<usize>) -> f64 {
        let read = read.map_or(self.row, |values| self.row.min(values as u32));
        let (mut squares, mut source) = (0.0, 0.0);
        let mut encoding = 0.0;
        let mut last = None;
        for terms in errors.terms.chunk_by(|a, b| a.group == b.group) {
            let (of, _, kind) = terms[0].group;
            if last.replace(of) != Some(of) {
                squares += f64::powi(core::mem::take(&mut source), 2);
            }
            let each = |period: u32| self.by_polynomial(terms, period, read);
            match kind {
                Kind::Rounding(period) => {
                    let size = |(count, runs, Extent { root, .. }): (u32, Vec<&Run>, Extent)| {
                        let even: Option<f64> = runs.iter().map(|run| even_sum(run, period)).sum();
                        f64::from(count) * even.map_or(root, |even| root.min(even))
                    };
                    encoding += each(period).into_iter().map(size).sum::<f64>();
                }
                Kind::Random => {
                    let square =
                        |(count, _, extent): (u32, _, Extent)| f64::from(count) * extent.root.powi(2);
                    source += f64::sqrt(each(self.row).into_iter().map(square).sum());
                }
                Kind::Switched => {
                    let most = (1.5 * self.degree).sqrt() / self.tail;
                    let size = |(count, _, Extent { root, largest }): (u32, _, Extent)| {
                        f64::from(count) * root.min(largest * most)
                    };
                    source += each(self.row).into_iter().map(size).sum::<f64>();
                }
            }
        }
        squares += source * source;
        self.tail * squares.sqrt() + encoding + errors.worst
    }

    /// Returns the extents of one event's polynomials, with the number of polynomials that each counts for. Rotations modulo
    /// `period` are equal; copies of `read` values are averaged.
    fn by_polynomial<'t>(
        &self,
        terms: &'t [Term],
        period: u32,
        read: u32,
    ) -> Vec<(u32, Vec<&'t Run>, Extent)> {
        let ring = period.min(read);
        let means = f64::from(period / ring);
        let mut ends: Vec<u32> =
            terms.iter().flat_map(|Term { run, .. }| [run.polynomials.start, run.polynomials.end]).collect();
        ends.sort_unstable();
        ends.dedup();
        let of = |bounds: &[u32]| {
            let (start, end) = (bounds[0], bounds[1]);
            let covers = |run: &&Run| run.polynomials.start <= start && end <= run.polynomials.end;
            let runs: Vec<&Run> = terms.iter().map(|term| &term.run).filter(covers).collect();
            let mut folded = Vec::new();
            for run in runs.iter().flat_map(|run| run.folded(ring)) {
                // Coefficients of one result among several have turned before they coincide.
                let run = if read < period { run.turned() } else { run };
                insert(&mut folded, Run { polynomials: start..end, ..run }, ring);
            }
            let Extent { root, largest } = extent(&folded.iter().collect::<Vec<_>>(), ring);
            (end - start, runs, Extent { root: root / means.sqrt(), largest: largest / means })
        };
        ends.windows(2).map(of).collect()
    }
}

/// Returns a bound on a sum of all rotations of a residue class with one factor, of roundings that repeat after `period`
/// slots: of their coefficients only those are left that these rotations keep, each as many times. None for other runs.
fn even_sum(run: &Run, period: u32) -> Option<f64> {
    let mut folded = run.folded(period);
    let (first, second) = (folded.next()?, folded.next());
    (run.even && second.is_none() && first.is_cycle(period)).then_some(first.factor.abs())
}
