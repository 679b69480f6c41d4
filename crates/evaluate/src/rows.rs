//! Sums of windows that a store keeps part by part.

use sotto_sums::{Part, Sum, TAG_BYTES};
use sotto_wire::MaskName;

use crate::tagged::{SumError, TOO_MANY, TaggedSum, TaggedSumming, added};

const GONE: SumError = SumError::Request(
    "values of single windows are gone: their windows were rolled up into sums, and nothing else stayed of them",
);
const NOT_ROWS: SumError = SumError::Request("a part of a window is not of its stream's form");

/// Windows of one stream with equal lengths and counts, part by part.
///
/// Example: [`TaggedSumming::add_rows`]
#[derive(Clone, Copy, Debug)]
pub struct TaggedRows<'w> {
    /// The names of their pads, in order.
    pub names: &'w [MaskName],
    /// The ticks that each window sends.
    pub ticks: u32,
    /// For each part of the stream its counts, which all windows share, and for each window a body and a tag. Both may be
    /// empty for parts that no sum names.
    pub parts: &'w [(&'w [u16], &'w [u8])],
}

impl TaggedSumming<'_, '_> {
    /// Adds the next windows, as [`TaggedSumming::add`] adds one after the other. They must be of this stream.
    ///
    /// ```
    /// use sotto_evaluate::{TaggedRows, TaggedSum, TaggedSumming};
    /// use sotto_wire::{MaskName, SumsAnswer};
    /// # use sotto_pack::{Channel, Digit, Period, Placed, Quantity, SumsPart};
    /// # use sotto_rlwe::KeyId;
    /// # use sotto_wire::{StreamHeader, SumsStream};
    /// # let level = Channel { name: "level".into(), maximum: 15.0, resolution: Some(1.0), ..Channel::default() };
    /// # let readings = Placed { quantity: Quantity::Reading(0), digit: Digit::Whole, width: 16 };
    /// # let stream = SumsStream {
    /// #     device: "cellar".into(),
    /// #     stream: "tank".into(),
    /// #     period: Period::of_seconds(60, 1)?,
    /// #     ticks: 16,
    /// #     channels: vec![level],
    /// #     rounded: false,
    /// #     parts: vec![SumsPart { quantities: vec![readings], reasons: 0 }],
    /// # };
    /// # let header = StreamHeader::of_sums(stream, |_| KeyId([2; 16]))?;
    /// // Two windows of one tick: the numbers 7 and 4, the tags 5 and 1.
    /// let names = [0, 1].map(|sequence| MaskName { salt: [3; 12], sequence });
    /// let rows = [7, 0, 5, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0];
    /// let wanted = TaggedSum { windows: (0, 2), parts: &[0], weights: None };
    /// let mut summing = TaggedSumming::new(&header, 2, vec![wanted])?;
    /// summing.add_rows(&TaggedRows { names: &names, ticks: 1, parts: &[(&[1, 1], &rows)] })?;
    /// let answer = SumsAnswer::read(&summing.frame()?, &header, 1 << 10, 2)?;
    /// let sum = answer.sums[0].part(0).map(|part| (part.to_bytes()[..2].to_vec(), part.counts().to_vec()));
    /// assert_eq!(sum, Some((vec![11, 0], vec![2, 2])));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SumError::Request`] if there are more windows than the request names, or a part that a sum names is not of the
    /// stream's form. A sum is not complete after an error.
    pub fn add_rows(&mut self, windows: &TaggedRows<'_>) -> Result<(), SumError> {
        let (at, count) = (self.names.len(), windows.names.len());
        if count > self.windows - at {
            return Err(TOO_MANY);
        }
        for (wanted, sums) in self.wanted.iter().zip(&mut self.sums) {
            let first = wanted.windows.0 as usize;
            let (from, to) = (first.max(at), (first + wanted.windows.1 as usize).min(at + count));
            if from >= to {
                continue;
            }
            for (part, sum) in wanted.parts.iter().zip(sums) {
                let (counts, rows) = *windows.parts.get(usize::from(*part)).ok_or(NOT_ROWS)?;
                if windows.ticks > sum.form().ticks() {
                    return Err(NOT_ROWS);
                }
                let row = sum.form().body_bytes(windows.ticks) + TAG_BYTES;
                if rows.len() != count * row {
                    return Err(NOT_ROWS);
                }
                let rows = &rows[(from - at) * row..(to - at) * row];
                add(wanted, sum, (from - first, windows.ticks), counts, rows, row)?;
            }
        }
        self.name(windows.names)
    }
}

impl TaggedSumming<'_, '_> {
    /// Adds the parts that a store keeps of a window of a roll-up beside [its sum](TaggedSumming::add_rolled): those whose values do not
    /// add, for the sums that name them. The window was [named](TaggedSumming::name), and is at this place of the request; `parts` are
    /// those of [`TaggedRows`], for one window.
    ///
    /// # Errors
    /// [`SumError::Request`] if a sum names such a part that is not there, or not of the stream's form. A sum is not complete after
    /// an error.
    pub fn add_values(&mut self, at: usize, ticks: u32, parts: &[(&[u16], &[u8])]) -> Result<(), SumError> {
        for (wanted, sums) in self.wanted.iter().zip(&mut self.sums) {
            let first = wanted.windows.0 as usize;
            let Some(from) = at.checked_sub(first).filter(|from| *from < wanted.windows.1 as usize) else {
                continue;
            };
            for (part, sum) in wanted.parts.iter().zip(sums) {
                if self.header.adds(*part) {
                    continue;
                }
                let (counts, row) = *parts.get(usize::from(*part)).ok_or(NOT_ROWS)?;
                if row.is_empty() {
                    return Err(GONE);
                }
                if ticks > sum.form().ticks() || row.len() != sum.form().body_bytes(ticks) + TAG_BYTES {
                    return Err(NOT_ROWS);
                }
                add(wanted, sum, (from, ticks), counts, row, row.len())?;
            }
        }
        Ok(())
    }
}

