//! Windows that are made again: late readings of states, counters, amounts, held gauges, and products.

use proptest::prelude::*;
use sotto_pack::{Amount, Counter, Gauge, Period, State};

use super::site::{How, Kill, Site};
use super::*;

const DAY: i64 = 24 * HOUR;
const NEVER: i64 = i64::MAX / 4;

pub(super) fn of_kind(name: &str, kind: ChannelKind, maximum: f64) -> Channel {
    Channel { name: name.into(), minimum: 0.0, maximum, resolution: Some(1.0), kind, ..Channel::default() }
}

pub(super) fn door() -> Channel {
    of_kind("door", ChannelKind::State(State::of(["closed", "open"])), 1.0)
}

pub(super) fn gauge(name: &str, hold: Option<u64>) -> Channel {
    of_kind(name, ChannelKind::Gauge(Gauge { hold, ..Gauge::default() }), 1000.0)
}

/// A reading: channel, time in seconds, value.
pub(super) type Read = (usize, i64, f64);

/// Returns rows that are each about one channel of `count`.
pub(super) fn rows_of(count: usize, readings: &[Read]) -> Vec<Row> {
    let row = |(channel, second, value): &Read| {
        let mut values = vec![None; count];
        values[*channel] = Some(*value);
        Row { at: second * 1000, values: Zeroizing::new(values), missing: vec![None; count] }
    };
    readings.iter().map(row).collect()
}

fn hours(now: i64) -> Site {
    Site::new(vec![door()], cut(60_000), NEVER, now)
}

/// Returns the minutes at which the door is open, of all that count.
fn open_minutes(site: &Site) -> Vec<i64> {
    let (numbers, _) = site.fold();
    let layout = &site.messages[0].description.layout;
    let open = layout.quantiser(0).unwrap().quantise(1.0).unwrap();
    numbers.into_iter().filter(|(_, number)| *number == open).map(|((_, at), _)| at / MINUTE).collect()
}

#[test]
fn a_late_state_changes_the_ticks_behind_it_up_to_the_next_report() {
    let mut site = hours(DAY);
    let at = |minute: i64, value| (0, 60 * minute + 5, value);
    site.run(rows_of(1, &[at(10, 0.0), at(250, 0.0)]), &How::default(), Kill::Never).unwrap();
    assert_eq!(site.messages.len(), 24, "held to the end of the day");
    assert_eq!(site.fold().0.len(), 1440 - 10);
    assert_eq!(open_minutes(&site), Vec::<i64>::new());
    // Open from 1:05 to 4:10, told late.
    let (taken, lost) = site.run(rows_of(1, &[at(65, 1.0)]), &How::default(), Kill::Never).unwrap();
    assert_eq!((taken.totals.readings(), lost.by_reason.total()), (1, 0));
    assert_eq!(open_minutes(&site), (65..250).collect::<Vec<_>>());
    // Four windows hold another state, and each names the one before it.
    let again: Vec<_> =
        site.messages[24..].iter().map(|message| message.description.replaces.clone()).collect();
    let expected =
        [1, 2, 3, 4].map(|window| Some(sotto_pack::Replaces { windows: vec![window], channels: vec![0] }));
    assert_eq!(again, expected);
    // The same readings again change nothing, and none is lost.
    let all = [at(10, 0.0), at(250, 0.0), at(65, 1.0)];
    let (taken, lost) = site.run(rows_of(1, &all), &How::default(), Kill::Never).unwrap();
    assert_eq!((taken.totals.left_out().count(Reason::AlreadySent), lost.by_reason.total()), (3, 0));
    // The same time with another state is lost, until it is corrected.
    let (_, lost) = site.run(rows_of(1, &[at(65, 0.0)]), &How::default(), Kill::Never).unwrap();
    assert_eq!(lost.by_reason.count(Reason::AlreadySent), 1);
    assert_eq!(site.messages.len(), 28);
}

