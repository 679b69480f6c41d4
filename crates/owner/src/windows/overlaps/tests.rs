//! Windows of one device, by hand.

use sotto_pack::{Channel, Encoding, Layout, Period, Reading, Window, WindowDescription};
use sotto_rlwe::Origin;

use super::*;
use crate::windows::covered::{Covered as Time, elsewhere};
use crate::windows::row_time::Group;

const HOUR: i64 = 3_600_000;

/// Returns a window of hours from `start` to `end` with readings of each channel at some of them.
pub(crate) fn window(
    bundle: usize,
    sequence: u64,
    hours: Range<i64>,
    readings: &[(&str, &[i64])],
) -> StoredWindow {
    let channel =
        |(name, _): &(&str, &[i64])| Channel { name: (*name).into(), maximum: 1.0, ..Channel::default() };
    let channels = readings.iter().map(channel).collect();
    let layout = Layout::smallest(channels, 24, 64, 1, Encoding::Integer { bits: 8 }).unwrap();
    let length = u32::try_from(hours.end - hours.start).unwrap();
    let mut window =
        Window::spanning(layout, hours.start * HOUR, Period::from_milliseconds(3_600_000), length).unwrap();
    for (channel, (_, hours)) in (0..).zip(readings) {
        hours.iter().for_each(|hour| window.push(&Reading { at: hour * HOUR, channel, value: 0.5 }).unwrap());
    }
    let description = WindowDescription::from(&window.close());
    StoredWindow {
        span: None,
        id: format!("{bundle}.{sequence}"),
        sequence,
        identity: [0; 32],
        stream: format!("hours.{bundle}").into(),
        parameter_id: "".into(),
        bytes: 0,
        end: description.end(),
        ticks: 0..description.ticks(),
        description: Arc::new(description),
        channels: None,
        kind: Some(Kind::Exact),
        scheme: None,
        bundle,
        sums: None,
        origin: Origin::SecretKey,
        rolled: None,
        count: 1,
    }
}

/// Returns a run of windows of hours, of which the first is from `hours.start` to `hours.end`, with all readings.
pub(crate) fn run(sequence: u64, hours: Range<i64>, count: u32) -> StoredWindow {
    let all: Vec<i64> = hours.clone().collect();
    let first = window(0, sequence, hours, &[("x", &all)]);
    let (length, description) = (first.description.ticks(), first.description.clone());
    let end = description.period.at(first.start(), length * count);
    StoredWindow { ticks: 0..length * count, bytes: 100 * u64::from(count) + 7, end, count, ..first }
}

/// Returns the readings that count, as window, channel and hour, and the number of windows that met others.
fn counted(windows: Vec<StoredWindow>) -> (Vec<(String, String, i64)>, usize, Vec<StoredWindow>) {
    let mut aside = Aside::default();
    let kept = leave_out(windows, &Needed::once(), &mut aside);
    let mut readings = Vec::new();
    for window in &kept {
        for channel in window.layout().channels() {
            let Some(at) = window.channel(&channel.name) else { continue };
            let ticks = window.description.presence(at).unwrap();
            let ticks = ticks.iter().filter(|tick| window.ticks().contains(tick));
            readings.extend(
                ticks.map(|tick| (window.id.clone(), channel.name.clone(), window.instant(tick) / HOUR)),
            );
        }
    }
    readings.sort_by(|a, b| (a.2, &a.1).cmp(&(b.2, &b.1)));
    (readings, aside.overlapping, kept)
}

fn of(readings: &[(&str, &str, i64)]) -> Vec<(String, String, i64)> {
    readings.iter().map(|(id, channel, hour)| ((*id).to_owned(), (*channel).to_owned(), *hour)).collect()
}

