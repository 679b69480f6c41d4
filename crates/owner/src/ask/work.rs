//! The work on one device: choice of quantities and windows, and tallies from the results.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::question::{Call, Question};
use sotto_pack::{ChannelBins, Cut, Layout, Span};

use super::OnProgress;
use super::exact::{Compared, ExactResults};
use super::group::{self, Group};
use super::tally::{self, Tally};
use super::weights::GroupWeights;
use super::windows::{DeviceWindows, Window, position};
use crate::choose::MOST_WINDOWS;
use crate::compute::{Computer, Input, Part, Quantity};
use crate::error::OwnerError;
use crate::needs::{BinsNeeded, Kind, Needs, USUAL_BINS, of_call};

/// The work on one device.
pub(super) struct Work<'w> {
    pub(super) question: &'w Question,
    pub(super) groups: &'w [Group],
    /// For each group, the end of the last tick with a reading of any device. Half-lives count back from it.
    pub(super) ends: &'w [i64],
    pub(super) device: &'w DeviceWindows,
    /// Windows that are summed together with other devices: they count as this device's, but are not computed here.
    pub(super) elsewhere: &'w BTreeSet<String>,
}

/// A device's tallies, by group.
#[derive(Default)]
pub(super) struct Tallied {
    pub(super) tallies: Vec<Tally>,
    /// Bytes of the included windows, by id.
    pub(super) used: BTreeMap<String, u64>,
    /// Number of windows encrypted for other questions, whose parameters do not suffice.
    pub(super) not_carried: usize,
    /// The reason why they do not, if there are any.
    pub(super) error: Option<OwnerError>,
    /// Number of windows whose readings were fetched one by one, as their bins do not answer the question.
    pub(super) fetched: u64,
}

/// A group, with its windows.
type Grouped = (usize, Vec<Input>);
/// A window that crosses the end of a group, with its ticks in each group.
type Split = (Input, Vec<(usize, Range<u32>)>);

/// Windows by group, and windows that are split between groups.
type ByGroup = (BTreeMap<usize, Vec<Input>>, Vec<Split>);

/// Windows of one kind, layout, period and parameter set.
pub(super) struct Batch<'w> {
    pub(super) kind: Kind,
    pub(super) windows: Vec<&'w Window>,
}

impl<'w> Work<'w> {
    /// Computes a tally for each group. Omits windows whose parameters do not suffice.
    pub(super) fn tallies(
        &self,
        computer: &mut Computer<'_>,
        progress: OnProgress<'_>,
    ) -> Result<Tallied, OwnerError> {
        let mut done = Tallied { tallies: vec![Tally::default(); self.groups.len()], ..Tallied::default() };
        let mut counted: Vec<&Window> = Vec::with_capacity(self.device.windows.len());
        let mut wrong = None;
        for batch in self.batches() {
            // A batch counts completely or not at all.
            let (mut tallies, mut used) = (done.tallies.clone(), BTreeMap::new());
            let mut fetched = 0;
            let answered = match batch.kind {
                Kind::Exact => {
                    self.exact(&batch, computer, (&mut tallies, &mut fetched), &mut used, progress)
                }
                Kind::Steps => self.steps(&batch, computer, &mut tallies, &mut used, progress),
                Kind::Real => self.real(&batch, computer, &mut tallies, &mut used, progress),
            };
            let (elsewhere, here): (Vec<&Window>, Vec<&Window>) =
                batch.windows.into_iter().partition(|window| self.elsewhere.contains(&window.id));
            done.used.extend(elsewhere.iter().map(|window| (window.id.clone(), window.bytes)));
            counted.extend(elsewhere);
            match answered {
                Ok(()) => {
                    done.tallies = tallies;
                    done.fetched += fetched;
                    done.used.append(&mut used);
                    counted.extend(here);
                }
                Err(error @ OwnerError::CannotCarry { .. }) => {
                    done.not_carried += here.len();
                    done.error.get_or_insert(error);
                }
                // The other batches are asked for all the same: an answer's content must not decide about a request.
                Err(error @ OwnerError::WrongAnswer(_)) => drop(wrong.get_or_insert(error)),
                Err(error) => return Err(error),
            }
        }
        if let Some(error) = wrong {
            return Err(error);
        }
        for channel in self.question.channels() {
            let covered = tally::Covered::new(&counted, &channel);
            for (tally, group) in done.tallies.iter_mut().zip(self.groups) {
                let expected = covered.as_ref().map_or(0, |covered| covered.ticks(*group));
                tally.expected.insert(channel.clone(), expected);
            }
        }
        Ok(done)
    }

