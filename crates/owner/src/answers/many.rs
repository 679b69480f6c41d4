//! Notes that say the same of many devices, as one.

use std::collections::BTreeMap;

/// A note of at least this many devices is one line.
const MANY: usize = 3;
/// Number of devices that it names.
const NAMED: usize = 3;
/// Stand for the device and for the first number in a text.
const DEVICE: char = '\u{1}';
const COUNT: char = '\u{2}';

/// The devices of a note, each with its first number.
type Of = Vec<(String, Option<u64>)>;

/// Merges notes that differ only in their device and in their first number, which is added unless it is 1 everywhere.
pub(super) fn merged(notes: Vec<String>, devices: &[&str]) -> Vec<String> {
    if devices.len() < MANY {
        return notes;
    }
    let mut order: Vec<(String, Of)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for note in notes {
        let Some((form, device, count)) = form(&note, devices) else {
            order.push((note, Vec::new()));
            continue;
        };
        let at = *places.entry(form.clone()).or_insert_with(|| {
            order.push((form, Vec::new()));
            order.len() - 1
        });
        order[at].1.push((device, count));
    }
    let told = |(form, of): (String, Of)| -> Vec<String> {
        match of.len() {
            0 => vec![form],
            1..MANY => of.iter().map(|(device, count)| filled(&form, device, device, *count)).collect(),
            _ => vec![together(&form, &of)],
        }
    };
    order.into_iter().flat_map(told).collect()
}

/// Returns a note's form, its device and its first number; None if it is about no device.
fn form(note: &str, devices: &[&str]) -> Option<(String, String, Option<u64>)> {
    let about = |device: &&&str| position(note, &format!(" of {device}")).is_some();
    let device = devices.iter().filter(about).max_by_key(|device| device.len())?;
    let mut text = note.to_owned();
    while let Some(at) = position(&text, device) {
        text.replace_range(at..at + device.len(), &DEVICE.to_string());
    }
    let begin = text.find(|c: char| c.is_ascii_digit());
    let number = begin.map(|begin| {
        let length = text[begin..].bytes().take_while(u8::is_ascii_digit).count();
        (begin..begin + length, text[begin..begin + length].parse::<u64>())
    });
    // A number in a name or a date is none that can be added, and 1 has a singular behind it.
    let is_count = |at: usize, end: usize| {
        let before = text[..at].chars().next_back();
        before.is_none_or(|c| c == ' ') && text[end..].starts_with(' ')
    };
    match number {
        Some((range, Ok(count))) if count != 1 && is_count(range.start, range.end) => {
            text.replace_range(range, &COUNT.to_string());
            Some((text, (**device).to_owned(), Some(count)))
        }
        _ => Some((text, (**device).to_owned(), None)),
    }
}

/// Returns where a word stands that is not a part of a longer name.
fn position(text: &str, word: &str) -> Option<usize> {
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.match_indices(word).map(|(at, _)| at).find(|at| {
        let (before, after) = (text[..*at].chars().next_back(), text[at + word.len()..].chars().next());
        let begins = word.starts_with(' ') || before.is_none_or(|c| !in_name(c));
        begins && after.is_none_or(|c| !in_name(c))
    })
}

fn filled(form: &str, first: &str, others: &str, count: Option<u64>) -> String {
    let text = form.replacen(DEVICE, first, 1).replace(DEVICE, others);
    text.replace(COUNT, &count.map_or_else(String::new, |count| count.to_string()))
}

fn together(form: &str, of: &[(String, Option<u64>)]) -> String {
    let named: Vec<&str> = of.iter().take(NAMED).map(|(device, _)| device.as_str()).collect();
    let rest = match of.len() - named.len() {
        0 => String::new(),
        1 => " and 1 other".to_owned(),
        rest => format!(" and {rest} others"),
    };
    let each = if of.iter().any(|(_, count)| count.is_none()) { "each of " } else { "" };
    let devices = format!("{each}{} devices ({}{rest})", of.len(), named.join(", "));
    let count = of.iter().try_fold(0_u64, |sum, (_, count)| sum.checked_add((*count)?));
    let text = filled(form, &devices, named[0], count);
    if form.matches(DEVICE).count() > 1 { format!("{text}; likewise for the others") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_of_fifty_devices_is_one_line() {
        let names: Vec<String> = (1..=50).map(|number| format!("d{number}")).collect();
        let devices: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut notes = vec!["the cloud's key is not pinned".to_owned()];
        for (number, name) in names.iter().enumerate() {
            notes.push(format!(
                "{} windows of {name} were left out; `sotto device renew {name}` gives it new keys",
                number + 2
            ));
        }
        notes.push("1 window of d7 is missing by its number".to_owned());
        assert_eq!(
            merged(notes, &devices),
            [
                "the cloud's key is not pinned",
                "1325 windows of 50 devices (d1, d2, d3 and 47 others) were left out; `sotto device renew d1` gives it new keys; likewise for \
                 the others",
                "1 window of d7 is missing by its number"
            ]
        );
    }

    #[test]
    fn notes_of_two_devices_and_of_other_things_stay_as_they_are() {
        let notes: Vec<String> = [
            "3 windows of a were left out",
            "4 windows of b were left out",
            "x > 80: 3 of 10 readings are undecided",
            "2 of 3 windows of c hold readings that a generator made up",
            "c was removed on 2024-01-01; its window counts",
        ]
        .map(str::to_owned)
        .to_vec();
        assert_eq!(merged(notes.clone(), &["a", "b", "c"]), notes);
        assert_eq!(merged(notes.clone(), &["a", "b"]), notes);
    }

    #[test]
    fn a_name_inside_another_is_not_it() {
        let devices = ["a", "a-b", "a-b.c"];
        let notes: Vec<String> =
            devices.iter().map(|device| format!("1 window of {device} was left out")).collect();
        assert_eq!(merged(notes, &devices), ["1 window of each of 3 devices (a, a-b, a-b.c) was left out"]);
    }
}
