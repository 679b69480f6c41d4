//! Sums of windows of streams of sums: integers modulo 2^w and tags, which need no key.

use sotto_sums::{Form, Sum, SumError as AddError};
use sotto_wire::{Envelope, MOST_SUMS, MaskName, PartSum, StreamHeader, SumsAnswer, WindowNames, WireError};

/// Largest number of windows of a request.
const MOST_WINDOWS: usize = 1 << 20;
/// Largest number of additions of a request, over all its sums.
const MOST_ADDITIONS: u64 = 1 << 22;
/// Largest total size in bytes of the sums of a request: 16 MiB.
pub const LARGEST_SUMS: usize = 16 << 20;

/// The reason why sums are refused.
///
/// Example: [`TaggedSumming`]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SumError {
    /// The request is invalid.
    #[error("{0}")]
    Request(&'static str),
    /// A frame cannot be read or written.
    #[error(transparent)]
    Frame(#[from] WireError),
}

const OTHER_STREAM: SumError = SumError::Request(
    "the windows of a sum are of one stream, one form and one key: ask for each stream's sum",
);

/// The refusal of windows beyond the request.
pub(crate) const TOO_MANY: SumError = SumError::Request("there are more windows than the request names");

/// A sum to compute: which windows of a request, which parts of them, and weights.
///
/// Example: [`TaggedSumming`]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaggedSum<'r> {
    /// The first window, and their number.
    pub windows: (u32, u32),
    /// The parts, ascending.
    pub parts: &'r [u8],
    /// A weight for each window; None for 1.
    pub weights: Option<&'r [i64]>,
}

/// Sums in progress over windows of one stream. Windows are added one by one; only the sums are in memory.
///
/// ```
/// use std::sync::Arc;
/// use sotto_evaluate::{TaggedSum, TaggedSumming};
/// use sotto_wire::{Envelope, MaskName, StreamHeader, SumsAnswer};
/// # use sotto_pack::{Channel, Digit, Period, Placed, Quantity, SumsPart, WindowDescription};
/// # use sotto_rlwe::KeyId;
/// # use sotto_wire::SumsStream;
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
/// # let header = Arc::new(StreamHeader::of_sums(stream, |_| KeyId([2; 16]))?);
/// // Windows of one tick of 16 bits, and a tag.
/// let window = |sequence: u64, parts: [u8; 10]| {
///     let name = MaskName { salt: [3; 12], sequence };
///     let description = WindowDescription::whole(header.layout(), 0, Period::from_milliseconds(60_000), 1);
///     Envelope::sign_sums(&header, sequence, name, description, &parts, |_| [0; 64])
/// };
/// let wanted = TaggedSum { windows: (0, 2), parts: &[0], weights: Some(&[1, 2]) };
/// let mut summing = TaggedSumming::new(&header, 2, vec![wanted])?;
/// summing.add(&window(0, [0xff, 0xff, 5, 0, 0, 0, 0, 0, 0, 0])?)?;
/// summing.add_frame(&window(1, [4, 0, 1, 0, 0, 0, 0, 0, 0, 0])?.write_kept())?;
/// let answer = SumsAnswer::read(&summing.frame()?, &header, 1 << 10, 2)?;
/// // 65535 + 2·4 modulo 2^16; 5 + 2·1; three windows and readings.
/// let sum = answer.sums[0].part(0).map(|part| (part.to_bytes()[..2].to_vec(), part.counts().to_vec()));
/// assert_eq!(sum, Some((vec![7, 0], vec![3, 3])));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TaggedSumming<'h, 'r> {
    pub(crate) header: &'h StreamHeader,
    pub(crate) wanted: Vec<TaggedSum<'r>>,
    /// For each sum wanted, one for each of its parts.
    pub(crate) sums: Vec<Vec<Sum<'h>>>,
    pub(crate) names: WindowNames,
    pub(crate) windows: usize,
    /// The counts of the parts of the window that is added.
    counts: Vec<Option<Vec<u16>>>,
}

impl<'h, 'r> TaggedSumming<'h, 'r> {
    /// Checks a request for sums over `windows` windows of the stream with this header.
    ///
    /// # Errors
    /// [`SumError::Request`] if there are too many windows, sums or additions, a sum names windows beyond the request,
    /// parts that the stream does not have, or weights that are not one a window or do not fit the bits of a place.
    pub fn new(
        header: &'h StreamHeader,
        windows: usize,
        wanted: Vec<TaggedSum<'r>>,
    ) -> Result<Self, SumError> {
        if windows > MOST_WINDOWS || wanted.len() > MOST_SUMS {
            return Err(SumError::Request("a request names at most 2^20 windows and 4096 sums"));
        }
        let (mut sums, mut bytes, mut additions) = (Vec::with_capacity(wanted.len()), 0, 0);
        for sum in &wanted {
            let forms = check(header, windows, sum)?;
            let ticks = header.layout().ticks();
            bytes += forms.iter().map(|form| sotto_sums::Answer::most_bytes(form, ticks)).sum::<usize>();
            additions += u64::from(sum.windows.1) * sum.parts.len() as u64;
            if bytes > LARGEST_SUMS {
                return Err(SumError::Request("the sums take more than 16 MiB: ask for fewer at once"));
            }
            sums.push(forms.iter().map(Sum::new).collect());
        }
        if additions > MOST_ADDITIONS {
            return Err(SumError::Request(
                "the sums of a request have at most 2^22 parts of windows together",
            ));
        }
        let counts = vec![None; header.parts().len()];
        Ok(Self { header, wanted, sums, names: WindowNames::default(), windows, counts })
    }

