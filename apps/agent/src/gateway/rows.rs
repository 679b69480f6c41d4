//! Rows in few bytes: how they rest in the journal, and wait in memory for their device.
//!
//! A row is the time since the row before it, the number of its cells, and each cell: the channel and its kind, then the
//! value. Most readings are short decimals, and take 4 to 6 bytes.

use sotto_pack::Reason;
use zeroize::Zeroizing;

/// Reasons for a missing value, in the order of their codes.
const REASONS: [Reason; 3] = [Reason::Empty, Reason::NotANumber, Reason::Text];
/// Kinds of cells: 2 bits beside the channel.
const DOUBLE: u64 = 0;
const WHOLE: u64 = 1;
const DECIMAL: u64 = 2;
const MISSING: u64 = 3;
/// Decimals behind the point that are tried.
const TENS: [f64; 4] = [10.0, 100.0, 1000.0, 10_000.0];
/// Larger whole numbers are kept as doubles.
const LARGEST_WHOLE: f64 = 1e15;

/// A cell: the channel's position, and the reading or the reason why there is none.
pub(crate) type Cell = (u16, Result<f64, Reason>);

/// Rows of one device, which come one after another. Wiped when dropped.
#[derive(Default)]
pub(crate) struct Rows {
    bytes: Zeroizing<Vec<u8>>,
    /// The time of the last row.
    last: i64,
    count: u64,
}

impl Rows {
    /// Adds a row of this time, in milliseconds since 1970.
    pub(crate) fn push(&mut self, at: i64, cells: &[Cell]) {
        put_signed(&mut self.bytes, at.wrapping_sub(self.last));
        self.last = at;
        put(&mut self.bytes, cells.len() as u64);
        for (channel, cell) in cells {
            put_cell(&mut self.bytes, u64::from(*channel) << 2, *cell);
        }
        self.count += 1;
    }

    /// Returns the bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes, which are wiped when dropped.
    pub(crate) fn into_bytes(self) -> Zeroizing<Vec<u8>> {
        self.bytes
    }
}

fn put_cell(bytes: &mut Vec<u8>, channel: u64, cell: Result<f64, Reason>) {
    let value = match cell {
        Ok(value) => value,
        Err(reason) => {
            let code = REASONS.iter().position(|known| *known == reason).unwrap_or_default();
            put(bytes, channel | MISSING);
            return bytes.push(code as u8);
        }
    };
    let is_whole = |number: f64| number.fract() == 0.0 && number.abs() < LARGEST_WHOLE;
    // Minus zero is no whole number.
    if is_whole(value) && (value != 0.0 || value.is_sign_positive()) {
        put(bytes, channel | WHOLE);
        return put_signed(bytes, value as i64);
    }
    for (places, ten) in TENS.iter().enumerate() {
        let number = (value * ten).round();
        if number != 0.0 && is_whole(number) && (number / ten).to_bits() == value.to_bits() {
            put(bytes, channel | DECIMAL);
            bytes.push(places as u8);
            return put_signed(bytes, number as i64);
        }
    }
    put(bytes, channel | DOUBLE);
    bytes.extend_from_slice(&value.to_le_bytes());
}

/// Reads rows from their bytes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Reader {
    /// The place of the next row.
    at: usize,
    last: i64,
}

impl Reader {
    /// Reads the next row into `cells` and returns its time; `None` at the end, or in damaged bytes.
    pub(crate) fn next(&mut self, bytes: &[u8], cells: &mut Vec<Cell>) -> Option<i64> {
        let mut rest = bytes.get(self.at..)?;
        let at = self.last.wrapping_add(take_signed(&mut rest)?);
        let count = take(&mut rest)?;
        cells.clear();
        for _ in 0..count {
            cells.push(take_cell(&mut rest)?);
        }
        (self.at, self.last) = (bytes.len() - rest.len(), at);
        Some(at)
    }
}

fn take_cell(rest: &mut &[u8]) -> Option<Cell> {
    let head = take(rest)?;
    let channel = u16::try_from(head >> 2).ok()?;
    let cell = match head & 3 {
        DOUBLE => {
            let (value, behind) = rest.split_first_chunk::<8>()?;
            *rest = behind;
            Ok(f64::from_le_bytes(*value))
        }
        WHOLE => Ok(take_signed(rest)? as f64),
        DECIMAL => {
            let ten = TENS.get(usize::from(take_byte(rest)?))?;
            Ok(take_signed(rest)? as f64 / ten)
        }
        _ => Err(*REASONS.get(usize::from(take_byte(rest)?))?),
    };
    Some((channel, cell))
}

fn take_byte(rest: &mut &[u8]) -> Option<u8> {
    let (first, behind) = rest.split_first()?;
    *rest = behind;
    Some(*first)
}

/// Writes a number in groups of seven bits, the low ones first.
pub(super) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads such a number.
pub(super) fn take(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for group in 0..10 {
        let byte = take_byte(rest)?;
        number |= u64::from(byte & 0x7f).checked_shl(7 * group)?;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn put_signed(bytes: &mut Vec<u8>, number: i64) {
    put(bytes, ((number << 1) ^ (number >> 63)) as u64);
}

fn take_signed(rest: &mut &[u8]) -> Option<i64> {
    let number = take(rest)?;
    Some((number >> 1) as i64 ^ -((number & 1) as i64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cell() -> impl Strategy<Value = Cell> {
        let value = prop_oneof![
            (-100_000_i64..100_000).prop_map(|number| Ok(number as f64)),
            (-100_000_i64..100_000, 1_i32..6)
                .prop_map(|(number, places)| Ok(number as f64 / 10_f64.powi(places))),
            any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(Ok),
            Just(Ok(-0.0)),
            prop::sample::select(REASONS.to_vec()).prop_map(Err),
        ];
        (any::<u16>(), value)
    }

    proptest! {
        #[test]
        fn rows_come_back_bit_for_bit(rows in prop::collection::vec((any::<i64>(), prop::collection::vec(cell(), 0..6)), 0..20)) {
            let mut written = Rows::default();
            rows.iter().for_each(|(at, cells)| written.push(*at, cells));
            let (mut reader, mut cells) = (Reader::default(), Vec::new());
            let bits = |cells: &[Cell]| -> Vec<(u16, Result<u64, Reason>)> {
                cells.iter().map(|(channel, cell)| (*channel, cell.map(f64::to_bits))).collect()
            };
            for (at, expected) in &rows {
                prop_assert_eq!(reader.next(written.bytes(), &mut cells), Some(*at));
                prop_assert_eq!(bits(&cells), bits(expected));
            }
            prop_assert_eq!(reader.next(written.bytes(), &mut cells), None);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let (mut reader, mut cells) = (Reader::default(), Vec::new());
            while reader.next(&bytes, &mut cells).is_some() {}
        }
    }

    #[test]
    fn a_usual_reading_takes_few_bytes() {
        let mut rows = Rows::default();
        rows.push(1_700_000_000_000, &[(0, Ok(21.57))]);
        let first = rows.bytes().len();
        rows.push(1_700_000_001_000, &[(0, Ok(21.58))]);
        assert_eq!(rows.bytes().len() - first, 2 + 1 + 1 + 1 + 2);
    }
}
