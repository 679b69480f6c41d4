//! Formats numbers and text for the page.

use std::fmt::Write as _;

/// Formats microseconds with three digits.
pub fn duration(us: f64) -> String {
    let (value, unit) = match us {
        us if us < 1e3 => (us, "µs"),
        us if us < 1e6 => (us / 1e3, "ms"),
        us => (us / 1e6, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

/// Formats bytes with three digits.
pub(super) fn bytes(bytes: f64) -> String {
    let (value, unit) = match bytes {
        b if b < 1e3 => (b, "B"),
        b if b < 1e6 => (b / 1e3, "kB"),
        b if b < 1e9 => (b / 1e6, "MB"),
        b => (b / 1e9, "GB"),
    };
    format!("{} {unit}", three_digits(value))
}

fn three_digits(value: f64) -> String {
    match value {
        v if v >= 99.95 || v == 0.0 => format!("{v:.0}"),
        v if v >= 9.995 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// Returns a file as a data URL, for a download link.
pub(super) fn data_address(kind: &str, text: &str) -> String {
    let mut address = format!("data:{kind};charset=utf-8,");
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.,".contains(&byte) {
            address.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(address, "%{byte:02X}");
        }
    }
    address
}

/// Returns an engine's colour, from the palette of Okabe and Ito, which colour-blind people can tell apart.
pub(super) fn colour(engine: &str) -> &'static str {
    match engine {
        "sotto" => "#0072b2",
        "seal" => "#d55e00",
        "tenseal" => "#e69f00",
        "openfhe" => "#009e73",
        "pyfhel" => "#cc79a7",
        "lattigo" => "#56b4e9",
        "fhe-rs" => "#7a5c00",
        _ => "#444444",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_a_unit() {
        assert_eq!(duration(0.0), "0 µs");
        assert_eq!(duration(1.234), "1.23 µs");
        assert_eq!(duration(999.4), "999 µs");
        assert_eq!(duration(12_340.0), "12.3 ms");
        assert_eq!(duration(2_000_000.0), "2.00 s");
        assert_eq!(bytes(432_330.0), "432 kB");
        assert_eq!(bytes(1.5e9), "1.50 GB");
    }

    #[test]
    fn a_data_address_has_no_special_characters() {
        assert_eq!(data_address("text/csv", "a,b\nµ"), "data:text/csv;charset=utf-8,a,b%0A%C2%B5");
    }
}
