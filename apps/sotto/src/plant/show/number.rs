//! Numbers, counts and times as text.

use sotto_owner::{Assurance, Row};

/// Returns the time at which a row's group begins: the date alone if the group is a whole number of days; the name of a
/// recurring group.
pub(super) fn when(row: &Row) -> String {
    if let Some(recurs) = row.recurs {
        return recurs.to_string();
    }
    let (date, time) = row.from.split_once('T').unwrap_or((&row.from, ""));
    let clock = time.get(..5).unwrap_or("");
    let whole = clock == "00:00" && row.to.get(11..16) == Some("00:00");
    if whole { date.to_owned() } else { format!("{date} {}", time.get(..8).unwrap_or(time)) }
}

/// Returns the time of the reading that is a row's value, to the second; None if it is of several.
pub(super) fn at(row: &Row) -> Option<String> {
    let (date, time) = row.at.as_deref()?.split_once('T')?;
    let time = time.get(..8)?;
    Some(format!("{date} {}", time.strip_suffix(":00").unwrap_or(time)))
}

/// Returns true if a row's value is a time, in seconds since 1970.
pub(super) fn is_time(row: &Row) -> bool {
    let at = row.at.as_deref().and_then(|at| at.parse::<jiff::Timestamp>().ok());
    let seconds = at.map(|at| at.as_millisecond() as f64 / 1000.0);
    row.unit == "s" && seconds.is_some() && seconds == row.value
}

/// Returns a row's value as text, with the mark `?` before one that the cloud may have made up.
pub(super) fn marked(row: &Row, value: String) -> String {
    if row.assurance == Assurance::Unchecked { format!("? {value}") } else { value }
}

/// Formats a value and its bound: two digits of the bound, and the value to the same decimal place.
pub(crate) fn number(value: f64, bound: f64) -> String {
    if bound <= 1e-9 * value.abs().max(1e-300) || bound == 0.0 {
        let text = format!("{value:.6}");
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        return text.to_owned();
    }
    if !(1e-12..1e12).contains(&bound) || value.abs() >= 1e15 {
        return format!("{value:.6e} ± {bound:.1e}");
    }
    let places = places(bound);
    format!("{value:.places$} ± {}", rounded_up(bound))
}

/// Formats two digits of a bound, rounded up, because a bound rounded down would not hold. f64's own rounding error is
/// ignored.
pub(crate) fn rounded_up(bound: f64) -> String {
    if bound == 0.0 {
        return "0".to_owned();
    }
    if !(1e-12..1e12).contains(&bound) {
        return format!("{bound:.1e}");
    }
    let places = places(bound);
    let scale = 10f64.powi(places as i32);
    format!("{:.places$}", (bound * scale * (1.0 - 1e-9)).ceil() / scale)
}

/// Returns the decimal places that show two digits of a bound.
fn places(bound: f64) -> usize {
    (1.0 - bound.abs().log10().floor()).clamp(0.0, 12.0) as usize
}

/// Formats a count and its noun.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Returns the time since an instant in words: `3 days ago`. Both are milliseconds since 1970.
pub(crate) fn ago(at: i64, now: i64) -> String {
    let minutes = now.saturating_sub(at).max(0).unsigned_abs() / 60_000;
    let (count, noun) = match minutes {
        0 => return "less than a minute ago".to_owned(),
        1..60 => (minutes, "minute"),
        60..1440 => (minutes / 60, "hour"),
        1440..1_051_200 => (minutes / 1440, "day"),
        _ => (minutes / 525_960, "year"),
    };
    format!("{} ago", counted(count, noun))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_words() {
        let minute = 60_000;
        for (age, words) in [
            (0, "less than a minute ago"),
            (-5 * minute, "less than a minute ago"),
            (minute, "1 minute ago"),
            (59 * minute, "59 minutes ago"),
            (60 * minute, "1 hour ago"),
            (2 * 1440 * minute, "2 days ago"),
            (800 * 1440 * minute, "2 years ago"),
        ] {
            assert_eq!(ago(1_000_000 - age, 1_000_000), words);
        }
        assert!(ago(i64::MIN, i64::MAX).ends_with("years ago"));
    }

    #[test]
    fn values_are_shown_to_the_place_of_their_bound() {
        for (value, bound, shown) in [
            (39.4567, 0.05, "39.457 ± 0.050"),
            (0.002_913, 0.000_123, "0.00291 ± 0.00013"),
            (1234.5, 30.0, "1234 ± 30"),
            (12.0, 0.0, "12"),
            (-0.5, 1e-15, "-0.5"),
        ] {
            assert_eq!(number(value, bound), shown);
        }
    }
}
