//! The answer to a question over readings in the clear: its rows, and the value of each.

use std::collections::BTreeMap;

use super::cell::Cell;
use super::clock::Clock;
use super::house::{CHANNELS, DEVICES, House, QUARTER, TAGS};
use super::language::{Along, By, Call, Expression, Position, Question, Rows, Scope, Selected};
use super::refusals::has_tariff;
use super::truth::Outcome;

/// A row of the answer; a call with several values has several rows, one outcome each.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) subject: Option<&'static str>,
    pub(crate) selected: usize,
    /// The recurring group.
    pub(crate) recurs: Option<[i64; 2]>,
    pub(crate) outcomes: Vec<Outcome>,
}

/// A group of the answer, with the part of the question's time in which readings count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) limits: (i64, i64),
    /// The time from which on a reading may be the one before another.
    pub(super) first: i64,
    pub(super) recurs: Option<[i64; 2]>,
}

pub(crate) struct Interpreter<'h> {
    pub(crate) house: &'h House,
    pub(crate) clock: &'h Clock<'h>,
}

/// A question with what follows from it.
pub(super) struct Asked<'q> {
    pub(super) interpreter: &'q Interpreter<'q>,
    pub(super) question: &'q Question,
    /// The devices that answer a call.
    pub(super) devices: Vec<Position>,
    /// The groups, with those before the first row.
    pub(super) times: Vec<Time>,
    /// Number of groups before the first row.
    pub(super) hidden: usize,
    /// The time of the answer: that of the question, or of its windows.
    pub(super) limits: (i64, i64),
}

/// A call in the rows of a device or a tag.
#[derive(Clone, Copy)]
pub(super) struct OfRows<'c> {
    pub(super) call: &'c Call,
    pub(super) scope: Option<Scope>,
    pub(super) subject: Option<&'static str>,
}

impl Interpreter<'_> {
    /// Returns the rows of the answer, in its order.
    pub(crate) fn rows(&self, question: &Question) -> Vec<Row> {
        let Some(asked) = Asked::new(self, question) else { return Vec::new() };
        let mut rows = Vec::new();
        for at in asked.hidden..asked.times.len() {
            for subject in asked.subjects() {
                for (selected, of) in question.select.iter().enumerate() {
                    let Time { from, to, recurs, .. } = asked.times[at];
                    rows.push(Row {
                        from,
                        to,
                        subject,
                        selected,
                        recurs,
                        outcomes: asked.outcomes(of, at, subject),
                    });
                }
            }
        }
        rows
    }
}

/// Returns true if each channel of a call has the tag, by itself or by the device.
fn has_tag(call: &Call, tag: &str, device: Position) -> bool {
    DEVICES[device].tags.contains(&tag) || call.channels().iter().all(|x| CHANNELS[*x].tag == Some(tag))
}

/// Returns true if readings of a device count in a call.
pub(crate) fn takes(question: &Question, call: &Call, scope: Option<Scope>, device: Position) -> bool {
    match (call, scope) {
        (Call::TwoOf(_, two), _) => two.iter().any(|(_, of)| *of == device),
        (_, Some(Scope::Device(of))) => of == device,
        (_, Some(Scope::Tag(tag))) => has_tag(call, tag, device),
        (_, Some(Scope::All) | None) => {
            let conditions = &question.conditions;
            (conditions.devices.is_empty() || conditions.devices.contains(&device))
                && (conditions.tags.is_empty()
                    || conditions.tags.iter().any(|tag| has_tag(call, tag, device)))
        }
    }
}

/// Returns true if a device measures the channels that a call needs of it.
pub(crate) fn measures(call: &Call, device: Position) -> bool {
    let own = DEVICES[device].channels;
    match call {
        Call::TwoOf(_, two) => two.iter().any(|(x, of)| *of == device && own.contains(x)),
        call => call.channels().iter().all(|x| own.contains(x)),
    }
}

impl<'q> Asked<'q> {
    fn new(interpreter: &'q Interpreter<'q>, question: &'q Question) -> Option<Self> {
        let calls = question.calls();
        let answers = |device: &Position| {
            calls
                .iter()
                .any(|(call, scope)| takes(question, call, *scope, *device) && measures(call, *device))
        };
        let devices: Vec<Position> = (0..DEVICES.len()).filter(answers).collect();
        let spans = || devices.iter().map(|device| interpreter.house.span(*device));
        let newest = spans().map(|(_, to)| to).max()?;
        let (since, until) = interpreter.clock.period(&question.period, newest);
        let mut asked = Self {
            interpreter,
            question,
            devices: devices.clone(),
            times: Vec::new(),
            hidden: 0,
            limits: (0, 0),
        };
        let (until, since_or_first) = (until.unwrap_or(i64::MAX), since.unwrap_or(i64::MIN));
        // Groups before the first row count in averages and differences.
        let (before, begins) = match question.by.filter(|by| !matches!(by, By::Window | By::Recurring(..))) {
            Some(by) if since.is_some() && asked.groups_before() > 0 => {
                let begins = interpreter.clock.group(by, since_or_first).0;
                let back = |at: i64, _| interpreter.clock.group(by, at - 1).0;
                ((0..asked.groups_before()).fold(begins, back), begins)
            }
            _ => (since_or_first, since_or_first),
        };
        let parts = [(before, begins), (since_or_first, until)];
        let touched = || {
            let in_part = move |(from, to): (i64, i64)| parts.map(|part| (from.max(part.0), to.min(part.1)));
            spans().flat_map(in_part).filter(|(from, to)| from < to)
        };
        let first = touched().map(|(from, _)| from).min()?;
        let last = touched().map(|(_, to)| to).max()?;
        asked.limits = (since.unwrap_or(first), until.min(last));
        let ends = (since.unwrap_or(first), if until == i64::MAX { last } else { until });
        asked.times = asked.groups((first, last), ends, since);
        asked.hidden =
            asked.times.iter().take_while(|time| since.is_some_and(|since| time.to <= since)).count();
        Some(asked)
    }

