//! Detects files that were read to their end and gave no reading, or few: most likely an option is wrong.

use sotto_pack::Reason;

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
    channels().find_map(|(name, totals)| of_channel(name, totals))
}

fn of_channel(name: &str, ChannelTotals { readings, left_out }: &ChannelTotals) -> Option<String> {
    let before = left_out.count(Reason::AlreadySent);
    let lacking = left_out.total() - before;
    let of_time: u64 = OF_TIME.into_iter().map(|reason| left_out.count(reason)).sum();
    let given = readings + before;
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
    Some(format!("channel {name} {what}; left out: {why}. {}", way_out(most, name)))
}

/// Returns the option, or the change to the file, that most likely helps.
fn way_out(reason: Reason, channel: &str) -> String {
    match reason {
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
        of_channel("load", &ChannelTotals { readings, left_out })
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
        assert!(told(0, &[(Reason::Future, 5)]).is_some_and(|told| told.contains("--allow-future")));
    }
}