/// Adds rows of `row` bytes, from the sum's window of index `from` on.
fn add(
    wanted: &TaggedSum<'_>,
    sum: &mut Sum<'_>,
    (from, ticks): (usize, u32),
    counts: &[u16],
    rows: &[u8],
    row: usize,
) -> Result<(), SumError> {
    let Some(weights) = wanted.weights else {
        return sum.add_rows(ticks, rows, counts).map_err(added);
    };
    let form = *sum.form();
    for (bytes, weight) in rows.chunks_exact(row).zip(weights.get(from..).unwrap_or_default()) {
        let part = Part::read(&form, ticks, bytes).map_err(|_| NOT_ROWS)?;
        sum.add(&part, counts, *weight).map_err(added)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sotto_pack::{Channel, Digit, Period, Placed, Quantity, SumsPart, WindowDescription};
    use sotto_rlwe::KeyId;
    use sotto_wire::{Envelope, StreamHeader, SumsStream};

    use super::*;

    #[test]
    fn rows_give_the_answer_of_windows_one_by_one() {
        let level =
            Channel { name: "level".into(), maximum: 15.0, resolution: Some(1.0), ..Channel::default() };
        let part = |width| SumsPart {
            quantities: vec![Placed { quantity: Quantity::Reading(0), digit: Digit::Whole, width }],
            reasons: 0,
        };
        let stream = SumsStream {
            device: "cellar".into(),
            stream: "tank".into(),
            period: Period::of_seconds(60, 1).unwrap(),
            ticks: 3,
            channels: vec![level],
            rounded: false,
            parts: vec![part(23), part(32)],
        };
        let header = Arc::new(StreamHeader::of_sums(stream, |_| KeyId([2; 16])).unwrap());
        let weights: Vec<i64> = (0..300).map(|at| at % 9 - 4).collect();
        let wanted = [
            TaggedSum { windows: (0, 300), parts: &[0, 1], weights: None },
            TaggedSum { windows: (0, 300), parts: &[1], weights: Some(&weights) },
            TaggedSum { windows: (99, 2), parts: &[0], weights: None },
            TaggedSum { windows: (150, 1), parts: &[0], weights: Some(&[7]) },
        ];
        let new = || TaggedSumming::new(&header, 300, wanted.to_vec()).unwrap();
        let (mut singly, mut together) = (new(), new());
        // Batches of 100 windows with 3, 2 and 1 ticks.
        for batch in 0..3_u64 {
            let ticks = 3 - batch as u32;
            let whole = WindowDescription::whole(header.layout(), 0, header.period(), ticks);
            let counts = header.parts()[0].counts(&whole);
            let (mut names, mut rows) = (Vec::new(), [Vec::new(), Vec::new()]);
            for sequence in 100 * batch..100 * (batch + 1) {
                let mut parts = Vec::new();
                for (part, rows) in rows.iter_mut().enumerate() {
                    let form = header.sums_form(part).unwrap();
                    let mut row = vec![0; form.body_bytes(ticks)];
                    row.iter_mut().zip(0..).for_each(|(byte, at)| *byte = (sequence * 31 + at * 7) as u8);
                    // The padding: places of 23 bits leave up to 7 bits of the last byte.
                    let free = 8 * row.len() - form.places(ticks) * [23, 32][part];
                    *row.last_mut().unwrap() &= 0xff >> free;
                    row.extend((sequence * 0x0123_4567_89ab % ((1 << 61) - 1)).to_le_bytes());
                    rows.extend_from_slice(&row);
                    parts.extend(row);
                }
                let name = MaskName { salt: [sequence as u8 / 64; 12], sequence };
                names.push(name);
                let window = Envelope::sign_sums(&header, sequence, name, whole.clone(), &parts, |_| [0; 64]);
                singly.add(&window.unwrap()).unwrap();
            }
            let parts = [(&counts[..], &rows[0][..]), (&counts[..], &rows[1][..])];
            // Rows that are none.
            for (ticks, rows) in [(4, parts), (ticks, [parts[0], (parts[1].0, &parts[1].1[1..])])] {
                let (names, parts) = (&names[..], &rows[..]);
                assert!(new().add_rows(&TaggedRows { names, ticks, parts }).is_err());
            }
            together.add_rows(&TaggedRows { names: &names, ticks, parts: &parts }).unwrap();
            let more = TaggedRows { names: &names, ticks, parts: &parts };
            assert!(batch < 2 || together.add_rows(&more).is_err(), "more windows than the request names");
        }
        assert_eq!(singly.frame().unwrap(), together.frame().unwrap());
    }
}