#[test]
fn ticks_up_to_the_next_file_are_filled() {
    let mut site = hours(10 * DAY);
    let day = 24 * 60;
    site.run(rows_of(1, &[(0, 60, 1.0)]), &How::default(), Kill::Never).unwrap();
    assert_eq!(open_minutes(&site), (1..day).collect::<Vec<_>>());
    // Two days without a report: the state holds.
    site.run(rows_of(1, &[(0, 60 * (3 * day + 30), 0.0)]), &How::default(), Kill::Never).unwrap();
    assert_eq!(open_minutes(&site), (1..3 * day + 30).collect::<Vec<_>>());
    assert_eq!(site.fold().0.len() as i64, 4 * day - 1);
    // An older file: its last state holds up to the first report that is known.
    let older = [(0, -60 * (day + 5), 0.0)];
    site.run(rows_of(1, &older), &How::default(), Kill::Never).unwrap();
    assert_eq!(site.fold().0.len() as i64, 5 * day + 5);
}

#[test]
fn a_state_holds_no_longer_than_it_may() {
    let kind = ChannelKind::State(State { hold: Some(90 * 60_000), ..State::of(["closed", "open"]) });
    let mut site = Site::new(vec![of_kind("door", kind, 1.0)], cut(60_000), NEVER, DAY);
    site.run(rows_of(1, &[(0, 0, 1.0), (0, 5 * 3600, 1.0)]), &How::default(), Kill::Never).unwrap();
    assert_eq!(open_minutes(&site), (0..90).chain(300..390).collect::<Vec<_>>());
    site.run(rows_of(1, &[(0, 3600, 1.0)]), &How::default(), Kill::Never).unwrap();
    assert_eq!(open_minutes(&site), (0..150).chain(300..390).collect::<Vec<_>>());
}

#[test]
fn a_live_source_fills_up_to_now_and_goes_on_there() {
    let mut site = hours(100 * MINUTE);
    let live = How { paced: true, ..How::default() };
    site.run(rows_of(1, &[(0, 60, 1.0)]), &live, Kill::Never).unwrap();
    assert_eq!(open_minutes(&site), (1..100).collect::<Vec<_>>());
    assert_eq!(site.messages.len(), 2);
    // A row beyond the hour closes its window.
    site.now = 130 * MINUTE;
    site.run(rows_of(1, &[(0, 60 * 125, 0.0)]), &live, Kill::Never).unwrap();
    assert_eq!(open_minutes(&site), (1..125).collect::<Vec<_>>());
    let starts: Vec<i64> = site.messages.iter().map(|message| message.description.start / MINUTE).collect();
    assert_eq!(starts, [0, 60, 100, 120]);
    assert!(site.messages.iter().all(|message| message.description.replaces.is_none()));
}

#[test]
fn an_amount_is_zero_where_nothing_came() {
    let mut site = Site::new(
        vec![of_kind("rain", ChannelKind::Amount(Amount::default()), 100.0)],
        cut(60_000),
        NEVER,
        DAY,
    );
    let sum = |site: &Site| {
        let quantiser = *site.messages[0].description.layout.quantiser(0).unwrap();
        let (numbers, _) = site.fold();
        (numbers.len(), numbers.values().map(|number| quantiser.value(*number)).sum::<f64>())
    };
    site.run(rows_of(1, &[(0, 3600, 2.0), (0, 3610, 3.0)]), &How::default(), Kill::Never).unwrap();
    assert_eq!(sum(&site), (23 * 60, 5.0));
    // A tip in the same minute, and one before.
    site.run(rows_of(1, &[(0, 3620, 4.0), (0, 600, 1.0)]), &How::default(), Kill::Never).unwrap();
    assert_eq!(sum(&site), (23 * 60 + 50, 10.0));
    // More than the range in one tick.
    let (_, lost) = site.run(rows_of(1, &[(0, 3621, 99.0)]), &How::default(), Kill::Never).unwrap();
    assert_eq!((sum(&site).1, lost.by_reason.count(Reason::OutOfRange)), (10.0, 1));
}

