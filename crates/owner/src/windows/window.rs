//! Stored windows.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::sync::Arc;

use sotto_pack::{Channel, ChannelBins, Layout, WindowDescription};
use sotto_rlwe::{Origin, ParameterSpec, SchemeId};
use sotto_wire::{Digest, MaskName, STREAM_TAG_BYTES, StreamHeader};

use super::row_time::Group;
use crate::declared::Plant;
use crate::gathered::WindowQuantity;
use crate::quantities::{Input, Rolled};
use crate::streams::{Kind, bins_of, holds};

/// A stored window of a device.
#[derive(Clone, Debug)]
pub(crate) struct StoredWindow {
    /// The name that the cloud gave it, for requests alone: it decides nothing.
    pub(crate) id: String,
    /// Its number in its stream.
    pub(crate) sequence: u64,
    /// The leaf in the log of its stream; of a window of sums, of which no leaf is kept, the first 24 bytes of its stream's id and
    /// its number.
    pub(crate) identity: Digest,
    pub(crate) stream: Arc<str>,
    pub(crate) parameter_id: Arc<str>,
    pub(crate) bytes: u64,
    pub(crate) description: Arc<WindowDescription>,
    pub(super) end: i64,
    /// The ticks that an answer uses. Others belong to another time, or to another window.
    pub(super) ticks: Range<u32>,
    /// The span of the clock of a window that was sent in pieces, or of one of them; None for others.
    pub(super) span: Option<Group>,
    /// The channels that an answer uses; None: all. Other windows have the readings of the others.
    pub(super) channels: Option<Arc<BTreeSet<String>>>,
    pub(super) kind: Option<Kind>,
    /// The scheme of its ciphertext. None: sums with tags.
    pub(super) scheme: Option<SchemeId>,
    /// The number of its bundle, from 0.
    pub(crate) bundle: usize,
    /// The stream and the pads, if the window is one of sums.
    pub(crate) sums: Option<SumsOf>,
    /// The key that it is encrypted under.
    pub(crate) origin: Origin,
    /// The sum that the cloud keeps in place of its body.
    pub(super) rolled: Option<Rolled>,
    /// Number of windows that it stands for: 1, but in lists with [`Needed::in_runs`](super::Needed::in_runs). The first is
    /// described; each of the others has the ticks that follow, the next number, and all readings. Then `ticks` counts
    /// through all of them, and `bytes` and `end` are those of all.
    pub(super) count: u32,
}

/// The facts of a window of sums that open it, as its device signed them.
#[derive(Clone, Debug)]
pub(crate) struct SumsOf {
    /// The header of the stream.
    pub(crate) stream: Arc<StreamHeader>,
    /// The name of the pads.
    pub(crate) name: MaskName,
}

impl StoredWindow {
    /// Returns the identity in hexadecimal: no cloud chooses it.
    pub(crate) fn name(&self) -> String {
        hex::encode(self.identity)
    }

    /// Returns the instant of the window's first tick.
    pub(crate) fn start(&self) -> i64 {
        self.description.start
    }

    /// Returns the instant of a tick.
    pub(crate) fn instant(&self, tick: u32) -> i64 {
        self.description.period.at(self.start(), tick)
    }

    /// Returns the number of ticks before an instant, at most those of the window.
    pub(crate) fn ticks_before(&self, at: i64) -> u32 {
        let ticks = self.description.period.ticks_in(at.saturating_sub(self.start()));
        u32::try_from(ticks).unwrap_or(u32::MAX).min(self.all_ticks())
    }

    /// Returns the last tick that an answer uses with a reading of a channel, among those before an instant. Returns None if
    /// there is none.
    pub(super) fn last_before(&self, channel: u16, at: i64) -> Option<u32> {
        let ticks = self.ticks.start..self.ticks.end.min(self.ticks_before(at));
        self.description.presence(channel)?.iter().filter(|tick| ticks.contains(tick)).last()
    }

    /// Returns the ticks that an answer uses.
    pub(crate) fn ticks(&self) -> Range<u32> {
        self.ticks.clone()
    }

    /// Returns true if an answer uses all ticks.
    pub(crate) fn is_whole(&self) -> bool {
        self.ticks == (0..self.all_ticks())
    }

    /// Returns the instant of the first tick that an answer uses.
    pub(crate) fn from(&self) -> i64 {
        self.instant(self.ticks.start)
    }

