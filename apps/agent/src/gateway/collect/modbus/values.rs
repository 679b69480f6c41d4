//! Words of registers to numbers.

use sotto_preset::Value;

use super::file::{Order, Register, Type};

/// Returns the number at the beginning of these words; `None` if there are too few, or if it stands for no reading.
pub(super) fn value(register: &Register, words: &[u16]) -> Option<Value> {
    let words = words.get(..usize::from(register.kind_of_number.words()))?;
    let bytes_of = |word: &u16| match register.bytes {
        Order::Big => word.to_be_bytes(),
        Order::Little => word.to_le_bytes(),
    };
    let bytes: Vec<u8> = match register.words {
        Order::Big => words.iter().flat_map(bytes_of).collect(),
        Order::Little => words.iter().rev().flat_map(bytes_of).collect(),
    };
    let whole = |number: i128| {
        let is_missing = register.missing.iter().any(|missing| i128::from(*missing) == number);
        (!is_missing).then(|| scaled_whole(register, number))
    };
    match register.kind_of_number {
        Type::U16 => whole(u16::from_be_bytes(bytes.try_into().ok()?).into()),
        Type::I16 => whole(i16::from_be_bytes(bytes.try_into().ok()?).into()),
        Type::U32 => whole(u32::from_be_bytes(bytes.try_into().ok()?).into()),
        Type::I32 => whole(i32::from_be_bytes(bytes.try_into().ok()?).into()),
        Type::U64 => whole(u64::from_be_bytes(bytes.try_into().ok()?).into()),
        Type::I64 => whole(i64::from_be_bytes(bytes.try_into().ok()?).into()),
        Type::F32 => {
            let number = f32::from_be_bytes(bytes.try_into().ok()?);
            // The shortest decimal of the type: 21.1 is no 21.100000381.
            fraction(register, number.to_string().parse().ok()?)
        }
        Type::F64 => fraction(register, f64::from_be_bytes(bytes.try_into().ok()?)),
    }
}

/// Returns the state of a bit.
pub(super) fn bit(on: bool) -> Value {
    Value::Text(on.to_string())
}

fn scaled_whole(register: &Register, number: i128) -> Value {
    if register.scale == 1.0 && register.offset == 0.0 {
        return Value::Number(number.to_string());
    }
    Value::Number(scaled(register, number as f64).to_string())
}

fn fraction(register: &Register, number: f64) -> Option<Value> {
    let is_missing = register.missing.iter().any(|missing| *missing as f64 == number);
    let value = scaled(register, number);
    (value.is_finite() && !is_missing).then(|| Value::Number(value.to_string()))
}

/// Applies scale and offset. A scale such as 0.1 divides by ten: 3 · 0.1 is not 0.3.
fn scaled(register: &Register, number: f64) -> f64 {
    let divisor = (1.0 / register.scale).round();
    let divides = register.scale.abs() < 1.0 && (1.0 / divisor - register.scale).abs() < 1e-15;
    let value = if divides { number / divisor } else { number * register.scale };
    value + register.offset
}

#[cfg(test)]
mod tests {
    use super::super::file::ModbusFile;
    use super::*;

    fn read(more: &str, words: &[u16]) -> Option<String> {
        let text = format!(
            "device = 'x'\nhost = 'h'\nevery = '10s'\n[[register]]\nchannel = 'a'\naddress = 0\n{more}"
        );
        let file = ModbusFile::parse(&text).unwrap();
        value(&file.registers[0], words).map(|value| value.as_str().to_owned())
    }

    #[test]
    fn numbers_are_those_of_their_types() {
        for (more, words, expected) in [
            ("type = 'u16'", &[0xFFFF][..], Some("65535")),
            ("type = 'i16'", &[0xFFFF], Some("-1")),
            ("type = 'i16'\nscale = 0.1", &[3], Some("0.3")),
            ("type = 'i16'\nscale = 0.1\noffset = -40", &[650], Some("25")),
            ("type = 'u16'\nscale = 10", &[12], Some("120")),
            ("type = 'u16'\nbytes = 'little'", &[0x0102], Some("513")),
            ("type = 'u32'", &[1, 2], Some("65538")),
            ("type = 'u32'\nwords = 'little'", &[2, 1], Some("65538")),
            ("type = 'i32'", &[0xFFFF, 0xFFFE], Some("-2")),
            ("type = 'u64'", &[0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF], Some("18446744073709551615")),
            ("type = 'i64'\nwords = 'little'", &[0xFFFE, 0xFFFF, 0xFFFF, 0xFFFF], Some("-2")),
            // IEEE 754: 21.1 is 0x41A8CCCD, 230.5 is 0x4366_8000.
            ("type = 'f32'", &[0x41A8, 0xCCCD], Some("21.1")),
            ("type = 'f32'\nwords = 'little'", &[0x8000, 0x4366], Some("230.5")),
            ("type = 'f32'\nwords = 'little'\nbytes = 'little'", &[0x0080, 0x6643], Some("230.5")),
            // 0x4005BF0A8B145769 is e.
            ("type = 'f64'", &[0x4005, 0xBF0A, 0x8B14, 0x5769], Some("2.718281828459045")),
            ("type = 'f32'", &[0x7FC0, 0], None),
            ("type = 'f32'", &[0x7F80, 0], None),
            ("type = 'i16'\nmissing = [-32768]", &[0x8000], None),
            ("type = 'u32'", &[1], None),
        ] {
            assert_eq!(read(more, words).as_deref(), expected, "{more} {words:x?}");
        }
    }
}