#[test]
fn beyond_the_time_for_which_readings_are_kept_they_are_too_late() {
    let mut site = Site::new(
        vec![door(), of_kind("meter", ChannelKind::Counter(Counter::default()), 1000.0)],
        cut(60_000),
        DAY,
        DAY,
    );
    let first = [(0, 60, 1.0), (1, 120, 5.0), (1, 3000, 9.0)];
    site.run(rows_of(2, &first), &How::default(), Kill::Never).unwrap();
    let before = site.fold();
    site.now = 3 * DAY;
    // Repeated readings are told from late ones.
    let (taken, lost) = site.run(rows_of(2, &first), &How::default(), Kill::Never).unwrap();
    assert_eq!((taken.totals.left_out().count(Reason::AlreadySent), lost.by_reason.total()), (3, 0));
    let late = [(0, 600, 0.0), (1, 600, 7.0)];
    let (_, lost) = site.run(rows_of(2, &late), &How::default(), Kill::Never).unwrap();
    assert_eq!(lost.by_reason.iter().collect::<Vec<_>>(), [(Reason::TooLate, 2)]);
    assert_eq!(site.fold(), before);
    // What held is not forgotten.
    site.run(rows_of(2, &[(0, 86_400 + 600, 0.0)]), &How::default(), Kill::Never).unwrap();
    let (numbers, _) = site.fold();
    assert_eq!(numbers.keys().filter(|(channel, _)| *channel == 0).count(), 2 * 1440 - 1);
}

#[test]
fn after_a_lost_spool_a_file_that_is_read_again_tells_what_held() {
    let mut site = hours(90 * MINUTE);
    let rows = [(0, 600, 1.0), (0, 1200, 0.0), (0, 4000, 1.0)];
    site.run(rows_of(1, &rows), &How::default(), Kill::Never).unwrap();
    assert_eq!(open_minutes(&site), (10..20).chain(66..90).collect::<Vec<_>>());
    // The cloud tells the ticks, and nothing of readings.
    site.lose_spool();
    site.now = DAY;
    let more = [&rows[..], &[(0, 7200, 0.0), (0, 1500, 1.0)]].concat();
    let (taken, lost) = site.run(rows_of(1, &more), &How::default(), Kill::Never).unwrap();
    assert_eq!((taken.totals.left_out().count(Reason::AlreadySent), lost.by_reason.total()), (4, 0));
    assert_eq!(open_minutes(&site), (10..20).chain(66..120).collect::<Vec<_>>());
}

#[test]
fn a_late_partner_makes_its_window_again() {
    let channels = || vec![gauge("a", None), gauge("b", None), door()];
    let mut site = Site::new(channels(), cut(60_000), NEVER, DAY);
    site.run(rows_of(3, &[(0, 60, 7.0), (0, 120, 8.0)]), &How::default(), Kill::Never).unwrap();
    assert!(site.fold().1.is_empty());
    site.run(rows_of(3, &[(1, 120, 3.0)]), &How::default(), Kill::Never).unwrap();
    let pairs: Vec<_> = site.fold().1.into_iter().collect();
    assert_eq!(pairs, [(2 * MINUTE, 0, 1)]);
}

#[test]
fn a_correction_comes_in_the_place_of_all_windows_of_its_time() {
    let mut site = Site::new(vec![gauge("a", None), gauge("b", None)], cut(60_000), NEVER, DAY);
    let plain = How::default();
    // Without kept readings: these channels are plain.
    let all: Vec<Read> = (0..120).map(|minute| ((minute % 2) as usize, 60 * minute, 5.0)).collect();
    let correct = How { correct: true, ..How::default() };
    site.run(rows_of(2, &all), &correct, Kill::Never).unwrap();
    assert!(site.messages.iter().all(|message| message.description.replaces.is_none()));
    let mended: Vec<Read> =
        all.iter().filter(|(channel, ..)| *channel == 0).map(|(c, at, _)| (*c, *at, 6.0)).collect();
    // The file lacks the readings of b: nothing is sent.
    let error = site.run(rows_of(2, &mended), &correct, Kill::Never).err().unwrap().to_string();
    assert!(
        error.contains("b: 60 ticks, 1970-01-01T00:01:00+00:00") && error.contains("--allow-missing"),
        "{error}"
    );
    assert_eq!(site.messages.len(), 2);
    let allowed = How { allow_missing: true, ..correct.clone() };
    site.run(rows_of(2, &mended), &allowed, Kill::Never).unwrap();
    let named: Vec<_> = site.messages[2..]
        .iter()
        .map(|message| message.description.replaces.clone().unwrap().windows)
        .collect();
    assert_eq!(named, [[0], [1]]);
    let (numbers, _) = site.fold();
    assert_eq!(numbers.len(), 60);
    // A correction of a correction names both.
    site.run(rows_of(2, &all), &correct, Kill::Never).unwrap();
    let named: Vec<_> = site.messages[4..]
        .iter()
        .map(|message| message.description.replaces.clone().unwrap().windows)
        .collect();
    assert_eq!(named, [[0, 2], [1, 3]]);
    assert_eq!(site.fold().0.len(), 120);
    // Readings that a correction took out may come again.
    site.run(rows_of(2, &mended), &allowed, Kill::Never).unwrap();
    let (taken, _) = site.run(rows_of(2, &all), &plain, Kill::Never).unwrap_or_else(|_| panic!("plain"));
    assert_eq!(taken.totals.windows, 2);
    assert_eq!(site.fold().0.len(), 120);
}

