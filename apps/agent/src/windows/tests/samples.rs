//! Samples, reports, and ticks with several readings.

use proptest::prelude::*;
use sotto_pack::{Amount, Gauge, Several};

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

proptest! {
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
