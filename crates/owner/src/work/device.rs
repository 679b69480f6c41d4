//! The work on one device: choice of quantities and windows, and tallies from the results.

use sotto_pack::Period;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use sotto_wire::Digest;

use super::batch::Batch;
use super::came_down::CameDown;
use super::crossings::note_crossings;
use super::exact::ExactResults;
use super::faults::Faults;
use super::job::{Computer, Results};
use super::pieces::{ByGroup, Piece, Pieces, Split};
use super::progress::OnProgress;
use super::sums::{self, SumsStream};
use super::used::Used;
use super::wanted::Wanted;
use super::weights::GroupSpan;
use crate::error::{FaultyWindow, OwnerError};
use crate::gathered::{Need, NeedId, Tally};
use crate::language::By;
use crate::quantities::{Input, InputRun, Inputs, Part, Quantity};
use crate::question::{Asked, AskedCall};
use crate::streams::{Kind, expanded_bytes};
use crate::windows;
use crate::windows::{Covered, DeviceWindows, Group, Grouping, InGroup, StoredWindow};

/// The work on one device.
pub(crate) struct DeviceWork<'w> {
    pub(crate) asked: &'w Asked<'w>,
    pub(crate) groups: &'w [Group],
    /// For each group, the time over which a weighted sum has its weights.
    pub(crate) weighted: &'w [Group],
    /// For each group, the end of the last tick with a reading of any device. Half-lives count back from it.
    pub(crate) ends: &'w [i64],
    /// The part of a group that does not count.
    pub(crate) gap: Option<Group>,
    pub(crate) device: &'w DeviceWindows,
    /// For each call of the question, true if readings of the device count in it. Empty: in all.
    pub(crate) takes: &'w [bool],
}

/// A device's results.
#[derive(Default)]
pub(crate) struct Tallied {
    pub(crate) computed: Computed,
    /// Number of windows encrypted for other questions, whose parameters do not suffice.
    pub(crate) not_carried: usize,
    /// The reason why they do not, if there are any.
    pub(crate) error: Option<OwnerError>,
    /// Windows that their device's fault leaves out.
    pub(crate) faulty: Vec<FaultyWindow>,
}

/// What became of a batch.
enum Ended {
    Counted,
    NotCarried,
    /// An answer has a fault.
    Faulty,
}

/// Results of windows, by group.
#[derive(Clone, Default)]
pub(crate) struct Computed {
    pub(crate) tallies: Vec<Tally>,
    /// The included windows.
    pub(crate) used: Used,
    /// Number of windows whose readings were fetched one by one, as their bins do not answer the question.
    pub(crate) fetched: u64,
    /// The readings that came down for calls that need them.
    pub(crate) came_down: CameDown,
}

/// Groups of one batch whose quantities are equal. Weights depend on the number of ticks in a group.
#[derive(Default)]
pub(super) struct Lot {
    groups: Vec<(usize, Vec<Input>)>,
    pub(super) split: Vec<Split>,
}

impl<'w> DeviceWork<'w> {
    /// Computes a tally for each group. Omits windows whose parameters do not suffice, and those whose own tags do not fit.
    pub(crate) fn tallies(
        &self,
        computer: &mut Computer<'_>,
        progress: OnProgress<'_>,
    ) -> Result<Tallied, OwnerError> {
        let mut done = Tallied::default();
        done.computed.tallies = vec![Tally::default(); self.groups.len()];
        let alone = OnceCell::new();
        let mut all: &[StoredWindow] = &self.device.windows;
        let mut counted: Vec<&StoredWindow> = Vec::with_capacity(all.len());
        // Windows of finished batches, and faulty ones.
        let mut ended: HashSet<Digest> = HashSet::new();
        loop {
            let windows = all.iter().filter(|window| ended.is_empty() || !ended.contains(&window.identity));
            let (mut faults, mut now_ended) = (Faults::default(), Vec::new());
            for batch in Batch::all(windows) {
                match self.batch(&batch, computer, (&mut done, &mut faults), progress)? {
                    Ended::Counted => counted.extend(&batch.windows),
                    Ended::NotCarried => {}
                    Ended::Faulty => continue,
                }
                now_ended.push(batch);
            }
            match faults.end() {
                // The batches of faulty windows again, without them. Each turn has fewer.
                Err(OwnerError::FaultyWindows { windows, .. }) if !windows.is_empty() => {
                    ended.extend(
                        now_ended.iter().flat_map(|batch| &batch.windows).map(|window| window.identity),
                    );
                    // One of several windows of an entry may be faulty.
                    let left = || all.iter().filter(|window| !ended.contains(&window.identity));
                    all = alone.get_or_init(|| left().flat_map(StoredWindow::each).collect::<Vec<_>>());
                    ended.extend(windows.iter().map(|window| window.identity));
                    done.faulty.extend(windows);
                }
                Err(error) => return Err(error),
                Ok(()) => break,
            }
        }
        for (number, need) in self.asked.needs() {
            if need.follows().is_some() {
                note_crossings(&mut done.computed.tallies, number);
            }
        }
        self.note_expected(&counted, &mut done.computed.tallies);
        Ok(done)
    }

