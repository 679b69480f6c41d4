//! Samples, reports, and ticks with several readings.

use proptest::prelude::*;
use sotto_pack::{Amount, Gauge, Period, Several};

use super::*;

fn gauge(several: Several) -> ChannelKind {
    ChannelKind::Gauge(Gauge { several, hold: None })
}

/// Rows of seconds and values.
fn at_seconds(readings: &[(i64, f64)]) -> Vec<Row> {
    readings.iter().map(|(second, value)| row(second * 1000, &[Some(*value)])).collect()
}

#[test]
fn a_sample_takes_the_nearest_tick_and_a_report_that_of_its_interval() {
    // A clock a second off; half a minute goes to the earlier tick; the last one before midnight to the next day.
    let script = at_seconds(&[(0, 1.0), (59, 2.0), (121, 3.0), (210, 4.0), (271, 5.0), (86_399, 6.0)]);
    let kind = gauge(Several::Mean);
    let (windows, taken) = Pass { kind, ..Pass::default() }.run(script.clone());
    let all: Vec<(i64, f64)> = windows.iter().flat_map(slots).collect();
    assert_eq!(all, [(0, 1.0), (1, 2.0), (2, 3.0), (3, 4.0), (5, 5.0), (1440, 6.0)]);
    assert!(taken.totals.left_out().is_empty());
    let kind = ChannelKind::Amount(Amount::default());
    let (windows, _) = Pass { kind, ..Pass::default() }.run(script);
    let all: Vec<(i64, f64)> = windows.iter().flat_map(slots).filter(|(_, value)| *value != 0.0).collect();
    assert_eq!(all, [(0, 3.0), (2, 3.0), (3, 4.0), (4, 5.0), (1439, 6.0)]);
}

#[test]
fn several_readings_of_a_tick_are_one() {
    let script =
        at_seconds(&[(60, 10.0), (70, 20.0), (80, 60.0), (60, 10.0), (50, 14.0), (600, 999.0), (601, 7.0)]);
    let slots = |several| {
        let (windows, taken) = Pass { kind: gauge(several), ..Pass::default() }.run(script.clone());
        let all: Vec<(i64, f64)> = windows.iter().flat_map(slots).collect();
        (all, taken.totals.left_out().iter().collect::<Vec<_>>())
    };
    let repeated = vec![(Reason::Duplicate, 1)];
    assert_eq!(slots(Several::Mean), (vec![(1, 26.0), (10, 503.0)], repeated.clone()));
    assert_eq!(slots(Several::First), (vec![(1, 14.0), (10, 999.0)], repeated.clone()));
    assert_eq!(slots(Several::Last), (vec![(1, 60.0), (10, 7.0)], repeated.clone()));
    assert_eq!(slots(Several::Min), (vec![(1, 10.0), (10, 7.0)], repeated.clone()));
    assert_eq!(slots(Several::Max), (vec![(1, 60.0), (10, 999.0)], repeated));
    // A sum beyond the range is left out whole.
    let beyond = vec![(Reason::OutOfRange, 2), (Reason::Duplicate, 1)];
    assert_eq!(slots(Several::Sum), (vec![(1, 104.0)], beyond));
    let refused = vec![(Reason::Duplicate, 1), (Reason::OffGrid, 4)];
    assert_eq!(slots(Several::Refuse), (vec![(1, 10.0), (10, 999.0)], refused));
}

#[test]
fn ticks_are_where_the_sensor_reports() {
    // At 40 seconds after each minute: rounded to the clock's minutes they would be those of the next one.
    let script: Vec<(i64, f64)> = (0..120).map(|minute| (60 * minute + 40, minute as f64)).collect();
    let kind = gauge(Several::Mean);
    let (windows, _) = Pass { kind: kind.clone(), ..Pass::default() }.run(at_seconds(&script));
    let packed = |at: usize| &windows[at].window.packed;
    assert_eq!((packed(0).start, packed(1).start), (40_000, HOUR + 40_000));
    assert_eq!((packed(0).length, packed(0).present[0], windows[0].window.until), (60, 60, HOUR + 40_000));
    // A later run has the phase of what is sent, whatever its rows show and an option states.
    let sent = of_windows(&windows);
    let late = at_seconds(&[(7200, 1.0), (7260, 2.0), (7320, 3.0), (7380, 4.0), (7440, 5.0), (7500, 6.0)]);
    let (later, _) = Pass { kind: kind.clone(), sent, phase: Some(0), ..Pass::default() }.run(late);
    assert_eq!(later[0].window.packed.start, 2 * HOUR + 40_000);
    let (stated, _) = Pass { kind, phase: Some(30_000), ..Pass::default() }.run(at_seconds(&script[..1]));
    assert_eq!(stated[0].window.packed.start, 30_000);
}

/// Returns the instants of a window's readings and their values.
fn instants(closed: &Closed) -> Vec<(i64, f64)> {
    let packed = &closed.window.packed;
    let at = |tick: i64| packed.period.at(packed.start, tick);
    let of = |(minute, value): (i64, f64)| (at(minute - packed.start / MINUTE), value);
    slots(closed).into_iter().map(of).collect()
}

