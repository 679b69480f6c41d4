//! Compact ciphertexts and their sums as bytes.

use alloc::vec::Vec;

use sotto_rlwe::{KeyId, ParameterId};

use crate::error::WireError;
use crate::frame::{self, FRAME_OVERHEAD};
use crate::kind::Kind;
use crate::reader::Reader;

/// Length in bytes of the salt that a device draws at each start.
pub const SALT_BYTES: usize = 12;
/// Largest number of places of a compact window.
pub const MOST_PLACES: usize = 4096;
/// Largest number of windows summed in one frame.
pub const MOST_SUMMED: usize = 4096;
/// Largest number of sums in one frame.
pub const MOST_SUMS: usize = 4096;
const WIDTHS: core::ops::RangeInclusive<u8> = 2..=64;
const HEADER: usize = 32 + 16 + 4;

/// Parameters, key and form of compact ciphertexts. Only windows of the same form can be added.
///
/// Example: [`CompactCiphertext`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CompactForm {
    /// The parameters of the windows.
    pub parameters: ParameterId,
    /// The key that decrypts sums.
    pub key: KeyId,
    /// Number of places, 1 to [`MOST_PLACES`].
    pub places: u16,
    /// Bits per place, 2 to 64.
    pub width: u8,
}

/// The name of a window's mask.
///
/// Example: [`CompactCiphertext`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MaskName {
    /// The salt that the device drew at its start; zeros for a fleet's mask.
    pub salt: [u8; SALT_BYTES],
    /// The window's sequence number in its stream when it was encrypted. For a fleet's mask: the window's start in
    /// milliseconds since 1970.
    pub sequence: u64,
}

/// The compact ciphertext of one window.
///
/// ```
/// use sotto_rlwe::{KeyId, ParameterId};
/// use sotto_wire::{CompactCiphertext, CompactForm, MaskName};
///
/// // 24 readings of 12 bits: 36 bytes beside the frame.
/// let (parameters, key) = (ParameterId([1; 32]), KeyId([2; 16]));
/// let form = CompactForm { parameters, key, places: 24, width: 12 };
/// let mask = MaskName { salt: [3; 12], sequence: 7 };
/// let window = CompactCiphertext { form, mask, body: vec![0xa5; form.bytes(24)] };
/// let bytes = window.write()?;
/// assert_eq!(bytes.len(), CompactCiphertext::frame_bytes(24, 12));
/// assert_eq!(CompactCiphertext::read(&bytes)?, window);
/// # Ok::<(), sotto_wire::WireError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactCiphertext {
    /// Shared by all windows that can be added.
    pub form: CompactForm,
    /// Which mask hides the body.
    pub mask: MaskName,
    /// The coefficients at the places, `width` bits each.
    pub body: Vec<u8>,
}

/// A sum over a range of neighbouring places.
///
/// Example: [`CompactSums`]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactSum {
    /// The first place.
    pub first: u16,
    /// Number of places.
    pub places: u16,
    /// The columns modulo 2^w, w bits each, where w is the form's width.
    pub body: Vec<u8>,
}

/// Sums of windows of one form, and the names of the windows' masks in the order of the request.
///
/// ```
/// use sotto_rlwe::{KeyId, ParameterId};
/// use sotto_wire::{CompactForm, CompactSum, CompactSums, MaskName};
///
/// let (parameters, key) = (ParameterId([1; 32]), KeyId([2; 16]));
/// let form = CompactForm { parameters, key, places: 48, width: 16 };
/// // The first column of two windows.
/// let sum = CompactSum { first: 0, places: 24, body: vec![0xa5; form.bytes(24)] };
/// let masks = [7, 8].map(|sequence| MaskName { salt: [3; 12], sequence }).to_vec();
/// let sums = CompactSums { form, masks, sums: vec![sum] };
/// assert_eq!(CompactSums::read(&sums.write()?, 1 << 20)?, sums);
/// # Ok::<(), sotto_wire::WireError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactSums {
    /// Shared by all windows added.
    pub form: CompactForm,
    /// Names of the windows' masks, in the order of the request.
    pub masks: Vec<MaskName>,
    /// The sums asked for, in the order of the request.
    pub sums: Vec<CompactSum>,
}

impl CompactForm {
    /// Returns the length in bytes of a body of `places` places.
    #[must_use]
    pub fn bytes(&self, places: u16) -> usize {
        (usize::from(places) * usize::from(self.width)).div_ceil(8)
    }

