//! Readings that come down: each window by itself, as the calls need their times.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::batch::Batch;
use super::came_down::CameDown;
use super::device::{Computed, DeviceWork};
use super::exact::ExactResults;
use super::faults::Faults;
use super::job::Computer;
use super::pieces::{ByGroup, Piece, Pieces};
use super::progress::OnProgress;
use super::wanted::Wanted;
use crate::error::OwnerError;
use crate::gathered::{Need, NeedId, Run, Taken};
use crate::quantities::Quantity;
use crate::question::AskedCall;
use crate::streams::Kind;
use crate::windows::{self, Grouping, StoredWindow};

/// The readings of a channel that a call needs.
struct WantedReadings {
    need: NeedId,
    channel: u16,
    taken: Taken,
}

/// The only quantity that is fetched: that of each tick of one window is its reading.
const QUANTITIES: &[Quantity] = &[Quantity::Sum];

impl<'w> DeviceWork<'w> {
    /// Returns a bound on the bytes of the readings that come down for calls that take readings, and for those that compare
    /// windows which hold neither extremes nor bins for them. Nothing is fetched.
    ///
    /// # Errors
    /// [`OwnerError`] if windows cannot be read.
    pub(crate) fn bytes_of_readings(&self) -> Result<[CameDown; 2], OwnerError> {
        let [mut all, mut compared] = [CameDown::default(); 2];
        for batch in Batch::all(self.device.windows.iter()) {
            compared.add(self.bytes_compared(&batch)?);
            let wanted = self.wanted_readings(&batch);
            let parts = self.reading_pieces(&batch, &wanted).parts;
            if !parts.is_empty() {
                let bytes = self.most_bytes(&batch, &parts, QUANTITIES)?;
                all.add(CameDown { windows: parts.len() as u64, bytes });
            }
        }
        Ok([all, compared])
    }

    /// Fetches the readings of a batch that calls need, and adds them to the tallies.
    pub(super) fn add_readings(
        &self,
        batch: &Batch<'_>,
        computer: &mut Computer<'_>,
        computed: &mut Computed,
        progress: OnProgress<'_>,
    ) -> Result<(), OwnerError> {
        let wanted = self.wanted_readings(batch);
        let pieces = self.reading_pieces(batch, &wanted);
        if pieces.parts.is_empty() {
            return Ok(());
        }
        computed.include(&pieces.parts);
        let (mut faults, before) = (Faults::default(), computer.spent.bytes_down);
        let results = self.exact_results(batch, &pieces.parts, QUANTITIES, computer, progress);
        let Some(results) = faults.note(results)? else { return faults.end() };
        computed.came_down.windows += pieces.parts.len() as u64;
        computed.came_down.bytes += computer.spent.bytes_down.saturating_sub(before);
        let sums = Wanted { quantities: QUANTITIES.to_vec(), ..Wanted::default() };
        for piece in pieces.with(&results) {
            let exact = ExactResults { window: batch.windows[0], wanted: &sums, piece: &piece };
            for WantedReadings { need, channel, .. } in &wanted {
                let run = self.run(&exact, *channel).map_err(|error| self.of_device(batch, &piece, error));
                if let Some(run) = faults.note(run)? {
                    let readings = computed.tallies[piece.group].readings.entry(*need).or_default();
                    readings.add(&self.device.shown, run);
                }
            }
        }
        faults.end()
    }

    /// Returns the needs of which a batch gives readings.
    pub(super) fn needs_of_readings(&self, batch: &Batch<'_>) -> Vec<NeedId> {
        self.wanted_readings(batch).into_iter().map(|wanted| wanted.need).collect()
    }

    /// Returns the windows of a batch of which readings would come down, and the needs that they are for.
    pub(super) fn outlined_readings(&self, batch: &Batch<'_>) -> (Pieces, Vec<NeedId>) {
        let wanted = self.wanted_readings(batch);
        (self.reading_pieces(batch, &wanted), wanted.into_iter().map(|wanted| wanted.need).collect())
    }

