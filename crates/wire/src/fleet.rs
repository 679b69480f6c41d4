//! Sums of a fleet's windows as bytes: one mask, and the keys of the summed windows.

use alloc::vec::Vec;

use sotto_pack::FleetId;
use sotto_rlwe::{KeyId, ParameterId};

use crate::compact::{CompactForm, MOST_SUMS};
use crate::error::WireError;
use crate::frame::{self, FRAME_OVERHEAD};
use crate::kind::Kind;
use crate::reader::Reader;

/// Largest number of windows in a frame: 2^16. Their keys take 1 MiB.
pub const MOST_FLEET_WINDOWS: usize = 1 << 16;
/// Bytes of form, fleet, start and counts.
const HEADER: usize = 32 + 4 + 16 + 8 + 8;
const KEY: usize = 16;
/// Bytes of a sum before its body.
const SUM: usize = 12;

/// Parameters and form of a fleet's windows: a [`CompactForm`] without its key.
///
/// Example: [`FleetSums`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FleetForm {
    /// The parameters of the windows.
    pub parameters: ParameterId,
    /// Number of places, 1 to 4,096.
    pub places: u16,
    /// Bits per place, 2 to 64.
    pub width: u8,
}

/// A sum over a range of windows and a range of places.
///
/// Example: [`FleetSums`]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetSum {
    /// The first window and the number of windows, as indices into the frame's keys.
    pub windows: (u32, u32),
    /// The first place.
    pub first: u16,
    /// Number of places.
    pub places: u16,
    /// The columns modulo 2^w, w bits each, where w is the form's width.
    pub body: Vec<u8>,
}

/// Sums of windows of several keys, all under the mask that the fleet uses for one start.
///
/// ```
/// use sotto_rlwe::{KeyId, ParameterId};
/// use sotto_wire::{FleetForm, FleetId, FleetSum, FleetSums};
///
/// let form = FleetForm { parameters: ParameterId([1; 32]), places: 24, width: 16 };
/// // The windows of three devices, added.
/// let sum = FleetSum { windows: (0, 3), first: 0, places: 24, body: vec![0xa5; form.bytes(24)] };
/// let sums = FleetSums {
///     form,
///     fleet: FleetId([2; 16]),
///     start: 1_795_000_000_000,
///     keys: [7, 8, 9].map(|byte| KeyId([byte; 16])).to_vec(),
///     sums: vec![sum],
/// };
/// assert_eq!(FleetSums::read(&sums.write()?, 1 << 20)?, sums);
/// # Ok::<(), sotto_wire::WireError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetSums {
    /// Shared by all windows added.
    pub form: FleetForm,
    /// The fleet whose devices sent the windows.
    pub fleet: FleetId,
    /// The start of the windows, in milliseconds since 1970; not negative.
    pub start: i64,
    /// The keys of the windows, without repetition, at most [`MOST_FLEET_WINDOWS`].
    pub keys: Vec<KeyId>,
    /// Each over a range of the keys.
    pub sums: Vec<FleetSum>,
}

impl FleetForm {
    /// Returns the length in bytes of a body of `places` places.
    #[must_use]
    pub fn bytes(&self, places: u16) -> usize {
        self.under(KeyId([0; KEY])).bytes(places)
    }

    /// Returns the form of a window under one key.
    #[must_use]
    pub fn under(&self, key: KeyId) -> CompactForm {
        let Self { parameters, places, width } = *self;
        CompactForm { parameters, key, places, width }
    }
}

impl From<CompactForm> for FleetForm {
    fn from(form: CompactForm) -> Self {
        let CompactForm { parameters, places, width, .. } = form;
        Self { parameters, places, width }
    }
}

impl FleetSums {
    /// Returns the length in bytes of a frame with `windows` windows, `sums` sums and `bodies` bytes of bodies.
    #[must_use]
    pub fn frame_bytes(windows: usize, sums: usize, bodies: usize) -> usize {
        FRAME_OVERHEAD + HEADER + KEY * windows + SUM * sums + bodies
    }