/// A channel that is alone in windows of hours, and with another one in windows of a day of the same bundle.
#[test]
fn windows_of_hours_count_for_a_channel_and_those_of_a_day_for_two() {
    let hours = |from: i64| {
        let readings: Vec<i64> = (from..from + 6).collect();
        let mut hours = window(0, 100 + from as u64, from..from + 6, &[("x", &readings)]);
        let channels = hours.layout().channels().to_vec();
        let layout = Layout::smallest(channels, 6, 64, 1, Encoding::Integer { bits: 8 }).unwrap();
        hours.description = Arc::new(WindowDescription { layout, ..(*hours.description).clone() });
        hours.stream = "hours-2".into();
        hours
    };
    let day: Vec<i64> = (0..24).collect();
    let both = window(0, 0, 0..24, &[("x", &day), ("y", &day)]);
    // The last six hours of the first day, and the next day, whose window is still open.
    let windows = || vec![both.clone(), hours(0), hours(6), hours(12), hours(24)];
    let kept = |needed: Needed| {
        let mut aside = Aside::default();
        let kept = leave_out(windows(), &needed, &mut aside);
        assert_eq!(aside.overlapping, 0, "both streams have the channel by plan");
        let shown = |window: &StoredWindow| {
            (window.stream.to_string(), window.ticks.start..window.ticks.end, window.start() / HOUR)
        };
        kept.iter().map(shown).collect::<Vec<_>>()
    };
    let hour = |from: i64| ("hours-2".to_owned(), 0..6, from);
    let of = |channels: &[&str]| {
        let mut needed = Needed::once();
        needed.channels = Some(channels.iter().map(|name| (*name).to_owned()).collect());
        needed
    };
    assert_eq!(kept(of(&["x"])), [hour(0), hour(6), hour(12), ("hours.0".into(), 18..24, 0), hour(24)]);
    assert_eq!(kept(of(&["x", "y"])), [("hours.0".into(), 0..24, 0), hour(24)]);
    // Alarms: those of the day have the last hours of x, and all of y.
    let day = |ticks: Range<u32>| ("hours.0".to_owned(), ticks, 0);
    let mut all = kept(Needed::for_alarms());
    all.sort_by_key(|(stream, ticks, start)| (stream.clone(), ticks.start, *start));
    assert_eq!(all, [hour(0), hour(6), hour(12), hour(24), day(0..24), day(18..24)]);
}

/// `covariance(x, y), mean(z)`: windows of a day have the product, those of hours as many of the channels.
#[test]
fn a_window_with_a_needed_product_counts_for_its_channels() {
    let readings: Vec<i64> = (0..24).collect();
    let day = window(0, 0, 0..24, &[("x", &readings), ("y", &readings)]);
    let mut hours = window(0, 1, 0..24, &[("x", &readings), ("z", &readings)]);
    let channels = hours.layout().channels().to_vec();
    let layout = Layout::smallest(channels, 6, 64, 1, Encoding::Integer { bits: 8 }).unwrap();
    hours.description = Arc::new(WindowDescription { layout, ..(*hours.description).clone() });
    hours.stream = "hours-2".into();
    let question = crate::question::Question::parse("covariance(x, y), mean(z) by day").unwrap();
    let mut aside = Aside::default();
    let kept = leave_out(vec![hours, day], &Needed::of(&question), &mut aside);
    let with = |channel: &str| -> Vec<&str> {
        kept.iter().filter(|window| window.channel(channel).is_some()).map(|window| &*window.stream).collect()
    };
    assert_eq!((with("x"), with("y"), with("z")), (vec!["hours.0"], vec!["hours.0"], vec!["hours-2"]));
}

#[test]
fn a_supplement_stays_whole_and_so_does_the_window_that_it_completes() {
    let first = window(0, 0, 0..24, &[("x", &[0, 2, 5]), ("y", &[0, 1])]);
    let later = window(0, 1, 24..48, &[("x", &[24]), ("y", &[24])]);
    let supplement = window(0, 2, 0..24, &[("x", &[1, 3]), ("y", &[])]);
    let (readings, overlapping, kept) = counted(vec![supplement, later, first]);
    let expected = [
        ("0.0", 0, "xy"),
        ("0.0", 1, "y"),
        ("0.2", 1, "x"),
        ("0.0", 2, "x"),
        ("0.2", 3, "x"),
        ("0.0", 5, "x"),
    ];
    let mut all: Vec<(&str, &str, i64)> = Vec::new();
    for (id, hour, channels) in expected {
        all.extend(
            channels.split("").filter(|channel| !channel.is_empty()).map(|channel| (id, channel, hour)),
        );
    }
    all.extend([("0.1", "x", 24), ("0.1", "y", 24)]);
    all.sort_by_key(|(_, channel, hour)| (*hour, *channel));
    assert_eq!((readings, overlapping), (of(&all), 0));
    assert!(kept.len() == 3 && kept.iter().all(|window| window.is_whole() && window.channels.is_none()));
}