    /// Computes a batch, which counts completely or not at all.
    fn batch(
        &self,
        batch: &Batch<'_>,
        computer: &mut Computer<'_>,
        (done, faults): (&mut Tallied, &mut Faults),
        progress: OnProgress<'_>,
    ) -> Result<Ended, OwnerError> {
        let mut computed = done.computed.clone();
        let answered = match batch.kind {
            Kind::Exact => self
                .exact(batch, computer, &mut computed, progress)
                .and_then(|()| self.add_readings(batch, computer, &mut computed, progress)),
            Kind::Steps => self.steps(batch, computer, &mut computed, progress),
            Kind::Real => self.real(batch, computer, &mut computed, progress),
        };
        match answered {
            Err(error @ OwnerError::CannotCarry { .. }) => {
                done.not_carried += windows::number(batch.windows.iter().copied()) as usize;
                done.error.get_or_insert(error);
                Ok(Ended::NotCarried)
            }
            answered => Ok(match faults.note(answered)? {
                Some(()) => {
                    self.note_untagged(batch, &mut computed.tallies);
                    done.computed = computed;
                    Ended::Counted
                }
                None => Ended::Faulty,
            }),
        }
    }

    /// Notes in the tallies of a batch that no tag shows what the cloud gave, unless one does.
    fn note_untagged(&self, batch: &Batch<'_>, tallies: &mut [Tally]) {
        if self.device.proves(batch.windows[0]) {
            return;
        }
        let mut needs: Vec<NeedId> = self.needs(batch).into_iter().map(|(need, _)| need).collect();
        needs.extend(self.needs_of_readings(batch));
        let pieces =
            |window: &&StoredWindow| windows::pieces(self.groups, Grouping::of(self.asked.question), window);
        for piece in batch.windows.iter().flat_map(pieces) {
            tallies[piece.group].untagged.extend(&needs);
        }
    }

    /// Notes in each tally the number of readings that these windows should have.
    fn note_expected(&self, counted: &[&StoredWindow], tallies: &mut [Tally]) {
        let calls = self.asked.calls().filter(|asked| self.takes(asked));
        let channels: BTreeSet<&str> = calls.flat_map(|asked| asked.call.channels()).collect();
        for channel in channels {
            let covered = Covered::new(counted, channel);
            // A row of a window alone lacks no tick that another window has.
            let by_window = self.asked.question.by == Some(By::Window);
            let elsewhere = if by_window { windows::elsewhere(counted, channel) } else { BTreeMap::new() };
            // Nor a tick before the device's first reading: it may have started in the middle of a window.
            let first = self.device.first_reading.filter(|_| by_window);
            let covered = covered.map(|covered| covered.since(first));
            for (tally, group) in tallies.iter_mut().zip(self.groups) {
                let ticks = |group: Group| covered.as_ref().map_or(0, |covered| covered.ticks(group));
                let gap =
                    self.gap.map(|gap| Group { from: gap.from.max(group.from), to: gap.to.min(group.to) });
                let in_gap = gap.filter(|gap| gap.from < gap.to).map_or(0, ticks);
                let expected = ticks(*group).saturating_sub(in_gap);
                let expected = expected.saturating_sub(elsewhere.get(group).copied().unwrap_or_default());
                tally.expected.insert(channel.to_owned(), expected);
            }
        }
    }

    /// Returns true if readings of the device count in a call.
    pub(super) fn takes(&self, asked: &AskedCall<'_>) -> bool {
        self.takes.get(asked.number).copied().unwrap_or(true)
    }

