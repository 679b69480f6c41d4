//! The facts of a window's head.

use crate::error::WireError;
use crate::mask::MaskName;
use crate::reader::Reader;
use crate::stream::StreamHeader;
use crate::window::{self, TakenReceipt, WindowHead};

/// The facts of a head, as [`LoggedWindow::head`](crate::LoggedWindow::head) returns it. Reading those of a plain one allocates
/// nothing.
///
/// ```
/// use sotto_pack::{Channel, Digit, Period, Placed, Quantity, SumsPart, WindowDescription};
/// use sotto_rlwe::KeyId;
/// use sotto_wire::{Envelope, HeadFacts, MaskName, StreamHeader, SumsStream};
/// # use std::sync::Arc;
/// # let level = Channel { name: "level".into(), maximum: 100.0, resolution: Some(1.0), ..Channel::default() };
/// # let readings = Placed { quantity: Quantity::Reading(0), digit: Digit::Whole, width: 16 };
/// # let parts = vec![SumsPart { quantities: vec![readings], reasons: 0 }];
/// # let (device, stream) = ("cellar".to_owned(), "tank".to_owned());
/// # let period = Period::of_seconds(60, 1)?;
/// # let stream = SumsStream { device, stream, period, ticks: 4, channels: vec![level], rounded: false, parts };
/// # let stream = Arc::new(StreamHeader::of_sums(stream, |_| KeyId([2; 16]))?);
/// # let window = WindowDescription::whole(stream.layout(), 60_000, period, 1);
/// # let (name, parts) = (MaskName { salt: [3; 12], sequence: 7 }, [1, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
/// # let envelope = Envelope::sign_sums(&stream, 7, name, window, &parts, |_| [1; 64])?;
///
/// let (stream, head) = envelope.signed_header().window_head().expect("a window of version 2");
/// let facts = HeadFacts::of(head, stream)?;
/// assert_eq!((facts.sequence, facts.start, facts.ticks), (7, 60_000, 1));
/// assert!(facts.is_plain);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadFacts {
    /// The sequence number.
    pub sequence: u64,
    /// The name of the mask or of the pads.
    pub mask: MaskName,
    /// The start, in milliseconds since 1970.
    pub start: i64,
    /// Number of ticks.
    pub ticks: u32,
    /// The times of the first and the last reading, as a header of version 1 has them.
    pub times: (i64, i64),
    /// True if every channel has a reading at every tick, none was left out or rounded, and the window replaces no other and is
    /// not provisional.
    pub is_plain: bool,
    /// True if the readings were generated.
    pub generated: bool,
    /// True if the window comes in the place of others.
    pub replaces: bool,
    /// True if the window is a piece of one that was still open.
    pub provisional: bool,
    /// The last receipt that the device took before it signed the window.
    pub receipt: Option<TakenReceipt>,
}

impl HeadFacts {
    /// Reads the facts of a head.
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not the head of a window of this stream.
    pub fn of(head: &[u8], stream: &StreamHeader) -> Result<Self, WireError> {
        let mut reader = Reader::new(head);
        if let Some((numbers, flags, receipt)) = window::parse_if_plain(&mut reader, stream)? {
            reader.finish()?;
            let end = stream.period().at(numbers.start, numbers.length).saturating_sub(1);
            return Ok(Self {
                sequence: numbers.sequence,
                mask: numbers.mask,
                start: numbers.start,
                ticks: numbers.length,
                times: (numbers.start, end),
                is_plain: true,
                generated: flags & window::GENERATED != 0,
                replaces: false,
                provisional: false,
                receipt,
            });
        }
        let mut reader = Reader::new(head);
        let parsed = WindowHead::parse(&mut reader, stream)?;
        reader.finish()?;
        let (description, times) = (&parsed.description, parsed.times());
        Ok(Self {
            sequence: parsed.sequence,
            mask: parsed.mask,
            start: description.start,
            ticks: description.length,
            times,
            is_plain: false,
            generated: description.generated,
            replaces: description.replaces.is_some(),
            provisional: description.provisional,
            receipt: parsed.receipt,
        })
    }
}
