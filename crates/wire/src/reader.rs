//! A bounded cursor over bytes, with readers of the fields that objects share.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use sotto_rlwe::{KeyId, ParameterId};

use crate::error::WireError;
use crate::name::is_name;

/// Reads fields in order and never past the end.
#[derive(Debug)]
pub(crate) struct Reader<'b> {
    bytes: &'b [u8],
}

impl<'b> Reader<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes }
    }

    pub(crate) fn left(&self) -> usize {
        self.bytes.len()
    }

    /// Reads a count of two bytes and checks that the remaining bytes suffice for as many items of `bytes` bytes.
    pub(crate) fn counted(&mut self, bytes: usize) -> Result<core::ops::Range<u16>, WireError> {
        let count = self.u16()?;
        let expected = usize::from(count) * bytes;
        if self.left() < expected {
            return Err(WireError::Truncated { expected: expected as u64, found: self.left() as u64 });
        }
        Ok(0..count)
    }

    /// Returns the remaining bytes without consuming them.
    pub(crate) fn rest(&self) -> &'b [u8] {
        self.bytes
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'b [u8], WireError> {
        let (taken, rest) = self
            .bytes
            .split_at_checked(count)
            .ok_or(WireError::Truncated { expected: count as u64, found: self.bytes.len() as u64 })?;
        self.bytes = rest;
        Ok(taken)
    }

    /// Takes all remaining bytes but the last `count`.
    pub(crate) fn take_but(&mut self, count: usize) -> Result<&'b [u8], WireError> {
        let too_short = WireError::Truncated { expected: count as u64, found: self.left() as u64 };
        self.take(self.left().checked_sub(count).ok_or(too_short)?)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, WireError> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u16(&mut self) -> Result<u16, WireError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, WireError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, WireError> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn i64(&mut self) -> Result<i64, WireError> {
        self.array().map(i64::from_le_bytes)
    }

    /// Reads a number. Refuses NaN; the caller checks infinities.
    pub(crate) fn f64(&mut self) -> Result<f64, WireError> {
        let value = f64::from_bits(self.u64()?);
        if value.is_nan() { Err(WireError::Value("a number is NaN")) } else { Ok(value) }
    }

    /// Reads a flag: 0 or 1.
    pub(crate) fn flag(&mut self) -> Result<bool, WireError> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(WireError::Value("a flag is neither 0 nor 1")),
        }
    }

    /// Reads a name: a length byte, then the name's bytes.
    pub(crate) fn name(&mut self) -> Result<String, WireError> {
        let length = usize::from(self.u8()?);
        let name =
            core::str::from_utf8(self.take(length)?).map_err(|_| WireError::Value("a name is not text"))?;
        check_name(name)?;
        Ok(name.to_owned())
    }

    /// Reads a text: a length byte, then UTF-8.
    pub(crate) fn text(&mut self) -> Result<String, WireError> {
        let length = usize::from(self.u8()?);
        let text = core::str::from_utf8(self.take(length)?);
        text.map(str::to_owned).map_err(|_| WireError::Value("a text is not UTF-8"))
    }

    /// Reads a number of variable length (LEB128): seven bits a byte, the lowest first. The top bit is set in every
    /// byte but the last. Only the shortest form is accepted.
    pub(crate) fn varint(&mut self) -> Result<u64, WireError> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if (bits << shift) >> shift != bits {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                if byte == 0 && shift > 0 {
                    break;
                }
                return Ok(value);
            }
        }
        Err(WireError::Value("a number of variable length must have its shortest form and at most 64 bits"))
    }

    pub(crate) fn parameter_id(&mut self) -> Result<ParameterId, WireError> {
        self.array().map(ParameterId)
    }

    pub(crate) fn key_id(&mut self) -> Result<KeyId, WireError> {
        self.array().map(KeyId)
    }

    /// Refuses a wrong number of remaining bytes, before anything is allocated for them.
    pub(crate) fn expect_left(&self, expected: usize) -> Result<(), WireError> {
        if self.left() == expected {
            Ok(())
        } else {
            Err(WireError::Length { expected: expected as u64, found: self.left() as u64 })
        }
    }

    pub(crate) fn finish(&self) -> Result<(), WireError> {
        if self.left() == 0 { Ok(()) } else { Err(WireError::Trailing { extra: self.left() as u64 }) }
    }
}

/// Refuses a text that is not a name.
pub(crate) fn check_name(name: &str) -> Result<(), WireError> {
    if is_name(name) { Ok(()) } else { Err(WireError::Value("a name has 1 to 64 of A-Z a-z 0-9 _ . -")) }
}

/// Appends a name in the form that [`Reader::name`] reads.
pub(crate) fn write_name(out: &mut Vec<u8>, name: &str) -> Result<(), WireError> {
    check_name(name)?;
    write_checked_name(out, name);
    Ok(())
}

/// Appends a name that was checked, like [`write_name`].
pub(crate) fn write_checked_name(out: &mut Vec<u8>, name: &str) {
    out.push(name.len() as u8);
    out.extend_from_slice(name.as_bytes());
}

/// Returns the number of bytes of [`write_varint`].
pub(crate) fn varint_bytes(value: u64) -> usize {
    (u64::BITS - (value | 1).leading_zeros()).div_ceil(7) as usize
}

/// Appends a number in the form that [`Reader::varint`] reads.
pub(crate) fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