    pub(crate) fn check(&self) -> Result<(), WireError> {
        let places = usize::from(self.places);
        if !(1..=MOST_PLACES).contains(&places) || !WIDTHS.contains(&self.width) {
            return Err(WireError::Value("a compact form has 1 to 4096 places of 2 to 64 bits"));
        }
        Ok(())
    }

    /// Refuses a body whose length is wrong for `places` places, or whose padding bits are not zero.
    pub(crate) fn check_body(&self, places: u16, body: &[u8]) -> Result<(), WireError> {
        let (expected, found) = (self.bytes(places), body.len());
        if found != expected {
            return Err(WireError::Length { expected: expected as u64, found: found as u64 });
        }
        let free = 8 * expected - usize::from(places) * usize::from(self.width);
        let last = body.last().copied().unwrap_or_default();
        if free > 0 && last >> (8 - free) != 0 { Err(WireError::Padding) } else { Ok(()) }
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.parameters.0);
        out.extend_from_slice(&self.key.0);
        out.extend_from_slice(&self.places.to_le_bytes());
        out.extend_from_slice(&[self.width, 0]);
    }

    fn parse(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let (parameters, key) = (reader.parameter_id()?, reader.key_id()?);
        let (places, width, padding) = (reader.u16()?, reader.u8()?, reader.u8()?);
        if padding != 0 {
            return Err(WireError::Padding);
        }
        let form = Self { parameters, key, places, width };
        form.check()?;
        Ok(form)
    }
}

impl MaskName {
    pub(crate) const BYTES: usize = SALT_BYTES + 8;

    /// Returns the name of the mask that a fleet's windows with this start share. `start` is in milliseconds since
    /// 1970; returns None if it is negative.
    #[must_use]
    pub fn shared(start: i64) -> Option<Self> {
        u64::try_from(start).ok().map(|sequence| Self { salt: [0; SALT_BYTES], sequence })
    }

    /// Returns true if this is the mask of a fleet: its salt is all zeros.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.salt == [0; SALT_BYTES]
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.salt);
        out.extend_from_slice(&self.sequence.to_le_bytes());
    }

    pub(crate) fn parse(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(Self { salt: reader.array()?, sequence: reader.u64()? })
    }
}

impl CompactCiphertext {
    /// Returns the length in bytes of the frame of a window with `places` places of `width` bits.
    #[must_use]
    pub fn frame_bytes(places: usize, width: u32) -> usize {
        FRAME_OVERHEAD + HEADER + SALT_BYTES + 8 + (places * width as usize).div_ceil(8)
    }

    /// Returns the frame.
    ///
    /// # Errors
    /// [`WireError`] if the form is out of range or the body does not match it.
    pub fn write(&self) -> Result<Vec<u8>, WireError> {
        self.check()?;
        Ok(frame::write(Kind::CompactCiphertext, self.payload_bytes(), |out| self.write_payload(out)))
    }

    /// Refuses a form that is out of range, and a body that does not match it.
    pub(crate) fn check(&self) -> Result<(), WireError> {
        self.form.check()?;
        self.form.check_body(self.form.places, &self.body)
    }

    pub(crate) fn payload_bytes(&self) -> usize {
        HEADER + MaskName::BYTES + self.body.len()
    }

    pub(crate) fn write_payload(&self, out: &mut Vec<u8>) {
        self.form.write(out);
        self.mask.write(out);
        out.extend_from_slice(&self.body);
    }

    /// Reads a frame. The caller must check the form against its parameters (see [`sotto_rlwe`]).
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a valid frame of a compact ciphertext.
    pub fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let limit = Self::frame_bytes(MOST_PLACES, 64) as u64;
        let mut reader = frame::open(bytes, Kind::CompactCiphertext, limit)?;
        let form = CompactForm::parse(&mut reader)?;
        let mask = MaskName::parse(&mut reader)?;
        reader.expect_left(form.bytes(form.places))?;
        let body = reader.take(reader.left())?;
        form.check_body(form.places, body)?;
        Ok(Self { form, mask, body: body.to_vec() })
    }
}

impl CompactSums {
    /// Returns the length in bytes of the longest frame with `windows` windows, `sums` sums and `bodies` bytes of
    /// bodies.
    #[must_use]
    pub fn frame_bytes(windows: usize, sums: usize, bodies: usize) -> usize {
        FRAME_OVERHEAD + HEADER + 6 + windows * (2 + 8 + SALT_BYTES) + 4 * sums + bodies
    }

