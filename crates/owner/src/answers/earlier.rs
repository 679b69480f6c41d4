//! The earlier groups of `offset`: computed like those of the answer, from windows of their own time.

use std::collections::{BTreeMap, BTreeSet};

use sotto_pack::Clock;

use super::column::{Column, Of};
use super::columns::columns;
use super::computed::{Done, computed};
use super::evidence::LogsThen;
use super::listed::{Listed, add_preceding, followed, windows_of};
use super::notes;
use super::pass::Pass;
use super::then::{Shown, Then};
use crate::declared::settings::Settings;
use crate::error::OwnerError;
use crate::functions::{Call, Yields};
use crate::gathered::{Channels, Counted, Gathered, NeedId};
use crate::language::Period;
use crate::orders::Orders;
use crate::question::{Asked, AskedCall, Earlier, Expression, Offset, Question, Selected};
use crate::value::ValueError;
use crate::windows::{self, Between, EarlierTime, Group, Grouping, Segments, StoredWindow};
use crate::work::{Computer, OnProgress};

/// The earlier groups of one offset.
pub(super) struct EarlierGroups {
    pub(super) offset: Earlier,
    /// Its calls, one result each.
    pub(super) question: Question,
    pub(super) listed: Listed,
    /// The devices whose pads repeat, each with a note.
    twice: Vec<(String, String)>,
    /// For each row of the answer its earlier time; None if there is none.
    times: Vec<Option<EarlierTime>>,
    /// Number of groups that begin on a day that the earlier month does not have.
    clipped: usize,
    /// The end of the earlier group that is cut, as the last one of the answer is, and that of the whole group.
    cut: Option<(i64, i64)>,
    columns: Vec<Column>,
    /// The needs of its calls.
    needs: Vec<Vec<NeedId>>,
    /// The position of each earlier group among the tallies.
    position: BTreeMap<Group, usize>,
    /// The groups of the answer.
    groups: Vec<Group>,
    /// The time that windows cover, then and in the answer.
    then: Covered,
    now: Covered,
}

/// By device and channel, the time from the first to the last window.
type Covered = BTreeMap<(String, String), Group>;

/// The windows of earlier groups and the notes on them, which an answer has beside its own.
pub(super) struct Also {
    pub(super) done: Done,
    pub(super) notes: Vec<String>,
}

/// Returns the offsets of a question, each with its calls as results of their own.
pub(super) fn questions(question: &Question) -> Vec<(Earlier, Question)> {
    let mut by_offset: BTreeMap<Earlier, Vec<Expression>> = BTreeMap::new();
    for Offset { of, devices, earlier } in
        question.select.iter().flat_map(|selected| selected.expression.offsets())
    {
        let calls = by_offset.entry(*earlier).or_default();
        let call = Expression::of(of.clone(), devices.clone());
        if !calls.contains(&call) {
            calls.push(call);
        }
    }
    let of = |(earlier, calls): (Earlier, Vec<Expression>)| {
        let select = calls.into_iter().map(Into::into).collect();
        (earlier, Question { select, period: Period::All, ranking: None, ..question.clone() })
    };
    by_offset.into_iter().map(of).collect()
}

impl EarlierGroups {
    /// Lists the windows of the earlier groups of an offset. `question` has its calls. Rows whose times are in each other are in
    /// several of the results.
    pub(super) fn list(
        (offset, question): (Earlier, Question),
        shown: &Shown<'_>,
        orders: &Orders<'_>,
        as_of: Option<&LogsThen>,
    ) -> Result<Vec<Self>, OwnerError> {
        let mut then = Then::of(shown.listed, shown.clock, question.by, offset);
        let parts = then.parts();
        let mut list = |times: Vec<Option<EarlierTime>>| {
            // The first one has the notes on all rows.
            let (clipped, cut) = (std::mem::take(&mut then.clipped), then.until.take());
            let part = Self::of_times((offset, question.clone()), times, shown, orders, as_of)?;
            Ok(Self { clipped, cut, ..part })
        };
        parts.into_iter().map(&mut list).collect()
    }