    fn groups_before(&self) -> usize {
        let of = |selected: &Selected| {
            let moving = selected.of.calls().into_iter().map(|(call, _)| match call {
                Call::MovingAverage(_, groups) => groups - 1,
                _ => 0,
            });
            moving.max().unwrap_or_default().max(usize::from(has_difference(&selected.of)))
        };
        self.question.select.iter().map(of).max().unwrap_or_default()
    }

    /// Returns the groups between the first and the last window that have times which count.
    fn groups(&self, (first, last): (i64, i64), ends: (i64, i64), since: Option<i64>) -> Vec<Time> {
        let clock = self.interpreter.clock;
        let counts = |at: i64| clock.holds(&self.question.conditions, at);
        let quarters = |from: i64, to: i64| (from..to).step_by(QUARTER as usize);
        let limits = (since.unwrap_or(i64::MIN), ends.1);
        // Windows by themselves follow none before the time of the question.
        let begins = if self.question.by == Some(By::Window) { first } else { i64::MIN };
        let time = |(from, to): (i64, i64)| {
            // Groups before the time of the question are whole.
            let is_before = since.is_some_and(|since| to <= since);
            Time {
                from,
                to,
                limits: if is_before { (i64::MIN, limits.1) } else { limits },
                first: begins,
                recurs: None,
            }
        };
        match self.question.by {
            None => vec![time(ends)],
            Some(By::Recurring(one, other)) => {
                let keys: BTreeMap<[i64; 2], ()> = quarters(ends.0, ends.1)
                    .filter(|at| counts(*at))
                    .map(|at| (clock.recurs((one, other), at), ()))
                    .collect();
                keys.into_keys().map(|key| Time { recurs: Some(key), ..time(ends) }).collect()
            }
            Some(By::Window) => {
                let spans = || self.devices.iter().map(|device| self.interpreter.house.span(*device));
                let is_there = |(from, to): &(i64, i64)| {
                    spans().any(|span| span.0.max(first) < *to && *from < span.1.min(last))
                };
                let cut = |(from, to): (i64, i64)| (from.max(first), to.min(last));
                clock.groups(By::Day, (first, last)).into_iter().filter(is_there).map(cut).map(time).collect()
            }
            Some(by) => {
                let groups = clock.groups(by, (first, last)).into_iter();
                groups.filter(|(from, to)| quarters(*from, *to).any(counts)).map(time).collect()
            }
        }
    }

    /// Returns the devices or tags that have rows.
    fn subjects(&self) -> Vec<Option<&'static str>> {
        let calls = self.question.calls();
        match self.question.rows {
            Rows::Across => vec![None],
            Rows::Device => {
                let has_row = |device: &&Position| {
                    let own = |scope: Option<Scope>| matches!(scope, None | Some(Scope::All));
                    calls
                        .iter()
                        .any(|(call, scope)| own(*scope) && takes(self.question, call, *scope, **device))
                };
                self.devices.iter().filter(has_row).map(|device| Some(DEVICES[*device].name)).collect()
            }
            Rows::Tag => {
                let of_channels = |tag: &str| {
                    calls
                        .iter()
                        .any(|(call, _)| call.channels().iter().any(|x| CHANNELS[*x].tag == Some(tag)))
                };
                let is_row = |tag: &&&str| match &self.question.conditions.tags[..] {
                    [] => {
                        self.devices.iter().any(|device| DEVICES[*device].tags.contains(*tag))
                            || of_channels(tag)
                    }
                    tags => tags.contains(*tag),
                };
                TAGS.iter().filter(is_row).map(|tag| Some(*tag)).collect()
            }
        }
    }

    /// Returns the devices that a call is about in the rows of a subject.
    pub(super) fn members(&self, OfRows { call, scope, subject }: OfRows<'_>) -> Vec<Position> {
        let in_row = |device: Position| match (subject, scope, self.question.rows) {
            (None, ..) | (_, Some(_), _) => true,
            (Some(name), None, Rows::Device) => DEVICES[device].name == name,
            (Some(tag), None, _) => has_tag(call, tag, device),
        };
        let is_member = |device: &Position| in_row(*device) && takes(self.question, call, scope, *device);
        self.devices.iter().copied().filter(is_member).collect()
    }

    pub(super) fn in_cell<T>(&self, of: OfRows<'_>, time: Time, value: impl FnOnce(&Cell<'_>) -> T) -> T {
        let clock = self.interpreter.clock;
        let cycles = match self.question.by {
            Some(By::Recurring(one, other)) => Some((one, other)),
            _ => None,
        };
        let counts = |at: i64| {
            clock.holds(&self.question.conditions, at)
                && cycles.is_none_or(|cycles| Some(clock.recurs(cycles, at)) == time.recurs)
        };
        let devices = self.members(of);
        let Time { from, to, limits, first, .. } = time;
        value(&Cell {
            house: self.interpreter.house,
            clock,
            from,
            to,
            limits,
            first,
            counts: &counts,
            devices: &devices,
            by_price: has_tariff(self.question),
        })
    }
}

fn has_difference(expression: &Expression) -> bool {
    match expression {
        Expression::Along(Along::Difference, ..) => true,
        Expression::Negate(of) => has_difference(of),
        Expression::Two(_, left, right) => has_difference(left) || has_difference(right),
        _ => false,
    }
}
