//! A question with the intermediate results that its calls need.

use super::{AlongGroups, Expression, OfGroups, Question};
use crate::functions::Call;
use crate::gathered::{Need, NeedId, Needed};
use crate::language::Scope;

/// A question, and its needs by number.
pub(crate) struct Asked<'q> {
    pub(crate) question: &'q Question,
    pub(crate) results: Vec<AskedResult<'q>>,
    needed: Needed,
}

/// A result of a question.
pub(crate) struct AskedResult<'q> {
    pub(crate) name: String,
    pub(crate) expression: &'q Expression,
    /// The unit of `in`.
    pub(crate) unit: Option<&'q str>,
    /// The calls of the expression, in the order of the text.
    pub(crate) calls: Vec<AskedCall<'q>>,
}

/// A call of a question.
pub(crate) struct AskedCall<'q> {
    pub(crate) call: &'q Call,
    /// The devices that it names.
    pub(crate) of: Option<&'q Scope>,
    /// The groups that its value in a row is made of.
    pub(crate) groups: OfGroups<'q>,
    /// Its number among the calls of the question, from 0.
    pub(crate) number: usize,
    /// Its needs, in its own order.
    pub(crate) needs: Vec<NeedId>,
}

impl AskedCall<'_> {
    /// Returns true unless its value is that of an earlier group, which has windows of its own.
    pub(crate) fn is_of_rows(&self) -> bool {
        !matches!(self.groups, OfGroups::Earlier(_))
    }
}

impl<'q> Asked<'q> {
    pub(crate) fn new(question: &'q Question) -> Self {
        let mut needed = Needed::default();
        let mut numbers = 0..;
        let mut call = |(call, of, groups): (&'q Call, Option<&'q Scope>, OfGroups<'q>)| AskedCall {
            call,
            of,
            groups,
            number: numbers.next().unwrap_or_default(),
            needs: needed.numbers(call.needs()),
        };
        let mut results = Vec::with_capacity(question.select.len());
        for selected in &question.select {
            let calls = selected.expression.asked().map(&mut call).collect();
            results.push(AskedResult {
                name: selected.name(),
                expression: &selected.expression,
                unit: selected.unit.as_deref(),
                calls,
            });
        }
        Self { question, results, needed }
    }

    /// Iterates over the calls of all results.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &AskedCall<'q>> {
        self.results.iter().flat_map(|result| &result.calls)
    }

    /// Returns the number of groups before a row that its values are made of.
    pub(crate) fn groups_before(&self) -> u32 {
        let of = |call: &AskedCall<'_>| {
            let difference = matches!(call.groups, OfGroups::Along(AlongGroups::Difference));
            call.call.of().groups_before() + u32::from(difference)
        };
        self.calls().map(of).max().unwrap_or_default()
    }

    /// Iterates over all needs with their numbers.
    pub(crate) fn needs(&self) -> impl Iterator<Item = (NeedId, &Need)> {
        self.needed.iter()
    }

    /// Returns the needs of some calls, each once.
    pub(crate) fn needs_of(&self, calls: &[&AskedCall<'_>]) -> Vec<(NeedId, &Need)> {
        let asked = |id: NeedId| calls.iter().any(|call| call.needs.contains(&id));
        self.needed.iter().filter(|(id, _)| asked(*id)).collect()
    }
}
