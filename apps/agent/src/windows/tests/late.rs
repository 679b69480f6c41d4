//! Readings that come late, and files in any order.

use proptest::prelude::*;

use super::*;

#[test]
fn a_paced_source_has_one_window_for_now_and_others_for_late_rows() {
    let script = rows(&[(61, 1.0), (59, 2.0), (62, 3.0), (125, 4.0), (63, 5.0), (61, 9.0), (126, 6.0)]);
    let mut windows = Pass { paced: true, ..Pass::default() }.windows(script);
    let first = windows.next_closed().unwrap().unwrap();
    assert_eq!(slots(&first), [(59, 2.0)]);
    assert_eq!(slots(&windows.next_closed().unwrap().unwrap()), [(61, 1.0), (62, 3.0)]);
    assert_eq!(windows.rows, 4, "sent as soon as a row lies behind them");
    let supplement = windows.next_closed().unwrap().unwrap();
    assert_eq!((supplement.window.packed.start, slots(&supplement)), (HOUR, vec![(63, 5.0)]));
    let last = windows.next_closed().unwrap().unwrap();
    assert_eq!(slots(&last), [(125, 4.0), (126, 6.0)]);
    assert_eq!(left_out(&supplement), [(Reason::AlreadySent, 1)]);
    assert!(windows.next_closed().unwrap().is_none());
}

#[test]
fn late_windows_of_a_paced_source_have_a_bound() {
    // A window for now, then one late reading in each of 100 hours, and another in each.
    let late = |minute: i64| (0..100).map(move |hour| (60 * hour + minute, 1.0));
    let script: Vec<(i64, f64)> =
        [(60 * 1000, 1.0)].into_iter().chain(late(0)).chain(late(30)).chain([(60 * 1001, 1.0)]).collect();
    let mut windows = Pass { paced: true, ..Pass::default() }.windows(rows(&script));
    let mut all = Vec::new();
    while let Some(closed) = windows.next_closed().unwrap() {
        all.push(closed);
        let open = windows.streams[0].taken().totals.windows;
        assert!(open <= 202);
    }
    // The 63 last windows of the first 100 are closed when those of the second begin.
    let sent: Vec<(i64, f64)> = all.iter().flat_map(slots).collect();
    assert_eq!(sent.len(), script.len());
    assert_eq!(sent.iter().map(|(minute, _)| minute).collect::<BTreeSet<_>>().len(), script.len());
}

#[test]
fn a_file_in_any_order_gives_the_windows_of_the_sorted_one() {
    let sorted: Vec<(i64, f64)> = (0..6000).map(|minute| (minute, (minute % 100) as f64)).collect();
    let reversed: Vec<(i64, f64)> = sorted.iter().rev().copied().collect();
    // In steps of 39 hours: every hour has its rows all over the file.
    let mixed: Vec<(i64, f64)> = (0..6000).map(|row| sorted[row * 2357 % 6000]).collect();
    let (expected, taken) = Pass::default().run(rows(&sorted));
    assert!(expected.len() == 100 && taken.totals.left_out().is_empty());
    for script in [&reversed, &mixed] {
        for (open, passes) in [(None, 1), (Some(100), 1), (Some(50), 2), (Some(33), 4), (Some(10), 10)] {
            let mut windows = Pass { open, ..Pass::default() }.windows(rows(script));
            let mut all = Vec::new();
            while let Some(closed) = windows.next_closed().unwrap() {
                all.push(slots(&closed));
            }
            assert_eq!((windows.passes(), windows.rows()), (passes, 6000), "{open:?}");
            assert!(all.iter().eq(expected.iter().map(slots).collect::<Vec<_>>().iter()), "{open:?}");
            assert_eq!(windows.taken()[0], taken, "{open:?}");
        }
    }
}

#[test]
fn counts_of_rows_do_not_depend_on_passes() {
    // Newest first: duplicates, values out of range, and cells without a number, in every hour.
    let mut script = Vec::new();
    for hour in (0..100).rev() {
        script.extend(rows(&[(60 * hour + 5, 5.0), (60 * hour + 5, 5.0), (60 * hour + 4, 2000.0)]));
        script.push(row((60 * hour + 3) * MINUTE, &[None]));
        script.extend(rows(&[(60 * hour + 2, 2.0)]));
    }
    let sent = Pass::default().run(rows(&[(60 * 50 + 2, 2.0), (60 * 99 + 5, 5.0)])).0;
    for open in [None, Some(40), Some(3)] {
        let counts = |sent| {
            let (windows, taken) = Pass { open, sent, ..Pass::default() }.run(script.clone());
            let duplicates =
                windows.iter().flat_map(left_out).filter(|(reason, _)| *reason == Reason::Duplicate);
            let in_windows: u64 = duplicates.map(|(_, count)| count).sum();
            (taken.totals.readings(), taken.totals.left_out().iter().collect::<Vec<_>>(), in_windows)
        };
        let expected = vec![(Reason::Empty, 100), (Reason::OutOfRange, 100), (Reason::Duplicate, 100)];
        assert_eq!(counts(Sent::default()), (200, expected, 100), "{open:?}");
        // An earlier run has counted the cells before its end.
        let expected = vec![(Reason::OutOfRange, 100), (Reason::Duplicate, 99), (Reason::AlreadySent, 3)];
        assert_eq!(counts(of_windows(&sent)), (198, expected, 99), "{open:?}");
    }
}