    fn of_times(
        (offset, question): (Earlier, Question),
        times: Vec<Option<EarlierTime>>,
        shown: &Shown<'_>,
        orders: &Orders<'_>,
        as_of: Option<&LogsThen>,
    ) -> Result<Self, OwnerError> {
        let (clock, groups) = (shown.clock, shown.groups());
        let there = || times.iter().flatten().map(|earlier| earlier.time);
        let ends = there().map(|time| time.from).min().zip(there().map(|time| time.to).max());
        let (since, until) = ends.unwrap_or((0, 0));
        let between = Between { since: Some(since), until: Some(until) };
        let asked = Asked::new(&question);
        let mut devices = windows_of(orders, &asked, between, (as_of, false))?;
        let twice = windows::mark_twice(orders.plant, shown.known, devices.iter_mut())?;
        let all: BTreeSet<Group> = times.iter().flatten().map(|earlier| earlier.time).collect();
        let follows = !followed(&asked).is_empty();
        let too_many =
            || OwnerError::Unanswerable("the offset has too many groups: ask for a shorter time".to_owned());
        let segments = Segments::new(clock, &question, all.into_iter().collect(), follows);
        let mut segments = segments.ok_or_else(too_many)?;
        add_preceding((orders, as_of, None), (&asked, clock), &[between], &mut devices, &mut segments)?;
        let windows = devices.iter().flat_map(|device| &device.windows);
        let ends = windows::last_readings(&segments.times, Grouping::of(&question), windows);
        let begins = between.since;
        let listed =
            Listed { devices, segments, hidden: 0, before: 0, gap: None, ends, between, begins, last: None };
        let needs = asked.calls().map(|call| call.needs.clone()).collect();
        let (then, now) = (covered(&listed, &question), covered(shown.listed, &question));
        let position = listed.segments.rows.iter().map(|row| row.group).zip(0..).collect();
        Ok(Self {
            offset,
            question,
            listed,
            twice,
            times,
            clipped: 0,
            cut: None,
            columns: Vec::new(),
            needs,
            position,
            groups,
            then,
            now,
        })
    }

    /// Computes the earlier groups of these rows.
    pub(super) fn compute(
        &mut self,
        (settings, clock): (&Settings, &Clock),
        of_rows: &[Of],
        computer: &mut Computer<'_>,
        progress: OnProgress<'_>,
    ) -> Result<Also, OwnerError> {
        let asked = Asked::new(&self.question);
        let mut done = computed(settings, &asked, &mut self.listed, computer, progress)?;
        let by_device = std::mem::take(&mut done.by_device);
        let undecided = notes::on_undecided(&asked, by_device.iter());
        self.columns = columns((settings, clock), &asked, &self.listed, of_rows, by_device);
        let (listed, columns, twice) = (&self.listed, &self.columns, &self.twice);
        let pass = Pass { asked: &asked, listed, columns, undecided, twice };
        let notes = self.notes(&pass.merged(settings, clock), clock);
        Ok(Also { done, notes })
    }

    /// Returns the devices whose pads repeat, each with a note.
    pub(super) fn twice(&self) -> &[(String, String)] {
        &self.twice
    }

    /// Returns true if a row has its earlier time here.
    pub(super) fn has(&self, row: usize) -> bool {
        self.times.get(row).is_some_and(Option::is_some)
    }

    pub(super) fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn notes(&self, of_pass: &[String], clock: &Clock) -> Vec<String> {
        let offset = self.offset;
        let mut notes: Vec<String> = of_pass.iter().map(|note| format!("offset {offset}: {note}")).collect();
        match self.clipped {
            0 => {}
            count => notes.push(format!(
                "offset {offset}: {count} {} on a day that the earlier month does not have; its last day stands for it",
                if count == 1 { "group begins" } else { "groups begin" }
            )),
        }
        if let Some((until, last)) = self.cut {
            let minute = |at: i64| clock.rfc3339(at)[..16].replace('T', " ");
            notes.push(format!(
                "offset {offset}: the last group is not over yet, and is compared with the earlier one up to the same time, {} of {}",
                minute(until),
                minute(last)
            ));
        }
        notes
    }

