//! The bytes of a sum in a file.

use super::name::Name;

/// Bytes of a record beside its values.
const HEAD: usize = 1 + 1 + 4 + 4 + 8 + 32 + 1 + 4;

/// Flag of a sum with the newest window of its question.
const NEWEST: u8 = 1;

/// An opened sum of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) part: u8,
    /// True if the newest window of the question was in it: it may grow.
    pub(super) is_newest: bool,
    /// The number of windows.
    pub(super) count: u32,
    /// The number of windows of an earlier sum that this one takes the place of; 0 for none.
    pub(super) replaces: u32,
    /// Digits of the name of its first window.
    pub(super) first: [u8; 8],
    pub(super) name: Name,
    pub(super) values: Values,
}

/// Values in as many bytes each, which are read when their record is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Values {
    /// Bytes of a value: those of the part's widest place, so that no size tells of a value.
    width: u8,
    bytes: Vec<u8>,
}

impl Values {
    /// Returns values of places of at most so many bits, with a sign. Returns None if one is too large.
    pub(super) fn of(values: &[i64], bits: u8) -> Option<Self> {
        let width = (bits / 8 + 1).clamp(1, 8);
        let limit = 1i128 << (8 * width - 1);
        let mut bytes = Vec::with_capacity(values.len() * usize::from(width));
        for value in values {
            if !(-limit..limit).contains(&i128::from(*value)) {
                return None;
            }
            bytes.extend(&value.to_le_bytes()[..width.into()]);
        }
        Some(Self { width, bytes })
    }

    pub(super) fn read(&self) -> Vec<i64> {
        self.bytes.chunks_exact(self.width.into()).map(signed).collect()
    }
}

impl Record {
    /// Returns the bytes that it takes.
    pub(super) fn size(&self) -> usize {
        HEAD + self.values.bytes.len()
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend([self.part, if self.is_newest { NEWEST } else { 0 }]);
        out.extend(self.count.to_le_bytes());
        out.extend(self.replaces.to_le_bytes());
        out.extend(self.first);
        out.extend(self.name);
        let Values { width, bytes } = &self.values;
        out.push(*width);
        out.extend(((bytes.len() / usize::from(*width)) as u32).to_le_bytes());
        out.extend_from_slice(bytes);
    }

    /// Reads a record, and returns it with the bytes behind it. Returns None if these bytes are none.
    pub(super) fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let ([part, flags], rest) = bytes.split_first_chunk()?;
        let (count, rest) = rest.split_first_chunk()?;
        let (replaces, rest) = rest.split_first_chunk()?;
        let (first, rest) = rest.split_first_chunk()?;
        let (name, rest) = rest.split_first_chunk()?;
        let ([width], rest) = rest.split_first_chunk()?;
        let (number, rest) = rest.split_first_chunk()?;
        let number = u32::from_le_bytes(*number) as usize;
        let size = usize::from(*width);
        if !(1..=8).contains(&size) || *flags > NEWEST {
            return None;
        }
        let (values, rest) = rest.split_at_checked(number.checked_mul(size)?)?;
        let record = Self {
            part: *part,
            is_newest: *flags == NEWEST,
            count: u32::from_le_bytes(*count),
            replaces: u32::from_le_bytes(*replaces),
            first: *first,
            name: *name,
            values: Values { width: *width, bytes: values.to_vec() },
        };
        Some((record, rest))
    }
}

/// Returns the number of up to 8 bytes in two's complement.
fn signed(bytes: &[u8]) -> i64 {
    let Some((highest, lower)) = bytes.split_last() else { return 0 };
    let high = i64::from(highest.cast_signed());
    lower.iter().rev().fold(high, |number, byte| number << 8 | i64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_width_come_back() {
        for bits in 1..=60u8 {
            let end = 1i64 << bits;
            let values = vec![0, 1, -1, end - 1, 1 - end, end / 2, -end / 2];
            let packed = Values::of(&values, bits).expect("values in range");
            assert_eq!(packed.read(), values);
            let (first, name, values) = ([1; 8], [2; 32], packed);
            let record =
                Record { part: 3, is_newest: bits % 2 == 0, count: 7, replaces: 6, first, name, values };
            let mut bytes = Vec::new();
            record.write(&mut bytes);
            assert_eq!(bytes.len(), record.size());
            bytes.push(9);
            assert_eq!(Record::read(&bytes), Some((record, &[9][..])), "{bits} bits");
            for cut in 0..bytes.len() - 1 {
                assert_eq!(Record::read(&bytes[..cut]), None, "{bits} bits, {cut} bytes");
            }
        }
        assert_eq!((Values::of(&[127], 7).is_some(), Values::of(&[128], 7)), (true, None));
    }
}
