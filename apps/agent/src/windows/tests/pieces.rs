//! Windows that close by the clock, and pieces of open windows.

use proptest::prelude::*;

use super::joined::{Read, channels, door, gauge, rows_of};
use super::site::{How, Kill, Message, Site};
use super::*;

const DAY: i64 = 24 * HOUR;
const NEVER: i64 = i64::MAX / 4;
const FRESH: u32 = 5 * MINUTE as u32;

fn live(until: i64, fresh: Option<u32>) -> How {
    How { live: Some(until), fresh, ..How::default() }
}

/// Returns start, ticks and time of sending of each message, in minutes.
fn times<'m>(messages: impl Iterator<Item = &'m Message>) -> Vec<(i64, u32, i64)> {
    let of = |Message { description, at, .. }: &Message| {
        (description.start / MINUTE, description.ticks(), at / MINUTE)
    };
    messages.map(of).collect()
}

#[test]
fn a_silent_contact_is_sent_when_its_window_is_over() {
    let mut site = Site::new(vec![door()], cut(60_000), NEVER, 0);
    // Opened after ten minutes, and never touched again.
    site.run(rows_of(1, &[(0, 600, 1.0)]), &live(190 * MINUTE, None), Kill::Never).unwrap();
    // A minute later than the end of each; the last one at the end of the run.
    assert_eq!(times(site.messages.iter()), [(0, 60, 61), (60, 60, 121), (120, 60, 181), (180, 10, 190)]);
    assert_eq!(site.fold().0.len(), 180);
    // A run that begins later fills the time between.
    site.now = 300 * MINUTE;
    site.run(Vec::new(), &live(302 * MINUTE, None), Kill::Never).unwrap();
    assert_eq!(site.fold().0.len(), 292);
    assert_eq!(site.messages[4].at, 301 * MINUTE);
}

#[test]
fn a_silent_gauge_is_sent_when_its_window_is_over() {
    let mut site = Site::new(vec![gauge("a", None)], cut(60_000), NEVER, 0);
    let rows = [(0, 600, 1.0), (0, 2 * 3600 + 600, 1.0)];
    site.run(rows_of(1, &rows), &live(200 * MINUTE, None), Kill::Never).unwrap();
    assert_eq!(times(site.messages.iter()), [(0, 60, 61), (120, 60, 181)]);
    // An old series that a pipe gives within seconds closes by its own times.
    let mut site = Site::new(vec![gauge("a", None)], cut(60_000), NEVER, 10 * DAY);
    let rows: Vec<Read> = (0..600).map(|minute| (0, 60 * minute, 1.0)).collect();
    site.run(rows_of(1, &rows), &live(10 * DAY + 2 * MINUTE, None), Kill::Never).unwrap();
    assert_eq!(site.messages.len(), 10);
}

/// Pieces are sent at multiples of five minutes, empty ones included, and the whole window in their place.
fn pieces_of(channel: Channel, last: i64) -> Site {
    let mut site = Site::new(vec![channel], cut(60_000), NEVER, 0);
    let rows: Vec<Read> =
        (0..120).filter(|minute| !(20..31).contains(minute)).map(|minute| (0, 60 * minute, 0.0)).collect();
    let (taken, lost) = site.run(rows_of(1, &rows), &live(last * MINUTE, Some(FRESH)), Kill::Never).unwrap();
    assert_eq!((taken.totals.readings(), lost.by_reason.total()), (109, 0));
    let pieces = times(site.messages.iter().filter(|message| message.description.provisional));
    let expected = (1..=last / 5).map(|at| (5 * at - 5, 5, 5 * at));
    assert_eq!(pieces, expected.collect::<Vec<_>>());
    let whole = site.messages.iter().filter(|message| !message.description.provisional);
    for (hour, message) in whole.clone().enumerate() {
        let replaces = message.description.replaces.as_ref().unwrap();
        let before = site
            .messages
            .iter()
            .filter(|piece| piece.description.provisional && piece.description.start / HOUR == hour as i64);
        assert_eq!(replaces.windows, before.map(|piece| piece.number).collect::<Vec<_>>());
        assert_eq!(replaces.channels, [0]);
    }
    site
}