    /// Returns the value of a call at a row of a column of the answer, and true if no tag shows what the cloud gave for it.
    pub(super) fn value(
        &self,
        asked: &AskedCall<'_>,
        (column, row): (&Column, usize),
        channels: &dyn Channels,
    ) -> (Counted, bool) {
        let nothing = |why| (Counted { value: Err(ValueError::Earlier(why)), ..Counted::nothing() }, false);
        let Some(Some(EarlierTime { time, .. })) = self.times.get(row) else {
            return nothing(match self.offset {
                Earlier::Previous => "the group before has no such time".to_owned(),
                Earlier::Time { .. } => format!("there is no group {}: clocks skipped it", self.words()),
            });
        };
        if let Some(device) =
            self.lacking(asked.call, &column.of_call[asked.number].names, (self.groups[row], *time), channels)
        {
            return nothing(format!("the windows of {device} do not cover the time {}", self.words()));
        }
        let is_call =
            |selected: &Selected| selected.expression.calls_of().next() == Some((asked.call, asked.of));
        let (at, call) = (self.position.get(time), self.question.select.iter().position(is_call));
        let column = self.columns.iter().find(|other| other.of == column.of);
        let (Some(at), Some(call), Some(column), Yields::One(of)) =
            (at, call, column, asked.call.of().yields())
        else {
            return nothing(format!("there is no reading {}", self.words()));
        };
        let from = Gathered::new(&column.of_call[call].tallies[..=*at], &self.needs[call], channels);
        let counted = of.value(&from);
        match counted.value {
            Err(error) => nothing(format!("{}: {error}", self.words())),
            Ok(_) => (counted, from.is_untagged(false)),
        }
    }

    /// Returns a device with readings in a group of the answer whose windows do not cover the earlier one.
    fn lacking(
        &self,
        call: &Call,
        names: &[String],
        (group, earlier): (Group, Group),
        channels: &dyn Channels,
    ) -> Option<&str> {
        let channels_of_call = call.channels();
        let of = |covered: &Covered, device: &str, is: &dyn Fn(&Group, i64) -> bool| {
            channels_of_call.iter().all(|name| {
                let period = channels.period(name).map_or(0, |period| period.ceil().into());
                covered.get(&(device.to_owned(), (*name).to_owned())).is_some_and(|time| is(time, period))
            })
        };
        let has_now = |time: &Group, _: i64| time.from < group.to && group.from < time.to;
        // But for a tick at each end.
        let had_then = |time: &Group, period: i64| {
            time.from <= earlier.from.saturating_add(period) && time.to >= earlier.to.saturating_sub(period)
        };
        let devices: BTreeSet<&str> = self.now.keys().map(|(device, _)| device.as_str()).collect();
        devices.into_iter().find(|device| {
            names.iter().any(|own| own == device)
                && of(&self.now, device, &has_now)
                && !of(&self.then, device, &had_then)
        })
    }

    fn words(&self) -> String {
        match self.offset {
            Earlier::Previous => "before".to_owned(),
            offset @ Earlier::Time { .. } => format!("{offset} earlier"),
        }
    }
}

/// Returns the time that the windows of each device and channel cover, from the first to the last.
fn covered(listed: &Listed, question: &Question) -> Covered {
    let mut all = Covered::new();
    for device in &listed.devices {
        for name in question.channels() {
            let of = || listed.windows(device).iter().filter(|window| window.channel(&name).is_some());
            let ends = of().map(StoredWindow::from).min().zip(of().map(StoredWindow::to).max());
            if let Some((from, to)) = ends {
                all.insert((device.shown.clone(), name), Group { from, to });
            }
        }
    }
    all
}
