//! Compares the output of commands with the output in the page.

/// The line that stands for lines left out.
pub(super) const CUT: &str = "…";
/// The largest relative difference of byte counts that depend on the grouping of windows.
const NEAR: f64 = 0.25;
/// A line that is a number of at least this size is a count of bytes.
const LEAST_COUNT: f64 = 10_000.0;

/// Returns the first line that differs, in the page and in the output.
pub(super) fn difference(shown: &[String], output: &str) -> Option<(String, String)> {
    let found: Vec<&str> = output.lines().collect();
    let cut = shown.iter().position(|line| line == CUT);
    let (head, tail) = cut.map_or((shown, &[][..]), |at| (&shown[..at], &shown[at + 1..]));
    if cut.is_some() && found.len() < head.len() + tail.len() {
        return Some((
            format!("at least {} lines", head.len() + tail.len()),
            format!("{} lines", found.len()),
        ));
    }
    let end = "the end of the output";
    let compared = if cut.is_some() { head.len() } else { head.len().max(found.len()) };
    let line = |at: usize| (head.get(at).map_or(end, String::as_str), found.get(at).copied().unwrap_or(end));
    let heads = (0..compared).map(line);
    let tails = tail.iter().rev().zip(found.iter().rev()).map(|(shown, found)| (shown.as_str(), *found));
    let mut pairs = heads.chain(tails);
    pairs
        .find(|(shown, found)| !alike(shown, found))
        .map(|(shown, found)| (shown.to_owned(), found.to_owned()))
}

/// Returns true if two lines differ only in durations, ids, and bytes that devices sent.
fn alike(shown: &str, found: &str) -> bool {
    let ((shown, sent), (found, again)) = (without_sent(shown), without_sent(found));
    let near = |(one, other): (&f64, &f64)| (one - other).abs() <= 1.0 + NEAR * one.max(*other);
    masked(&shown) == masked(&found) && sent.len() == again.len() && sent.iter().zip(&again).all(near)
}

/// Separates a line from its counts of bytes that devices sent or the cloud stores. They depend on the machine: on the
/// number of windows that wait together and share a signature.
fn without_sent(line: &str) -> (String, Vec<f64>) {
    let (mut text, mut sent) = (line.to_owned(), Vec::new());
    let line_is_count = line.parse::<f64>().is_ok_and(|count| count >= LEAST_COUNT);
    let places = [
        (" windows, ", " bytes"),
        (":00, ", " bytes"),
        ("\"bytes_up\": ", ","),
        ("up ", " bytes"),
        ("(", " a reading), down"),
    ];
    for (before, after) in places.into_iter().chain(line_is_count.then_some(("", ""))) {
        let Some(begin) = text.find(before).map(|at| at + before.len()) else { continue };
        let bytes = &text.as_bytes()[begin..];
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let is_in_number = |at: &usize| {
            is_digit(*at)
                || bytes.get(*at) == Some(&b'.')
                || bytes.get(*at) == Some(&b',') && is_digit(at + 1)
        };
        let digits = (0..).take_while(is_in_number).count();
        let (number, rest) = (text[begin..begin + digits].replace(',', "").parse(), &text[begin + digits..]);
        if let (Ok(number), true) = (number, rest.starts_with(after)) {
            sent.push(number);
            text = format!("{}~{rest}", &text[..begin]);
        }
    }
    (text, sent)
}

/// Removes the last day of a certificate, which depends on the day of the run.
fn without_validity(line: &str) -> String {
    let (before, date) = ("alid until ", "2027-12-31");
    match line.find(before).map(|at| at + before.len()) {
        Some(at) if line.is_char_boundary(at + date.len()) => {
            let end = at + date.len();
            let is_date = line[at..end].bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            if is_date { format!("{}#{}", &line[..at], &line[end..]) } else { line.to_owned() }
        }
        _ => line.to_owned(),
    }
}

/// Masks an age, which depends on the day of the run: `3 days ago`.
fn without_age(line: &str) -> String {
    const UNITS: [&str; 8] = ["minute", "minutes", "hour", "hours", "day", "days", "year", "years"];
    let line = line.replace("less than a minute ago", "# ago");
    let Some((before, after)) = line.split_once(" ago") else { return line };
    let mut words = before.rsplitn(3, ' ');
    match (words.next(), words.next().map(str::parse::<u64>), words.next()) {
        (Some(unit), Some(Ok(_)), Some(rest)) if UNITS.contains(&unit) => format!("{rest} # ago{after}"),
        _ => line,
    }
}

