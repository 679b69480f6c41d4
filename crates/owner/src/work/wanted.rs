//! The quantities that the needs of a batch's calls are made of.

use sotto_pack::{ChannelBins, Layout};

use super::batch::Batch;
use super::weights::{GroupSpan, GroupWeights};
use crate::error::OwnerError;
use crate::gathered::{BinsNeeded, ChannelPair, Need, NeedId, USUAL_BINS, WindowQuantity};
use crate::quantities::Quantity;
use crate::streams::MOST_WINDOWS;
use crate::windows::position;

/// The requirements of a batch's calls.
#[derive(Default)]
pub(super) struct Wanted<'q> {
    pub(super) quantities: Vec<Quantity>,
    pub(super) pairs: Vec<&'q ChannelPair>,
    pub(super) weighted: Vec<WantedWeights>,
    pub(super) held: Vec<WantedHeld<'q>>,
    pub(super) compared: Compared,
}

/// The weights of a weighted sum that have one sign.
pub(super) struct WantedWeights {
    pub(super) need: NeedId,
    pub(super) weights: GroupWeights,
}

/// Quantities that windows hold.
pub(super) struct WantedHeld<'q> {
    pub(super) need: NeedId,
    pub(super) channel: u16,
    pub(super) quantities: &'q [WindowQuantity],
    /// True if the windows of the batch hold them. Else they follow from counts by bin or from readings.
    pub(super) sent: bool,
}

/// The channels whose readings a batch's calls compare.
#[derive(Clone, Debug, Default)]
pub(super) struct Compared {
    pub(super) channels: Vec<u16>,
    /// Those whose distribution calls need.
    pub(super) distributed: Vec<u16>,
    /// The bins of the windows that count readings.
    bins: Vec<ChannelBins>,
    /// True if every window comes by itself, and its readings are compared: its bins do not answer the question.
    pub(super) each: bool,
}

impl Compared {
    pub(super) fn bins_of(&self, channel: u16) -> Option<&ChannelBins> {
        self.bins.iter().find(|bins| bins.channel == channel)
    }
}

impl<'q> Wanted<'q> {
    /// Returns the quantities for groups with a span; None if there are no weights. `splits` is true if windows cross the
    /// end of a group.
    ///
    /// # Errors
    /// [`OwnerError::Unanswerable`] if a group is too long for weights.
    pub(super) fn new(
        needs: &[(NeedId, &'q Need)],
        batch: &Batch<'_>,
        span: Option<GroupSpan>,
        splits: bool,
    ) -> Result<Self, OwnerError> {
        let layout = batch.windows[0].layout();
        let mut wanted = Self::default();
        for (number, need) in needs {
            match need {
                Need::Moments { squares, .. } => wanted.add_moments(*squares),
                Need::Pair(pair) => wanted.add_pair(pair, batch),
                Need::Weighted { channel, weights } => {
                    let (Some(at), Some(span)) = (position(layout, channel), span) else { continue };
                    for weights in GroupWeights::by_sign(at, weights, span)? {
                        wanted.add(weights.quantity());
                        wanted.weighted.push(WantedWeights { need: *number, weights });
                    }
                }
                Need::Distribution { channel, bins, .. } => {
                    let at = wanted.add_compared(channel, bins, batch);
                    let new = at.filter(|at| !wanted.compared.distributed.contains(at));
                    wanted.compared.distributed.extend(new);
                }
                Need::Windows { channel, quantities } => {
                    let Some(at) = position(layout, channel) else { continue };
                    let sent = batch.windows[0].holds(at, quantities);
                    wanted.held.push(WantedHeld { need: *number, channel: at, quantities, sent });
                    match need.compares() {
                        _ if sent => {}
                        Some((_, bins)) => drop(wanted.add_compared(channel, &bins, batch)),
                        None => wanted.compared.each = true,
                    }
                }
                // Readings come by themselves.
                Need::Readings { .. } => {}
                // Of streams of reals.
                Need::Reals { .. } | Need::Decided(_) => {}
            }
        }
        wanted.add_counts();
        wanted.add_held();
        if splits && !(wanted.compared.channels.is_empty() && wanted.held.is_empty()) {
            // A window that crosses the end of a group is split by its readings.
            wanted.add(Quantity::Sum);
        }
        Ok(wanted)
    }

    /// Returns the number of windows whose sum does not wrap around the plain modulus; None if not even one does.
    pub(super) fn most_windows(&self, layout: &Layout, plain_modulus: u64) -> Option<usize> {
        let magnitude = |quantity: &Quantity| quantity.magnitude(layout);
        let largest = self.quantities.iter().map(magnitude).fold(1.0, f64::max);
        let most = ((plain_modulus as f64 / 2.0 - 1.0) / largest).floor();
        (most >= 1.0).then(|| (most as usize).min(MOST_WINDOWS))
    }

    fn add_moments(&mut self, squares: bool) {
        self.add(Quantity::Sum);
        if squares {
            self.add(Quantity::Square);
        }
    }

    fn add_pair(&mut self, pair: &'q ChannelPair, batch: &Batch<'_>) {
        self.add_moments(true);
        let layout = batch.windows[0].layout();
        let positions = position(layout, &pair.first).zip(position(layout, &pair.second));
        let Some((at_x, at_y)) = positions else { return };
        let (first, second) = (at_x.min(at_y), at_x.max(at_y));
        self.add(Quantity::Product(first, second));
        let together = batch.windows.iter().all(|window| {
            let window = &window.description;
            window.presence(at_x).is_some_and(|x| window.presence(at_y) == Some(x))
        });
        if !together {
            self.add(Quantity::Joint(first, second));
            self.add(Quantity::JointSquare(first, second));
        }
        self.pairs.push(pair);
    }

    /// Adds a channel whose readings are compared, and finds out whether the windows' bins answer the call. Returns its
    /// position.
    fn add_compared(&mut self, channel: &str, needed: &BinsNeeded, batch: &Batch<'_>) -> Option<u16> {
        let layout = batch.windows[0].layout();
        let at = position(layout, channel)?;
        if !self.compared.channels.contains(&at) {
            self.compared.channels.push(at);
        }
        let bins = batch.windows[0].bins_of(at);
        match bins.filter(|bins| answers(bins, needed, layout, at)) {
            None => self.compared.each = true,
            Some(bins) if self.compared.bins.contains(&bins) => {}
            Some(bins) => self.compared.bins.push(bins),
        }
        Some(at)
    }

    /// Adds the quantities that windows hold, unless their readings come down.
    fn add_held(&mut self) {
        if self.compared.each {
            return;
        }
        let sent = self.held.iter().filter(|held| held.sent);
        let of = |held: &WantedHeld<'q>| {
            let channel = held.channel;
            held.quantities.iter().map(move |quantity| Quantity::Held(channel, *quantity))
        };
        sent.flat_map(of).collect::<Vec<_>>().into_iter().for_each(|quantity| self.add(quantity));
    }

    fn add_counts(&mut self) {
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