    fn batches(&self) -> Vec<Batch<'w>> {
        let mut batches: Vec<Batch<'w>> = Vec::new();
        for window in &self.device.windows {
            let Some(kind) = window.kind() else { continue };
            let same = |batch: &&mut Batch<'w>| {
                let first = batch.windows[0];
                first.parameter_id == window.parameter_id
                    && first.compact == window.compact
                    && first.description.period == window.description.period
                    && first.layout() == window.layout()
            };
            match batches.iter_mut().find(same) {
                Some(batch) => batch.windows.push(window),
                None => batches.push(Batch { kind, windows: vec![window] }),
            }
        }
        batches
    }

    /// Returns the calls that this batch can answer.
    pub(super) fn calls(&self, batch: &Batch<'_>) -> Vec<&'w Call> {
        let layout = batch.windows[0].layout();
        let held = |call: &&Call| {
            let channels = call.channels();
            self.kind_of(call) == batch.kind && channels.iter().all(|name| position(layout, name).is_some())
        };
        self.question.calls().filter(held).collect()
    }

    /// Returns the windows of a batch by group, and those that cross the end of a group, with their ticks in each.
    pub(super) fn by_group(&self, batch: &Batch<'_>) -> Result<ByGroup, OwnerError> {
        let (mut whole, mut split): (BTreeMap<usize, Vec<Input>>, Vec<Split>) = Default::default();
        for window in batch.windows.iter().filter(|window| !self.elsewhere.contains(&window.id)) {
            let pieces = group::pieces(self.groups, self.question.by, window)?;
            let Some((at, _)) = pieces.first() else { continue };
            let since = (window.start() - self.groups[*at].from).max(0).unsigned_abs();
            let offset = since / u64::from(window.description.period.max(1));
            let offset = u32::try_from(offset).unwrap_or(u32::MAX / 2);
            let input = Input {
                id: window.id.clone(),
                leaf: window.leaf,
                window: window.description.clone(),
                offset,
            };
            if pieces.len() == 1 {
                whole.entry(*at).or_default().push(input);
            } else {
                split.push((input, pieces));
            }
        }
        Ok((whole, split))
    }

    fn exact(
        &self,
        batch: &Batch<'_>,
        computer: &mut Computer<'_>,
        (tallies, fetched): (&mut [Tally], &mut u64),
        used: &mut BTreeMap<String, u64>,
        progress: OnProgress<'_>,
    ) -> Result<(), OwnerError> {
        let calls = self.calls(batch);
        if calls.is_empty() {
            return Ok(());
        }
        let layout = batch.windows[0].layout();
        let spec = self.spec(batch)?;
        // Weights depend on the number of ticks in a group, so groups of different lengths have different quantities.
        let mut by_ticks: BTreeMap<(u32, u32), Vec<Grouped>> = BTreeMap::new();
        let (whole, split) = self.by_group(batch)?;
        let weighted = calls.iter().any(|call| matches!(call, Call::WeightedSum { .. }));
        let period = batch.windows[0].description.period;
        // Weights follow the readings of one group, so windows longer than the group cannot be used.
        if weighted && !split.is_empty() {
            return Err(OwnerError::CannotCarry { device: self.device.device.clone() });
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
            let mut wanted = self.wanted(&calls, batch, ticks, period)?;
            if !(wanted.compared.channels.is_empty() || split.is_empty()) {
                // A window that crosses the end of a group is split by its readings.
                wanted.add(Quantity::Sum);
            }
            let most = match &batch.windows[0].compact {
                _ if wanted.compared.each => 1,
                // Their sums are split later, as far as necessary.
                Some(_) => usize::MAX,
                None => most_windows(&self.device.device, layout, spec.plain, &wanted.quantities)?
                    .min(computer.granted(spec, &wanted.quantities)),
            };
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
            if wanted.compared.each {
                *fetched += parts.len() as u64;
            }
            self.remember(batch, &parts, used);
            let (device, quantities) = (self.device.device.as_str(), &wanted.quantities[..]);
            let results = match &batch.windows[0].compact {
                Some(stream) => {
                    computer.compact_results((device, stream), spec, &parts, quantities, progress)?
                }
                None => computer.results(device, spec, &parts, quantities, progress)?,
            };
            for ((part, pieces), results) in parts.iter().zip(of).zip(&results) {
                for (at, ticks) in pieces {
                    let exact = ExactResults {
                        layout,
                        inputs: &part.inputs,
                        quantities: &wanted.quantities,
                        results,
                        ticks,
                        compared: &wanted.compared,
                    };
                    exact.add_to(&mut tallies[at], &wanted.pairs, &wanted.weights)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the quantities of a batch that calls need, for groups of `ticks` ticks.
    pub(super) fn wanted(
        &self,
        calls: &[&Call],
        batch: &Batch<'_>,
        ticks: (u32, u32),
        period: u32,
    ) -> Result<Wanted, OwnerError> {
        let layout = batch.windows[0].layout();
        let mut wanted = Wanted::default();
        for call in calls {
            let (_, needs) = of_call(call);
            if let Call::WeightedSum { channel, weights } = call {
                if let Some(at) = position(layout, channel) {
                    let weights = GroupWeights::new(at, weights, ticks, period)?;
                    wanted.add(weights.quantity());
                    wanted.weights.push((call.to_string(), weights));
                }
                continue;
            }
            if call.compares() {
                wanted.compare(&needs, batch);
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
        wanted.compared_quantities();
        Ok(wanted)
    }

    pub(super) fn spec(&self, batch: &Batch<'_>) -> Result<&'w sotto_rlwe::ParameterSpec, OwnerError> {
        let id = &batch.windows[0].parameter_id;
        self.device
            .specs
            .get(id)
            .ok_or_else(|| OwnerError::WrongAnswer("windows of unknown parameters".to_owned()))
    }

    pub(super) fn remember(&self, batch: &Batch<'_>, parts: &[Part], used: &mut BTreeMap<String, u64>) {
        let bytes: BTreeMap<&str, u64> =
            batch.windows.iter().map(|window| (window.id.as_str(), window.bytes)).collect();
        for input in parts.iter().flat_map(|part| &part.inputs) {
            used.insert(input.id.clone(), bytes.get(input.id.as_str()).copied().unwrap_or_default());
        }
    }
}

/// The requirements of a batch's calls.
#[derive(Default)]
pub(super) struct Wanted {
    pub(super) quantities: Vec<Quantity>,
    pub(super) pairs: Vec<(String, String)>,
    pub(super) weights: Vec<(String, GroupWeights)>,
    pub(super) compared: Compared,
}

impl Wanted {
    /// Adds the channel of a call that compares readings, and finds out whether the windows' bins answer it.
    fn compare(&mut self, needs: &Needs, batch: &Batch<'_>) {
        let layout = batch.windows[0].layout();
        let compact = batch.windows[0].compact.as_ref();
        for (name, needed) in &needs.bins {
            let Some(at) = position(layout, name) else { continue };
            if !self.compared.channels.contains(&at) {
                self.compared.channels.push(at);
            }
            let bins = compact.and_then(|stream| stream.places.bins_of(at));
            let answers = |bins: &ChannelBins| needed.iter().all(|needed| answers(bins, needed, layout, at));
            match bins.filter(|bins| answers(bins)) {
                None => self.compared.each = true,
                Some(bins) if self.compared.bins.contains(bins) => {}
                Some(bins) => self.compared.bins.push(bins.clone()),
            }
        }
    }

    fn compared_quantities(&mut self) {
        if self.compared.each {
            self.add(Quantity::Sum);
            return;
        }
        for channel in self.compared.channels.clone() {
            self.add(Quantity::Counts(channel));
        }
    }

    fn add(&mut self, quantity: Quantity) {
        if !self.quantities.contains(&quantity) {
            self.quantities.push(quantity);
        }
    }
}

/// Returns true if counts of these bins answer a question: a limit and the edges of a histogram exactly, an extreme or a
/// quantile to the width of the usual bins.
pub(super) fn answers(bins: &ChannelBins, needed: &BinsNeeded, layout: &Layout, at: u16) -> bool {
    let Some(quantiser) = layout.quantiser(at) else { return false };
    let channel = &layout.channels()[usize::from(at)];
    let range = (channel.minimum, channel.maximum);
    if let BinsNeeded::Equal(USUAL_BINS) = needed {
        // A declared precision may have made other bins.
        let widest = (range.1 - range.0) / f64::from(USUAL_BINS) + quantiser.step();
        let mut ends = bins.ends(quantiser);
        if ends.all(|(low, high)| quantiser.value(high) - quantiser.value(low) <= widest) {
            return true;
        }
    }
    let known = ChannelBins::new(at, needed.edges(quantiser, range), quantiser);
    known.edges.iter().all(|edge| bins.edges.contains(edge))
}

/// Returns the number of windows whose sum does not wrap around the plain modulus.
fn most_windows(
    device: &str,
    layout: &Layout,
    plain_modulus: u64,
    quantities: &[Quantity],
) -> Result<usize, OwnerError> {
    let largest = quantities.iter().map(|quantity| quantity.magnitude(layout)).fold(1.0, f64::max);
    let most = ((plain_modulus as f64 / 2.0 - 1.0) / largest).floor();
    if most < 1.0 {
        return Err(OwnerError::CannotCarry { device: device.to_owned() });
    }
    Ok((most as usize).min(MOST_WINDOWS))
}
