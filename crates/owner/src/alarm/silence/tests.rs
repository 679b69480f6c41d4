use super::*;
use proptest::prelude::*;

const HOUR: i64 = 3_600_000;

fn silence() -> Silence {
    "silent for 3h".parse().expect("a silence")
}

fn heard(hours: &[i64]) -> HeardTimes {
    let heard = |hour: &i64| Heard { at: hour * HOUR, window_end: (hour + 1) * HOUR };
    HeardTimes { times: hours.iter().map(heard).collect(), enrolled: Some(0), deleted: false }
}

/// Returns the changes of a round, by hours.
fn take(silences: &mut Silences, hours: &[i64], now: i64) -> Vec<(i64, Change, Option<i64>)> {
    take_of(silences, &heard(hours), now)
}

fn take_of(silences: &mut Silences, heard: &HeardTimes, now: i64) -> Vec<(i64, Change, Option<i64>)> {
    let told = silences.take(&silence(), heard, i64::MIN, now * HOUR);
    let json = serde_json::to_string(silences).expect("JSON");
    assert_eq!(serde_json::from_str::<Silences>(&json).expect("the same"), *silences);
    told.into_iter()
        .map(|told| (told.seen.from / HOUR, told.change, told.mends.map(|of| of.0 / HOUR)))
        .collect()
}

#[test]
fn a_silence_begins_with_the_last_reading_and_ends_with_the_next() {
    let mut silences = Silences::default();
    assert_eq!(take(&mut silences, &[], 2), []);
    assert_eq!(take(&mut silences, &[], 3), [(0, Change::Raised, None)], "since its enrolment");
    assert_eq!(take(&mut silences, &[], 4), [], "told once");
    assert_eq!(take(&mut silences, &[5], 6), [(5, Change::Cleared, None)]);
    assert_eq!(take(&mut silences, &[5, 6], 8), []);
    assert_eq!(take(&mut silences, &[5, 6], 9), [(6, Change::Raised, None)]);
    assert_eq!(silences.lasts_since, Some(6 * HOUR));
    // While nobody watched, one more silence came and went.
    let all = [5, 6, 10, 11, 14, 15];
    assert_eq!(
        take(&mut silences, &all, 15),
        [(10, Change::Cleared, None), (11, Change::Raised, None), (14, Change::Cleared, None)]
    );
    assert_eq!(silences.lasts_since, None);
}

#[test]
fn a_clock_that_is_set_back_ends_no_silence() {
    let mut silences = Silences::default();
    assert_eq!(take(&mut silences, &[0, 2, 4, 6, 8, 10, 11], 15), [(11, Change::Raised, None)]);
    assert_eq!(take(&mut silences, &[0, 2, 4, 6, 8, 10, 11], 12), [], "no reading came");
    assert_eq!(silences.lasts_since, Some(11 * HOUR));
    assert_eq!(silences.clock_is_behind(11 * HOUR), None);
    assert_eq!(silences.clock_is_behind(10 * HOUR - 1), Some(11 * HOUR));
    assert_eq!(take(&mut silences, &[0, 2, 4, 6, 8, 10, 11], 16), []);
    assert_eq!(take(&mut silences, &[0, 2, 4, 6, 8, 10, 11, 15], 16), [(15, Change::Cleared, None)]);
}

#[test]
fn late_readings_mend_a_silence() {
    let mut silences = Silences::default();
    assert_eq!(take(&mut silences, &[0, 1], 5), [(1, Change::Raised, None)]);
    // A part of the time was buffered: the silence is a later one.
    assert_eq!(take(&mut silences, &[0, 1, 2], 6), [(2, Change::Raised, Some(1))]);
    // All of it was.
    assert_eq!(take(&mut silences, &[0, 1, 2, 4, 6], 6), [(2, Change::Cleared, Some(2))]);
    assert_eq!(take(&mut silences, &[0, 1, 2, 4, 6], 7), []);
}

#[test]
fn a_clock_that_is_ahead_hides_no_silence() {
    let mut silences = Silences::default();
    assert_eq!(take(&mut silences, &[0, 1, 9_000], 5), [(1, Change::Raised, None)]);
    assert_eq!(silences.newest, Some(HOUR));
}

#[test]
fn readings_that_are_deleted_were_heard() {
    let mut silences = Silences::default();
    assert_eq!(take(&mut silences, &[0, 1, 2], 2), []);
    assert_eq!(take(&mut silences, &[], 4), []);
    assert_eq!(take(&mut silences, &[], 5), [(2, Change::Raised, None)]);
}

