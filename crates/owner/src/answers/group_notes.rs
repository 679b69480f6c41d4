//! Notes on the groups of an answer.

use sotto_pack::Clock;

use crate::gathered::Need;
use crate::language::{By, Cycle, Dates};
use crate::question::{Asked, Question};
use crate::windows::{self, DeviceWindows, Group, Grouping, MOST_GROUPS, RowTime, cut_ticks, once};

/// Returns a note on groups without windows that are left out, if there are any.
pub(super) fn on_hidden(rows: &[RowTime], hidden: u64, by: Option<By>, clock: &Clock) -> Option<String> {
    let (first, last) = rows.first().zip(rows.last()).filter(|_| hidden > 0)?;
    let date = |at: i64| clock.rfc3339(at).chars().take(10).collect::<String>();
    let (by, shown) = (by.map_or_else(|| "group".to_owned(), |by| by.to_string()), rows.len());
    Some(format!(
        "from {} to {} there are {} groups by {by}, more than {MOST_GROUPS}: the {shown} with windows are shown, and {hidden} without are \
         left out. If a device's clock was wrong, `since` leaves its windows out",
        date(first.group.from),
        date(last.group.to),
        hidden + shown as u64
    ))
}

/// Returns a note on the days that a file names.
pub(super) fn on_days(question: &Question) -> Option<String> {
    on_dates(question.times.dates.as_ref()?)
}

/// Returns a note on the days of a condition that a file names.
pub(super) fn on_dates(dates: &Dates) -> Option<String> {
    let (file, days) = dates.file()?;
    let mut ranges = days?.ranges();
    let first = ranges.next()?;
    Some(match ranges.next_back() {
        None => format!("{file} has one entry, {first}"),
        Some(last) => {
            format!("{file} has {} entries: the first is {first}, the last {last}", 2 + ranges.count())
        }
    })
}

/// Returns a note for each device whose readings the end of a group may have put into the wrong one.
pub(super) fn on_cut_ticks(groups: &[Group], question: &Question, listed: &[DeviceWindows]) -> Vec<String> {
    let grouping = Grouping::of(question);
    let of_device = |device: &DeviceWindows| {
        let count: u64 = device.windows.iter().map(|window| cut_ticks(groups, grouping, window)).sum();
        let (by, name) = (in_words(question), &device.shown);
        let readings = if count == 1 { "1 reading".to_owned() } else { format!("{count} readings") };
        (count > 0).then(|| {
            format!("the end of the {by} cuts the period of {readings} of {name}: each counts in the {by} in which its period begins")
        })
    };
    listed.iter().filter_map(of_device).collect()
}

/// Returns a note for each device with windows that several groups share, if the question needs more of them than sums:
/// extremes and counts by bin are those of whole windows.
pub(super) fn on_divided(asked: &Asked<'_>, groups: &[Group], listed: &[DeviceWindows]) -> Vec<String> {
    let (question, grouping) = (asked.question, Grouping::of(asked.question));
    let beyond_sums = |need: &Need| matches!(need, Need::Distribution { .. } | Need::Windows { .. });
    if !asked.needs().any(|(_, need)| beyond_sums(need)) {
        return Vec::new();
    }
    let of_device = |device: &DeviceWindows| {
        let of_sums = once(&device.windows).filter(|window| window.stream_of_sums().is_some());
        let divided = of_sums.flat_map(|window| {
            let pieces = windows::pieces(groups, grouping, window);
            // Several windows in one group are divided by none.
            if pieces.len() > 1 { window.by_pieces(pieces) } else { Vec::new() }
        });
        let count = divided.filter(|(_, pieces)| pieces.len() > 1).count();
        let (windows, are) = if count == 1 { ("1 window", "is") } else { ("windows", "are") };
        let windows = if count == 1 { windows.to_owned() } else { format!("{count} {windows}") };
        // Those of which all readings came down have a note already.
        (count > 0 && device.aside.fetched == 0).then(|| {
            format!(
                "{windows} of {} {are} longer than {}: extremes and counts come from the readings there, which came down",
                device.shown,
                article(&in_words(question))
            )
        })
    };
    listed.iter().filter_map(of_device).collect()
}

/// Returns a name with its article.
fn article(name: &str) -> String {
    format!("{} {name}", if name == "hour" { "an" } else { "a" })
}

/// Returns the name of a group in a sentence.
fn in_words(question: &Question) -> String {
    match question.by {
        _ if !question.tariffs().is_empty() => "time of a price".to_owned(),
        _ if !question.times.is_all() => "time of the condition".to_owned(),
        Some(
            By::Recurring { first: Cycle::HourOfDay, .. }
            | By::Recurring { second: Some(Cycle::HourOfDay), .. },
        ) => "hour".to_owned(),
        Some(
            By::Recurring { first: Cycle::Weekday, .. } | By::Recurring { second: Some(Cycle::Weekday), .. },
        ) => "day".to_owned(),
        Some(By::Recurring { .. }) => "month".to_owned(),
        None => "group".to_owned(),
        Some(By::Every(length)) => format!("group of {length}"),
        Some(By::MonthFrom(_)) => "month".to_owned(),
        Some(by) => by.to_string(),
    }
}
