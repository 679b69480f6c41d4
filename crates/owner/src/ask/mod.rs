//! Asking a question: windows are listed, grouped by the clock, summed by the cloud, decrypted here.

mod group;
mod tally;
mod windows;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Instant;

use sotto_pack::{Clock, Cut, LeftOut, Span};
use sotto_program::question::{Call, LinearModel, Period, Question, Reading, Weights, When};

pub(crate) use group::Group;
pub(crate) use tally::{Reals, Tally};
pub(crate) use windows::{DeviceWindows, Window, left_out as windows_left_out, list as list_windows};

use crate::answer::{Answer, Cost};
use crate::compute::{Computer, Input, LARGEST_WEIGHT, Part, Quantity};
use crate::device::DeviceRecord;
use crate::error::OwnerError;
use crate::needs::{Kind, of_call};
use crate::open::Numbers;
use crate::plant::Plant;
use tally::{ExactResults, GroupWeights};
use windows::position;

/// Told how many windows of how many are done.
pub type OnProgress<'p> = &'p mut dyn FnMut(u64, u64);

/// Windows of one result at most, whatever the plain modulus holds.
const MOST_WINDOWS: usize = crate::choose::MOST_WINDOWS;

/// What was asked, with its times resolved.
struct Asked<'q> {
    question: &'q Question,
    since: Option<i64>,
    until: Option<i64>,
}

impl Plant {
    /// Answers a question from the windows that the cloud has.
    ///
    /// # Errors
    /// The cloud is away or refuses, the question cannot be answered from the stored windows, or an answer is not the one that was
    /// asked for.
    pub fn ask(&self, question: &Question, progress: OnProgress<'_>) -> Result<Answer, OwnerError> {
        let begin = Instant::now();
        let cloud = self.cloud()?;
        let clock = self.settings().clock()?;
        let devices = self.devices_of(question)?;
        let mut listed = Vec::new();
        let (since, until) = self.times(question, &clock)?;
        for (name, record) in &devices {
            let found = windows::list(&cloud, record, since, until)?;
            if found.windows.is_empty() && found.unreadable == 0 {
                // Perhaps the cloud does not know the device yet.
                tracing::debug!(device = name, "no windows");
            }
            listed.push(found);
        }
        let asked = Asked { question, since, until };
        let asked = asked.last(&mut listed);
        let needed = needed_channels(question);
        for device in &mut listed {
            device.windows.retain(|window| needed.iter().any(|name| window.channel(name).is_some()));
        }
        let all = || listed.iter().flat_map(|device| &device.windows);
        let groups =
            group::groups(&clock, question.by, all(), asked.since, asked.until).ok_or_else(|| {
                OwnerError::Unanswerable(
                    "the answer would have more than 100,000 groups: ask for a shorter time".to_owned(),
                )
            })?;
        can_answer(question, &devices)?;
        let ends: Vec<i64> = groups.iter().map(|group| group::last_reading(*group, all())).collect();
        let total: u64 = listed.iter().map(|device| device.windows.len() as u64).sum();
        let mut computer = Computer::new(self, &cloud)?;
        let mut tallies = Vec::with_capacity(listed.len());
        let (mut used, mut done) = (BTreeMap::new(), 0);
        for device in &listed {
            let mut tell = |now: u64, _: u64| {
                done += now;
                progress(done, total);
            };
            let work = Work { plant: self, question, groups: &groups, ends: &ends, device };
            tallies.push(work.tallies(&mut computer, &mut used, &mut tell)?);
        }
        let names: Vec<String> = listed.iter().map(|device| device.device.clone()).collect();
        let rows = crate::answer::rows(question, &groups, &names, &tallies, |channel| self.unit(channel));
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
        };
        let notes = notes(&listed);
        Ok(Answer::new(question, rows, &cost, left_out, spent.steps, spent.phases, notes, &clock))
    }

    /// The devices that a question is about: those that have a channel of it.
    fn devices_of(&self, question: &Question) -> Result<BTreeMap<String, DeviceRecord>, OwnerError> {
        let channels = question.channels();
        let mut devices = self.devices()?;
        devices.retain(|name, record| {
            let named = question.only.as_ref().is_none_or(|only| only.contains(name));
            let mut streams = record.bundles.iter().flat_map(|bundle| &bundle.streams);
            named
                && streams
                    .any(|stream| stream.channels.iter().any(|channel| channels.contains(&channel.name)))
        });
        if devices.is_empty() {
            let channels: Vec<String> = channels.into_iter().collect();
            return Err(OwnerError::Unanswerable(format!(
                "no device was enrolled that measures {}: add one with `sotto device add NAME --channels {}`",
                channels.join(" or "),
                channels.join(",")
            )));
        }
        Ok(devices)
    }

    /// The times that a question names, in milliseconds since 1970.
    fn times(&self, question: &Question, clock: &Clock) -> Result<(Option<i64>, Option<i64>), OwnerError> {
        let resolve = |when: &Option<When>| when.as_ref().map(|when| moment(when, clock)).transpose();
        match &question.period {
            Period::All | Period::Over(_) => Ok((None, None)),
            Period::Between { since, until } => Ok((resolve(since)?, resolve(until)?)),
        }
    }
}