#[test]
fn a_deletion_is_no_silence() {
    let after = |hours: &[i64]| HeardTimes { deleted: true, ..heard(hours) };
    // Enrolled 100 days ago; the owner deletes all but the last 3 days, twice, and then everything.
    let all: Vec<i64> = (1..=2400).collect();
    let mut silences = Silences::default();
    assert_eq!(take(&mut silences, &all, 2400), []);
    assert_eq!(take_of(&mut silences, &after(&all[2328..]), 2400), []);
    assert_eq!(take_of(&mut silences, &after(&all[2350..]), 2401), []);
    assert_eq!(take_of(&mut silences, &after(&[]), 2402), []);
    assert_eq!(take_of(&mut silences, &after(&[]), 2403), [(2400, Change::Raised, None)]);
    assert_eq!(take_of(&mut silences, &after(&[2405]), 2405), [(2405, Change::Cleared, None)]);
    assert_eq!(take_of(&mut silences, &after(&[2405]), 2406), []);
    assert_eq!(take_of(&mut silences, &after(&[2405]), 2408), [(2405, Change::Raised, None)]);
    assert_eq!(take_of(&mut silences, &after(&[2405, 2409]), 2409), [(2409, Change::Cleared, None)]);
    assert_eq!(take_of(&mut silences, &after(&[2405, 2409]), 2410), []);
    // Nobody watched before, or for some time.
    for mut silences in [Silences::default(), Silences { newest: Some(50 * HOUR), ..Silences::default() }] {
        assert_eq!(take_of(&mut silences, &after(&all[2328..]), 2400), []);
        assert_eq!(take_of(&mut silences, &after(&all[2328..]), 2403), [(2400, Change::Raised, None)]);
    }
    let mut silences = Silences::default();
    assert_eq!(take_of(&mut silences, &after(&[]), 2400), [], "the last reading is not known");
    assert_eq!(take_of(&mut silences, &after(&[]), 2403), [(2400, Change::Raised, None)]);
    // Without an order that this computer knows of.
    let mut silences = Silences::default();
    assert_eq!(take(&mut silences, &all, 2400), []);
    assert_eq!(take(&mut silences, &all[2328..], 2400), []);
    assert_eq!(take(&mut silences, &[], 2401), []);
}

#[test]
fn silences_that_are_settled_stay_as_they_were_told() {
    let mut silences = Silences::default();
    let hours: Vec<i64> = (0..=400).filter(|hour| !(50..60).contains(hour)).collect();
    assert_eq!(take(&mut silences, &hours, 400), [(49, Change::Raised, None), (60, Change::Cleared, None)]);
    let all: Vec<i64> = (0..=400).filter(|hour| *hour > 100).collect();
    assert_eq!(take(&mut silences, &all, 400), [], "readings of long ago came late, or were deleted");
    let gap: Vec<i64> = (101..=400).filter(|hour| !(300..304).contains(hour)).collect();
    assert_eq!(take(&mut silences, &gap, 400), [(299, Change::Raised, None), (304, Change::Cleared, None)]);
}

proptest! {
    /// Readings arrive hour by hour, with gaps; those of a stretch of time late. The last word is always right.
    #[test]
    fn whoever_was_told_knows_how_it_is(
        present in prop::collection::vec(any::<bool>(), 1..120),
        late in prop::collection::vec(prop::bool::weighted(0.2), 120),
        rounds in prop::collection::vec(0usize..140, 1..12),
    ) {
        let mut rounds = rounds;
        rounds.sort_unstable();
        let (mut silences, mut last) = (Silences::default(), Change::Cleared);
        for now in rounds {
            let is_there = |hour: &i64| {
                let at = *hour as usize;
                present[at] && at <= now && (!late[at] || at + 30 <= now)
            };
            let hours: Vec<i64> = (0..present.len() as i64).filter(is_there).collect();
            let now = now as i64;
            let told = take(&mut silences, &hours, now);
            last = told.last().map_or(last, |told| told.1);
            let newest = hours.last().copied().unwrap_or(0);
            prop_assert_eq!(last == Change::Raised, now - newest >= 3, "{} {}", now, newest);
            let since = silences.lasts_since.map(|at| at / HOUR);
            prop_assert_eq!(since, (now - newest >= 3).then_some(newest));
        }
    }

    /// Readings that are left out leave the same gaps.
    #[test]
    fn thinned_readings_leave_the_same_gaps(ticks in prop::collection::btree_set(0u32..300, 0..120), least in 1i64..40) {
        let all: Vec<i64> = ticks.iter().map(|tick| i64::from(*tick)).collect();
        let thin = thinned(all.iter().copied(), least);
        let gaps = |times: &[i64]| -> Vec<(i64, i64)> {
            times.windows(2).map(|pair| (pair[0], pair[1])).filter(|(from, to)| to - from >= least).collect()
        };
        prop_assert_eq!(gaps(&thin), gaps(&all));
        prop_assert_eq!((thin.first(), thin.last()), (all.first(), all.last()));
    }
}