    /// Returns the readings that calls need of the windows of a batch.
    fn wanted_readings(&self, batch: &Batch<'_>) -> Vec<WantedReadings> {
        if batch.kind != Kind::Exact {
            return Vec::new();
        }
        // The channels of a call may be in several streams.
        let of = |(need, of): (NeedId, &Need)| match of {
            Need::Readings { channel, taken, device } => {
                let is_asked = device.as_ref().is_none_or(|device| *device == self.device.shown);
                Some(WantedReadings {
                    need,
                    channel: batch.windows[0].channel(channel).filter(|_| is_asked)?,
                    taken: *taken,
                })
            }
            _ => None,
        };
        self.asked.needs_of(&self.calls_of_readings()).into_iter().filter_map(of).collect()
    }

    /// Returns the calls in which readings of the device count. Earlier groups have windows of their own.
    fn calls_of_readings(&self) -> Vec<&'w AskedCall<'w>> {
        self.asked.calls().filter(|asked| self.takes(asked) && asked.is_of_rows()).collect()
    }

    /// Returns the windows of a batch that hold readings which are needed, one by one.
    fn reading_pieces(&self, batch: &Batch<'_>, wanted: &[WantedReadings]) -> Pieces {
        let mut pieces = Pieces::default();
        if wanted.is_empty() {
            return pieces;
        }
        let windows = self.windows_with_readings(batch, wanted);
        let Some(first) = windows.first() else { return pieces };
        let ticks = first.layout().ticks();
        let ByGroup { whole, split } = self.by_group(&Batch { kind: batch.kind, windows });
        for (group, inputs) in whole {
            pieces.add_whole(group, inputs, ticks, Some(1));
        }
        split.into_iter().for_each(|split| pieces.add_split(split));
        pieces
    }

    fn windows_with_readings<'b>(
        &self,
        batch: &Batch<'b>,
        wanted: &[WantedReadings],
    ) -> Vec<&'b StoredWindow> {
        let grouping = Grouping::of(self.asked.question);
        let mut taken = vec![false; batch.windows.len()];
        // The first or last reading of each group so far, and its window.
        let mut ends: BTreeMap<(NeedId, usize), (i64, usize)> = BTreeMap::new();
        for (at, window) in batch.windows.iter().enumerate() {
            for piece in windows::pieces(self.groups, grouping, window) {
                for WantedReadings { need, channel, taken: which } in wanted {
                    let Some(presence) = window.description.presence(*channel) else {
                        taken[at] = true;
                        continue;
                    };
                    let mut ticks = presence.iter().filter(|tick| piece.ticks.contains(tick));
                    let tick = match which {
                        Taken::All | Taken::First => ticks.next(),
                        Taken::Last => ticks.last(),
                    };
                    let Some(instant) = tick.map(|tick| window.instant(tick)) else { continue };
                    let end = ends.entry((*need, piece.group)).or_insert((instant, at));
                    match which {
                        Taken::All => taken[at] = true,
                        Taken::First if instant < end.0 => *end = (instant, at),
                        Taken::Last if instant > end.0 => *end = (instant, at),
                        Taken::First | Taken::Last => {}
                    }
                }
            }
        }
        let of_ends = wanted.iter().filter(|wanted| wanted.taken != Taken::All);
        for need in of_ends.map(|wanted| wanted.need) {
            let mine = ends.iter().filter(|((of, _), _)| *of == need);
            mine.for_each(|(_, (_, at))| taken[*at] = true);
        }
        batch.windows.iter().zip(taken).filter(|(_, taken)| *taken).map(|(window, _)| *window).collect()
    }

    /// Returns the readings of a channel in one piece of a window.
    fn run(&self, exact: &ExactResults<'_>, channel: u16) -> Result<Run, OwnerError> {
        let Piece { inputs, group, .. } = *exact.piece;
        let quantiser = exact.window.layout().quantiser(channel);
        let [input] = inputs else { return Err(OwnerError::wrong("the readings of a window are missing")) };
        let quantiser = quantiser.ok_or_else(|| OwnerError::wrong("whole numbers were expected"))?;
        let group = self.groups[group];
        Ok(Run {
            start: input.window.start,
            period: input.window.period,
            quantiser: *quantiser,
            error: exact.error(inputs, channel)?,
            rounded: exact.rounded(inputs, channel)?,
            time: (group.from, group.to),
            readings: Arc::from(exact.readings_at(channel)?),
        })
    }
}
