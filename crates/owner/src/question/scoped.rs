//! Calls that name their devices: `mean(temperature of boiler)`.

use super::{Expression, Question};
use crate::functions::Call;
use crate::language::{Clause, Devices, Parsed, Parser, QuestionErrorKind as Kind, Scope};

impl Call {
    /// Returns the call about these devices, whatever those of the question are.
    ///
    /// ```
    /// use sotto_owner::question::{Call, Question, Scope};
    ///
    /// let above = Call::mean("heat") - Call::mean("heat").of_devices(Scope::AllDevices);
    /// let question = Question::select(above).per_device().build()?;
    /// assert_eq!(question.to_string(), "mean(heat) - mean(heat of all devices) per device");
    /// # Ok::<(), sotto_owner::question::QuestionError>(())
    /// ```
    #[must_use]
    pub fn of_devices(self, of: Scope) -> Expression {
        Expression::CallOf { call: self, of }
    }
}

impl Question {
    /// Iterates over the calls of all results in the order of the text, each with the devices that it names.
    pub fn calls_of(&self) -> impl Iterator<Item = (&Call, Option<&Scope>)> {
        self.select.iter().flat_map(|selected| selected.expression.calls_of())
    }
}

impl Parser<'_> {
    /// Refuses clauses about devices if every call names its own, and tags beside a call of two devices.
    pub(super) fn check_scopes(&self, question: &Question) -> Parsed<()> {
        let place = |of: Clause| self.places.clauses.iter().find(|(here, _)| *here == of);
        let mut calls = question.calls();
        if !question.tags.is_empty()
            && let Some(call) = calls.find(|call| !call.two_devices().is_empty())
        {
            let at = place(Clause::Where).map_or(self.text.len(), |(_, at)| *at);
            return Err(self.error(Kind::TagBesideTwo { call: call.function() }, at));
        }
        let names = |scope: Option<&Scope>| matches!(scope, Some(Scope::Device(_) | Scope::Tag(_)));
        if !question.calls_of().all(|(_, scope)| names(scope)) {
            return Ok(());
        }
        let (clause, of) = match question.grouping {
            Devices::Each if question.ranking.is_some() => ("the order of devices", Clause::Devices),
            Devices::Each => ("per device", Clause::Devices),
            Devices::Tag => ("per tag", Clause::Devices),
            Devices::Across if question.only.is_some() => ("where device in", Clause::Where),
            Devices::Across if !question.tags.is_empty() => ("where tag in", Clause::Where),
            Devices::Across => return Ok(()),
        };
        Err(self.error(Kind::IdleClause { clause }, place(of).map_or(self.text.len(), |(_, at)| *at)))
    }
}
