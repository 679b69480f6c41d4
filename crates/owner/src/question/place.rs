//! The places of a question where parameters stand, and the values that fit them.

use crate::language::{
    DayRange, Duration, During, Name, NameBehindOf, QuestionError, QuestionErrorKind as Kind, TimeOfDay,
    Token, When, limits,
};

/// The kind of value that a parameter stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Devices,
    Tags,
    Weekdays,
    Months,
    Days,
    Device,
    Tag,
    Duration,
    Moment,
    Span,
    TimeOfDay,
    Count,
}

/// Returns the kind of the list that a parenthesis opens behind these tokens.
pub(super) fn list_behind([first, second, third]: [Token<'_>; 3]) -> Option<Place> {
    let word = match (first, second, third) {
        (Token::Word(word), Token::Word("not"), Token::Word("in"))
        | (_, Token::Word(word), Token::Word("in")) => word,
        _ => return None,
    };
    Some(match word {
        "device" => Place::Devices,
        "tag" => Place::Tags,
        "weekday" => Place::Weekdays,
        "month" => Place::Months,
        "date" => Place::Days,
        _ => return None,
    })
}

/// Returns the kind of value that stands behind these tokens.
pub(super) fn place_behind([_, second, third]: [Token<'_>; 3]) -> Option<Place> {
    let Token::Word(word) = third else { return None };
    Some(match word {
        "tag" if second == Token::Word("of") => Place::Tag,
        "of" => Place::Device,
        "over" => Place::Duration,
        "since" | "until" => Place::Moment,
        "during" => Place::Span,
        "time" => Place::TimeOfDay,
        "top" | "bottom" => Place::Count,
        _ => return None,
    })
}

impl Place {
    /// Returns a value as the text has it; the reason if it does not fit.
    pub(super) fn written(self, value: &str) -> Result<String, String> {
        let each = |of: fn(&str) -> Result<String, String>| {
            let all: Result<Vec<String>, String> = value.split(',').map(|part| of(part.trim())).collect();
            all.map(|all| all.join(", "))
        };
        let name = |name: &str| match name.len() {
            0 => Err("a name has at least one letter".to_owned()),
            _ => Ok(Name(name).to_string()),
        };
        let word = |word: &str| {
            let is_word = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
            if is_word { Ok(word.to_owned()) } else { Err("write words with commas, as sat,sun".to_owned()) }
        };
        let day =
            |day: &str| day.parse::<DayRange>().map(|day| day.to_string()).map_err(|wrong| wrong.to_string());
        let value = value.trim();
        let reason = |wrong: QuestionError| wrong.kind.to_string();
        match self {
            Self::Devices | Self::Tags => each(name),
            Self::Weekdays | Self::Months => each(word),
            Self::Days => each(day),
            Self::Tag => name(value),
            Self::Device => {
                name(value)?;
                Ok(NameBehindOf(value).to_string())
            }
            Self::Duration => value.parse::<Duration>().map(|time| time.to_string()).map_err(reason),
            Self::Moment => value.parse::<When>().map(|when| when.to_string()).map_err(reason),
            Self::Span => {
                value.parse::<During>().map(|span| span.to_string()).map_err(|_| Kind::During.to_string())
            }
            Self::TimeOfDay => {
                let time = value.parse::<TimeOfDay>().map(|time| time.to_string());
                time.map_err(|_| Kind::TimeOfDay.to_string())
            }
            Self::Count => {
                let number = value.parse::<u32>().ok().filter(|number| limits::RANKED.contains(number));
                number.map(|number| number.to_string()).ok_or_else(|| Kind::RankedDevices.to_string())
            }
        }
    }

    /// Returns values with which the rest of the text is checked: different ones for the members of a list.
    pub(super) fn samples(self, name: &str) -> Vec<String> {
        let sample = match self {
            Self::Devices | Self::Tags | Self::Device | Self::Tag => return vec![format!("\"${name}\"")],
            Self::Weekdays => {
                return ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].map(str::to_owned).to_vec();
            }
            Self::Months => return (1..=12).map(|month| month.to_string()).collect(),
            Self::Days => return (1000..=9999).map(|year| format!("{year}-01-01")).collect(),
            Self::Duration => "52w",
            Self::Moment => "2024-01-01",
            Self::Span => "2024",
            Self::TimeOfDay => "00:00-24:00",
            Self::Count => "1",
        };
        vec![sample.to_owned()]
    }
}
