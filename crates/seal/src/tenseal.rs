//! Recognises the bytes of TenSEAL's `serialize()`: messages of Protocol Buffers with SEAL's objects in fields
//! of bytes.

use crate::reader::Reader;
use crate::tenseal_object::TensealObject;

/// Maximum fields looked at. TenSEAL puts its first object of SEAL into the first or the second.
const MOST_FIELDS: usize = 8;
/// Maximum bytes of a number in Protocol Buffers.
const MOST_NUMBER_BYTES: u32 = 10;
/// First bytes of an object of SEAL: the magic number, and the bytes of the header.
const START: [u8; 3] = [0x5e, 0xa1, 0x10];
/// The field of a context that holds SEAL's parameters. Encrypted values have their shape there.
const PARAMETERS_FIELD: u64 = 1;

/// Returns the object that `serialize()` wrote, if the bytes begin as it writes them. The end may be missing.
pub(crate) fn recognise(bytes: &[u8]) -> Option<TensealObject> {
    let mut reader = Reader::new(bytes);
    for _ in 0..MOST_FIELDS {
        let key = number(&mut reader)?;
        if holds_object(&mut reader, key & 7)? {
            let context = key >> 3 == PARAMETERS_FIELD;
            return Some(if context { TensealObject::Context } else { TensealObject::Values });
        }
    }
    None
}

/// Reads a field of a wire type, and returns true if it begins as an object of SEAL.
fn holds_object(reader: &mut Reader<'_>, wire_type: u64) -> Option<bool> {
    match wire_type {
        0 => number(reader).map(|_| false),
        1 => reader.take(8).ok().map(|_| false),
        2 => {
            let length = number(reader)?;
            let available = reader.take(length.min(reader.left() as u64)).ok()?;
            Some(available.starts_with(&START))
        }
        5 => reader.take(4).ok().map(|_| false),
        _ => None,
    }
}

/// Reads a number in groups of seven bits, the lowest first.
fn number(reader: &mut Reader<'_>) -> Option<u64> {
    let mut value = 0;
    for group in 0..MOST_NUMBER_BYTES {
        let byte = reader.u8().ok()?;
        // Bits above 64 are lost, as every reader of Protocol Buffers loses them.
        value |= u64::from(byte & 0x7f) << (7 * group);
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}