    /// Adds the next window, which must be of this stream.
    ///
    /// # Errors
    /// [`SumError::Request`] if it is of another stream or of another key, or if there are more than the request names.
    /// A sum is not complete after an error.
    pub fn add(&mut self, window: &Envelope) -> Result<(), SumError> {
        let signed = window.signed_header();
        let (Some(stream), Some(name)) = (signed.stream(), signed.mask()) else { return Err(OTHER_STREAM) };
        if stream.id() != self.header.id() {
            return Err(OTHER_STREAM);
        }
        let at = self.names.len();
        if at >= self.windows {
            return Err(TOO_MANY);
        }
        let described = signed.description().ok_or(OTHER_STREAM)?;
        self.counts.fill(None);
        for (wanted, sums) in self.wanted.iter().zip(&mut self.sums) {
            let first = wanted.windows.0 as usize;
            let Some(inside) = at.checked_sub(first).filter(|inside| *inside < wanted.windows.1 as usize)
            else {
                continue;
            };
            let weight = wanted.weights.and_then(|weights| weights.get(inside)).copied().unwrap_or(1);
            for (part, sum) in wanted.parts.iter().zip(sums) {
                let part = usize::from(*part);
                let counts = self.counts[part].get_or_insert_with(|| {
                    self.header.parts().get(part).map(|part| part.counts(&described)).unwrap_or_default()
                });
                sum.add(&window.part(part)?, counts, weight).map_err(added)?;
            }
        }
        Ok(self.names.push(name)?)
    }

    /// Adds the next window from the bytes that [`Envelope::write_kept`] returned.
    ///
    /// # Errors
    /// [`SumError::Frame`] if the bytes are none; those of [`TaggedSumming::add`].
    pub fn add_frame(&mut self, kept: &[u8]) -> Result<(), SumError> {
        self.add(&Envelope::read_kept(kept, sotto_wire::LARGEST_ENVELOPE)?)
    }

    /// Returns the names of the windows added so far.
    pub fn names(&self) -> impl Iterator<Item = MaskName> + '_ {
        self.names.iter()
    }

    /// Returns the frame of the answer.
    ///
    /// # Errors
    /// [`SumError::Request`] if fewer windows were added than the request names.
    pub fn frame(self) -> Result<Vec<u8>, SumError> {
        if self.names.len() != self.windows || self.windows == 0 {
            return Err(SumError::Request("there are fewer windows than the request names"));
        }
        let sum = |(wanted, sums): (&TaggedSum<'_>, &Vec<Sum<'h>>)| {
            let parts: Vec<(u8, &Sum<'h>)> = wanted.parts.iter().copied().zip(sums).collect();
            PartSum::of(wanted.windows, &parts)
        };
        let sums = self.wanted.iter().zip(&self.sums).map(sum).collect();
        Ok(SumsAnswer { names: self.names, sums }.write(self.header)?)
    }
}

/// Checks a sum; returns the forms of its parts.
fn check<'h>(
    header: &'h StreamHeader,
    windows: usize,
    sum: &TaggedSum<'_>,
) -> Result<Vec<Form<'h>>, SumError> {
    let (first, count) = (sum.windows.0 as usize, sum.windows.1 as usize);
    if count == 0 || first.checked_add(count).is_none_or(|end| end > windows) {
        return Err(SumError::Request("a sum names more windows than the request"));
    }
    if sum.weights.is_some_and(|weights| weights.len() != count) {
        return Err(SumError::Request("there is a weight for each window of a sum"));
    }
    if sum.parts.is_empty() || !sum.parts.is_sorted_by(|a, b| a < b) {
        return Err(SumError::Request("a sum names parts in ascending order, at least one"));
    }
    let total = sum.weights.map_or(count as u64, |weights| {
        weights.iter().fold(0, |total: u64, weight| total.saturating_add(weight.unsigned_abs()))
    });
    let form = |part: &u8| {
        let missing = SumError::Request("a sum names a part that the stream does not have");
        let form = header.sums_form((*part).into()).map_err(|_| missing)?;
        let narrow = "the weights of a sum do not fit the bits of its places: ask for fewer windows";
        if form.fits(total) { Ok(form) } else { Err(SumError::Request(narrow)) }
    };
    sum.parts.iter().map(form).collect()
}

/// Returns the refusal of an addition.
pub(crate) fn added(error: AddError) -> SumError {
    SumError::Request(match error {
        AddError::Overflow => "a sum of counts leaves 2^60: ask for fewer windows, or smaller weights",
        _ => "a part of a window is not of its stream's form",
    })
}