#[test]
fn pieces_of_an_open_window_travel_at_fixed_times() {
    let site = pieces_of(gauge("a", None), 130);
    let whole = || site.messages.iter().filter(|message| !message.description.provisional);
    assert_eq!(times(whole()), [(0, 60, 60), (60, 60, 121), (120, 10, 130)]);
    let readings: Vec<u64> = site.messages.iter().map(|message| message.description.readings()).collect();
    assert_eq!(&readings[..13], [5, 5, 5, 5, 0, 0, 4, 5, 5, 5, 5, 5, 49]);
    assert_eq!(site.fold().0.len(), 109);
    // A run without a reading sends the pieces, and the whole window, too.
    assert_eq!(site.messages.last().unwrap().description.readings(), 0);
    let site = pieces_of(door(), 130);
    // Of a contact, whose reports follow from its states, no report closes a window.
    let whole = || site.messages.iter().filter(|message| !message.description.provisional);
    assert_eq!(times(whole()), [(0, 60, 61), (60, 60, 121), (120, 10, 130)]);
    assert_eq!(site.fold().0.len(), 130);
}

#[test]
fn a_late_reading_of_a_piece_is_in_the_next_one_and_in_the_whole() {
    for channel in [gauge("a", None), door()] {
        let is_state = channel.name == "door";
        let mut site = Site::new(vec![channel], cut(60_000), NEVER, 0);
        let mut rows = rows_of(1, &[(0, 30, 0.0), (0, 8 * 60, 0.0)]);
        // Four minutes late.
        rows.insert(2, Row { at: 4 * MINUTE, ..rows[1].clone() });
        rows.extend(rows_of(1, &[(0, 61 * 60, 1.0)]));
        site.run(rows, &live(70 * MINUTE, Some(FRESH)), Kill::Never).unwrap();
        let early: Vec<&Message> = site.messages.iter().filter(|message| message.at == 10 * MINUTE).collect();
        if is_state {
            // Which ticks came again shows that a report was late.
            let named = early[0].description.replaces.as_ref().map(|replaces| replaces.windows.clone());
            assert_eq!((named, early[0].description.provisional), (Some(vec![0]), true));
        } else {
            let ticks: Vec<u32> = early[0].description.presence(0).unwrap().iter().collect();
            assert_eq!((early[0].description.start / MINUTE, ticks), (4, vec![0, 4]));
        }
        let whole = site.messages.iter().find(|message| !message.description.provisional).unwrap();
        assert_eq!(whole.description.present, [if is_state { 60 } else { 3 }]);
        site.fold();
    }
}

#[test]
fn after_a_crash_pieces_stand() {
    for channel in [gauge("a", None), door()] {
        let mut site = Site::new(vec![channel], cut(60_000), NEVER, 0);
        let rows: Vec<Read> = (0..50).map(|minute| (0, 60 * minute, 0.0)).collect();
        let (early, late) = rows.split_at(33);
        site.run(rows_of(1, early), &live(33 * MINUTE, Some(FRESH)), Kill::Before(6)).unwrap();
        assert_eq!(site.fold().0.len(), 30);
        site.run(rows_of(1, late), &live(65 * MINUTE, Some(FRESH)), Kill::Never).unwrap();
        let whole: Vec<&Message> =
            site.messages.iter().filter(|message| !message.description.provisional).collect();
        assert_eq!(whole[0].description.start / MINUTE, 30);
        let named = &whole[0].description.replaces.as_ref().unwrap().windows;
        assert!(named.iter().all(|number| *number >= 6), "{named:?}");
        // The readings of three minutes were in no message.
        let lost = if site.channels[0].name == "door" { 0 } else { 3 };
        assert_eq!(site.fold().0.keys().filter(|(_, at)| *at < 50 * MINUTE).count(), 50 - lost);
        site.run(rows_of(1, &rows), &How::default(), Kill::Never).unwrap();
        assert_eq!(site.fold().0.keys().filter(|(_, at)| *at < 50 * MINUTE).count(), 50);
    }
}

