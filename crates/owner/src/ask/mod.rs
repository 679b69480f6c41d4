//! Answering a question: list windows, group them by the clock, let the cloud sum them, decrypt the sums.

mod by_window;
mod curve;
mod decided;
mod exact;
mod flags;
mod fleet;
mod group;
mod reals;
mod steps;
mod tally;
mod weights;
mod windows;
mod work;

use std::collections::BTreeMap;
use std::time::Instant;

use crate::question::{Call, Duration, DurationUnit, Period, Question, When};
use sotto_pack::{Clock, LeftOut};

pub(crate) use by_window::by_window;
pub(crate) use curve::coefficient_size;
pub(crate) use decided::Decided;
pub(crate) use group::Group;
pub(crate) use tally::{Reals, Tally, ticks_between};
pub(crate) use windows::{
    DeviceWindows, Window, layout_of, left_out as windows_left_out, list as list_windows,
};

use crate::answer::{Answer, Cost};
use crate::compute::Computer;
use crate::device::DeviceRecord;
use crate::error::OwnerError;
use crate::needs::{Kind, of_call};
use crate::plant::Plant;
use fleet::Together;
use work::Work;

/// A callback that gets the number of windows finished so far and the total.
///
/// ```no_run
/// use sotto_owner::{OnProgress, Plant};
///
/// let plant = Plant::open("dairy".as_ref())?;
/// let shown: OnProgress<'_> = &mut |finished, total| eprintln!("{finished} of {total} windows");
/// let answer = plant.ask(&plant.question("mean(temperature) over 7d by day")?, shown)?;
/// assert!(answer.rows.len() <= 8);
/// # Ok::<(), sotto_owner::OwnerError>(())
/// ```
pub type OnProgress<'p> = &'p mut dyn FnMut(u64, u64);

/// A question with its times resolved.
struct Asked<'q> {
    question: &'q Question,
    since: Option<i64>,
    until: Option<i64>,
}

impl Plant {
    /// Answers a question from the windows stored in the cloud.
    ///
    /// # Errors
    /// [`OwnerError`] if the cloud is unreachable or refuses, if the stored windows cannot answer the question, or if
    /// an answer does not match the request.
    pub fn ask(&self, question: &Question, progress: OnProgress<'_>) -> Result<Answer, OwnerError> {
        let begin = Instant::now();
        let cloud = self.cloud()?;
        let clock = self.settings().clock()?;
        let devices = self.devices_of(question)?;
        let mut listed = Vec::new();
        let (since, until) = self.times(question, &clock)?;
        for (name, record) in &devices {
            let found = windows::list(self, &cloud, record, (since, until))?;
            if found.windows.is_empty() && found.aside == windows::Aside::default() {
                // The cloud may not know the device yet.
                tracing::debug!(device = name, "no windows");
            }
            listed.push(found);
        }
        let asked = Asked { question, since, until };
        let needed = question.channels();
        for device in &mut listed {
            device.windows.retain(|window| needed.iter().any(|name| window.channel(name).is_some()));
        }
        let asked = asked.last(&mut listed, &clock);
        let all = || listed.iter().flat_map(|device| &device.windows);
        let groups =
            group::groups(&clock, question.by, all(), asked.since, asked.until).ok_or_else(|| {
                OwnerError::Unanswerable(
                    "the answer would have more than 100,000 groups: ask for a shorter time".to_owned(),
                )
            })?;
        can_answer(question, &devices)?;
        let ends = group::last_readings(&groups, all());
        let total: u64 = listed.iter().map(|device| device.windows.len() as u64).sum();
        let mut computer = Computer::new(self, &cloud, question.shared)?;
        let mut tallies = Vec::with_capacity(listed.len());
        let (mut used, mut done) = (BTreeMap::new(), 0);
        let (mut not_carried, mut took_part) = (None, BTreeMap::new());
        let together = Together::sum(question, &groups, &ends, &listed, &mut computer)?;
        done += together.windows.len() as u64;
        for device in &mut listed {
            let mut tell = |now: u64, _: u64| {
                done += now;
                progress(done, total);
            };
            let elsewhere = &together.windows;
            let work = Work { question, groups: &groups, ends: &ends, device, elsewhere };
            let mut tallied = work.tallies(&mut computer, &mut tell)?;
            if !tallied.used.is_empty() {
                took_part.insert(device.device.clone(), tallied.used.len() as u64);
            }
            used.append(&mut tallied.used);
            tallies.push(tallied.tallies);
            not_carried = not_carried.or(tallied.error);
            device.aside.not_carried = tallied.not_carried;
            device.aside.fetched = tallied.fetched;
        }
        if let Some(error) = not_carried.filter(|_| used.is_empty()) {
            return Err(error);
        }
        tallies.push(together.tallies);
        let names: Vec<String> = listed.iter().map(|device| device.device.clone()).collect();
        let rows = crate::answer::rows(question, &groups, &names, &tallies, self.settings());
        let mut left_out: BTreeMap<String, LeftOut> = BTreeMap::new();
        for device in &listed {
            for (channel, counts) in windows::left_out(&device.windows) {
                if !needed.contains(&channel) {
                    continue;
                }
                left_out.entry(channel).or_default().merge(&counts);
            }
        }
        let spent = computer.spent;
        let cost = Cost {
            bytes_up: used.values().sum(),
            bytes_down: spent.bytes_down,
            seconds: begin.elapsed().as_secs_f64(),
            evaluate_us: spent.evaluate_us,
            jobs: spent.jobs,
            windows: used.len() as u64,
            schemes: spent.schemes,
            took_part,
            flooded: spent.flooded,
        };
        let mut notes = notes(&listed);
        notes.extend(undecided(&tallies));
        let answer = Answer::new(question, rows, &cost, left_out, spent.steps, spent.phases, notes, &clock);
        Ok(answer.with_evidence(computer.evidence))
    }

