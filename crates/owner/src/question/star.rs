//! The channel `*`, which stands for every channel: `mean(*)`.

use super::{Question, Selected};
use crate::functions::Call;
use crate::language::{Name, Parser, QuestionError, token};

/// The name that stands for every channel. No channel is called so.
pub(crate) const STAR: &str = "*";

/// Returns true if a call is about every channel.
pub(crate) fn has_star(call: &Call) -> bool {
    call.channels().contains(&STAR)
}

impl Selected {
    /// Returns true if it stands for a result of each channel.
    pub(crate) fn has_star(&self) -> bool {
        self.expression.calls().any(has_star)
    }

    /// Returns the result of one channel in the place of `*`. A name given with `as` has the channel behind it.
    ///
    /// # Errors
    /// [`QuestionError`] if the expression cannot be written with this channel.
    pub(crate) fn with_channel(&self, channel: &str) -> Result<Self, QuestionError> {
        let text = self.expression.to_string();
        let mut parser = Parser::new(&text);
        parser.sum()?;
        let (mut written, mut from) = (String::with_capacity(text.len()), 0);
        for (_, at) in parser.places.channels.iter().filter(|(name, _)| name == STAR) {
            written.push_str(&text[from..*at]);
            written.push_str(&Name(channel).to_string());
            from = token(&text, *at).map_or(*at, |found| found.end);
        }
        written.push_str(&text[from..]);
        let expression = Parser::new(&written).sum()?.expression;
        let name = self.name.as_ref().map(|name| format!("{name}.{channel}"));
        Ok(Self { expression, unit: self.unit.clone(), name })
    }
}

impl Question {
    /// Returns true if a result stands for one of each channel.
    #[must_use]
    pub fn has_star(&self) -> bool {
        self.select.iter().any(Selected::has_star)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_takes_the_place_of_each_star() {
        let with = |text: &str, channel: &str| {
            let question = Question::parse(text).expect(text);
            assert_eq!(question.to_string(), text);
            assert!(question.has_star());
            question.select[0].with_channel(channel).expect(text).to_string()
        };
        for (text, channel, expected) in [
            ("mean(*)", "heat", "mean(heat)"),
            ("2 * mean(*)", "heat", "2 * mean(heat)"),
            ("max(*) - min(*) as span", "heat", "max(heat) - min(heat) as span.heat"),
            ("mean(* of boiler) in °F", "co2-air", "mean(\"co2-air\" of boiler) in °F"),
            ("count(* > 3)", "heat", "count(heat > 3)"),
            ("covariance(heat, *)", "flow", "covariance(heat, flow)"),
        ] {
            assert_eq!(with(text, channel), expected);
        }
        assert!(!Question::parse("2 * mean(heat) * 3").expect("a question").has_star());
    }
}