#[test]
fn a_file_in_order_keeps_no_more_than_64_windows_open() {
    let script: Vec<(i64, f64)> = (0..300).map(|hour| (60 * hour, 1.0)).collect();
    let mut windows = Pass::default().windows(rows(&script));
    assert!(windows.next_closed().unwrap().is_some());
    assert_eq!(windows.rows, 65);
    // Rows that run back then take what those windows lack.
    let script = [&script[..], &[(1, 2.0), (0, 2.0), (60 * 299, 2.0)]].concat();
    let (windows, taken) = Pass::default().run(rows(&script));
    assert_eq!(
        taken.totals.left_out().iter().collect::<Vec<_>>(),
        [(Reason::Duplicate, 1), (Reason::AlreadySent, 1)]
    );
    let supplement = windows.iter().skip(1).find(|closed| closed.window.packed.start == 0).unwrap();
    assert_eq!(slots(supplement), [(1, 2.0)]);
}

#[test]
fn a_spool_of_an_earlier_version_takes_nothing_before_its_end() {
    let until = Some(90 * MINUTE);
    let sent = Sent { before: until, until, ..Sent::default() };
    let (windows, taken) =
        Pass { sent, ..Pass::default() }.run(rows(&[(5, 1.0), (89, 1.0), (90, 1.0), (95, 1.0)]));
    assert_eq!(windows.iter().map(slots).collect::<Vec<_>>(), [[(90, 1.0), (95, 1.0)]]);
    assert_eq!(taken.totals.left_out().count(Reason::AlreadySent), 2);
}

/// One run of an agent: rows as they come, and how they are read.
#[derive(Clone, Debug)]
struct Run {
    rows: Vec<usize>,
    paced: bool,
    open: usize,
    /// The windows that reach the spool; a kill loses the others.
    spooled: usize,
}

fn run(readings: usize) -> impl Strategy<Value = Run> {
    let rows = proptest::collection::vec(0..readings, 0..80);
    let order = 0..4_u8;
    (rows, order, any::<bool>(), 2..6_usize, prop_oneof![4 => Just(usize::MAX), 1 => 0..8_usize]).prop_map(
        |(mut rows, order, paced, open, spooled)| {
            match order {
                0 => rows.sort_unstable(),
                1 => rows.sort_unstable_by(|a, b| b.cmp(a)),
                _ => {}
            }
            Run { rows, paced, open, spooled }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: super::messes(), ..ProptestConfig::default() })]

    /// The law: what is sent is the set of readings, whatever the order, grouping and repetition of their arrival.
    #[test]
    fn the_readings_sent_are_the_set_of_readings(
        minutes in proptest::collection::btree_set(0_i64..1200, 1..60),
        seed in proptest::collection::vec(run(1000), 1..6),
    ) {
        let series: Vec<(i64, f64)> = minutes.iter().map(|minute| (*minute, (minute * 7 % 1000) as f64)).collect();
        let of = |row: usize| series[row % series.len()];
        let mut spooled: Vec<Closed> = Vec::new();
        let everything = Run { rows: (0..series.len()).rev().collect(), paced: false, open: 3, spooled: usize::MAX };
        for run in seed.iter().chain([&everything]) {
            let script: Vec<(i64, f64)> = run.rows.iter().map(|row| of(*row)).collect();
            let (paced, open) = (run.paced, Some(run.open));
            let sent = of_windows(&spooled);
            let (closed, _) = Pass { paced, open, sent, ..Pass::default() }.run(rows(&script));
            spooled.extend(closed.into_iter().take(run.spooled));
        }
        let mut sent: Vec<(i64, f64)> = spooled.iter().flat_map(slots).collect();
        sent.sort_by_key(|(minute, _)| *minute);
        prop_assert_eq!(&sent, &series, "each tick once, with its value");
        // The same bits as those of the clean series.
        let sum = |windows: &[Closed]| windows.iter().flat_map(|closed| closed.window.packed.integers().unwrap()).sum::<i64>();
        prop_assert_eq!(sum(&spooled), sum(&Pass::default().run(rows(&series)).0));
    }
}