/// A moment as it was written, in the plant's zone where it names none.
///
/// # Errors
/// [`OwnerError::Question`] for a date or time that there is none of.
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
    /// `over 7d` counts back from the end of the newest window: the stored data decide, not this computer's clock.
    fn last(mut self, listed: &mut [DeviceWindows]) -> Self {
        if let Period::Over(time) = &self.question.period {
            let newest = listed.iter().flat_map(|device| &device.windows).map(Window::end).max();
            if let Some(newest) = newest {
                let since = newest.saturating_sub_unsigned(1000 * time.seconds());
                for device in listed {
                    device.windows.retain(|window| window.start() >= since);
                }
                self.since = self.since.or(Some(since));
                self.until = self.until.or(Some(newest));
            }
        }
        self
    }
}

/// Refuses a question of which some part is sent by no device.
fn can_answer(question: &Question, devices: &BTreeMap<String, DeviceRecord>) -> Result<(), OwnerError> {
    for call in question.calls() {
        let (kind, _) = of_call(call);
        let sends = |record: &DeviceRecord| {
            record.bundles.iter().flat_map(|bundle| &bundle.streams).any(|stream| {
                let exact = stream.encoding == sotto_pack::Encoding::Resolution;
                let has = |name: &&str| stream.channels.iter().any(|channel| channel.name == **name);
                exact == (kind == Kind::Exact) && call.channels().iter().all(has)
            })
        };
        if !devices.values().any(sends) {
            let names: Vec<&str> = devices.keys().map(String::as_str).take(20).collect();
            return Err(OwnerError::Unanswerable(format!(
                "{call}: no device sends what it takes (asked: {}). Declare the question with `sotto question add NAME '…'`, and give a device a new bundle with `sotto device renew {}`",
                names.join(", "),
                names.first().unwrap_or(&"NAME"),
            )));
        }
    }
    Ok(())
}

/// Every channel that a call reads.
fn needed_channels(question: &Question) -> BTreeSet<String> {
    question.channels()
}

fn notes(listed: &[DeviceWindows]) -> Vec<String> {
    let mut notes = Vec::new();
    for device in listed {
        if device.cut > 0 {
            notes.push(format!(
                "{} windows of {} reach beyond the time that was asked for: sums are of whole windows, so they were left out",
                device.cut, device.device
            ));
        }
        if device.overlapping > 0 {
            notes.push(format!(
                "{} windows of {} cover a time that another window covers: they were left out",
                device.overlapping, device.device
            ));
        }
        if device.unreadable > 0 {
            notes.push(format!(
                "{} windows of {} were not made with a bundle of this plant: they were left out",
                device.unreadable, device.device
            ));
        }
    }
    notes
}

/// The work on one device.
struct Work<'w> {
    plant: &'w Plant,
    question: &'w Question,
    groups: &'w [Group],
    /// For each group the end of the last tick at which some device has a reading: half-lives count back from there.
    ends: &'w [i64],
    device: &'w DeviceWindows,
}

/// A group, and its windows.
type Grouped = (usize, Vec<Input>);
/// A window that reaches over the end of a group, and its ticks in each group.
type Split = (Input, Vec<(usize, Range<u32>)>);

/// Windows of one kind with one layout under one parameter set.
struct Batch<'w> {
    kind: Kind,
    windows: Vec<&'w Window>,
}