#[test]
fn ticks_go_on_through_midnight() {
    let seven = |span| Some(Cut::new(span, Period::from_milliseconds(7 * 60_000), 60));
    // Every seven minutes from two minutes past midnight on, for two days.
    let script: Vec<(i64, f64)> = (0..411).map(|n| (120 + 420 * n, n as f64)).collect();
    let expected: Vec<(i64, f64)> = script.iter().map(|(second, value)| (1000 * second, *value)).collect();
    for span in [Span::Day, Span::Hour] {
        let pass = || Pass { kind: gauge(Several::Mean), cut: seven(span), ..Pass::default() };
        let (windows, taken) = pass().run(at_seconds(&script));
        assert_eq!(windows.iter().flat_map(instants).collect::<Vec<_>>(), expected, "{span:?}");
        assert!(taken.totals.left_out().is_empty());
        // A run that begins after a stop goes on at the same ticks, and a clock that is off changes nothing.
        let (mut halves, _) = pass().run(at_seconds(&script[..207]));
        let sent = of_windows(&halves);
        let late: Vec<(i64, f64)> =
            script[207..].iter().map(|(second, value)| (second - 100, *value)).collect();
        halves.extend(Pass { sent, ..pass() }.run(at_seconds(&late)).0);
        assert_eq!(halves.iter().flat_map(instants).collect::<Vec<_>>(), expected, "{span:?}");
    }
    // Streams of before begin anew at midnight, and take the interval that holds the time.
    let before = Cut { grid: Grid::OfSpan, ..seven(Span::Day).unwrap() };
    let pass = Pass { kind: gauge(Several::Mean), cut: Some(before), ..Pass::default() };
    let (windows, _) = pass.run(at_seconds(&script));
    let all: Vec<i64> = windows.iter().flat_map(instants).map(|(at, _)| at).collect();
    assert_eq!((all[0], all[205], all[206], all[207]), (0, 86_100_000, 86_400_000, 86_820_000));
}

proptest! {
    /// Wherever windows are cut, in however many runs, with files in any order: a reading has the same tick.
    #[test]
    fn where_windows_are_cut_changes_no_tick(
        minutes in prop_oneof![Just(7_u32), Just(11), Just(16), Just(50)],
        phase in prop_oneof![Just(0_u32), 0_u32..420_000],
        seconds in prop::collection::btree_set(0_i64..400_000, 1..60),
        of_hours in any::<bool>(),
        (ticks, stop) in (1_u32..60, 0_usize..60),
        is_report in any::<bool>(),
    ) {
        let kind = if is_report { ChannelKind::Amount(Amount::default()) } else { gauge(Several::Last) };
        let all: Vec<(i64, f64)> = seconds.iter().zip(1_u32..).map(|(second, n)| (*second, n.into())).collect();
        let pass = |span, ticks| {
            let cut = Some(Cut { span, period: Period::from_milliseconds(minutes * 60_000), ticks, grid: Grid::Absolute { phase: 0 } });
            Pass { kind: kind.clone(), phase: Some(phase), cut, ..Pass::default() }
        };
        let readings = |windows: &[Closed]| {
            let mut all: Vec<(i64, f64)> = windows.iter().flat_map(instants).filter(|(_, value)| *value != 0.0).collect();
            all.sort_by_key(|(at, _)| *at);
            all
        };
        let (whole, _) = pass(Span::Day, 60).run(at_seconds(&all));
        let span = if of_hours { Span::Hour } else { Span::Day };
        let (other, _) = Pass { open: Some(2), ..pass(span, ticks) }.run(at_seconds(&all.iter().rev().copied().collect::<Vec<_>>()));
        if !is_report {
            // Two runs, whose readings share no tick.
            let own = pass(Span::Day, 60).cut.unwrap();
            let own = Cut { grid: Grid::Absolute { phase: phase % own.period.ceil() }, ..own };
            let tick = |second: i64| own.tick(&Clock::utc(), second * 1000 + (own.period.cycle() - 1) / 2).0;
            let at = stop.min(all.len());
            let at = all[..at].iter().rposition(|(second, _)| all.get(at).is_none_or(|(next, _)| tick(*next) != tick(*second)));
            let (first, second) = all.split_at(at.map_or(0, |at| at + 1));
            let (mut runs, _) = pass(span, ticks).run(at_seconds(first));
            let sent = of_windows(&runs);
            runs.extend(Pass { sent, ..pass(span, ticks) }.run(at_seconds(second)).0);
            prop_assert_eq!(readings(&runs), readings(&whole));
        }
        let expected = readings(&whole);
        prop_assert_eq!(readings(&other), expected);
    }

    /// A clock that is off by less than half a period, rows in any order, some of them twice: the ticks of the clean series.
    #[test]
    fn jitter_order_and_repetition_change_nothing(
        minutes in prop::collection::btree_set(1_i64..400, 1..80),
        seed in prop::collection::vec((-29_i64..=29, any::<u64>(), any::<bool>()), 80),
    ) {
        let kind = gauge(Several::Mean);
        let clean: Vec<(i64, f64)> = minutes.iter().map(|minute| (60 * minute, (minute * 7 % 1000) as f64)).collect();
        let mut messy: Vec<(u64, i64, f64)> = Vec::new();
        for ((second, value), (jitter, order, twice)) in clean.iter().zip(&seed) {
            messy.push((*order, second + jitter, *value));
            if *twice {
                messy.push((order.rotate_left(32), second + jitter, *value));
            }
        }
        messy.sort_unstable_by_key(|(order, ..)| *order);
        let messy: Vec<(i64, f64)> = messy.into_iter().map(|(_, second, value)| (second, value)).collect();
        let packed = |rows: &[(i64, f64)]| {
            let pass = Pass { kind: kind.clone(), phase: Some(0), open: Some(3), ..Pass::default() };
            let (windows, _) = pass.run(at_seconds(rows));
            let mut all: Vec<(i64, f64)> = windows.iter().flat_map(slots).collect();
            all.sort_unstable_by_key(|(minute, _)| *minute);
            all
        };
        prop_assert_eq!(packed(&messy), packed(&clean));
    }
}