fn kill() -> impl Strategy<Value = Kill> {
    prop_oneof![
        2 => Just(Kill::Never),
        1 => (0..40_usize).prop_map(Kill::Before),
        1 => (0..40_usize).prop_map(Kill::Between),
        1 => (0..40_usize).prop_map(Kill::After),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// The law holds with pieces, killed anywhere, of streams whose readings are kept and of others. Their times and ticks
    /// do not follow from values.
    #[test]
    fn pieces_change_nothing_of_what_counts(
        times in prop::collection::btree_set((0..6_usize, 0..20_000_i64), 1..60),
        late in prop::collection::vec(0..4000_i64, 60),
        runs in prop::collection::vec((1..20_000_i64, kill()), 1..4),
        fresh in 1..20_u32,
        joined in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let all = if joined { channels() } else { vec![gauge("a", None), gauge("b", None), gauge("c", None)] };
        let count = all.len();
        // A tick that was sent takes no further reading where none is kept.
        let times: std::collections::BTreeSet<(usize, i64)> =
            times.iter().map(|(channel, at)| (channel % count, if joined { *at } else { at / 60 * 60 })).collect();
        let value = |channel: usize, at: i64, other: bool| {
            let number = (at as u64 ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            let number = if other { number + 1 } else { number };
            if joined && channel == 0 { (number % 2) as f64 } else { (number % 90) as f64 }
        };
        let read = |other: bool| -> Vec<Read> {
            times.iter().map(|(channel, at)| (*channel, *at, value(*channel, *at, other))).collect()
        };
        // Rows come up to an hour late.
        let mut arrivals: Vec<(i64, usize)> =
            times.iter().zip(&late).enumerate().map(|(row, ((_, at), late))| (at + late, row)).collect();
        arrivals.sort_unstable();
        let run = |readings: &[Read]| {
            let mut site = Site::new(all.clone(), cut(60_000), NEVER, 0);
            let (mut rest, mut now) = (&arrivals[..], 0);
            for (step, kill) in &runs {
                now += step;
                let (here, behind) = rest.split_at(rest.partition_point(|(at, _)| *at < now));
                let rows: Vec<Read> = here.iter().map(|(_, row)| readings[*row]).collect();
                site.run(rows_of(count, &rows), &live(now * 1000, Some(60_000 * fresh)), *kill).unwrap();
                rest = behind;
            }
            site.now = 2 * DAY;
            site
        };
        let (mut one, other) = (run(&read(false)), run(&read(true)));
        let heads = |site: &Site| site.messages.iter().map(|message| (message.at, message.description.clone())).collect::<Vec<_>>();
        prop_assert!(heads(&one) == heads(&other));
        one.fold();
        let how = How { most_reports: Some(9), ..How::default() };
        let (_, lost) = one.run(rows_of(count, &read(false)), &how, Kill::Never).unwrap();
        prop_assert_eq!(lost.by_reason.total(), 0);
        let mut sorted = Site::new(all.clone(), cut(60_000), NEVER, 2 * DAY);
        sorted.run(rows_of(count, &read(false)), &How::default(), Kill::Never).unwrap();
        let ((found, pairs), (expected, expected_pairs)) = (one.fold(), sorted.fold());
        // Live runs fill up to their end, which may be behind the day of the last reading.
        let missing: Vec<_> = expected.iter().filter(|(tick, number)| found.get(tick) != Some(*number)).take(5).collect();
        prop_assert!(missing.is_empty(), "{missing:?} of {:?}", read(false));
        let more: Vec<_> = found.keys().filter(|tick| !expected.contains_key(tick) && tick.1 < DAY).take(5).collect();
        prop_assert!(more.is_empty(), "{more:?} of {:?}", read(false));
        prop_assert!(!joined || expected_pairs.is_subset(&pairs));
    }
}
