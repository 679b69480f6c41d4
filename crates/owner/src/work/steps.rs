//! Comparisons in the cloud: whole steps, and limits chosen when the question is asked.

use std::collections::{BTreeMap, BTreeSet};

use sotto_pack::{ChannelBins, Layout, StepDigits};

use super::batch::Batch;
use super::device::{Computed, DeviceWork};
use super::exact::{readings_in, total};
use super::held::of_distribution;
use super::job::Computer;
use super::pieces::{ByGroup, Piece, Pieces};
use super::progress::OnProgress;
use super::wanted::answers;
use crate::error::OwnerError;
use crate::functions::Call;
use crate::gathered::distribution::Distribution;
use crate::gathered::{BinsNeeded, Need};
use crate::open::Numbers;
use crate::quantities::Quantity;
use crate::streams::{Kind, MOST_COMPARED};
use crate::windows::{StoredWindow, position};

/// Largest number of limits of a channel that the cloud compares in one question. With more, fetching the readings costs
/// less.
const MOST_LIMITS: usize = 32;

impl<'w> DeviceWork<'w> {
    /// Returns the kind of the stream that answers a call. Comparisons take the counts of exact windows if their bins
    /// answer the call; else the steps, if they cover every reading; else the readings of exact windows.
    pub(super) fn kind_of(&self, call: &Call) -> Kind {
        let wanted = call.needs();
        let bins = compared(&wanted);
        if bins.is_empty() {
            return Kind::of(&wanted);
        }
        let mut readings: BTreeMap<(Kind, &String), u64> = BTreeMap::new();
        for window in &self.device.windows {
            for name in bins.keys() {
                let Some((at, kind)) = window.channel(name).zip(window.kind()) else { continue };
                let present = window.description.present.get(usize::from(at)).copied().unwrap_or_default();
                *readings.entry((kind, name)).or_default() += u64::from(present);
            }
        }
        let counted = |window: &&StoredWindow| {
            wanted.iter().all(|need| {
                let Some((name, bins)) = need.compares() else { return true };
                let Some(at) = window.channel(name) else { return true };
                let is_held =
                    matches!(need, Need::Windows { quantities, .. } if window.holds(at, quantities));
                is_held || window.bins_of(at).is_some_and(|sent| answers(&sent, &bins, window.layout(), at))
            })
        };
        let exact = |window: &&StoredWindow| window.kind() == Some(Kind::Exact);
        if self.device.windows.iter().filter(exact).all(|window| counted(&window)) {
            return Kind::Exact;
        }
        let covered = bins.keys().all(|name| {
            let of = |kind| readings.get(&(kind, name)).copied().unwrap_or_default();
            of(Kind::Steps) > 0 && of(Kind::Steps) >= of(Kind::Exact)
        });
        let few = self.device.windows.iter().find(|window| window.kind() == Some(Kind::Steps)).is_some_and(
            |window| {
                let limits =
                    |name: &String| Some(limits(window.layout(), window.channel(name)?, &bins).len());
                bins.keys().all(|name| limits(name).is_some_and(|limits| limits <= MOST_LIMITS))
            },
        );
        if covered && few { Kind::Steps } else { Kind::Exact }
    }