#[test]
fn at_a_tick_of_two_windows_of_a_bundle_the_lower_number_counts() {
    // The higher number has more readings, and comes first.
    let higher = window(0, 7, 0..24, &[("x", &[0, 1, 2, 3, 4])]);
    let lower = window(0, 3, 0..24, &[("x", &[2, 9])]);
    let (readings, overlapping, _) = counted(vec![higher, lower]);
    let expected = [
        ("0.7", "x", 0),
        ("0.7", "x", 1),
        ("0.3", "x", 2),
        ("0.7", "x", 3),
        ("0.7", "x", 4),
        ("0.3", "x", 9),
    ];
    assert_eq!((readings, overlapping), (of(&expected), 1));
}

#[test]
fn a_later_bundle_counts_whatever_its_number() {
    let early = window(0, 0, 0..24, &[("x", &[0, 1, 2])]);
    let late = window(1, 9, 0..24, &[("x", &[1, 2])]);
    let (readings, overlapping, _) = counted(vec![early, late]);
    assert_eq!((readings, overlapping), (of(&[("0.0", "x", 0), ("1.9", "x", 1), ("1.9", "x", 2)]), 0));
}

#[test]
fn ticks_are_missing_that_no_window_has() {
    let first = window(0, 0, 0..24, &[("x", &[0, 2, 3, 23])]);
    let second = window(0, 1, 24..30, &[("x", &[24, 29])]);
    // Sent after the second: over the time of both, as that of a longer span.
    let supplement = window(0, 2, 0..12, &[("x", &[1, 4])]);
    let all = [&first, &second, &supplement];
    let time = Time::new(&all, "x").unwrap();
    let groups: Vec<Group> =
        all.iter().map(|window| Group { from: window.from(), to: window.to() }).collect();
    let day = Group { from: 0, to: 24 * HOUR };
    assert_eq!(time.ticks(day) - 6, 18, "by day");
    let elsewhere = elsewhere(&all, "x");
    let missing = |at: usize, readings: u64| {
        time.ticks(groups[at]) - elsewhere.get(&groups[at]).copied().unwrap_or_default() - readings
    };
    // The window's own hours that nobody has, and the supplement's.
    assert_eq!([missing(0, 4), missing(1, 2), missing(2, 2)], [18, 4, 7]);
}

/// By window, pieces of one window are one, with late readings of its time and the whole window.
#[test]
fn pieces_of_one_window_are_one_group() {
    let day = Group { from: 0, to: 24 * HOUR };
    let piece = |number, hours: Range<i64>| {
        let readings: Vec<i64> = hours.clone().collect();
        StoredWindow { span: Some(day), ..window(0, number, hours, &[("x", &readings)]) }
    };
    let others = || [window(0, 9, 24..48, &[("x", &[30])])];
    let groups = |windows: &[StoredWindow]| {
        let by = Some(crate::language::By::Window);
        let clock = sotto_pack::Clock::utc();
        let found = crate::windows::groups(&clock, by, windows.iter(), crate::windows::Between::default());
        found.unwrap().groups.iter().map(|group| (group.from / HOUR, group.to / HOUR)).collect::<Vec<_>>()
    };
    let pieces: Vec<StoredWindow> =
        [piece(1, 0..4), piece(2, 4..6), piece(3, 2..3)].into_iter().chain(others()).collect();
    assert_eq!(groups(&pieces), [(0, 24), (24, 48)]);
    let refs: Vec<&StoredWindow> = pieces.iter().collect();
    // So far, the expected ticks are those up to the last piece; none is counted as another window's.
    assert!(elsewhere(&refs, "x").is_empty());
    assert_eq!(Time::new(&refs[..3], "x").unwrap().ticks(day), 6);
    let whole: Vec<StoredWindow> = [piece(4, 0..24)].into_iter().chain(others()).collect();
    assert_eq!(groups(&whole), [(0, 24), (24, 48)]);
}

