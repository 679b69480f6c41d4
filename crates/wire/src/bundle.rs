//! Frames that hold other frames: an encrypted vector with its public facts, and all that a cloud needs of an owner.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::error::WireError;
use crate::frame;
use crate::kind::Kind;
use crate::reader::Reader;

/// Most ciphertexts of a vector: 4,096 of 2^16 slots hold 2^28 values.
pub const MOST_PARTS: usize = 4096;
/// Largest frame of a vector, and of an owner's public keys: 4 GiB.
pub const LARGEST_BUNDLE: u64 = 1 << 32;
const HEADER: usize = 8 + 1 + 8 + 8 + 4;
/// Bits of a vector's layout byte.
const ZERO_PADDED: u8 = 1;
const ONE_NUMBER: u8 = 2;
const ONE_FOR_EACH: u8 = 4;

/// The public facts of an encrypted vector. They are the sender's claim until a plan confirms them.
///
/// Example: [`write_vector`]
#[derive(Clone, Debug, PartialEq)]
pub struct VectorHeader {
    /// Values: 1 to 2^28.
    pub len: u64,
    /// True if all slots of the padding hold zero.
    pub zero_padded: bool,
    /// The factor by which slots are multiplied after decryption: finite; 0 for values that are public, which are the
    /// offset alone.
    pub unit: f64,
    /// A bound on the absolute value of every value: finite, not negative.
    pub magnitude: f64,
    /// Public numbers that are added after decryption.
    pub offset: VectorOffset,
}

/// Public numbers that are added to the decrypted slots of a vector: finite.
///
/// Example: [`write_vector`]
#[derive(Clone, Debug, Default, PartialEq)]
pub enum VectorOffset {
    /// No number.
    #[default]
    None,
    /// One number for all values.
    Number {
        /// The number.
        number: f64,
        /// A bound on the absolute value of every decrypted slot times the unit: finite, not negative.
        encrypted: f64,
    },
    /// One number for each value.
    Numbers {
        /// As many numbers as the vector has values.
        numbers: Arc<[f64]>,
        /// A bound on the absolute value of every decrypted slot times the unit: finite, not negative.
        encrypted: f64,
    },
}

impl VectorOffset {
    fn encrypted(&self) -> Option<f64> {
        match self {
            Self::None => None,
            Self::Number { encrypted, .. } | Self::Numbers { encrypted, .. } => Some(*encrypted),
        }
    }

    fn numbers(&self) -> &[f64] {
        match self {
            Self::None => &[],
            Self::Number { number, .. } => core::slice::from_ref(number),
            Self::Numbers { numbers, .. } => numbers,
        }
    }

    fn bytes(&self) -> usize {
        8 * (usize::from(self.encrypted().is_some()) + self.numbers().len())
    }
}

fn is_bound(number: f64) -> bool {
    number.is_finite() && !number.is_sign_negative()
}

impl VectorHeader {
    fn check(&self) -> Result<(), WireError> {
        if !(1..=1 << 28).contains(&self.len) {
            return Err(WireError::Value("a vector has 1 to 2^28 values"));
        }
        let encrypted = self.offset.encrypted().unwrap_or(self.magnitude);
        // Public values are the offset alone: their slots do not count.
        let public = self.unit.to_bits() == 0 && encrypted == 0.0;
        if !(self.unit.is_normal() || public) || !is_bound(self.magnitude) || !is_bound(encrypted) {
            return Err(WireError::Value("a vector's unit or magnitude cannot occur"));
        }
        if let VectorOffset::Numbers { numbers, .. } = &self.offset
            && numbers.len() as u64 != self.len
        {
            return Err(WireError::Value("a vector's offset has one number, or one for each value"));
        }
        if self.offset.numbers().iter().any(|number| !number.is_finite()) {
            return Err(WireError::Value("a vector's offset is not finite"));
        }
        Ok(())
    }

    fn layout(&self) -> u8 {
        let offset = match self.offset {
            VectorOffset::None => 0,
            VectorOffset::Number { .. } => ONE_NUMBER,
            VectorOffset::Numbers { .. } => ONE_FOR_EACH,
        };
        u8::from(self.zero_padded) | offset
    }

    fn parse(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let (len, layout) = (reader.u64()?, reader.u8()?);
        let (unit, magnitude) = (reader.f64()?, reader.f64()?);
        let offset = match layout & !ZERO_PADDED {
            0 => VectorOffset::None,
            ONE_NUMBER => VectorOffset::Number { encrypted: reader.f64()?, number: reader.f64()? },
            ONE_FOR_EACH => {
                let encrypted = reader.f64()?;
                let count = usize::try_from(len).unwrap_or(usize::MAX);
                // Bytes that are there bound the allocation.
                let bytes = reader.take(count.saturating_mul(8))?;
                let numbers = bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
                VectorOffset::Numbers { numbers: numbers.collect(), encrypted }
            }
            _ => return Err(WireError::Value("a vector's layout is not known")),
        };
        let header = Self { len, zero_padded: layout & ZERO_PADDED != 0, unit, magnitude, offset };
        header.check()?;
        Ok(header)
    }
}