    /// Returns the end of the last tick that an answer uses, or the end of the window's span if that is earlier.
    pub(crate) fn to(&self) -> i64 {
        self.end_before(self.ticks.end)
    }

    /// Returns the time that the window is a part of: pieces of one window are one.
    pub(crate) fn group(&self) -> Group {
        self.span.unwrap_or(Group { from: self.from(), to: self.to() })
    }

    /// Returns true if the window is a piece of one that was still open.
    pub(crate) fn is_provisional(&self) -> bool {
        self.description.provisional
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.description.layout
    }

    /// Returns the kind of the stream; None for streams of profiles, which have no kind.
    pub(crate) fn kind(&self) -> Option<Kind> {
        self.kind
    }

    /// Returns its kind, and the scheme of its ciphertext. Returns None as [`StoredWindow::kind`].
    pub(crate) fn form(&self) -> Option<(Kind, Option<SchemeId>)> {
        self.kind.map(|kind| (kind, self.scheme))
    }

    /// Returns the windows as an input that starts at a tick of its group, of which some ticks of each have weights.
    pub(crate) fn input(&self, offset: i64, ticks: Range<u32>) -> Input {
        let (id, window, origin) = (self.id.clone(), self.description.clone(), self.origin);
        let (identity, sequence, bytes) = (self.identity, self.sequence, self.bytes);
        let name = self.sums.as_ref().map(|sums| sums.name);
        let (rolled, count) = (self.rolled, self.count);
        Input { id, identity, sequence, bytes, name, window, offset, ticks, origin, rolled, count }
    }

    /// Returns the header of its stream, if the window is one of sums. Windows of several streams are not summed.
    pub(crate) fn stream_of_sums(&self) -> Option<&Arc<StreamHeader>> {
        self.sums.as_ref().map(|sums| &sums.stream)
    }

    /// Returns the bins in which the device counted the readings of a channel; None if it did not.
    pub(crate) fn bins_of(&self, channel: u16) -> Option<ChannelBins> {
        bins_of(self.sums.as_ref()?.stream.parts(), channel)
    }

    /// Returns true if the device sent these quantities of the window's readings of a channel.
    pub(crate) fn holds(&self, channel: u16, quantities: &[WindowQuantity]) -> bool {
        self.sums.as_ref().is_some_and(|sums| holds(sums.stream.parts(), channel, quantities))
    }

    /// Returns the position of a channel that an answer uses.
    pub(crate) fn channel(&self, name: &str) -> Option<u16> {
        if self.uses(name) { position(self.layout(), name) } else { None }
    }

    /// Returns true if an answer uses a channel, if the window has it.
    pub(super) fn uses(&self, name: &str) -> bool {
        self.channels.as_ref().is_none_or(|channels| channels.contains(name))
    }

    /// Leaves out these channels, by their names in streams.
    pub(super) fn leave_out_channels(&mut self, plant: &Plant, names: &BTreeSet<&str>) {
        let counts = |channel: &&Channel| !names.contains(plant.settings().wire_channel(&channel.name));
        let left = self.layout().channels().iter().filter(counts).map(|channel| channel.name.clone());
        self.channels = Some(Arc::new(left.collect()));
    }

    /// Returns true if an answer uses the same channels of another window.
    pub(crate) fn has_channels_of(&self, other: &Self) -> bool {
        self.channels == other.channels
    }

    /// Returns the number of readings of a channel that an answer uses.
    pub(crate) fn readings(&self, channel: u16) -> u64 {
        if self.is_run() {
            return self.ticks.len() as u64;
        }
        match self.description.presence(channel) {
            Some(presence) if !self.is_whole() => {
                presence.iter().filter(|tick| self.ticks.contains(tick)).count() as u64
            }
            _ => u64::from(self.description.present[usize::from(channel)]),
        }
    }
}

/// Returns the position of a channel in a layout.
pub(crate) fn position(layout: &Layout, name: &str) -> Option<u16> {
    layout.channels().iter().position(|channel| channel.name == name).and_then(|at| u16::try_from(at).ok())
}