/// By window, pieces of a day are windows of their own where windows of hours have one of their channels.
#[test]
fn pieces_of_a_day_hide_no_hours() {
    let day = Group { from: 0, to: 24 * HOUR };
    let hour = |at: i64| Group { from: at * HOUR, to: (at + 6) * HOUR };
    let of = |bundle, number, group: Group, hours: Range<i64>, channels: &[&str]| {
        let all: Vec<i64> = hours.clone().collect();
        let readings: Vec<(&str, &[i64])> = channels.iter().map(|name| (*name, all.as_slice())).collect();
        StoredWindow { span: Some(group), ..window(bundle, number, hours, &readings) }
    };
    // Six hours in the place of one. The bundle was renewed at six.
    let mut windows = vec![
        of(0, 1, day, 0..4, &["x", "y"]),
        of(0, 2, day, 4..6, &["x", "y"]),
        of(0, 3, day, 0..6, &["z"]),
        of(1, 1, hour(6), 6..8, &["x"]),
        of(1, 2, hour(6), 8..12, &["x"]),
    ];
    crate::windows::finest::take_apart(&mut windows);
    let groups: Vec<Group> = windows.iter().map(StoredWindow::group).collect();
    let own = |from: i64, to: i64| Group { from: from * HOUR, to: to * HOUR };
    assert_eq!(groups, [own(0, 4), own(4, 6), day, hour(6), hour(6)]);
}

/// A channel in windows of a day and of hours: closed days come from the former, today from the latter.
#[test]
fn readings_left_out_count_once_at_each_time() {
    use sotto_pack::{LeftOut, Reason};
    let with = |mut window: StoredWindow, stream: &str, lacking: u64| {
        let mut counts = LeftOut::default();
        counts.add(Reason::OutOfRange, lacking);
        let channels = window.layout().channels().len();
        Arc::make_mut(&mut window.description).left_out = vec![counts; channels];
        window.identity[0] = window.sequence as u8;
        window.stream = stream.into();
        window
    };
    let hours =
        |number, hours: Range<i64>, lacking| with(window(0, number, hours, &[("x", &[])]), "hours", lacking);
    let closed = with(window(0, 0, 0..24, &[("x", &[]), ("y", &[])]), "days", 5);
    let windows = [hours(1, 0..6, 2), closed, hours(2, 18..24, 3), hours(3, 24..30, 4), hours(4, 30..36, 1)];
    let left_out = crate::windows::left_out(&windows);
    let count = |name: &str| left_out[name].iter().map(|(_, count)| count).sum::<u64>();
    assert_eq!([count("x"), count("y")], [5 + 4 + 1, 5]);
}

proptest::proptest! {
    #[test]
    fn runs_are_left_out_as_their_windows(
        runs in proptest::collection::vec((0_usize..3, 0_i64..200, 1_i64..9, 1_u32..12, proptest::bool::ANY), 1..9),
    ) {
        let mut windows = Vec::new();
        for (number, (bundle, start, length, count, has_gap)) in (0..).zip(runs) {
            let run = run(100 * number, start..start + length, count);
            let run = StoredWindow { bundle, stream: format!("hours.{bundle}").into(), ..run };
            if has_gap {
                // A window alone lacks its last hour.
                let hours: Vec<i64> = (start..start + length - 1).collect();
                windows.push(window(bundle, 100 * number + 50, start..start + length, &[("x", &hours)]));
            } else {
                windows.push(run);
            }
        }
        let named = |window: StoredWindow| {
            let id = format!("{}.{}", window.bundle, window.sequence);
            StoredWindow { id, ..window }
        };
        let alone = windows.iter().flat_map(StoredWindow::each).map(named).collect();
        let (right, met, _) = counted(alone);
        let mut aside = Aside::default();
        let kept = leave_out(windows, &Needed::once(), &mut aside);
        let mut found = Vec::new();
        for window in kept.iter().flat_map(StoredWindow::each).map(named) {
            found.extend(window.ticks().map(|tick| (window.id.clone(), "x".to_owned(), window.instant(tick) / HOUR)));
        }
        found.sort();
        let mut right: Vec<_> = right;
        right.sort();
        let has = |reading: &(String, String, i64)| right.binary_search(reading).is_ok();
        // Ticks without a reading are of the windows with a gap.
        found.retain(|reading| has(reading) || !reading.0.ends_with("50"));
        proptest::prop_assert_eq!(found, right);
        proptest::prop_assert_eq!(aside.overlapping, met);
    }
}