    /// Returns the frame.
    ///
    /// # Errors
    /// [`WireError`] if there are more than [`MOST_SUMMED`] windows or [`MOST_SUMS`] sums, or if a sum does not match
    /// the form.
    pub fn write(&self) -> Result<Vec<u8>, WireError> {
        self.form.check()?;
        if self.masks.len() > MOST_SUMMED || self.sums.len() > MOST_SUMS {
            return Err(WireError::Value("a frame of sums has at most 4096 windows and 4096 sums"));
        }
        for sum in &self.sums {
            self.check_sum(sum)?;
        }
        let (mut salts, mut windows) = (Vec::new(), Vec::new());
        for MaskName { salt, sequence } in &self.masks {
            // Neighbouring windows usually share a salt, so search from the end.
            let at = salts.iter().rposition(|known| known == salt).unwrap_or_else(|| {
                salts.push(*salt);
                salts.len() - 1
            });
            windows.push((at as u16, *sequence));
        }
        let bodies: usize = self.sums.iter().map(|sum| sum.body.len()).sum();
        let bytes = HEADER + 6 + salts.len() * SALT_BYTES + 10 * windows.len() + 4 * self.sums.len() + bodies;
        Ok(frame::write(Kind::CompactSums, bytes, |out| {
            self.form.write(out);
            for count in [salts.len(), windows.len(), self.sums.len()] {
                out.extend_from_slice(&(count as u16).to_le_bytes());
            }
            out.extend(salts.iter().flatten());
            for (salt, sequence) in windows {
                out.extend_from_slice(&salt.to_le_bytes());
                out.extend_from_slice(&sequence.to_le_bytes());
            }
            for sum in &self.sums {
                out.extend_from_slice(&sum.first.to_le_bytes());
                out.extend_from_slice(&sum.places.to_le_bytes());
                out.extend_from_slice(&sum.body);
            }
        }))
    }

    /// Reads a frame of at most `limit` bytes.
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a valid frame of compact sums.
    pub fn read(bytes: &[u8], limit: u64) -> Result<Self, WireError> {
        let mut reader = frame::open(bytes, Kind::CompactSums, limit)?;
        let form = CompactForm::parse(&mut reader)?;
        let [salts, windows, sums] = [reader.u16()?, reader.u16()?, reader.u16()?].map(usize::from);
        if windows > MOST_SUMMED || sums > MOST_SUMS {
            return Err(WireError::Value("a frame of sums has at most 4096 windows and 4096 sums"));
        }
        // Checks every count against the remaining bytes before allocating.
        let least = salts * SALT_BYTES + windows * 10 + sums * 5;
        if reader.left() < least {
            return Err(WireError::Truncated { expected: least as u64, found: reader.left() as u64 });
        }
        let salts = (0..salts).map(|_| reader.array()).collect::<Result<Vec<_>, _>>()?;
        let mut masks = Vec::with_capacity(windows);
        let mut seen = 0;
        for _ in 0..windows {
            let (at, sequence) = (usize::from(reader.u16()?), reader.u64()?);
            // Each salt occurs once, in the order in which windows first refer to it.
            if at > seen || at >= salts.len() {
                return Err(WireError::Value("a window refers to a salt out of order"));
            }
            seen = seen.max(at + 1);
            masks.push(MaskName { salt: salts[at], sequence });
        }
        let again = |(at, salt): (usize, &[u8; SALT_BYTES])| salts[..at].contains(salt);
        if seen != salts.len() || salts.iter().enumerate().any(again) {
            return Err(WireError::Value("a salt is unused or occurs twice"));
        }
        let mut read = Self { form, masks, sums: Vec::with_capacity(sums) };
        for _ in 0..sums {
            let (first, places) = (reader.u16()?, reader.u16()?);
            let body = reader.take(form.bytes(places))?.to_vec();
            let sum = CompactSum { first, places, body };
            read.check_sum(&sum)?;
            read.sums.push(sum);
        }
        reader.finish()?;
        Ok(read)
    }

    fn check_sum(&self, sum: &CompactSum) -> Result<(), WireError> {
        let end = u32::from(sum.first) + u32::from(sum.places);
        if sum.places == 0 || end > u32::from(self.form.places) {
            return Err(WireError::Value("a sum names places that the form does not have"));
        }
        self.form.check_body(sum.places, &sum.body)
    }
}
