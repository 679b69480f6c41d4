//! Bytes of parts and quantities.

use alloc::vec::Vec;
use core::ops::Range;

use sotto_pack::{Digit, Placed, Quantity, SumsPart};

use crate::error::WireError;
use crate::reader::Reader;

pub(super) fn write_part(out: &mut Vec<u8>, part: &SumsPart) -> Result<(), WireError> {
    out.push(part.reasons);
    write_count(out, part.quantities.len())?;
    for Placed { quantity, digit, width } in &part.quantities {
        write(out, quantity)?;
        let digit = match digit {
            Digit::Whole => 0,
            Digit::Low => 1,
            Digit::High => 2,
        };
        out.extend_from_slice(&[digit, *width]);
    }
    Ok(())
}

pub(super) fn read_part(reader: &mut Reader<'_>) -> Result<SumsPart, WireError> {
    let placed = |reader: &mut Reader<'_>| {
        let quantity = read(reader)?;
        let digit = match reader.u8()? {
            0 => Digit::Whole,
            1 => Digit::Low,
            2 => Digit::High,
            _ => {
                return Err(WireError::Value(
                    "a place holds a whole value, 0, its low 30 bits, 1, or the rest, 2",
                ));
            }
        };
        Ok::<_, WireError>(Placed { quantity, digit, width: reader.u8()? })
    };
    let reasons = reader.u8()?;
    // A quantity takes at least 5 bytes.
    let quantities = reader.counted(5)?.map(|_| placed(reader)).collect::<Result<_, _>>()?;
    Ok(SumsPart { quantities, reasons })
}

fn write(out: &mut Vec<u8>, quantity: &Quantity) -> Result<(), WireError> {
    let (x, y) = quantity.columns();
    let code = match quantity {
        Quantity::Reading(_) => 1,
        Quantity::Square(_) => 2,
        Quantity::Product(..) => 3,
        Quantity::Bins { .. } => 4,
        Quantity::Least(_) => 5,
        Quantity::Largest(_) => 6,
        Quantity::First(_) => 7,
        Quantity::Last(_) => 8,
        Quantity::Increase(_) => 9,
        Quantity::Doubt(_) => 10,
        Quantity::Changes(_) => 11,
        Quantity::Cosine(_) => 12,
        Quantity::Sine(_) => 13,
        Quantity::Falls(_) => 14,
        Quantity::Power { .. } => 15,
    };
    out.push(code);
    out.extend_from_slice(&x.to_le_bytes());
    match quantity {
        Quantity::Product(..) => out.extend_from_slice(&y.to_le_bytes()),
        Quantity::Power { exponent, .. } => out.push(*exponent),
        Quantity::Bins { edges, .. } => {
            write_count(out, edges.len())?;
            edges.iter().for_each(|edge| out.extend_from_slice(&edge.to_le_bytes()));
        }
        _ => {}
    }
    Ok(())
}

fn read(reader: &mut Reader<'_>) -> Result<Quantity, WireError> {
    let (code, x) = (reader.u8()?, reader.u16()?);
    Ok(match code {
        1 => Quantity::Reading(x),
        2 => Quantity::Square(x),
        3 => Quantity::Product(x, reader.u16()?),
        4 => {
            let edges: Range<u16> = reader.counted(8)?;
            Quantity::Bins { column: x, edges: edges.map(|_| reader.i64()).collect::<Result<_, _>>()? }
        }
        5 => Quantity::Least(x),
        6 => Quantity::Largest(x),
        7 => Quantity::First(x),
        8 => Quantity::Last(x),
        9 => Quantity::Increase(x),
        10 => Quantity::Doubt(x),
        11 => Quantity::Changes(x),
        12 => Quantity::Cosine(x),
        13 => Quantity::Sine(x),
        14 => Quantity::Falls(x),
        15 => Quantity::Power { column: x, exponent: reader.u8()? },
        _ => return Err(WireError::Value("this quantity of a stream of sums is not known here")),
    })
}

/// Appends the number of a list's items in two bytes.
pub(super) fn write_count(out: &mut Vec<u8>, count: usize) -> Result<(), WireError> {
    let count = u16::try_from(count).map_err(|_| WireError::Value("a list has at most 65535 items"))?;
    out.extend_from_slice(&count.to_le_bytes());
    Ok(())
}