    /// Returns the calls that this batch can answer.
    pub(super) fn calls(&self, batch: &Batch<'_>) -> Vec<&'w AskedCall<'w>> {
        let window = batch.windows[0];
        let held = |asked: &&AskedCall<'_>| {
            let channels = asked.call.channels();
            self.takes(asked)
                && self.kind_of(asked.call) == batch.kind
                && channels.iter().all(|name| window.channel(name).is_some())
        };
        self.asked.calls().filter(held).collect()
    }

    /// Returns the needs of the calls that this batch can answer, each once.
    pub(super) fn needs(&self, batch: &Batch<'_>) -> Vec<(NeedId, &'w Need)> {
        self.asked.needs_of(&self.calls(batch))
    }

    /// Returns these needs but for readings, which come by themselves.
    fn needs_of_sums(&self, batch: &Batch<'_>) -> Vec<(NeedId, &'w Need)> {
        let mut needs = self.needs(batch);
        needs.retain(|(_, need)| !matches!(need, Need::Readings { .. }));
        needs
    }

    /// Returns a bound on the bytes of windows of a batch that come down one by one, as they hold neither extremes nor bins for
    /// the calls.
    pub(super) fn bytes_compared(&self, batch: &Batch<'_>) -> Result<CameDown, OwnerError> {
        let (needs, mut all) = (self.needs_of_sums(batch), CameDown::default());
        if batch.kind != Kind::Exact || !needs.iter().any(|(_, need)| need.is_of_windows()) {
            return Ok(all);
        }
        for (span, lot) in self.lots(batch, &needs) {
            let wanted = Wanted::new(&needs, batch, span, !lot.split.is_empty())?;
            if wanted.compared.each {
                let parts = pieces(batch, lot, most_of_sums(&wanted)).parts;
                all.windows += parts.len() as u64;
                all.bytes += self.most_bytes(batch, &parts, &wanted.quantities)?;
            }
        }
        Ok(all)
    }

    /// Returns a bound on the bytes of the results of parts of a batch.
    pub(super) fn most_bytes(
        &self,
        batch: &Batch<'_>,
        parts: &[Part],
        quantities: &[Quantity],
    ) -> Result<u64, OwnerError> {
        match batch.windows[0].stream_of_sums() {
            Some(stream) => sums::most_bytes(stream, parts, quantities),
            None => Ok(expanded_bytes(self.spec(batch)?).saturating_mul(parts.len() as u64)),
        }
    }

    /// Returns the windows of a batch by group, and those that cross the end of a group, with their ticks in each.
    pub(super) fn by_group(&self, batch: &Batch<'_>) -> ByGroup {
        let mut all = ByGroup::default();
        for window in &batch.windows {
            let groups = windows::pieces(self.groups, Grouping::of(self.asked.question), window);
            let offset = |window: &StoredWindow, groups: &[InGroup]| {
                let first = groups.first().map_or(0, |first| first.group);
                offset(self.weighted[first], window.start(), window.description.period)
            };
            if groups.is_empty() {
                continue;
            }
            if !window.is_run() {
                all.add(window.input(offset(window, &groups), window.ticks()), window.is_whole(), groups);
                continue;
            }
            let ticks = 0..window.description.ticks();
            for (part, groups) in window.by_pieces(groups) {
                let ticks = if part.is_run() { ticks.clone() } else { part.ticks() };
                all.add(part.input(offset(&part, &groups), ticks), part.is_whole(), groups);
            }
        }
        all
    }

    /// Computes sums of exact windows, and adds them to the tallies.
    fn exact(
        &self,
        batch: &Batch<'_>,
        computer: &mut Computer<'_>,
        computed: &mut Computed,
        progress: OnProgress<'_>,
    ) -> Result<(), OwnerError> {
        let needs = self.needs_of_sums(batch);
        if needs.is_empty() {
            return Ok(());
        }
        let mut faults = Faults::default();
        for (span, lot) in self.lots(batch, &needs) {
            let wanted = Wanted::new(&needs, batch, span, !lot.split.is_empty())?;
            let most = self.most_windows(batch, &wanted, computer)?;
            let pieces = pieces(batch, lot, most);
            if wanted.compared.each {
                computed.fetched += pieces.parts.len() as u64;
            }
            computed.include(&pieces.parts);
            let (parts, quantities) = (&pieces.parts[..], &wanted.quantities[..]);
            let results = self.exact_results(batch, parts, quantities, computer, progress);
            let Some(results) = faults.note(results)? else { continue };
            for piece in pieces.with(&results) {
                let exact = ExactResults { window: batch.windows[0], wanted: &wanted, piece: &piece };
                let added = exact.add_to(&mut computed.tallies[piece.group]);
                faults.note(added.map_err(|error| self.of_device(batch, &piece, error)))?;
            }
        }
        faults.end()
    }

    /// Returns the results of parts of a batch of exact windows.
    pub(super) fn exact_results(
        &self,
        batch: &Batch<'_>,
        parts: &[Part],
        quantities: &[Quantity],
        computer: &mut Computer<'_>,
        progress: OnProgress<'_>,
    ) -> Result<Vec<Results>, OwnerError> {
        let device = self.device.device.as_str();
        match batch.windows[0].stream_of_sums() {
            Some(stream) => {
                let is_proved = !self.device.is_twice(stream);
                let source = SumsStream { device, stream, is_proved };
                computer.sums_results(source, parts, quantities, progress)
            }
            None => computer.results(device, self.spec(batch)?, parts, quantities, progress),
        }
    }

    /// Returns the fault of a piece's values. Those of sums have tags that fit: then it is the device's.
    pub(super) fn of_device(&self, batch: &Batch<'_>, piece: &Piece<'_>, error: OwnerError) -> OwnerError {
        let is_tagged = batch.windows[0].stream_of_sums().is_some();
        if !is_tagged || !matches!(error, OwnerError::WrongAnswer(_)) {
            return error;
        }
        let stream = &batch.windows[0].stream;
        let of_sums = batch.windows[0].stream_of_sums().map(Arc::as_ref);
        let window = |run: InputRun<'_>| {
            let sequence = run.sequence();
            let identity = windows::identity(of_sums, sequence);
            FaultyWindow { identity, stream: stream.to_string(), sequence }
        };
        let inputs = Inputs::of(piece.inputs);
        let windows = inputs.runs(0..inputs.len()).flat_map(InputRun::each).map(window).collect();
        OwnerError::FaultyWindows { device: self.device.device.clone(), windows }
    }

    /// Divides the groups of a batch: all of them together or, if there are weights, those with equal weights.
    pub(super) fn lots(
        &self,
        batch: &Batch<'_>,
        needs: &[(NeedId, &Need)],
    ) -> BTreeMap<Option<GroupSpan>, Lot> {
        let ByGroup { whole, split } = self.by_group(batch);
        let weighted = needs.iter().any(|(_, need)| need.is_weighted());
        let period = batch.windows[0].description.period;
        let grid = windows::grid(batch.windows.iter().copied(), period);
        let span = |group: usize| {
            weighted.then(|| GroupSpan::new(self.weighted[group], self.ends[group], period, grid))
        };
        let mut lots: BTreeMap<Option<GroupSpan>, Lot> = BTreeMap::new();
        for (group, inputs) in whole {
            lots.entry(span(group)).or_default().groups.push((group, inputs));
        }
        for Split { input, groups } in split {
            if !weighted {
                lots.entry(None).or_default().split.push(Split { input, groups });
                continue;
            }
            // Weights follow the ticks of one group, so each group is a part of its own.
            for piece in groups {
                let offset = offset(self.weighted[piece.group], input.window.start, period);
                let input = Input { offset, ticks: piece.ticks.clone(), ..input.clone() };
                lots.entry(span(piece.group)).or_default().split.push(Split { input, groups: vec![piece] });
            }
        }
        lots
    }

    /// Returns the most windows of a part; None: any number.
    fn most_windows(
        &self,
        batch: &Batch<'_>,
        wanted: &Wanted<'_>,
        computer: &Computer<'_>,
    ) -> Result<Option<usize>, OwnerError> {
        if wanted.compared.each || batch.windows[0].stream_of_sums().is_some() {
            return Ok(most_of_sums(wanted));
        }
        let spec = self.spec(batch)?;
        let fitting = wanted.most_windows(batch.windows[0].layout(), spec.plain);
        let fitting = fitting.ok_or_else(|| self.cannot_carry())?;
        Ok(Some(fitting.min(computer.granted(spec, &wanted.quantities))))
    }

    pub(super) fn cannot_carry(&self) -> OwnerError {
        OwnerError::CannotCarry { device: self.device.device.clone() }
    }

    pub(super) fn spec(&self, batch: &Batch<'_>) -> Result<&'w sotto_rlwe::ParameterSpec, OwnerError> {
        let spec = self.device.specs.get(&*batch.windows[0].parameter_id);
        spec.ok_or_else(|| OwnerError::wrong("windows of unknown parameters"))
    }
}

/// Returns the most windows of a part of sums; None: any number, as sums are split later, as far as necessary.
pub(super) fn most_of_sums(wanted: &Wanted<'_>) -> Option<usize> {
    wanted.compared.each.then_some(1)
}

/// Divides the windows of a lot into parts that can be computed.
pub(super) fn pieces(batch: &Batch<'_>, lot: Lot, most: Option<usize>) -> Pieces {
    let ticks = batch.windows[0].layout().ticks();
    let mut pieces = Pieces::default();
    for (group, inputs) in lot.groups {
        pieces.add_whole(group, inputs, ticks, most);
    }
    lot.split.into_iter().for_each(|split| pieces.add_split(split));
    pieces
}

/// Returns the tick of a group at which a window starts, below 0 if it starts before the group.
fn offset(group: Group, start: i64, period: Period) -> i64 {
    // The first tick of the group is the last one that begins before it, and one more.
    -(period.tick_at(group.from.saturating_sub(start).saturating_sub(1)) + 1)
}

impl Computed {
    /// Notes the windows of parts as included, with their bytes.
    pub(super) fn include(&mut self, parts: &[Part]) {
        parts.iter().flat_map(|part| &part.inputs).for_each(|input| self.used.add(input));
    }
}