    /// Returns the devices that send a channel of the question.
    fn devices_of(&self, question: &Question) -> Result<BTreeMap<String, DeviceRecord>, OwnerError> {
        let mut devices = self.devices()?;
        let mut named = question.only.iter().flatten();
        if let Some(device) = named.find(|name| !devices.contains_key(*name)) {
            return Err(OwnerError::Unanswerable(format!(
                "device {device} is not enrolled yet: enrol it with `sotto device add {device}`"
            )));
        }
        devices.retain(|name, record| {
            let named = question.only.as_ref().is_none_or(|only| only.contains(name));
            named && question.calls().any(|call| sends(record, call))
        });
        if devices.is_empty() {
            return Err(OwnerError::Unanswerable(self.nobody_sends(question)?));
        }
        Ok(devices)
    }

    /// Explains why no device answers a question: none measures its channels, or none sends the required stream.
    fn nobody_sends(&self, question: &Question) -> Result<String, OwnerError> {
        let channels = question.channels();
        let enrolled = self.devices()?;
        let measures = |(name, _): &(&String, &DeviceRecord)| {
            let device = self.settings().devices.get(*name);
            device.is_some_and(|device| device.channels.iter().any(|channel| channels.contains(channel)))
        };
        let Some((device, _)) = enrolled.iter().find(measures) else {
            let channels: Vec<String> = channels.into_iter().collect();
            return Ok(format!(
                "no device was enrolled that measures {}: add one with `sotto device add NAME --channels {}`",
                channels.join(" or "),
                channels.join(",")
            ));
        };
        let call = question.calls().next().map(ToString::to_string).unwrap_or_default();
        Ok(unsent(&call, device))
    }

    /// Returns the start and end that a question names, in milliseconds since 1970.
    fn times(&self, question: &Question, clock: &Clock) -> Result<(Option<i64>, Option<i64>), OwnerError> {
        let resolve = |when: &Option<When>| when.as_ref().map(|when| moment(when, clock)).transpose();
        match &question.period {
            Period::All | Period::Over(_) => Ok((None, None)),
            Period::Between { since, until } => Ok((resolve(since)?, resolve(until)?)),
        }
    }
}

/// Resolves a written moment, in the plant's zone if it names none. Returns milliseconds since 1970.
///
/// # Errors
/// [`OwnerError::Question`] if the date or time does not exist.
pub fn moment(when: &When, clock: &Clock) -> Result<i64, OwnerError> {
    let text = when.as_str();
    let wrong =
        || OwnerError::Question(format!("{text} is no date or time: write 2014-01-31 or 2014-01-31T12:30"));
    if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
        return Ok(timestamp.as_millisecond());
    }
    let civil = match text.parse::<jiff::civil::DateTime>() {
        Ok(civil) => civil,
        Err(_) => {
            text.parse::<jiff::civil::Date>().map_err(|_| wrong())?.to_datetime(jiff::civil::Time::midnight())
        }
    };
    let zoned = clock.zone().to_zoned(civil).map_err(|_| wrong())?;
    Ok(zoned.timestamp().as_millisecond())
}

impl Asked<'_> {
    /// Resolves `over 7d` back from the end of the newest window, so that the stored data decide and not this
    /// computer's clock. Days and weeks follow the plant's clock.
    fn last(mut self, listed: &mut [DeviceWindows], clock: &Clock) -> Self {
        if let Period::Over(time) = &self.question.period {
            let newest = listed.iter().flat_map(|device| &device.windows).map(Window::end).max();
            if let Some(newest) = newest {
                let since = before(clock, newest, *time);
                for device in listed {
                    // A window that ends before `since` is not cut by it.
                    let later = device.windows.iter().filter(|window| window.end() > since).count();
                    device.windows.retain(|window| window.start() >= since);
                    device.aside.cut += later.saturating_sub(device.windows.len());
                }
                self.since = self.since.or(Some(since));
                self.until = self.until.or(Some(newest));
            }
        }
        self
    }
}

