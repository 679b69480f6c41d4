//! The grammar of clauses.

use sotto_program::text;

use super::conditions::Conditions;
use super::{Question, Selected};
use crate::language::{
    By, Clause, Devices, Duration, During, Parsed, Parser, Period, QuestionErrorKind as Kind, RESERVED,
    Ranking, Token, When, is_when, limits, near,
};

/// Clauses read so far.
#[derive(Default)]
pub(super) struct Clauses {
    over: Option<Duration>,
    during: Option<During>,
    since: Option<When>,
    until: Option<When>,
    by: Option<By>,
    grouping: Option<Devices>,
    conditions: Option<Conditions>,
    shared: bool,
    /// True behind `top 3 devices of`, which is per device.
    ranked: bool,
}

impl Clauses {
    pub(super) fn question(self, ranking: Option<Ranking>, select: Vec<Selected>) -> Question {
        let Self { over, during, since, until, by, grouping, conditions, shared, .. } = self;
        let period = match (over, since, until) {
            _ if let Some(during) = during => Period::During(during),
            (Some(time), ..) => Period::Over(time),
            (None, None, None) => Period::All,
            (None, since, until) => Period::Between { since, until },
        };
        let (grouping, scheme) = (grouping.unwrap_or_default(), None);
        let Conditions { only, tags, times } = conditions.unwrap_or_default();
        let remarks = Vec::new();
        Question { select, ranking, period, by, grouping, only, tags, times, shared, scheme, remarks }
    }

    fn over(&self) -> Option<&'static str> {
        self.over.map(|_| "over")
    }

    fn during(&self) -> Option<&'static str> {
        self.during.map(|_| "during")
    }

    fn since_or_until(&self) -> Option<&'static str> {
        self.since.as_ref().map(|_| "since").or(self.until.as_ref().map(|_| "until"))
    }
}

const CLAUSE: &str =
    "',', as, in, a clause (over, during, since, until, by, per, across, where, shared) or the end";

