//! Numbers of bytes as options take them: `64MB`.

/// The units, with their bytes.
const UNITS: [(&str, u64); 7] = [
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("b", 1),
];

/// Reads `500kB`, `64MB`, `1GiB` or a number of bytes.
///
/// # Errors
/// The reason, for the reader of the command line.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let unit = UNITS.into_iter().find_map(|(name, bytes)| Some((lower.strip_suffix(name)?, bytes)));
    let (number, unit) = unit.unwrap_or((&lower, 1));
    let number: Option<u64> = number.trim_end().parse().ok();
    number
        .and_then(|number| number.checked_mul(unit))
        .ok_or_else(|| format!("expected a number of bytes such as 500kB, 64MB or 1GB, found {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_a_unit_or_none() {
        let read = ["64MB", "500 kb", "1GiB", "12", "7B"].map(|text| bytes(text).expect(text));
        assert_eq!(read, [64_000_000, 500_000, 1 << 30, 12, 7]);
        for text in ["", "MB", "-1MB", "1.5MB", "64 M", "99999999999GB"] {
            assert!(bytes(text).unwrap_err().contains("64MB"), "{text}");
        }
    }
}
