//! Questions with parameters, without values: their needs, and the questions that they may become.

use std::collections::BTreeSet;

use super::place::Place;
use super::template::{Parameter, Template};
use super::{Along, Expression, Offset, Priced, Question};
use crate::language::{Period, QuestionError, Scope, TextSpans};

impl Template {
    /// Returns the question about all devices and all times: what devices send for it answers it with every value.
    ///
    /// # Errors
    /// [`QuestionError`] of the text, in which sample values stand for the parameters.
    pub fn general(&self) -> Result<(Question, TextSpans), QuestionError> {
        let sample = |parameter: &Parameter| Ok::<_, QuestionError>(self.sample(parameter));
        let (mut question, places) = Question::parse_with_places(&self.with(sample)?)?;
        if self.parameters.is_empty() {
            return Ok((question, places));
        }
        let is_time = |place| matches!(place, Place::Moment | Place::Span);
        if self.parameters.iter().any(|parameter| is_time(parameter.place)) {
            question.period = Period::All;
        }
        if question.only.as_ref().is_some_and(|only| only.iter().any(is_any)) {
            question.only = None;
        }
        if question.tags.iter().any(is_any) {
            question.tags.clear();
        }
        for selected in &mut question.select {
            selected.expression.change_parts(&mut |part| {
                let is_sample =
                    |of: &Scope| matches!(of, Scope::Device(name) | Scope::Tag(name) if is_any(name));
                match part {
                    Expression::CallOf { call, of } if is_sample(of) => {
                        *part = Expression::Call(call.clone());
                    }
                    Expression::Along(Along { devices, .. })
                    | Expression::Offset(Offset { devices, .. })
                    | Expression::Priced(Priced { devices, .. })
                        if devices.as_ref().is_some_and(is_sample) =>
                    {
                        *devices = None;
                    }
                    _ => {}
                }
            });
        }
        // The same of any two devices is one.
        let mut names = BTreeSet::new();
        question.select.retain(|selected| names.insert(selected.name()));
        let places = TextSpans { tags: Vec::new(), devices: Vec::new(), ..places };
        Ok((question, places))
    }

    /// Returns true if values of the parameters may make this question. False for a call of two devices with parameters.
    pub(crate) fn may_become(&self, asked: &Question) -> bool {
        let sample = |parameter: &Parameter| Ok::<_, QuestionError>(self.sample(parameter));
        let own = self.with(sample).and_then(|text| text.parse::<Question>());
        own.is_ok_and(|own| self.opened(own) == self.opened(asked.clone()))
    }

    /// Returns a question without the parts that follow from parameters.
    fn opened(&self, mut question: Question) -> Question {
        let has =
            |places: &[Place]| self.parameters.iter().any(|parameter| places.contains(&parameter.place));
        if has(&[Place::Devices]) {
            question.only = None;
        }
        if has(&[Place::Tags]) {
            question.tags.clear();
        }
        if has(&[Place::Duration, Place::Moment, Place::Span]) {
            question.period = Period::All;
        }
        if has(&[Place::Weekdays]) {
            question.times.weekdays.clear();
        }
        if has(&[Place::Months]) {
            question.times.months.clear();
        }
        if has(&[Place::Days]) {
            question.times.dates = None;
        }
        if has(&[Place::TimeOfDay]) {
            question.times.time = None;
        }
        if let Some(ranking) = question.ranking.as_mut().filter(|_| has(&[Place::Count])) {
            ranking.devices = 1;
        }
        if has(&[Place::Device, Place::Tag]) {
            for selected in &mut question.select {
                selected.expression.change_parts(&mut |part| match part {
                    Expression::CallOf { call, .. } => *part = Expression::Call(call.clone()),
                    Expression::Along(Along { devices, .. }) | Expression::Offset(Offset { devices, .. }) => {
                        *devices = None;
                    }
                    _ => {}
                });
            }
        }
        question
    }