impl Parser<'_> {
    /// Reads clauses. A ranking is one of devices.
    pub(super) fn clauses(&mut self, ranking: Option<Ranking>) -> Parsed<Clauses> {
        let mut clauses = Clauses { ranked: ranking.is_some(), ..Clauses::default() };
        loop {
            let next = self.peek()?;
            let at = next.start;
            let word = match next.token {
                Token::End => {
                    if ranking.is_some() {
                        clauses.grouping = Some(Devices::Each);
                    }
                    return Ok(clauses);
                }
                Token::Word(word) => word,
                _ if clauses.is_empty() => {
                    return Err(self.expected("an operator (+ - * /), ',', as, in, a clause or the end"));
                }
                _ => {
                    return Err(self.expected(
                        "a clause (over, during, since, until, by, per, across, where, shared) or the end",
                    ));
                }
            };
            self.end = next.end;
            match word {
                "over" => {
                    let other = clauses.since_or_until().or(clauses.during());
                    self.once("over", clauses.over.is_some(), other, at)?;
                    self.places.clauses.push((Clause::Period, at));
                    clauses.over = Some(self.duration()?);
                }
                "during" => {
                    let other = clauses.since_or_until().or(clauses.over());
                    self.once("during", clauses.during.is_some(), other, at)?;
                    self.places.clauses.push((Clause::Period, at));
                    clauses.during = Some(self.span()?);
                }
                "since" => {
                    self.once("since", clauses.since.is_some(), clauses.over().or(clauses.during()), at)?;
                    self.places.clauses.push((Clause::Period, at));
                    clauses.since = Some(self.moment()?);
                }
                "until" => {
                    self.once("until", clauses.until.is_some(), clauses.over().or(clauses.during()), at)?;
                    self.places.clauses.push((Clause::Period, at));
                    clauses.until = Some(self.moment()?);
                }
                // Tags are no times: they stand beside a group of the clock.
                "by" if self.accept_word("tag")? => {
                    self.grouping("by tag", Devices::Tag, &mut clauses, at)?;
                }
                "by" => {
                    self.once("by", clauses.by.is_some(), None, at)?;
                    self.places.clauses.push((Clause::By, at));
                    clauses.by = Some(self.by()?);
                }
                "per" => {
                    if self.accept_word("tag")? {
                        self.grouping("per tag", Devices::Tag, &mut clauses, at)?;
                        continue;
                    }
                    self.device_of_per()?;
                    self.grouping("per device", Devices::Each, &mut clauses, at)?;
                }
                "across" => {
                    self.word("devices")?;
                    self.grouping("across devices", Devices::Across, &mut clauses, at)?;
                }
                "where" => {
                    self.once("where", clauses.conditions.is_some(), None, at)?;
                    self.places.clauses.push((Clause::Where, at));
                    clauses.conditions = Some(self.conditions()?);
                }
                "shared" => {
                    self.once("shared", clauses.shared, None, at)?;
                    self.places.clauses.push((Clause::Shared, at));
                    clauses.shared = true;
                }
                word => {
                    let kind = Kind::UnknownWord {
                        word: text::excerpt(word),
                        expected: CLAUSE,
                        near: near_clause(word),
                    };
                    return Err(self.error(kind, at));
                }
            }
        }
    }

    /// Refuses a clause that already occurred, or that another clause excludes.
    pub(super) fn once(
        &self,
        clause: &'static str,
        twice: bool,
        other: Option<&'static str>,
        at: usize,
    ) -> Parsed<()> {
        match other {
            Some(other) => Err(self.error(Kind::ClauseExcluded { clause, other }, at)),
            None if twice => Err(self.error(Kind::ClauseTwice { clause }, at)),
            None => Ok(()),
        }
    }

    /// Takes a clause that groups devices; one of them stands in a question.
    fn grouping(
        &mut self,
        clause: &'static str,
        grouping: Devices,
        clauses: &mut Clauses,
        at: usize,
    ) -> Parsed<()> {
        let known = &mut clauses.grouping;
        let other = match known.filter(|known| *known != grouping) {
            None if clauses.ranked && grouping != Devices::Each => Some("top or bottom"),
            None => None,
            Some(Devices::Across) => Some("across devices"),
            Some(Devices::Each) => Some("per device"),
            Some(Devices::Tag) => Some("per tag"),
        };
        self.once(clause, known.is_some(), other, at)?;
        self.places.clauses.push((Clause::Devices, at));
        *known = Some(grouping);
        Ok(())
    }

    /// Reads one given word.
    pub(super) fn word(&mut self, word: &'static str) -> Parsed<()> {
        if self.accept_word(word)? { Ok(()) } else { Err(self.expected(word)) }
    }

    /// Reads `device` after `per`. Suggests `by day` to a person who wrote `per day`.
    pub(super) fn device_of_per(&mut self) -> Parsed<()> {
        let next = self.peek()?;
        let Token::Word(word) = next.token else { return self.word("device") };
        let by = By::WORDS.into_iter().find(|by| by.word() == Some(word));
        let Some(by) = by else { return self.word("device") };
        let near = Some(by.clause());
        Err(self.error(Kind::UnknownWord { word: word.into(), expected: "device", near }, next.start))
    }

    pub(super) fn devices(&mut self) -> Parsed<Vec<String>> {
        self.expect('(', "'(' and devices, as in where device in (boiler, pump)")?;
        let mut devices: Vec<String> = Vec::new();
        loop {
            let at = self.start();
            if devices.len() == limits::DEVICES {
                return Err(self.error(Kind::TooMany { of: "devices", limit: limits::DEVICES }, at));
            }
            let device = self.name("a device: put a name in quotes if it does not start with a letter")?;
            if devices.contains(&device) {
                return Err(self.error(Kind::DeviceTwice { name: text::excerpt(&device) }, at));
            }
            self.places.devices.push((device.clone(), at));
            devices.push(device);
            if !self.accept(',')? {
                self.expect_after_name(')', "',' or ')'")?;
                return Ok(devices);
            }
        }
    }

    /// Reads a span of the calendar after `during`.
    fn span(&mut self) -> Parsed<During> {
        let at = self.start();
        let word =
            |parser: &mut Self| parser.raw(|byte| byte.is_ascii_alphanumeric() || byte == b'-').to_owned();
        let mut written = word(self);
        if matches!(written.as_str(), "this" | "last") {
            written = format!("{written} {}", word(self));
        }
        written.parse().map_err(|_| self.error(Kind::During, at))
    }

    fn moment(&mut self) -> Parsed<When> {
        let at = self.start();
        let written = if let Some(quoted) = self.quoted(at)? {
            quoted
        } else {
            self.raw(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b':' | b'.' | b'/'))
                .into()
        };
        if !is_when(&written) {
            return Err(self.error(Kind::When, at));
        }
        // A time after a space, where T is required.
        let next = self.peek()?;
        if matches!(next.token, Token::Number(_)) {
            return Err(self.error(Kind::When, next.start));
        }
        Ok(When(written))
    }
}

impl Clauses {
    fn is_empty(&self) -> bool {
        let none = self.over.is_none()
            && self.during.is_none()
            && self.since_or_until().is_none()
            && self.by.is_none();
        none && self.grouping.is_none() && self.conditions.is_none() && !self.shared
    }
}

/// Suggests the clause that was probably meant, by spelling or by sense.
fn near_clause(word: &str) -> Option<&'static str> {
    match word {
        "from" | "after" | "start" => Some("since"),
        "to" | "before" | "till" | "end" => Some("until"),
        "last" | "past" | "for" => Some("over"),
        "this" | "today" | "yesterday" | "within" => Some("during"),
        "group" | "every" => Some("by"),
        "each" => Some("per"),
        "only" | "in" | "device" => Some("where"),
        "share" | "public" | "published" | "publish" => Some("shared"),
        word => near(word, &RESERVED),
    }
}