/// Returns the moment that lies `time` before `at`, by the plant's clock.
fn before(clock: &Clock, at: i64, time: Duration) -> i64 {
    let seconds = at.saturating_sub_unsigned(1000 * time.seconds());
    let days = match time.unit {
        DurationUnit::Day => i64::from(time.count),
        DurationUnit::Week => 7 * i64::from(time.count),
        _ => return seconds,
    };
    let span = jiff::Span::new().try_days(days);
    let earlier = span.and_then(|span| clock.local(at).checked_sub(span));
    earlier.map_or(seconds, |at| at.timestamp().as_millisecond())
}

/// Returns true if a bundle of the device sends the stream that a call needs.
fn sends(record: &DeviceRecord, call: &Call) -> bool {
    let (kind, _) = of_call(call);
    record.bundles.iter().flat_map(|bundle| &bundle.streams).any(|stream| {
        let has = |name: &&str| stream.channels.iter().any(|channel| channel.name == **name);
        Kind::of_profile(stream) == Some(kind) && call.channels().iter().all(has)
    })
}

fn unsent(call: &str, device: &str) -> String {
    format!(
        "{call}: no device sends the stream that it needs. Declare the question with `sotto question add NAME '…'`, and give a device a new bundle with `sotto device renew {device}`"
    )
}

/// Refuses a question with a call that no device can answer.
fn can_answer(question: &Question, devices: &BTreeMap<String, DeviceRecord>) -> Result<(), OwnerError> {
    for call in question.calls() {
        if !devices.values().any(|record| sends(record, call)) {
            let device = devices.keys().next().map_or("NAME", String::as_str);
            return Err(OwnerError::Unanswerable(unsent(&call.to_string(), device)));
        }
    }
    Ok(())
}

/// Returns a number above 0 rounded up to two digits.
fn two_digits(number: f64) -> String {
    let places = (1.0 - number.log10().floor()).clamp(0.0, 15.0) as i32;
    let scale = 10f64.powi(places);
    let up = (number * scale * (1.0 - 1e-9)).ceil() / scale;
    if up < 1e-3 { format!("{up:.1e}") } else { format!("{up}") }
}

/// Returns a note for each condition that left readings undecided.
fn undecided(tallies: &[Vec<Tally>]) -> Vec<String> {
    let mut all: BTreeMap<&String, Decided> = BTreeMap::new();
    for (condition, decided) in tallies.iter().flatten().flat_map(|tally| &tally.conditions) {
        all.entry(condition).or_default().merge(decided);
    }
    let note = |(condition, decided): (&String, Decided)| match decided.undecided() {
        0 => None,
        count => Some(format!(
            "{condition}: {count} of {} readings are undecided, nearer to the limit than {}; each counts as half of one, and ± covers them all",
            decided.count,
            two_digits(decided.within)
        )),
    };
    all.into_iter().filter_map(note).collect()
}

fn notes(listed: &[DeviceWindows]) -> Vec<String> {
    let mut notes = Vec::new();
    for DeviceWindows { device, aside, windows, .. } in listed {
        let generated = windows.iter().filter(|window| window.description.generated).count();
        if generated > 0 {
            notes.push(format!(
                "{generated} of {} windows of {device} hold readings that a generator made up",
                windows.len()
            ));
        }
        for (count, why) in [
            (aside.cut, "reaches beyond the time that was asked for; sums are of whole windows"),
            (aside.overlapping, "covers a time that another window covers"),
            (aside.unreadable, "was not made with a bundle of this plant"),
            (aside.other_unit, "has a channel whose unit was another one then"),
            (
                aside.not_carried,
                "was encrypted for other questions, and cannot carry this one; `sotto device renew` makes a bundle that can",
            ),
            (aside.lost, "stands in the cloud's log, and the cloud cannot read it any more"),
            (aside.deleted, "was deleted from the cloud, and not from here"),
        ] {
            match count {
                0 => {}
                1 => notes.push(format!("1 window of {device} was left out: it {why}")),
                _ => notes.push(format!("{count} windows of {device} were left out, as each {why}")),
            }
        }
        match aside.fetched {
            0 => {}
            count => notes.push(format!(
                "the readings of {count} windows of {device} were fetched to compare them: the device does not count them in the bins of this question. Declare it with `sotto question add`, and give the device a new bundle with `sotto device renew {device}`; then the cloud adds counts instead"
            )),
        }
        match aside.missing {
            0 => {}
            1 => notes.push(format!(
                "1 window of {device} is missing by its number: it was not sent, or the cloud holds it back"
            )),
            count => notes.push(format!(
                "{count} windows of {device} are missing by their numbers: they were not sent, or the cloud holds them back"
            )),
        }
    }
    notes
}