    /// Compares the windows of a batch with the limits of its calls, and adds the distributions to the tallies.
    pub(super) fn steps(
        &self,
        batch: &Batch<'_>,
        computer: &mut Computer<'_>,
        computed: &mut Computed,
        progress: OnProgress<'_>,
    ) -> Result<(), OwnerError> {
        let calls = self.calls(batch);
        if calls.is_empty() {
            return Ok(());
        }
        let layout = batch.windows[0].layout();
        let channels: BTreeSet<u16> = calls
            .iter()
            .flat_map(|asked| asked.call.channels())
            .filter_map(|name| position(layout, name))
            .collect();
        let needs = self.needs(batch);
        let needed = compared(needs.iter().map(|(_, need)| *need));
        let bins: Vec<ChannelBins> = channels
            .into_iter()
            .map(|channel| ChannelBins { channel, edges: limits(layout, channel, &needed) })
            .collect();
        let of = |bins: &ChannelBins| -> Vec<Quantity> {
            bins.edges.iter().map(|edge| Quantity::AtLeast(bins.channel, *edge)).collect()
        };
        let quantities: Vec<Quantity> = bins.iter().flat_map(of).collect();
        let mut pieces = Pieces::default();
        let ByGroup { whole, split } = self.by_group(batch);
        for (group, inputs) in whole {
            pieces.add_whole(group, inputs, layout.ticks(), Some(MOST_COMPARED));
        }
        split.into_iter().for_each(|split| pieces.add_split(split));
        computed.include(&pieces.parts);
        // A limit beyond the range needs no comparison.
        let results = if quantities.is_empty() {
            vec![Vec::new(); pieces.parts.len()]
        } else {
            computer.results(&self.device.device, self.spec(batch)?, &pieces.parts, &quantities, progress)?
        };
        for piece in pieces.with(&results) {
            let mut results = piece.results.iter();
            for bins in &bins {
                let above: Vec<&Numbers> =
                    results.by_ref().take(bins.edges.len()).map(|(numbers, _)| numbers).collect();
                let distribution = distribution(layout, bins, &piece, &above)?;
                let name = &layout.channels()[usize::from(bins.channel)].name;
                let tally = &mut computed.tallies[piece.group];
                if needs.iter().any(|(_, need)| need.is_distribution_of(name)) {
                    tally.distributions.entry(name.clone()).or_default().merge(&distribution);
                }
                for (number, need) in &needs {
                    let Need::Windows { channel, quantities } = need else { continue };
                    let held = of_distribution(&piece, quantities, &distribution).filter(|_| channel == name);
                    held.into_iter().for_each(|held| tally.windows.entry(*number).or_default().add(held));
                }
            }
        }
        Ok(())
    }
}

/// The bins in which readings are compared, by channel.
type BinsCompared<'n> = BTreeMap<&'n String, Vec<BinsNeeded>>;

/// Returns the bins of needs that follow from how readings compare.
fn compared<'n>(needs: impl IntoIterator<Item = &'n Need>) -> BinsCompared<'n> {
    let mut all = BinsCompared::new();
    for (name, bins) in needs.into_iter().filter_map(Need::compares) {
        all.entry(name).or_default().push(bins);
    }
    all
}

/// Returns the numbers at which a channel's bins begin, within its declared range.
fn limits(layout: &Layout, channel: u16, needed: &BinsCompared<'_>) -> Vec<i64> {
    let Some(quantiser) = layout.quantiser(channel) else { return Vec::new() };
    let declared = &layout.channels()[usize::from(channel)];
    let mut edges = Vec::new();
    for bins in needed.get(&declared.name).into_iter().flatten() {
        edges.extend(bins.edges(quantiser, (declared.minimum, declared.maximum)));
    }
    let bins = ChannelBins::new(channel, edges, quantiser);
    let lowest = StepDigits::lowest(layout, channel).unwrap_or(i64::MIN);
    let highest = quantiser.quantise(declared.maximum).unwrap_or(i64::MAX);
    bins.edges.into_iter().filter(|edge| (lowest + 1..=highest).contains(edge)).collect()
}

/// Returns the distribution of a channel's readings in a piece. `above` has, for each edge, the readings in every slot
/// that are at least the edge.
fn distribution(
    layout: &Layout,
    bins: &ChannelBins,
    Piece { inputs, ticks, .. }: &Piece<'_>,
    above: &[&Numbers],
) -> Result<Distribution, OwnerError> {
    let channel = bins.channel;
    let quantiser = layout.quantiser(channel);
    let quantiser = quantiser.ok_or_else(|| OwnerError::wrong("whole numbers were expected"))?;
    let present = readings_in(inputs, layout, ticks, channel)?;
    // A tick without a reading was compared as the number 0.
    let compared = u64::from(ticks.end - ticks.start) * inputs.len() as u64;
    let missing = i128::from(compared - present.min(compared));
    let mut counts = Vec::with_capacity(bins.count());
    let mut left = i128::from(present);
    for (edge, numbers) in bins.edges.iter().zip(above) {
        let of_missing = if *edge <= 0 { missing } else { 0 };
        let at_least = total(numbers, layout, channel, ticks)? - of_missing;
        if !(0..=left).contains(&at_least) {
            return Err(OwnerError::wrong("no readings have these comparisons"));
        }
        counts.push((left - at_least) as u64);
        left = at_least;
    }
    counts.push(left as u64);
    let period = inputs.first().map(|input| input.window.period);
    let period = period.ok_or_else(|| OwnerError::wrong("comparisons of no window"))?;
    Ok(Distribution::of_counts(quantiser, bins, &counts, period))
}