    /// Returns a value with which the rest of the text is checked. No two members of a list have the same one.
    fn sample(&self, parameter: &Parameter) -> String {
        let samples = parameter.place.samples(&parameter.name);
        let begin = self.text[..parameter.at.start].rfind('(').map_or(0, |at| at + 1);
        let end = self.text[parameter.at.end..].find(')').map_or(self.text.len(), |at| parameter.at.end + at);
        let taken: Vec<&str> = self.text[begin..end].split(',').map(str::trim).collect();
        let of_list = self.parameters.iter().filter(|other| (begin..end).contains(&other.at.start));
        let names: BTreeSet<&str> = of_list.map(|other| other.name.as_str()).collect();
        let before = names.iter().take_while(|name| **name != parameter.name).count();
        let free = samples.iter().filter(|sample| !taken.contains(&sample.as_str()));
        free.clone().nth(before).or(samples.first()).cloned().unwrap_or_default()
    }
}

/// Returns true for the name that stands for any device or tag. Neither begins with a dollar sign.
#[expect(clippy::ptr_arg, reason = "an item of a list of names")]
fn is_any(name: &String) -> bool {
    name.starts_with('$')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_general_question_is_about_all_devices() {
        let general = |text: &str| Template::read(text).expect(text).general().expect(text).0.to_string();
        assert_eq!(general("mean(x) by day where device in (a, $room)"), "mean(x) by day");
        assert_eq!(
            general("mean(x) per device where tag in ($t) and time 01:00-02:00"),
            "mean(x) per device where time 01:00-02:00"
        );
        assert_eq!(general("mean(x of $a) - mean(x of roof)"), "mean(x) - mean(x of roof)");
        assert_eq!(general("mean(x of $a), mean(x of $b), max(x of $a)"), "mean(x), max(x)");
    }

    #[test]
    fn parameters_of_times_and_lists_have_values_of_their_own() {
        let general = |text: &str| Template::read(text).expect(text).general().expect(text).0;
        for text in [
            "mean(x) since $from until $to",
            "mean(x) since $from until 2023-06-01",
            "mean(x) since 2030-01-01 until $to",
            "mean(x) during $when",
        ] {
            assert_eq!(general(text).to_string(), "mean(x)", "{text}");
        }
        for text in [
            "mean(x) where weekday in ($a, $b)",
            "mean(x) where weekday in (mon, $a, tue, $b)",
            "mean(x) where month in (1, $m, 2, $n) and weekday in ($a)",
            "mean(x) where date not in ($a, 1000-01-01, $b)",
            "correlation(x of $a, y of $b) by day",
        ] {
            assert_eq!(general(text).to_string().matches(',').count(), text.matches(',').count(), "{text}");
        }
        let twice = Template::read("mean(x) where weekday in ($a, $a)").expect("a template");
        assert!(twice.general().is_err());
    }

    #[test]
    fn an_answered_question_is_known_by_its_template() {
        let text = "mean(x of $a), max(x) since $from where device in ($room) and weekday in ($days) by day";
        let template = Template::read(text).expect("a template");
        let may = |asked: &str| template.may_become(&asked.parse().expect(asked));
        assert!(may(
            "mean(x of roof), max(x) since 2024-01-01 where device in (b, c) and weekday in (sat) by day"
        ));
        assert!(!may(
            "mean(x of roof), min(x) since 2024-01-01 where device in (b) and weekday in (sat) by day"
        ));
        assert!(!may("mean(x of roof), max(x) since 2024-01-01 where device in (b) and weekday in (sat)"));
        let fixed = Template::read("mean(x) where device in (a) and tag in ($t)").expect("a template");
        assert!(
            fixed.may_become(&"mean(x) where device in (a) and tag in (barn)".parse().expect("a question"))
        );
        assert!(
            !fixed.may_become(&"mean(x) where device in (b) and tag in (barn)".parse().expect("a question"))
        );
    }
}