impl<'w> Work<'w> {
    /// A tally for each group.
    fn tallies(
        &self,
        computer: &mut Computer<'_>,
        used: &mut BTreeMap<String, u64>,
        progress: OnProgress<'_>,
    ) -> Result<Vec<Tally>, OwnerError> {
        let mut tallies = vec![Tally::default(); self.groups.len()];
        for batch in self.batches() {
            match batch.kind {
                Kind::Exact => self.exact(&batch, computer, &mut tallies, used, progress)?,
                Kind::Real => self.real(&batch, computer, &mut tallies, used, progress)?,
            }
        }
        let all: Vec<&Window> = self.device.windows.iter().collect();
        for (tally, group) in tallies.iter_mut().zip(self.groups) {
            for channel in self.question.channels() {
                let expected = tally::expected_ticks(&all, *group, &channel);
                if let Some(settings) = self.plant.settings().channels.get(&channel) {
                    let hours = f64::from(settings.every.milliseconds) / 3_600_000.0;
                    tally.hours.insert(channel.clone(), hours);
                }
                tally.expected.insert(channel, expected);
            }
        }
        Ok(tallies)
    }

    fn batches(&self) -> Vec<Batch<'w>> {
        let mut batches: Vec<Batch<'w>> = Vec::new();
        for window in &self.device.windows {
            let Some(kind) = window.kind() else { continue };
            let same = |batch: &&mut Batch<'w>| {
                let first = batch.windows[0];
                first.parameter_id == window.parameter_id && first.layout() == window.layout()
            };
            match batches.iter_mut().find(same) {
                Some(batch) => batch.windows.push(window),
                None => batches.push(Batch { kind, windows: vec![window] }),
            }
        }
        batches
    }

    /// The calls that this batch can answer.
    fn calls(&self, batch: &Batch<'_>) -> Vec<&'w Call> {
        let layout = batch.windows[0].layout();
        let held = |call: &&Call| {
            let channels = call.channels();
            of_call(call).0 == batch.kind && channels.iter().all(|name| position(layout, name).is_some())
        };
        self.question.calls().filter(held).collect()
    }

    /// The windows of a batch by group, and those that reach over the end of a group, with the ticks in each.
    fn by_group(&self, batch: &Batch<'_>) -> (BTreeMap<usize, Vec<Input>>, Vec<Split>) {
        let (mut whole, mut split): (BTreeMap<usize, Vec<Input>>, Vec<Split>) = Default::default();
        for window in &batch.windows {
            let pieces = group::pieces(self.groups, self.question.by, window);
            let Some((at, _)) = pieces.first() else { continue };
            let since = (window.start() - self.groups[*at].from).max(0).unsigned_abs();
            let offset = since / u64::from(window.description.period.max(1));
            let offset = u32::try_from(offset).unwrap_or(u32::MAX / 2);
            let input = Input { id: window.id.clone(), window: window.description.clone(), offset };
            if pieces.len() == 1 {
                whole.entry(*at).or_default().push(input);
            } else {
                split.push((input, pieces));
            }
        }
        (whole, split)
    }

    fn exact(
        &self,
        batch: &Batch<'_>,
        computer: &mut Computer<'_>,
        tallies: &mut [Tally],
        used: &mut BTreeMap<String, u64>,
        progress: OnProgress<'_>,
    ) -> Result<(), OwnerError> {
        let calls = self.calls(batch);
        if calls.is_empty() {
            return Ok(());
        }
        let layout = batch.windows[0].layout();
        let spec = self.spec(batch)?;
        // The number of ticks of a group decides the weights: groups of other lengths have quantities of their own.
        let mut by_ticks: BTreeMap<(u32, u32), Vec<Grouped>> = BTreeMap::new();
        let (whole, split) = self.by_group(batch);
        let weighted = calls.iter().any(|call| matches!(call, Call::WeightedSum { .. }));
        let period = batch.windows[0].description.period;
        if weighted && !split.is_empty() {
            return Err(OwnerError::Unanswerable(format!(
                "{} windows of {} reach over the end of a group, and weights go by group: declare the question with `sotto question add` and give the device a new bundle with `sotto device renew {}`",
                split.len(),
                self.device.device,
                self.device.device
            )));
        }
        for (at, inputs) in whole {
            let group = self.groups[at];
            let cut = Cut { span: Span::Day, period, ticks: 1 };
            let of = |to: i64| if weighted { cut.ticks_between(group.from, to) } else { 0 };
            let ticks = (of(group.to), of(self.ends[at].min(group.to)));
            by_ticks.entry(ticks).or_default().push((at, inputs));
        }
        if by_ticks.is_empty() && !split.is_empty() {
            by_ticks.insert((0, 0), Vec::new());
        }
        for (ticks, groups) in by_ticks {
            let wanted = self.wanted(&calls, batch, ticks, period);
            let most = most_windows(layout, spec.plain, &wanted.quantities)?;
            let (mut parts, mut of) = (Vec::new(), Vec::new());
            for (at, inputs) in &groups {
                for inputs in inputs.chunks(most) {
                    parts.push(Part { inputs: inputs.to_vec() });
                    of.push(vec![(*at, 0..layout.ticks())]);
                }
            }
            if ticks == (0, 0) {
                for (input, pieces) in &split {
                    parts.push(Part { inputs: vec![input.clone()] });
                    of.push(pieces.clone());
                }
            }
            self.remember(batch, &parts, used);
            let results =
                computer.results(&self.device.device, spec, &parts, &wanted.quantities, progress)?;
            for ((part, pieces), results) in parts.iter().zip(of).zip(&results) {
                for (at, ticks) in pieces {
                    let exact = ExactResults {
                        layout,
                        inputs: &part.inputs,
                        quantities: &wanted.quantities,
                        results,
                        ticks,
                    };
                    exact.add_to(&mut tallies[at], &wanted.pairs, &wanted.weights)?;
                }
            }
        }
        Ok(())
    }

    /// What calls need of a batch for groups of so many ticks.
    fn wanted(&self, calls: &[&Call], batch: &Batch<'_>, ticks: (u32, u32), period: u32) -> Wanted {
        let layout = batch.windows[0].layout();
        let mut wanted = Wanted::default();
        for call in calls {
            let (_, needs) = of_call(call);
            if let Call::WeightedSum { channel, weights } = call {
                if let Some(at) = position(layout, channel) {
                    let weights = group_weights(at, weights, ticks, period);
                    wanted.add(weights.quantity());
                    wanted.weights.push((call.to_string(), weights));
                }
                continue;
            }
            wanted.add(Quantity::Sum);
            if needs.squares {
                wanted.add(Quantity::Square);
            }
            for (x, y) in needs.products {
                let (Some(at_x), Some(at_y)) = (position(layout, &x), position(layout, &y)) else { continue };
                let (first, second) = (at_x.min(at_y), at_x.max(at_y));
                wanted.add(Quantity::Product(first, second));
                let together = batch.windows.iter().all(|window| {
                    let window = &window.description;
                    window.presence(at_x).is_some_and(|x| window.presence(at_y) == Some(x))
                });
                if !together {
                    wanted.add(Quantity::Joint(first, second));
                    wanted.add(Quantity::JointSquare(first, second));
                }
                if !wanted.pairs.contains(&(x.clone(), y.clone())) {
                    wanted.pairs.push((x, y));
                }
            }
        }
        wanted
    }

    fn real(
        &self,
        batch: &Batch<'_>,
        computer: &mut Computer<'_>,
        tallies: &mut [Tally],
        used: &mut BTreeMap<String, u64>,
        progress: OnProgress<'_>,
    ) -> Result<(), OwnerError> {
        let layout = batch.windows[0].layout();
        let spec = self.spec(batch)?;
        let calls = self.calls(batch);
        let mut readings: Vec<&Reading> = Vec::new();
        for reading in calls.iter().filter_map(|call| call.reading()) {
            if !readings.contains(&reading) {
                readings.push(reading);
            }
        }
        for reading in readings {
            let each = calls.iter().any(|call| matches!(call, Call::Values(of) if of == reading));
            let Some(curve) = Curve::of(reading, layout) else { continue };
            // One window a part: values at single readings, and sums in which a missing reading has no part.
            let (mut parts, mut of) = (Vec::new(), Vec::new());
            let (whole, split) = self.by_group(batch);
            for (at, inputs) in whole {
                for input in inputs {
                    parts.push(Part { inputs: vec![input] });
                    of.push(vec![(at, 0..layout.ticks())]);
                }
            }
            for (input, pieces) in split {
                parts.push(Part { inputs: vec![input] });
                of.push(pieces);
            }
            self.remember(batch, &parts, used);
            let quantities = [curve.quantity.clone()];
            let results = computer.results(&self.device.device, spec, &parts, &quantities, progress)?;
            let pieces = parts.iter().zip(of).zip(&results).flat_map(|((part, pieces), results)| {
                pieces.into_iter().map(move |(at, ticks)| (part, at, ticks, results))
            });
            for (part, at, ticks, results) in pieces {
                let reals = curve.tally(&part.inputs[0], layout, &results[0], &ticks)?;
                let entry = tallies[at].reals.entry(reading.to_string()).or_default();
                entry.count += reals.count;
                entry.sum += reals.sum;
                entry.bound += reals.bound;
                if each {
                    entry.each.extend(reals.each);
                }
            }
        }
        Ok(())
    }

    fn spec(&self, batch: &Batch<'_>) -> Result<&'w sotto_rlwe::ParameterSpec, OwnerError> {
        let id = &batch.windows[0].parameter_id;
        self.device
            .specs
            .get(id)
            .ok_or_else(|| OwnerError::WrongAnswer("windows of unknown parameters".to_owned()))
    }

    fn remember(&self, batch: &Batch<'_>, parts: &[Part], used: &mut BTreeMap<String, u64>) {
        let bytes: BTreeMap<&str, u64> =
            batch.windows.iter().map(|window| (window.id.as_str(), window.bytes)).collect();
        for input in parts.iter().flat_map(|part| &part.inputs) {
            used.insert(input.id.clone(), bytes.get(input.id.as_str()).copied().unwrap_or_default());
        }
    }
}

#[derive(Default)]
struct Wanted {
    quantities: Vec<Quantity>,
    pairs: Vec<(String, String)>,
    weights: Vec<(String, GroupWeights)>,
}

impl Wanted {
    fn add(&mut self, quantity: Quantity) {
        if !self.quantities.contains(&quantity) {
            self.quantities.push(quantity);
        }
    }
}

fn group_weights(channel: u16, weights: &Weights, ticks: (u32, u32), period: u32) -> GroupWeights {
    GroupWeights::new(channel, weights, ticks, period)
}

/// Windows that can be summed into one result without wrapping around the plain modulus.
fn most_windows(
    layout: &sotto_pack::Layout,
    plain_modulus: u64,
    quantities: &[Quantity],
) -> Result<usize, OwnerError> {
    let top = layout.magnitude();
    let largest = |quantity: &Quantity| match quantity {
        Quantity::Sum | Quantity::Joint(..) => top,
        Quantity::Square | Quantity::JointSquare(..) | Quantity::Product(..) => top * top,
        Quantity::Weighted(_) => top * LARGEST_WEIGHT as f64,
        Quantity::Polynomial(..) | Quantity::Linear(_) => 1.0,
    };
    let largest = quantities.iter().map(largest).fold(1.0, f64::max);
    let most = ((plain_modulus as f64 / 2.0 - 1.0) / largest).floor();
    if most < 1.0 {
        return Err(OwnerError::Unanswerable(
            "the stored windows were encrypted for smaller results: declare the question with `sotto question add` and give the device a new bundle with `sotto device renew`"
                .to_owned(),
        ));
    }
    Ok((most as usize).min(MOST_WINDOWS))
}

/// A polynomial or a model on normalised values.
struct Curve {
    quantity: Quantity,
    /// Channels that it reads, by position; a value is there where all of them have a reading.
    channels: Vec<u16>,
    /// The constant term, which is added after decryption.
    constant: f64,
    /// What the coefficients were divided by.
    scale: f64,
    /// What f64 rounds, at most.
    rounding: f64,
}

impl Curve {
    fn of(reading: &Reading, layout: &sotto_pack::Layout) -> Option<Self> {
        match reading {
            Reading::Channel(_) => None,
            Reading::Polynomial { channel, coefficients } => {
                let at = position(layout, channel)?;
                let normaliser = layout.normaliser(at)?;
                let shifted = shifted(coefficients, normaliser.centre(), normaliser.half_range());
                let scale: f64 = shifted.iter().skip(1).map(|c| c.abs()).sum();
                let divided = |c: &f64| if scale > 0.0 { c / scale } else { 0.0 };
                let scaled: Vec<f64> = shifted.iter().map(divided).collect();
                let (constant, rounding) = (shifted[0], 1e-12 * (scale + shifted[0].abs()));
                Some(Self {
                    quantity: Quantity::Polynomial(at, scaled),
                    channels: vec![at],
                    constant,
                    scale,
                    rounding,
                })
            }
            Reading::Linear { model, .. } => Self::linear(model.as_ref()?, layout),
        }
    }

    fn linear(model: &LinearModel, layout: &sotto_pack::Layout) -> Option<Self> {
        let (mut terms, mut constant) = (Vec::new(), model.intercept);
        for (name, factor) in &model.coefficients {
            let at = position(layout, name)?;
            let normaliser = layout.normaliser(at)?;
            constant += factor * normaliser.centre();
            terms.push((at, factor * normaliser.half_range()));
        }
        terms.sort_by_key(|(at, _)| *at);
        let scale: f64 = terms.iter().map(|(_, factor)| factor.abs()).sum();
        let channels = terms.iter().map(|(at, _)| *at).collect();
        if scale > 0.0 {
            terms.iter_mut().for_each(|(_, factor)| *factor /= scale);
        }
        let rounding = 1e-12 * (scale + constant.abs());
        Some(Self { quantity: Quantity::Linear(terms), channels, constant, scale, rounding })
    }

    /// The values at the readings of one window.
    fn tally(
        &self,
        input: &Input,
        layout: &sotto_pack::Layout,
        (numbers, error): &(Numbers, f64),
        ticks: &Range<u32>,
    ) -> Result<Reals, OwnerError> {
        let wrong = |reason: &str| OwnerError::WrongAnswer(reason.to_owned());
        let Numbers::Real(numbers) = numbers else { return Err(wrong("reals were expected")) };
        let mut there = input.window.presence(self.channels[0]);
        for channel in &self.channels[1..] {
            there = there.zip(input.window.presence(*channel)).map(|(a, b)| a.and(&b));
        }
        let there = there.ok_or_else(|| wrong("the device does not say which readings are missing"))?;
        let bound = self.scale * error + self.rounding;
        let (start, period) = (input.window.start, i64::from(input.window.period));
        let mut reals = Reals::default();
        for tick in there.iter().filter(|tick| ticks.contains(tick)) {
            let slot = layout.slot(self.channels[0], tick).ok_or_else(|| wrong("a tick has no slot"))?;
            let number = numbers.get(slot).copied().ok_or_else(|| wrong("a slot is missing"))?;
            // A polynomial whose coefficients sum to 1 stays within 1 on normalised values.
            if number.abs() > 1.0 + error {
                return Err(wrong("no reading of the declared range has this value"));
            }
            let value = self.constant + self.scale * number;
            let from = start + i64::from(tick) * period;
            reals.count += 1;
            reals.sum += value;
            reals.bound += bound;
            reals.each.push((from, from + period, value, bound));
        }
        Ok(reals)
    }
}

/// The size of the coefficients of a polynomial or a model on normalised values: what a slot's error is multiplied by.
pub(crate) fn coefficient_size(
    reading: &Reading,
    channel: impl Fn(&str) -> Option<sotto_pack::Channel>,
) -> Option<f64> {
    let ends = |name: &str| channel(name).map(|channel| (channel.minimum, channel.maximum));
    match reading {
        Reading::Channel(_) => None,
        Reading::Polynomial { channel, coefficients } => {
            let (low, high) = ends(channel)?;
            let shifted = shifted(coefficients, (low + high) / 2.0, (high - low) / 2.0);
            Some(shifted.iter().skip(1).map(|c| c.abs()).sum())
        }
        Reading::Linear { model, .. } => {
            let factors = model.as_ref()?.coefficients.iter();
            factors
                .map(|(name, factor)| ends(name).map(|(low, high)| factor.abs() * (high - low) / 2.0))
                .sum()
        }
    }
}

/// The coefficients of p(centre + half · u) in u.
fn shifted(coefficients: &[f64], centre: f64, half: f64) -> Vec<f64> {
    // Horner's rule on polynomials: p = p · (centre + half·u) + c.
    let mut shifted = vec![0.0];
    for coefficient in coefficients.iter().rev() {
        let mut next = vec![0.0; shifted.len() + 1];
        for (power, value) in shifted.iter().enumerate() {
            next[power] += value * centre;
            next[power + 1] += value * half;
        }
        next[0] += coefficient;
        shifted = next;
    }
    shifted.truncate(coefficients.len().max(1));
    shifted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_the_same_on_normalised_values() {
        let coefficients = [3.0, -0.5, 0.02, 0.001];
        let evaluate = |c: &[f64], x: f64| c.iter().rev().fold(0.0, |sum, c| sum * x + c);
        let moved = shifted(&coefficients, 50.0, 70.0);
        for u in [-1.0, -0.3, 0.0, 0.7, 1.0] {
            let (a, b) = (evaluate(&moved, u), evaluate(&coefficients, 50.0 + 70.0 * u));
            assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{u}: {a} {b}");
        }
    }
}
