//! The grammar of conditions: `where device in (…) and time 22:00-06:00`.

use std::collections::BTreeSet;

use sotto_program::text;

use crate::language::{
    Clause, Dates, DayRange, DaysOf, NotDays, Parsed, Parser, QuestionErrorKind as Kind, TimeOfDay, Times,
    Token, Weekday, limits, month_named, near,
};

const EXPECTED: &str =
    "device in (…), tag in (…), time 22:00-06:00, weekday in (sat, sun), month in (1, 12) or date in (…)";

/// The conditions of a `where` clause.
#[derive(Default)]
pub(super) struct Conditions {
    pub(super) only: Option<Vec<String>>,
    pub(super) tags: Vec<String>,
    pub(super) times: Times,
}

impl Parser<'_> {
    /// Reads the conditions after `where`.
    pub(super) fn conditions(&mut self) -> Parsed<Conditions> {
        let mut all = Conditions::default();
        loop {
            self.condition_of_where(&mut all)?;
            if !self.accept_word("and")? {
                return Ok(all);
            }
        }
    }

    fn condition_of_where(&mut self, all: &mut Conditions) -> Parsed<()> {
        let next = self.peek()?;
        let Token::Word(word) = next.token else { return Err(self.expected(EXPECTED)) };
        self.end = next.end;
        let at = next.start;
        match word {
            "device" => {
                self.once("device in", all.only.is_some(), None, at)?;
                self.word("in")?;
                all.only = Some(self.devices()?);
            }
            "tag" => {
                self.once("tag in", !all.tags.is_empty(), None, at)?;
                self.word("in")?;
                all.tags = self.tags()?;
            }
            "time" => {
                self.once("time", all.times.time.is_some(), None, at)?;
                self.places.clauses.push((Clause::Times, at));
                all.times.time = Some(self.time_of_day()?);
            }
            "weekday" => {
                self.once("weekday in", !all.times.weekdays.is_empty(), None, at)?;
                self.places.clauses.push((Clause::Times, at));
                self.word("in")?;
                all.times.weekdays = self
                    .members("a weekday: mon, tue, wed, thu, fri, sat or sun", |word| {
                        Weekday::named(word).ok_or_else(|| Weekday::near(word))
                    })?;
            }
            "month" => {
                self.once("month in", !all.times.months.is_empty(), None, at)?;
                self.places.clauses.push((Clause::Times, at));
                self.word("in")?;
                all.times.months = self.members("a month: 1 to 12, or jan, feb, …", |word| {
                    let number = || word.parse().ok().filter(|month| (1..=12).contains(month));
                    month_named(word).or_else(number).ok_or(None)
                })?;
            }
            "date" => {
                self.once("date in", all.times.dates.is_some(), None, at)?;
                self.places.clauses.push((Clause::Times, at));
                let not = self.accept_word("not")?;
                self.word("in")?;
                all.times.dates = Some(Dates { not, days: self.days()? });
            }
            word => {
                let near = match word {
                    "days" | "day" | "weekdays" | "dow" => Some("weekday in"),
                    "hour" | "hours" | "times" | "clock" => Some("time"),
                    "dates" | "holiday" | "holidays" => Some("date in"),
                    "devices" => Some("device in"),
                    "tags" | "label" | "labels" | "area" => Some("tag in"),
                    word => near(word, &["device", "tag", "time", "weekday", "month", "date"]),
                };
                let kind = Kind::UnknownWord { word: text::excerpt(word), expected: EXPECTED, near };
                return Err(self.error(kind, at));
            }
        }
        Ok(())
    }

    /// Reads days in brackets, or the name of their file.
    fn days(&mut self) -> Parsed<DaysOf> {
        // The name of a file may be no token.
        if !self.text[self.start()..].starts_with('(') {
            let expected = "'(' or a file, as in date in (2024-12-25, 2024-12-26) or date in holidays.txt";
            return Ok(DaysOf::File { name: self.file(expected)?, days: None });
        }
        self.accept('(')?;
        let mut all = BTreeSet::new();
        loop {
            let at = self.start();
            let word =
                self.raw(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b':' | b'/'));
            if word.is_empty() {
                return Err(self.expected("a date, as 2024-12-25 or 2024-12-24..2025-01-01"));
            }
            let range: DayRange = word.parse().map_err(|wrong: NotDays| self.error(wrong.into(), at))?;
            if !all.insert(range) {
                return Err(self.error(Kind::MemberTwice { name: text::excerpt(word) }, at));
            }
            if !self.accept(',')? {
                self.expect(')', "',' or ')'")?;
                let days = all.try_into().map_err(|wrong: NotDays| self.error(wrong.into(), at))?;
                return Ok(DaysOf::List(days));
            }
        }
    }

    fn tags(&mut self) -> Parsed<Vec<String>> {
        self.expect('(', "'(' and tags, as in where tag in (barn, north)")?;
        let mut tags: Vec<String> = Vec::new();
        loop {
            let at = self.start();
            if tags.len() == limits::TAGS {
                return Err(self.error(Kind::TooMany { of: "tags", limit: limits::TAGS }, at));
            }
            let tag = self.name("a tag: put a name in quotes if it does not start with a letter")?;
            if tags.contains(&tag) {
                return Err(self.error(Kind::TagTwice { name: text::excerpt(&tag) }, at));
            }
            self.places.tags.push((tag.clone(), at));
            tags.push(tag);
            if !self.accept(',')? {
                self.expect_after_name(')', "',' or ')'")?;
                return Ok(tags);
            }
        }
    }

    fn time_of_day(&mut self) -> Parsed<TimeOfDay> {
        let at = self.start();
        let written = self.raw(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'-' | b'.'));
        TimeOfDay::read(written).ok_or_else(|| self.error(Kind::TimeOfDay, at))
    }

    /// Reads words in brackets. `read` returns the name that was probably meant in the place of an unknown one.
    fn members<T: Ord>(
        &mut self,
        expected: &'static str,
        read: impl Fn(&str) -> Result<T, Option<&'static str>>,
    ) -> Parsed<BTreeSet<T>> {
        self.expect('(', "'(', as in weekday in (sat, sun) or month in (1, 12)")?;
        let mut all = BTreeSet::new();
        loop {
            let at = self.start();
            let word = self.raw(|byte| byte.is_ascii_alphanumeric()).to_owned();
            if word.is_empty() {
                return Err(self.expected(expected));
            }
            let member = read(&word).map_err(|near| {
                self.error(Kind::UnknownWord { word: text::excerpt(&word), expected, near }, at)
            })?;
            if !all.insert(member) {
                return Err(self.error(Kind::MemberTwice { name: text::excerpt(&word) }, at));
            }
            if !self.accept(',')? {
                self.expect(')', "',' or ')'")?;
                return Ok(all);
            }
        }
    }
}