/// Writes a vector: its header and the frames of its ciphertexts.
///
/// # Errors
/// [`WireError::Value`] for a header that [`read_vector`] would refuse, or for no or too many parts.
///
/// ```
/// use sotto_wire::{VectorHeader, VectorOffset, read_vector, write_vector};
///
/// let offset = VectorOffset::Number { number: 1013.25, encrypted: 25.0 };
/// let header = VectorHeader { len: 3, zero_padded: true, unit: 1.0, magnitude: 1038.25, offset };
/// let bytes = write_vector(&header, &[b"frame".to_vec()])?;
/// assert_eq!(read_vector(&bytes, 1 << 20)?, (header, vec![&b"frame"[..]]));
/// # Ok::<(), sotto_wire::WireError>(())
/// ```
pub fn write_vector(header: &VectorHeader, parts: &[Vec<u8>]) -> Result<Vec<u8>, WireError> {
    header.check()?;
    check_count(parts.len())?;
    let payload = HEADER + header.offset.bytes() + parts.iter().map(|part| 8 + part.len()).sum::<usize>();
    Ok(frame::write(Kind::Vector, payload, |out| {
        out.extend_from_slice(&header.len.to_le_bytes());
        out.push(header.layout());
        out.extend_from_slice(&header.unit.to_le_bytes());
        out.extend_from_slice(&header.magnitude.to_le_bytes());
        for number in header.offset.encrypted().iter().chain(header.offset.numbers()) {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&(parts.len() as u32).to_le_bytes());
        parts.iter().for_each(|part| write_part(out, part));
    }))
}

/// Reads a vector's header and the bytes of its ciphertexts' frames, which are not read yet.
///
/// # Errors
/// [`WireError`] for bytes that are no such frame, or for more than `limit` bytes.
pub fn read_vector(bytes: &[u8], limit: u64) -> Result<(VectorHeader, Vec<&[u8]>), WireError> {
    let mut reader = frame::open(bytes, Kind::Vector, limit.min(LARGEST_BUNDLE))?;
    let header = VectorHeader::parse(&mut reader)?;
    let count = reader.u32()? as usize;
    check_count(count)?;
    let parts = (0..count).map(|_| read_part(&mut reader)).collect::<Result<_, _>>()?;
    reader.finish()?;
    Ok((header, parts))
}

/// The frames that a computing party needs of an owner: parameters, public key and evaluation keys. Also the largest
/// absolute value that the owner declares for its inputs.
///
/// ```
/// use sotto_wire::OwnerKeys;
///
/// let keys = OwnerKeys {
///     values_within: 120.0, // |°C|
///     public_inputs: false,
///     range: Some((-20, 120)), // whole °C
///     parameters: b"frame of the parameters",
///     public_key: b"frame of the public key",
///     evaluation_keys: b"frame of the evaluation keys",
/// };
/// assert_eq!(OwnerKeys::read(&keys.write(), 1 << 20)?, keys);
/// # Ok::<(), sotto_wire::WireError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnerKeys<'b> {
    /// Declared bound on inputs: finite, above 0.
    pub values_within: f64,
    /// True if inputs may be encrypted with the public key.
    pub public_inputs: bool,
    /// Declared range of whole numbers, for comparisons; its first number is at most its last.
    pub range: Option<(i64, i64)>,
    /// Frame of the parameters.
    pub parameters: &'b [u8],
    /// Frame of the public key.
    pub public_key: &'b [u8],
    /// Frame of the evaluation keys.
    pub evaluation_keys: &'b [u8],
}

impl<'b> OwnerKeys<'b> {
    /// Writes the frame.
    pub fn write(&self) -> Vec<u8> {
        let parts = [self.parameters, self.public_key, self.evaluation_keys];
        let range = if self.range.is_some() { 16 } else { 0 };
        let payload = 9 + range + parts.iter().map(|part| 8 + part.len()).sum::<usize>();
        frame::write(Kind::OwnerKeys, payload, |out| {
            out.extend_from_slice(&self.values_within.to_le_bytes());
            out.push(u8::from(self.public_inputs));
            parts.iter().for_each(|part| write_part(out, part));
            // Absent in frames without a range, as before there were any.
            if let Some((first, last)) = self.range {
                out.extend_from_slice(&first.to_le_bytes());
                out.extend_from_slice(&last.to_le_bytes());
            }
        })
    }

    /// Finds the frames; they are not read yet.
    ///
    /// # Errors
    /// [`WireError`] for bytes that are no such frame, or for more than `limit` bytes.
    pub fn read(bytes: &'b [u8], limit: u64) -> Result<Self, WireError> {
        let mut reader = frame::open(bytes, Kind::OwnerKeys, limit.min(LARGEST_BUNDLE))?;
        let (values_within, public_inputs) = (reader.f64()?, reader.flag()?);
        if !values_within.is_normal() || values_within < 0.0 {
            return Err(WireError::Value("the declared bound on values is not a positive number"));
        }
        let [parameters, public_key, evaluation_keys] =
            [read_part(&mut reader)?, read_part(&mut reader)?, read_part(&mut reader)?];
        let range = match reader.left() {
            0 => None,
            _ => Some((reader.i64()?, reader.i64()?)),
        };
        if range.is_some_and(|(first, last)| first > last) {
            return Err(WireError::Value("the declared range is empty"));
        }
        reader.finish()?;
        Ok(Self { values_within, public_inputs, range, parameters, public_key, evaluation_keys })
    }
}

fn check_count(parts: usize) -> Result<(), WireError> {
    if (1..=MOST_PARTS).contains(&parts) {
        return Ok(());
    }
    Err(WireError::Value("a vector has 1 to 4096 ciphertexts"))
}

fn write_part(out: &mut Vec<u8>, part: &[u8]) {
    out.extend_from_slice(&(part.len() as u64).to_le_bytes());
    out.extend_from_slice(part);
}

fn read_part<'b>(reader: &mut Reader<'b>) -> Result<&'b [u8], WireError> {
    let length = reader.u64()?;
    let count = usize::try_from(length).unwrap_or(usize::MAX);
    reader.take(count)
}
