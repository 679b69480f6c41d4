//! The grammar of groups.

use sotto_program::text;

use crate::language::{By, Cycle, Parsed, Parser, QuestionErrorKind as Kind, Token, near};

const EXPECTED: &str = "window, hour, day, week, month, quarter, year, a part of a day such as 15m or 6h, \
    hour of day, weekday or month of year";

impl Parser<'_> {
    /// Reads the groups after `by`.
    pub(super) fn by(&mut self) -> Parsed<By> {
        let next = self.peek()?;
        match next.token {
            Token::Word(_) if let Some(first) = self.cycle()? => self.second_cycle(first),
            Token::Word(word) => {
                self.end = next.end;
                let by = By::WORDS.into_iter().find(|by| by.word() == Some(word));
                let by = by.ok_or_else(|| {
                    let kind = Kind::UnknownWord {
                        word: text::excerpt(word),
                        expected: EXPECTED,
                        near: near_group(word),
                    };
                    self.error(kind, next.start)
                })?;
                if by == By::Month { self.month() } else { Ok(by) }
            }
            // Also a number that its unit makes none: 1e.
            _ if self.text[next.start..].starts_with(|first: char| first.is_ascii_digit()) => self.every(),
            _ => Err(self.expected(EXPECTED)),
        }
    }

    /// Reads a recurring group, if one is here.
    fn cycle(&mut self) -> Parsed<Option<Cycle>> {
        let before = self.end;
        let words = Cycle::ALL.map(|cycle| (cycle.words(), cycle));
        for (words, cycle) in words.into_iter().chain([("day of week", Cycle::Weekday)]) {
            let mut is_here = true;
            for word in words.split(' ') {
                is_here = is_here && self.accept_word(word)?;
            }
            if is_here {
                return Ok(Some(cycle));
            }
            self.end = before;
        }
        Ok(None)
    }

    fn second_cycle(&mut self, first: Cycle) -> Parsed<By> {
        if !self.accept_word("and")? {
            return Ok(By::Recurring { first, second: None });
        }
        let at = self.start();
        match self.cycle()? {
            Some(second) if second == first => Err(self.error(Kind::CycleTwice { word: first.words() }, at)),
            Some(second) => Ok(By::Recurring { first, second: Some(second) }),
            None if matches!(self.peek()?.token, Token::Word("tag" | "tags")) => {
                Err(self.error(Kind::TagInGroup, at))
            }
            None => {
                let expected = "hour of day, weekday or month of year";
                let Token::Word(word) = self.peek()?.token else { return Err(self.expected(expected)) };
                let near = near_cycle(word);
                Err(self.error(Kind::UnknownWord { word: text::excerpt(word), expected, near }, at))
            }
        }
    }

    fn every(&mut self) -> Parsed<By> {
        let at = self.start();
        let length = self.duration()?;
        By::every(length).ok_or_else(|| self.error(Kind::GroupLength { length: length.to_string() }, at))
    }

    /// Reads `from 21` after `by month`, if it is there.
    fn month(&mut self) -> Parsed<By> {
        if !self.accept_word("from")? {
            return Ok(By::Month);
        }
        let at = self.start();
        let digits = self.raw(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+'));
        let day = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
        day.and_then(By::month_from).ok_or_else(|| self.error(Kind::DayOfMonth, at))
    }
}

/// Suggests the recurring group that was probably meant.
fn near_cycle(word: &str) -> Option<&'static str> {
    match word {
        "hour" | "hours" => Some("hour of day"),
        "day" | "days" | "dow" => Some("weekday"),
        "month" | "months" => Some("month of year"),
        word => near(word, &["weekday"]),
    }
}

/// Suggests the group that was probably meant, by spelling or by sense.
fn near_group(word: &str) -> Option<&'static str> {
    let words = By::WORDS.map(|by| by.word().unwrap_or_default());
    match word {
        "hourly" | "hours" => Some("hour"),
        "daily" | "days" | "date" => Some("day"),
        "weekly" | "weeks" => Some("week"),
        "monthly" | "months" => Some("month"),
        "quarterly" | "quarters" => Some("quarter"),
        "yearly" | "years" | "annually" => Some("year"),
        "weekdays" | "dow" | "dayofweek" => Some("weekday"),
        "minute" | "minutes" | "min" => Some("1m"),
        "tags" | "label" | "labels" | "area" => Some("tag"),
        "device" | "devices" => Some("per device"),
        word => near(word, &words).or_else(|| near(word, &["weekday"])),
    }
}