/// The windows of one device in order of time, and their parameters.
pub(crate) struct DeviceWindows {
    /// The device's name in the cloud and in the folder's files.
    pub(crate) device: String,
    /// Its name in `sotto.toml`.
    pub(crate) shown: String,
    pub(crate) windows: Vec<StoredWindow>,
    pub(crate) specs: BTreeMap<String, ParameterSpec>,
    /// False if the device's secret is not in the folder: then no window can be opened.
    pub(crate) has_secret: bool,
    /// Streams of sums whose tags prove nothing, as the device encrypted two windows under one pad number.
    pub(crate) twice: BTreeSet<[u8; STREAM_TAG_BYTES]>,
    /// Counts of unused windows, by reason.
    pub(crate) aside: Aside,
    /// The number of windows in the logs that are not deleted.
    pub(crate) received: u64,
    /// The numbers of the windows of each stream that were deleted without an order of the owner, which are only the cloud's claim.
    pub(crate) unordered: BTreeMap<String, Vec<u64>>,
    /// The times of the first and the last reading of streams with a channel of the question, whatever the time of the
    /// question; None if there is a window to use, or they have none.
    pub(crate) elsewhere: Option<(i64, i64)>,
    /// The time of the first reading in the logs of streams with a needed channel, at any time.
    pub(crate) first_reading: Option<i64>,
    /// The number of windows of such streams that this plant's owner deleted.
    pub(crate) forgotten: usize,
    /// A channel whose unit has changed since, with the unit of the windows and that of `sotto.toml`.
    pub(crate) other_unit: Option<(String, (String, String))>,
    /// Numbers of windows that lack a channel of the question and hold one that `sotto.toml` does not declare, by the latter.
    pub(crate) undeclared: BTreeMap<String, usize>,
    /// The number of windows of each stream's log that were looked at.
    pub(crate) logs: BTreeMap<String, u64>,
    /// The root of these windows.
    pub(crate) roots: BTreeMap<String, Digest>,
    /// The highest number of each stream, and the time of its latest reading in milliseconds since 1970.
    pub(crate) complete: BTreeMap<String, (u64, i64)>,
}

impl DeviceWindows {
    /// Returns true if a window is of a stream of sums whose tags prove which windows were added.
    pub(crate) fn proves(&self, window: &StoredWindow) -> bool {
        window.stream_of_sums().is_some_and(|stream| !self.is_twice(stream))
    }

    /// Returns true if the device encrypted two windows of a stream under one pad number.
    pub(crate) fn is_twice(&self, stream: &StreamHeader) -> bool {
        self.twice.contains(&stream.id().tag().0)
    }
}

/// Counts of a device's windows that an answer does not use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Aside {
    /// Windows with readings at ticks that another window of the bundle has, which counts there.
    pub(crate) overlapping: usize,
    /// Windows beside others of the same readings whose ticks are at other instants of the hour.
    pub(crate) shifted: usize,
    /// Windows that no bundle of this plant makes (another layout, key or parameters), or that are damaged.
    pub(crate) unreadable: usize,
    /// Windows of an earlier version, which are not read any more.
    pub(crate) earlier: usize,
    /// Windows with a channel of the question whose unit has changed since.
    pub(crate) other_unit: usize,
    /// Windows of bundles whose device did not encrypt under the scheme that the question states.
    pub(crate) other_scheme: usize,
    /// Windows encrypted for other questions, with parameters that do not suffice for this one.
    pub(crate) not_carried: usize,
    /// Windows in the cloud's log that the cloud cannot read.
    pub(crate) lost: usize,
    /// Windows that were deleted without an order of the owner.
    pub(crate) deleted: usize,
    /// Windows whose readings were fetched one by one, as their bins do not answer the question.
    pub(crate) fetched: u64,
    /// Sequence numbers without a log entry: the device did not send them, or the cloud withholds them.
    pub(crate) missing: u64,
    /// Gaps in the numbers that are too large to be missing windows alone.
    pub(crate) jumps: u64,
}

impl Aside {
    /// Returns the number of windows that are missing by their numbers, or that the cloud does not give any more.
    pub(crate) fn gaps(self) -> u64 {
        self.missing + self.jumps + (self.lost + self.deleted) as u64
    }

    /// Returns the number of windows that a question about another time could not use either.
    pub(crate) fn unusable(self) -> usize {
        self.overlapping + self.unreadable + self.other_unit
    }
}

/// Iterates over windows without repetition: parts of one window count once.
pub(crate) fn once(windows: &[StoredWindow]) -> impl Iterator<Item = &StoredWindow> {
    let mut seen = HashSet::with_capacity(windows.len());
    windows.iter().filter(move |window| seen.insert(window.identity))
}

/// Returns the number of windows in a list.
pub(crate) fn number<'w>(windows: impl IntoIterator<Item = &'w StoredWindow>) -> u64 {
    windows.into_iter().map(StoredWindow::count).sum()
}