/// Masks the digits that change from run to run: durations, times, last days of certificates, digests and ids.
fn masked(line: &str) -> String {
    let line = without_age(&without_validity(line));
    let mut text = String::new();
    let mut rest = line.as_str();
    while let Some(at) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        let (before, word) = rest.split_at(at);
        text += before;
        let end = word.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        let (_, unit) = duration_unit(after);
        if is_number(word) && unit > 0 {
            text.push('#');
            rest = &after[unit..];
            continue;
        }
        let timed = ["\"seconds\": ", "_us\": "].iter().any(|name| text.ends_with(name));
        text += if timed && is_number(word) || is_id(word) { "#" } else { word };
        rest = after;
    }
    text + rest
}

fn is_number(word: &str) -> bool {
    word.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Returns true for hexadecimal digests and ids, and for times such as 20261123T073030.741Z.
fn is_id(word: &str) -> bool {
    let hexadecimal = word.len() >= 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let run = word.len() >= 15 && word.as_bytes()[8] == b'T' && word.ends_with('Z');
    hexadecimal || run
}

/// Returns the unit of time at the start of a text, and its length in bytes with the space before it.
fn duration_unit(text: &str) -> (&'static str, usize) {
    let Some(unit) = text.strip_prefix(' ') else { return ("", 0) };
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric());
    ["µs", "ms", "s", "min"]
        .into_iter()
        .find(|name| unit.strip_prefix(name).is_some_and(ends))
        .map_or(("", 0), |name| (name, 1 + name.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(ToOwned::to_owned).collect()
    }

    #[test]
    fn only_what_varies_is_masked() {
        for (one, other, same) in [
            ("evaluated in 7.71 ms, 30 windows", "evaluated in 993 µs, 30 windows", true),
            ("evaluated in 7.71 ms, 30 windows", "evaluated in 7.71 ms, 31 windows", false),
            ("Valid until 2027-12-26; renew", "Valid until 2028-01-01; renew", true),
            ("Valid until 2027-12-26; renew", "Valid until tomorrow; renew", false),
            ("Valid until", "Valid until", true),
            ("last heard 1 minute ago", "last heard less than a minute ago", true),
            ("its newest window ended 15 years ago, and", "its newest window ended 16 years ago, and", true),
            ("the newest 2 days ago; 3 missing", "the newest 9 hours ago; 4 missing", false),
            ("  \"seconds\": 0.04,", "  \"seconds\": 12.5,", true),
            ("  \"evaluate_us\": 3977,", "  \"evaluate_us\": 4001,", true),
            ("  \"value\": 60.01,", "  \"value\": 60.02,", false),
            ("20261123T073030.741Z  mean", "20270101T000000.001Z  mean", true),
            ("job 8ff81a803a515c4adc4aa09b71d9ec88", "job 0ff81a803a515c4adc4aa09b71d9ec80", true),
            ("365 windows, 33859302 bytes", "365 windows, 33859303 bytes", true),
            ("365 windows, 93198 bytes", "365 windows, 53198 bytes", false),
            ("365 windows, 93198 bytes", "364 windows, 93198 bytes", false),
            ("365 windows, 80,371 bytes sent", "365 windows, 71,825 bytes sent", true),
            ("to 2011-01-01 00:00, 80,371 bytes", "to 2011-01-01 00:00, 71,825 bytes", true),
            ("to 2011-01-01 00:00, 80,371 bytes", "to 2011-01-01 00:00, 8,371 bytes", false),
            ("  \"bytes_up\": 7682,", "  \"bytes_up\": 7590,", true),
            ("  \"bytes_up\": 7682,", "  \"bytes_up\": 12590,", false),
            ("  \"bytes_down\": 518,", "  \"bytes_down\": 519,", false),
            (
                "up 1785 bytes (11 a reading), down 288 bytes",
                "up 1700 bytes (10 a reading), down 288 bytes",
                true,
            ),
            (
                "up 1785 bytes (11 a reading), down 288 bytes",
                "up 1785 bytes (11 a reading), down 289 bytes",
                false,
            ),
            (
                "up to 25 readings in 297 bytes (12 a reading)",
                "up to 25 readings in 298 bytes (12 a reading)",
                false,
            ),
            ("117265", "117393", true),
            ("365", "366", false),
            ("24 steps", "25 steps", false),
        ] {
            assert_eq!(alike(one, other), same, "{one} {other}");
        }
    }

    #[test]
    fn lines_left_out_are_not_compared() {
        let found = "a\nb\nc\nd\n";
        assert_eq!(difference(&lines("a\nb\nc\nd"), found), None);
        assert_eq!(difference(&lines("a\n…\nd"), found), None);
        assert_eq!(difference(&lines("…"), found), None);
        assert_eq!(difference(&lines("a\n…\nx"), found), Some(("x".to_owned(), "d".to_owned())));
        assert!(difference(&lines("a\nb\nc"), found).is_some());
        assert!(difference(&lines("a\nb\nc\nd\ne"), found).is_some());
        assert!(difference(&lines("a\nb\nc\nd\n…\ne"), found).is_some());
    }
}