#[test]
fn a_corrected_state_changes_the_ticks_behind_it() {
    let mut site = Site::new(vec![door(), gauge("a", None)], cut(60_000), NEVER, DAY);
    let first = [(0, 600, 1.0), (0, 1200, 0.0), (0, 1260, 1.0), (0, 9000, 0.0), (1, 1800, 7.0)];
    site.run(rows_of(2, &first), &How::default(), Kill::Never).unwrap();
    let correct = How { correct: true, ..How::default() };
    // The door was not closed for a minute: a report is taken out.
    let mended = [(0, 600, 1.0), (0, 1200, 1.0), (1, 1800, 8.0)];
    let error = site.run(rows_of(2, &mended), &correct, Kill::Never).err().unwrap().to_string();
    assert!(error.contains("door: 1 tick, 1970-01-01T00:21:00"), "{error}");
    let allowed = How { allow_missing: true, ..correct };
    site.run(rows_of(2, &mended), &allowed, Kill::Never).unwrap();
    assert_eq!(open_minutes(&site).len(), 140);
    let mut sorted = Site::new(vec![door(), gauge("a", None)], cut(60_000), NEVER, DAY);
    let expected = [mended[0], mended[1], mended[2], first[3]];
    sorted.run(rows_of(2, &expected), &How::default(), Kill::Never).unwrap();
    assert_eq!(site.fold(), sorted.fold());
    // A closed door in place of an open one: windows behind the file hold it, up to the next report.
    let closed = [(0, 600, 0.0), (0, 1200, 0.0), (1, 1800, 8.0)];
    site.run(rows_of(2, &closed), &allowed, Kill::Never).unwrap();
    assert_eq!(open_minutes(&site), Vec::<i64>::new());
    assert_eq!(site.fold().0.len(), sorted.fold().0.len());
}

/// Returns numbers below `count` in random order.
fn shuffled(count: i64) -> Vec<i64> {
    let mut state = 7_u64;
    let mut key = |number: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33, number)
    };
    let mut all: Vec<(u64, i64)> = (0..count).map(&mut key).collect();
    all.sort_unstable();
    all.into_iter().map(|(_, number)| number).collect()
}

#[test]
fn rows_in_random_order_make_each_window_once() {
    let report = |minute: i64| row(minute * MINUTE, &[Some((minute / 7 % 2) as f64)]);
    let site = || Site::new(vec![door()], cut(60_000), 7 * DAY, 100 * DAY);
    let run = |minutes: &mut dyn Iterator<Item = i64>| {
        let (mut site, how) = (site(), How { most_reports: Some(2000), ..How::default() });
        let (taken, lost) = site.run(minutes.map(report).collect(), &how, Kill::Never).unwrap();
        assert!(lost.by_reason.is_empty());
        assert!(taken.totals.left_out().is_empty(), "{:?}", taken.totals.left_out());
        assert_eq!(taken.totals.channels["door"].readings, 12_000);
        site
    };
    let (sorted, random) = (run(&mut (0..12_000)), run(&mut shuffled(12_000).into_iter()));
    assert_eq!(random.fold(), sorted.fold());
    // Windows of an hour; the last state holds to the end of the ninth day.
    assert_eq!((sorted.messages.len(), random.messages.len()), (216, 216));
    // Even minutes two hours before odd ones, and from the last row to the first: hardly a window is made again.
    let lag = run(&mut (0..6060).flat_map(|at| [2 * at, 2 * at - 119]).filter(|at| (0..12_000).contains(at)));
    let back = run(&mut (0..12_000).rev());
    assert_eq!((lag.fold(), back.fold()), (sorted.fold(), sorted.fold()));
    assert!(lag.messages.len() < 240 && back.messages.len() < 240);
    // In order at first: a later pass counts no reading again that it reads again.
    let late = (0..12_000).filter(|at| at % 2 == 0);
    let mut late: Vec<i64> = late.collect();
    late.extend(shuffled(12_000).into_iter().filter(|at| at % 2 == 1));
    assert_eq!(run(&mut late.into_iter()).fold(), sorted.fold());
}