    /// Returns the frame.
    ///
    /// # Errors
    /// [`WireError`] if a key occurs twice, there are too many windows or sums, a sum does not match the form or the
    /// windows, or the start is before 1970.
    pub fn write(&self) -> Result<Vec<u8>, WireError> {
        self.check()?;
        let bodies: usize = self.sums.iter().map(|sum| sum.body.len()).sum();
        let bytes = Self::frame_bytes(self.keys.len(), self.sums.len(), bodies) - FRAME_OVERHEAD;
        Ok(frame::write(Kind::FleetSums, bytes, |out| {
            out.extend_from_slice(&self.form.parameters.0);
            out.extend_from_slice(&self.form.places.to_le_bytes());
            out.extend_from_slice(&[self.form.width, 0]);
            out.extend_from_slice(&self.fleet.0);
            out.extend_from_slice(&self.start.to_le_bytes());
            // `check` bounds them by 2^16 and 4,096.
            for count in [self.keys.len(), self.sums.len()] {
                out.extend_from_slice(&(count as u32).to_le_bytes());
            }
            out.extend(self.keys.iter().flat_map(|key| key.0));
            for sum in &self.sums {
                out.extend_from_slice(&sum.windows.0.to_le_bytes());
                out.extend_from_slice(&sum.windows.1.to_le_bytes());
                out.extend_from_slice(&sum.first.to_le_bytes());
                out.extend_from_slice(&sum.places.to_le_bytes());
                out.extend_from_slice(&sum.body);
            }
        }))
    }

    /// Reads a frame of at most `limit` bytes.
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a valid frame of fleet sums.
    pub fn read(bytes: &[u8], limit: u64) -> Result<Self, WireError> {
        let mut reader = frame::open(bytes, Kind::FleetSums, limit)?;
        let parameters = reader.parameter_id()?;
        let (places, width, padding) = (reader.u16()?, reader.u8()?, reader.u8()?);
        if padding != 0 {
            return Err(WireError::Padding);
        }
        let form = FleetForm { parameters, places, width };
        form.under(KeyId([0; KEY])).check()?;
        let (fleet, start) = (FleetId(reader.array()?), reader.i64()?);
        let [windows, sums] = [reader.u32()?, reader.u32()?].map(|count| count as usize);
        check_counts(windows, sums)?;
        // Checks every count against the remaining bytes before allocating.
        let least = windows * KEY + sums * (SUM + 1);
        if reader.left() < least {
            return Err(WireError::Truncated { expected: least as u64, found: reader.left() as u64 });
        }
        let keys = (0..windows).map(|_| reader.key_id()).collect::<Result<_, _>>()?;
        let mut read = Self { form, fleet, start, keys, sums: Vec::with_capacity(sums) };
        for _ in 0..sums {
            read.sums.push(FleetSum::parse(&mut reader, &form)?);
        }
        reader.finish()?;
        read.check()?;
        Ok(read)
    }

    fn check(&self) -> Result<(), WireError> {
        let form = self.form.under(KeyId([0; KEY]));
        form.check()?;
        check_counts(self.keys.len(), self.sums.len())?;
        if self.start < 0 {
            return Err(WireError::Value("a fleet's masks begin in 1970"));
        }
        let mut keys: Vec<[u8; KEY]> = self.keys.iter().map(|key| key.0).collect();
        keys.sort_unstable();
        if keys.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(WireError::Value("a key occurs twice: it has one window under a mask"));
        }
        for sum in &self.sums {
            let places = u32::from(sum.first) + u32::from(sum.places);
            if sum.places == 0 || places > u32::from(self.form.places) {
                return Err(WireError::Value("a sum names places that the form does not have"));
            }
            let (first, count) = (u64::from(sum.windows.0), u64::from(sum.windows.1));
            if count == 0 || first + count > self.keys.len() as u64 {
                return Err(WireError::Value("a sum names windows that the frame does not have"));
            }
            form.check_body(sum.places, &sum.body)?;
        }
        Ok(())
    }
}

impl FleetSum {
    fn parse(reader: &mut Reader<'_>, form: &FleetForm) -> Result<Self, WireError> {
        let windows = (reader.u32()?, reader.u32()?);
        let (first, places) = (reader.u16()?, reader.u16()?);
        let body = reader.take(form.bytes(places))?.to_vec();
        Ok(Self { windows, first, places, body })
    }
}

fn check_counts(windows: usize, sums: usize) -> Result<(), WireError> {
    if windows > MOST_FLEET_WINDOWS || sums > MOST_SUMS {
        return Err(WireError::Value("a frame of a fleet has at most 65536 windows and 4096 sums"));
    }
    Ok(())
}
