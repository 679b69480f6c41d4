//! Detects files that were read to their end and gave no reading, or few: most likely an option is wrong.

use std::collections::BTreeSet;

use sotto_pack::{ChannelKind, Reason};

use crate::arguments::Pair;
use crate::nouns::counted;
use crate::spool::ChannelTotals;
use crate::summary::left_out_words;
use crate::windows::Windows;

/// The first run of a spool left out every row.
#[derive(Debug, thiserror::Error)]
#[error("nothing was taken: {0}")]
pub struct NothingTaken(pub(crate) String);

/// Reasons that concern the time of a row.
const OF_TIME: [Reason; 5] =
    [Reason::NoTime, Reason::NoSuchTime, Reason::Future, Reason::ClockNotSet, Reason::ClockAhead];

/// Describes the problem with a file if one of its channels gave no reading, or most rows were left out because of
/// their times. Readings sent by earlier runs count as given.
pub(crate) fn fruitless(windows: &Windows, conditions: &[Pair]) -> Option<String> {
    let taken = windows.taken();
    let channels = || taken.iter().flat_map(|taken| &taken.totals.channels);
    if windows.rows() == 0 && channels().all(|(_, totals)| totals.left_out.is_empty()) {
        let pair = |Pair { name, value }: &Pair| format!("{name}={value}");
        let all: Vec<String> = conditions.iter().map(pair).collect();
        return (!all.is_empty()).then(|| {
            format!(
                "no row has {}: look at the values of the column, or leave out --where",
                all.join(" and ")
            )
        });
    }
    let has_reading = channels().any(|(_, totals)| given(totals) > 0);
    let is_told = |totals: &ChannelTotals| has_reading && is_empty(totals);
    channels().filter(|(_, totals)| !is_told(totals)).find_map(|(name, totals)| {
        let of_name = windows.channels().iter().find(|channel| channel.name == *name);
        let is_state = of_name.is_some_and(|channel| matches!(channel.kind, ChannelKind::State(_)));
        of_channel(name, is_state, totals)
    })
}

/// Returns a note on each channel whose cells are all empty while others have readings: nothing of it is lost.
pub(crate) fn empty(windows: &Windows) -> Vec<String> {
    let taken = windows.taken();
    let channels = || taken.iter().flat_map(|taken| &taken.totals.channels);
    if !channels().any(|(_, totals)| given(totals) > 0) {
        return Vec::new();
    }
    let names: BTreeSet<&String> =
        channels().filter(|(_, totals)| is_empty(totals)).map(|(name, _)| name).collect();
    let note = |name: &&String| {
        format!(
            "channel {name} has no reading: its cells are empty. Another column is given with --column {name}=NAME"
        )
    };
    names.iter().map(note).collect()
}

/// Returns the number of readings, with those that earlier runs sent.
fn given(ChannelTotals { readings, left_out }: &ChannelTotals) -> u64 {
    readings + left_out.count(Reason::AlreadySent)
}

/// Returns true if a channel had cells, and all are empty.
fn is_empty(totals: &ChannelTotals) -> bool {
    let (all, empty) = (totals.left_out.total(), totals.left_out.count(Reason::Empty));
    totals.readings == 0 && all > 0 && all == empty
}

fn of_channel(name: &str, is_state: bool, totals: &ChannelTotals) -> Option<String> {
    let ChannelTotals { readings, left_out } = totals;
    let before = left_out.count(Reason::AlreadySent);
    let lacking = left_out.total() - before;
    let of_time: u64 = OF_TIME.into_iter().map(|reason| left_out.count(reason)).sum();
    let given = given(totals);
    if lacking == 0 || (given > 0 && 2 * of_time <= given + lacking) {
        return None;
    }
    let most = left_out.iter().filter(|(reason, _)| *reason != Reason::AlreadySent);
    let (most, _) = most.max_by_key(|(_, count)| *count)?;
    let why = left_out_words(left_out).unwrap_or_default();
    let what = match given {
        0 => "gave no reading".to_owned(),
        _ => format!("gave only {}", counted(*readings, "reading")),
    };
    Some(format!("channel {name} {what}; left out: {why}. {}", way_out(most, is_state, name)))
}

/// Returns the option, or the change to the file, that most likely helps.
fn way_out(reason: Reason, is_state: bool, channel: &str) -> String {
    match reason {
        Reason::Text | Reason::Empty | Reason::NotANumber if is_state || reason == Reason::Empty => {
            format!("Name its column with --column {channel}=COLUMN")
        }
        Reason::Text | Reason::Empty | Reason::NotANumber => format!(
            "Name its column with --column {channel}=COLUMN, or say how decimals are written with --decimal , or --decimal ."
        ),
        Reason::OutOfRange => {
            "The owner declares the range of the channel: widen `range` in sotto.toml, and renew the bundle"
                .to_owned()
        }
        Reason::NoTime | Reason::NoSuchTime => {
            "Give the column of the time with --time, or its format with --time-format".to_owned()
        }
        Reason::Future => {
            "Set this machine's clock right, or take simulated times with --allow-future".to_owned()
        }
        Reason::ClockAhead => "The clock of the device was ahead: its readings have no time".to_owned(),
        Reason::ClockNotSet => "The clock of the device was not set: its readings have no time".to_owned(),
        Reason::TooLate => {
            "Its windows were sent longer ago than their readings are kept: send the file with --correct, and keep readings longer with --late"
                .to_owned()
        }
        // Agents of earlier versions left late readings out.
        Reason::Duplicate | Reason::OffGrid | Reason::AlreadySent | Reason::Late => {
            "Several rows have one time: choose one device's rows with --where COLUMN=VALUE".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use sotto_pack::LeftOut;

    use super::*;

    fn told(readings: u64, counts: &[(Reason, u64)]) -> Option<String> {
        let mut left_out = LeftOut::default();
        counts.iter().for_each(|(reason, count)| left_out.add(*reason, *count));
        of_channel("load", false, &ChannelTotals { readings, left_out })
    }

    #[test]
    fn a_channel_without_a_reading_is_named_with_the_way_out() {
        assert_eq!(told(5, &[]), None);
        assert_eq!(told(0, &[(Reason::AlreadySent, 9)]), None, "all was sent before");
        assert_eq!(told(1, &[(Reason::Text, 99)]), None, "one reading shows that the column is right");
        assert!(told(0, &[(Reason::Text, 9)]).is_some_and(|told| told.contains("--column load=")));
        assert!(
            told(0, &[(Reason::OutOfRange, 9), (Reason::Empty, 1)])
                .is_some_and(|told| told.contains("range"))
        );
        assert!(told(4, &[(Reason::NoTime, 5)]).is_some_and(|told| told.contains("--time-format")));
        assert_eq!(told(6, &[(Reason::NoTime, 5)]), None);
        let empty = told(0, &[(Reason::Empty, 5)]).unwrap();
        assert!(empty.contains("--column load=") && !empty.contains("--decimal"), "{empty}");
        let mut left_out = LeftOut::default();
        left_out.add(Reason::Text, 5);
        let state = of_channel("door", true, &ChannelTotals { readings: 0, left_out }).unwrap();
        assert!(!state.contains("--decimal"), "{state}");
        assert!(told(0, &[(Reason::Future, 5)]).is_some_and(|told| told.contains("--allow-future")));
    }
}