/// One run of an agent: the rows that it reads, how, and where it is killed.
#[derive(Clone, Debug)]
struct Run {
    rows: Vec<usize>,
    paced: bool,
    most_reports: usize,
    kill: Kill,
}

fn run() -> impl Strategy<Value = Run> {
    let rows = prop::collection::vec(any::<usize>(), 0..60);
    let kill = prop_oneof![
        3 => Just(Kill::Never),
        1 => (0..12_usize).prop_map(Kill::Before),
        1 => (0..12_usize).prop_map(Kill::Between),
    ];
    (rows, 0..3_u8, any::<bool>(), 1..40_usize, kill).prop_map(
        |(mut rows, order, paced, most_reports, kill)| {
            match order {
                0 => rows.sort_unstable(),
                1 => rows.sort_unstable_by(|a, b| b.cmp(a)),
                _ => {}
            }
            Run { rows, paced, most_reports, kill }
        },
    )
}

/// A state, a counter, an amount, a gauge that holds, and two gauges with a product.
pub(super) fn channels() -> Vec<Channel> {
    vec![
        door(),
        of_kind("meter", ChannelKind::Counter(Counter::default()), 1000.0),
        of_kind("rain", ChannelKind::Amount(Amount::default()), 1000.0),
        gauge("held", Some(2 * HOUR as u64)),
        gauge("a", None),
        gauge("b", None),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: super::messes(), ..ProptestConfig::default() })]

    /// The law: what counts is a function of the set of readings, whatever the order, grouping and repetition of their
    /// arrival, wherever runs are killed.
    #[test]
    fn what_counts_is_a_function_of_the_set_of_readings(
        times in prop::collection::btree_set((0..6_usize, 0..150_000_i64), 1..50),
        seed in any::<u64>(),
        near in any::<bool>(),
        runs in prop::collection::vec(run(), 1..5),
        by_day in any::<bool>(),
    ) {
        let value = |channel: usize, at: i64| {
            let number = (at as u64 ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            if channel == 0 { (number % 2) as f64 } else { (number % 90) as f64 }
        };
        // Near ones share ticks.
        let second = |at: i64| if near { at % 7200 } else { at };
        let mut series: Vec<Read> = times.iter().map(|(channel, at)| (*channel, second(*at), value(*channel, second(*at)))).collect();
        // Live sources fill up to now, files to the end of the last day: here the same.
        series.push((5, 172_740, 1.0));
        series.sort_unstable_by_key(|(channel, at, _)| (*at, *channel));
        series.dedup();
        let ticks = if by_day { Cut::new(Span::Day, Period::from_milliseconds(600_000), 144) } else { cut(60_000) };
        let site = || Site::new(channels(), ticks, NEVER, 2 * DAY);
        let (mut messy, mut other) = (site(), site());
        let others: Vec<Read> = series.iter().map(|(channel, at, value)| (*channel, *at, if *channel == 0 { 1.0 - value } else { 95.0 - value })).collect();
        let last = Run { rows: (0..series.len()).rev().collect(), paced: seed % 3 == 0, most_reports: 9, kill: Kill::Never };
        for run in runs.iter().chain([&last]) {
            let rows: Vec<Read> = run.rows.iter().map(|row| series[row % series.len()]).collect();
            let how = How { paced: run.paced, most_reports: Some(run.most_reports), ..How::default() };
            let (_, lost) = messy.run(rows_of(6, &rows), &how, run.kill).unwrap();
            prop_assert_eq!(lost.by_reason.total(), 0);
            let rows: Vec<Read> = run.rows.iter().map(|row| others[row % series.len()]).collect();
            other.run(rows_of(6, &rows), &how, run.kill).unwrap();
        }
        // Which windows come, and what their heads show, does not follow from values.
        let heads = |site: &Site| site.messages.iter().map(|message| message.description.clone()).collect::<Vec<_>>();
        prop_assert!(heads(&messy) == heads(&other));
        let mut sorted = site();
        sorted.run(rows_of(6, &series), &How::default(), Kill::Never).unwrap();
        let (expected, pairs) = sorted.fold();
        let (found, found_pairs) = messy.fold();
        let of = |numbers: &BTreeMap<(u16, i64), i64>, others: &BTreeMap<(u16, i64), i64>| -> Vec<((u16, i64), i64)> {
            numbers.iter().filter(|(tick, number)| others.get(tick) != Some(*number)).take(5).map(|(tick, number)| (*tick, *number)).collect()
        };
        prop_assert_eq!(of(&found, &expected), of(&expected, &found), "of {:?}", series);
        prop_assert_eq!(found_pairs, pairs);
        prop_assert!(sorted.messages.iter().all(|message| message.description.replaces.is_none()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// A correction leaves what one run over the corrected set of readings does, killed or not.
    #[test]
    fn a_correction_counts_as_the_corrected_set_does(
        times in prop::collection::btree_set((0..6_usize, 0..100_000_i64), 1..40),
        mended in prop::collection::btree_set((0..6_usize, 20_000..60_000_i64), 1..20),
        has in prop::collection::vec(any::<bool>(), 6),
        kill in prop_oneof![Just(Kill::Never), (0..9_usize).prop_map(Kill::Before), (0..9_usize).prop_map(Kill::Between)],
        most_reports in 1..40_usize,
        split in any::<bool>(),
    ) {
        let value = |channel: usize, at: i64| if channel == 0 { (at % 2) as f64 } else { (at % 90) as f64 };
        let mut first: Vec<Read> = times.iter().map(|(channel, at)| (*channel, *at, value(*channel, *at))).collect();
        first.push((5, 172_740, 1.0));
        let mended: Vec<Read> = mended.iter().filter(|(channel, _)| has[*channel]).map(|(channel, at)| (*channel, *at, value(*channel, at + 1))).collect();
        prop_assume!(!mended.is_empty());
        let site = || Site::new(channels(), cut(60_000), NEVER, 2 * DAY);
        let mut corrected = site();
        let (one, other) = if split { first.split_at(first.len() / 2) } else { (&first[..], &[][..]) };
        corrected.run(rows_of(6, other), &How::default(), Kill::Never).unwrap();
        corrected.run(rows_of(6, one), &How::default(), Kill::Never).unwrap();
        let how = How { correct: true, allow_missing: true, has: Some(has.clone()), most_reports: Some(most_reports), ..How::default() };
        for kill in [kill, Kill::Never] {
            corrected.run(rows_of(6, &mended), &how, kill).unwrap();
        }
        // Of the windows that the file covers, its own readings alone. Samples belong to the nearest minute.
        let window = |(channel, at, _): &Read| (at + if [1, 4, 5].contains(channel) { 29 } else { 0 }) / 3600;
        let fills = has.iter().zip([true, false, true, true, false, false]).any(|(has, fills)| *has && fills);
        let windows: Vec<i64> = mended.iter().map(window).collect();
        let (from, to) = (*windows.iter().min().unwrap(), *windows.iter().max().unwrap());
        let is_corrected = |at: i64| windows.contains(&at) || fills && (from..=to).contains(&at);
        let mut all: Vec<Read> = first.iter().filter(|read| !(has[read.0] && is_corrected(window(read)))).copied().collect();
        all.extend(&mended);
        let mut sorted = site();
        sorted.run(rows_of(6, &all), &How::default(), Kill::Never).unwrap();
        let (expected, pairs) = sorted.fold();
        let (found, found_pairs) = corrected.fold();
        let of = |numbers: &BTreeMap<(u16, i64), i64>, others: &BTreeMap<(u16, i64), i64>| -> Vec<((u16, i64), i64)> {
            numbers.iter().filter(|(tick, number)| others.get(tick) != Some(*number)).take(5).map(|(tick, number)| (*tick, *number)).collect()
        };
        prop_assert_eq!(of(&found, &expected), of(&expected, &found), "{:?} then {:?}", first, mended);
        prop_assert_eq!(found_pairs, pairs);
    }
}
