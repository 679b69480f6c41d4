//! Windows of sums that are in no segment yet, as runs of one.

use std::sync::Arc;

use sotto_pack::{SumsPart, WindowDescription};
use sotto_wire::{Envelope, StreamHeader, WireError};

use super::StoreError;
use super::error::damaged;
use super::run::{Rows, Run, forms};

/// The counts of a window, part by part, as they are stored. Most windows of a stream have those of the window before.
#[derive(Default)]
pub(super) struct Counts {
    of: Option<WindowDescription>,
    parts: Vec<Vec<u8>>,
}

impl Counts {
    /// Returns the counts of a window's parts.
    fn of(&mut self, header: &StreamHeader, window: WindowDescription) -> &[Vec<u8>] {
        // They do not depend on its time.
        let window = WindowDescription { start: 0, ..window };
        if self.of.as_ref() != Some(&window) {
            let stored =
                |part: &SumsPart| part.counts(&window).into_iter().flat_map(u16::to_le_bytes).collect();
            self.parts = header.parts().iter().map(stored).collect();
            self.of = Some(window);
        }
        &self.parts
    }
}

/// Passes one window as a run.
pub(super) fn one<E: From<StoreError>>(
    header: &Arc<StreamHeader>,
    bytes: &[u8],
    counts: &mut Counts,
    take: impl FnOnce(&Run<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let wrong = || StoreError::Damaged("a window of sums lacks its parts".to_owned());
    let envelope = Envelope::read_window(bytes, header).map_err(damaged)?;
    let window = envelope.signed_header().description().ok_or_else(wrong)?;
    let (name, mut rest) =
        envelope.mask().zip(envelope.body().coefficients()).ok_or_else(|| damaged(WireError::Magic))?;
    let (ticks, forms) = (window.sent_ticks(), forms(header)?);
    let mut parts = Vec::with_capacity(forms.len());
    for (form, counts) in forms.iter().zip(counts.of(header, window)) {
        let bytes = form.body_bytes(ticks) + sotto_sums::TAG_BYTES;
        let (rows, after) = rest.split_at_checked(bytes).ok_or_else(wrong)?;
        parts.push(Rows::new(counts, rows, bytes));
        rest = after;
    }
    take(&Run::new(name, ticks, parts))
}

#[cfg(test)]
mod tests {
    use sotto_pack::{Channel, Digit, Period, Placed, Presence, Quantity};
    use sotto_rlwe::KeyId;
    use sotto_wire::SumsStream;

    use super::*;

    /// A window of `ticks` ticks, of which these have a reading.
    fn window(header: &StreamHeader, start: i64, ticks: u32, present: &[u32]) -> WindowDescription {
        let whole = WindowDescription::whole(header.layout(), start, header.period(), ticks);
        let mut presence = Presence::default();
        present.iter().for_each(|tick| presence.insert(*tick));
        WindowDescription { present: vec![presence.count()], presence: vec![presence], ..whole }
    }

    #[test]
    fn counts_are_those_of_each_window() {
        let level =
            Channel { name: "level".into(), maximum: 15.0, resolution: Some(1.0), ..Channel::default() };
        let readings = Placed { quantity: Quantity::Reading(0), digit: Digit::Whole, width: 23 };
        let stream = SumsStream {
            device: "cellar".into(),
            stream: "tank".into(),
            period: Period::of_seconds(60, 1).unwrap(),
            ticks: 3,
            channels: vec![level],
            rounded: false,
            parts: vec![SumsPart { quantities: vec![readings], reasons: 0 }],
        };
        let header = StreamHeader::of_sums(stream, |_| KeyId([2; 16])).unwrap();
        let mut counts = Counts::default();
        for (start, ticks, present) in [
            (0, 3, &[0, 1, 2][..]),
            (180_000, 3, &[0, 1, 2]),
            (360_000, 3, &[0, 2]),
            (0, 2, &[0, 1]),
            (0, 3, &[0, 2]),
        ] {
            let window = window(&header, start, ticks, present);
            let expected: Vec<u8> =
                header.parts()[0].counts(&window).into_iter().flat_map(u16::to_le_bytes).collect();
            assert_eq!(counts.of(&header, window), [expected], "{present:?}");
        }
    }
}
