//! The head of a window: the bytes of an envelope of version 2 before the body (docs/concepts/wire.md).

/// Maximum bytes of the head of a window without gaps.
pub const WHOLE_HEAD_BYTES: usize = 1 + 8 + 12 + 10 + 10 + 1 + 5;
const VERSION: u8 = 2;
const GAPS: u8 = 2;

/// The fields of a window's head. [`Head::write`] takes the missing readings.
///
/// ```
/// use sotto_device::{Head, WHOLE_HEAD_BYTES};
///
/// // Sixty ticks of one channel from the start of 2026, no reading missing.
/// let start = 1_767_225_600_000;
/// let head = Head { stream: [1; 8], salt: [9; 12], sequence: 3, start, ticks: 60, channels: 1 };
/// let mut bytes = [0; WHOLE_HEAD_BYTES];
/// let length = head.write(|_channel, _tick| true, &mut bytes).expect("room for a head without gaps");
/// assert_eq!(bytes[1..9], [1; 8]);
/// assert!(length <= WHOLE_HEAD_BYTES);
/// assert_eq!(head.write(|_, _| true, &mut bytes[..8]), None);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// The first bytes of the stream's id, stored on the device when it is provisioned.
    pub stream: [u8; 8],
    /// Drawn when the device starts. Zeros for a window under its fleet's mask; then the window's start
    /// replaces the sequence number in the mask.
    pub salt: [u8; 12],
    /// The sequence number of the window and of its own mask.
    pub sequence: u64,
    /// Start of the window in milliseconds since 1970.
    pub start: i64,
    /// Ticks of the window, at least 1.
    pub ticks: u32,
    /// Number of channels of the stream.
    pub channels: u16,
}

impl Head {
    /// Writes the head at the beginning of `out` and returns its length. Returns None if `out` is too short.
    ///
    /// `present(channel, tick)` must be true if there is a reading.
    pub fn write(&self, present: impl Fn(u16, u32) -> bool, out: &mut [u8]) -> Option<usize> {
        let mut out = Out { bytes: out, used: 0 };
        out.bytes(&[VERSION])?;
        out.bytes(&self.stream)?;
        out.bytes(&self.salt)?;
        out.number(self.sequence)?;
        out.number(((self.start << 1) ^ (self.start >> 63)) as u64)?;
        let whole = (0..self.channels).all(|channel| (0..self.ticks).all(|tick| present(channel, tick)));
        out.bytes(&[if whole { 0 } else { GAPS }])?;
        out.number(self.ticks.into())?;
        for channel in (0..self.channels).filter(|_| !whole) {
            let begins = |tick: u32| present(channel, tick) && (tick == 0 || !present(channel, tick - 1));
            out.number((0..self.ticks).filter(|tick| begins(*tick)).count() as u64)?;
            let (mut end, mut tick) = (0, 0);
            while tick < self.ticks {
                let first = tick;
                while tick < self.ticks && present(channel, tick) {
                    tick += 1;
                }
                if tick > first {
                    out.number((first - end).into())?;
                    out.number((tick - first).into())?;
                    end = tick;
                }
                tick += 1;
            }
        }
        Some(out.used)
    }
}

struct Out<'o> {
    bytes: &'o mut [u8],
    used: usize,
}

impl Out<'_> {
    fn bytes(&mut self, bytes: &[u8]) -> Option<()> {
        self.bytes.get_mut(self.used..self.used + bytes.len())?.copy_from_slice(bytes);
        self.used += bytes.len();
        Some(())
    }

    /// Writes seven bits a byte, the lowest first.
    fn number(&mut self, mut number: u64) -> Option<()> {
        while number >= 0x80 {
            self.bytes(&[number as u8 | 0x80])?;
            number >>= 7;
        }
        self.bytes(&[number as u8])
    }
}
