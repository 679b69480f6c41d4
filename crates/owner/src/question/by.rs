//! The grammar of groups.

use sotto_program::text;

use crate::language::{By, Parsed, Parser, QuestionErrorKind as Kind, Token, near};

const EXPECTED: &str = "window, hour, day, week, month, quarter, year, or a part of a day such as 15m or 6h";

impl Parser<'_> {
    /// Reads the groups after `by`.
    pub(super) fn by(&mut self) -> Parsed<By> {
        let next = self.peek()?;
        match next.token {
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

    fn every(&mut self) -> Parsed<By> {
        let at = self.start();
        let length = self.duration()?;
        By::every(length).ok_or_else(|| self.error(Kind::GroupLength { length }, at))
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
        "minute" | "minutes" | "min" => Some("1m"),
        word => near(word, &words),
    }
}
