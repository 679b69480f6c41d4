//! Frames that hold other frames: an encrypted vector with its public facts, and all that a cloud needs of an owner.

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

/// The public facts of an encrypted vector. They are the sender's claim until a plan confirms them.
///
/// Example: [`write_vector`]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VectorHeader {
    /// Values: 1 to 2^28.
    pub len: u64,
    /// True if all slots of the padding hold zero.
    pub zero_padded: bool,
    /// The factor by which slots are multiplied after decryption: finite; 0 for zeros, whose magnitude is 0 too.
    pub unit: f64,
    /// A bound on the absolute value of every value: finite, not negative.
    pub magnitude: f64,
}

impl VectorHeader {
    fn check(&self) -> Result<(), WireError> {
        if !(1..=1 << 28).contains(&self.len) {
            return Err(WireError::Value("a vector has 1 to 2^28 values"));
        }
        // Of a vector that is zero whatever the inputs are, both are 0.
        let zero = self.unit.to_bits() == 0 && self.magnitude == 0.0;
        let unit = self.unit.is_normal() || zero;
        if !unit || !self.magnitude.is_finite() || self.magnitude.is_sign_negative() {
            return Err(WireError::Value("a vector's unit or magnitude cannot occur"));
        }
        Ok(())
    }
}

/// Writes a vector: its header and the frames of its ciphertexts.
///
/// # Errors
/// [`WireError::Value`] for a header that [`read_vector`] would refuse, or for no or too many parts.
///
/// ```
/// use sotto_wire::{VectorHeader, read_vector, write_vector};
///
/// let header = VectorHeader { len: 3, zero_padded: true, unit: 1.0, magnitude: 25.0 };
/// let bytes = write_vector(&header, &[b"frame".to_vec()])?;
/// assert_eq!(read_vector(&bytes, 1 << 20)?, (header, vec![&b"frame"[..]]));
/// # Ok::<(), sotto_wire::WireError>(())
/// ```
pub fn write_vector(header: &VectorHeader, parts: &[Vec<u8>]) -> Result<Vec<u8>, WireError> {
    header.check()?;
    check_count(parts.len())?;
    let payload = HEADER + parts.iter().map(|part| 8 + part.len()).sum::<usize>();
    Ok(frame::write(Kind::Vector, payload, |out| {
        out.extend_from_slice(&header.len.to_le_bytes());
        out.push(u8::from(header.zero_padded));
        out.extend_from_slice(&header.unit.to_le_bytes());
        out.extend_from_slice(&header.magnitude.to_le_bytes());
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
    let (len, zero_padded) = (reader.u64()?, reader.flag()?);
    let header = VectorHeader { len, zero_padded, unit: reader.f64()?, magnitude: reader.f64()? };
    header.check()?;
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
