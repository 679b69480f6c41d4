use super::*;
use proptest::prelude::*;

fn verdict() -> impl Strategy<Value = Verdict> {
    prop::sample::select(&[Verdict::Holds, Verdict::Fails, Verdict::Undecided][..])
}

/// Returns windows of an hour in order; some hours have none, some no readings.
fn windows() -> impl Strategy<Value = Vec<Seen>> {
    let one = (verdict(), verdict(), 0u8..12, 0u8..8);
    prop::collection::vec(one, 1..KEPT).prop_map(|hours| {
        let of = |(at, (over, near, there, readings)): (i64, (Verdict, Verdict, u8, u8))| {
            // A condition that holds at the limit holds at the limit where the alarm ends.
            let near = if over == Verdict::Holds { Verdict::Holds } else { near };
            let readings = u64::from(readings);
            let seen = Seen {
                from: at * 10,
                to: at * 10 + 10,
                readings,
                over,
                near,
                value: None,
                bound: None,
                partial: false,
            };
            (there > 0).then_some(seen)
        };
        (0..).zip(hours).filter_map(of).collect()
    })
}

/// The rules once more, over all windows in order, in plain words.
fn reference(rule: Rule, windows: &[Seen]) -> (Vec<(i64, Change)>, bool) {
    let (mut changes, mut active) = (Vec::new(), false);
    let mut counted: Vec<(bool, i64)> = Vec::new();
    for (at, seen) in windows.iter().enumerate() {
        let gap = at > 0 && windows[at - 1].to < seen.from;
        let is_empty = seen.readings == 0 && !rule.takes_empty;
        if gap || is_empty {
            counted.clear();
        }
        if is_empty {
            continue;
        }
        let next = if active {
            [Some(false), Some(true), None][seen.near as usize]
        } else {
            [Some(true), Some(false), None][seen.over as usize]
        };
        let Some(next) = next else { continue };
        counted.push((next, seen.from));
        let (needed, lasts) = if active { (rule.clear_after, 0) } else { (rule.windows, rule.lasts_ms) };
        let run = counted.iter().rev().take_while(|(yes, _)| *yes);
        let first = run.clone().last().map_or(i64::MAX, |(_, from)| *from);
        if run.count() >= needed as usize && seen.to >= first.saturating_add(lasts) {
            changes.push((seen.from, if active { Change::Cleared } else { Change::Raised }));
            active = !active;
            counted.clear();
        }
    }
    (changes, active)
}

fn rule() -> impl Strategy<Value = Rule> {
    (1..4u32, 0i64..45, 1..4u32, any::<bool>()).prop_map(|(windows, lasts_ms, clear_after, takes_empty)| {
        Rule { windows, lasts_ms, clear_after, takes_empty }
    })
}

proptest! {
    #[test]
    fn in_order_every_change_is_told_once(windows in windows(), rule in rule(), parts in 1usize..9) {
        let (expected, active) = reference(rule, &windows);
        let mut machine = AlarmState::default();
        let mut told = Vec::new();
        for part in windows.chunks(parts) {
            // The second time is a renewed bundle, or a window that was asked for twice.
            for again in [part, part] {
                let changes = machine.take(rule, again.to_vec());
                told.extend(changes.into_iter().map(|told| (told.seen.from, told.change)));
            }
            let json = serde_json::to_string(&machine).expect("JSON");
            machine = serde_json::from_str(&json).expect("the same");
        }
        prop_assert_eq!(told, expected);
        prop_assert_eq!(machine.raised_since(rule).is_some(), active);
    }

    #[test]
    fn the_order_of_arrival_does_not_matter(
        windows in windows().prop_flat_map(|windows| (Just(windows.clone()), Just(windows).prop_shuffle())),
        rule in rule(),
    ) {
        let (windows, shuffled) = windows;
        let (expected, active) = reference(rule, &windows);
        let mut machine = AlarmState::default();
        let mut told: Vec<Told> = Vec::new();
        for seen in shuffled {
            // An overlapping window of another length is not counted.
            let shifted = Seen { from: seen.from + 3, to: seen.to + 3, ..seen.clone() };
            // It comes with another verdict first, as its late readings come later.
            let other = if seen.over == Verdict::Holds { Verdict::Fails } else { Verdict::Holds };
            told.extend(machine.take(rule, [Seen { over: other, near: other, ..seen.clone() }]));
            told.extend(machine.take(rule, [seen]));
            if windows.iter().any(|other| other.from < shifted.to && shifted.to < other.to) {
                let overlapped = machine.kept.iter().any(|kept| kept.from < shifted.to && shifted.from < kept.to);
                if overlapped {
                    let kept = machine.kept.len();
                    machine.take(rule, [shifted]);
                    prop_assert_eq!(machine.kept.len(), kept);
                }
            }
        }
        prop_assert_eq!(machine.raised_since(rule).is_some(), active);
        // The last event is the present state, and every change of the present history was told.
        let last = told.last().map(|told| told.change);
        prop_assert_eq!(last == Some(Change::Raised), active);
        for change in &expected {
            let is_it = |told: &Told| (told.seen.from, told.change) == *change;
            prop_assert!(told.iter().any(is_it), "{change:?} {told:?}");
        }
        let mut ids: Vec<(i64, Change, Option<u32>)> =
            told.iter().map(|told| (told.seen.from, told.change, told.number)).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), count, "two events with one id");
    }

    #[test]
    fn old_windows_are_dropped_and_the_state_stays(count in 65usize..200, rule in rule()) {
        let seen = |at: i64| Seen {
            from: at, to: at + 1, readings: 1, over: Verdict::Holds, near: Verdict::Holds, value: None, bound: None,
        partial: false,
        };
        let mut machine = AlarmState::default();
        let changes = machine.take(rule, (0..count as i64).map(seen));
        prop_assert_eq!(changes.len(), 1);
        prop_assert_eq!(machine.kept.len(), KEPT);
        let raised = i64::from(rule.windows).max(rule.lasts_ms) - 1;
        prop_assert_eq!(machine.raised_since(rule), Some(raised));
        prop_assert_eq!(machine.looks_from(), Some((count - KEPT) as i64));
        prop_assert_eq!(machine.take(rule, [seen(0)]), []);
    }
}

#[test]
fn an_open_window_may_raise_an_alarm_and_ends_none() {
    let rule = Rule::default();
    let hour = |at: i64, readings, over, near| Seen {
        from: 60 * at,
        to: 60 * at + 60,
        readings,
        over,
        near,
        value: None,
        bound: None,
        partial: false,
    };
    let (hot, cool) = ((Verdict::Holds, Verdict::Holds), (Verdict::Fails, Verdict::Fails));
    let mut machine = AlarmState::default();
    let mut take = |seen: Seen| -> Vec<(i64, Change)> {
        machine.take(rule, [seen]).into_iter().map(|told| (told.seen.from, told.change)).collect()
    };
    assert_eq!(take(hour(0, 5, cool.0, cool.1).so_far()), []);
    assert_eq!(take(hour(0, 10, hot.0, hot.1).so_far()), [(0, Change::Raised)]);
    // The whole window says the same of the same span: it is told once.
    assert_eq!(take(hour(0, 60, hot.0, hot.1)), []);
    assert_eq!(take(hour(1, 5, cool.0, cool.1).so_far()), []);
    assert_eq!(take(hour(1, 60, cool.0, cool.1)), [(60, Change::Cleared)]);
    // A run that was stopped sent a part as a window; the next one sends pieces, which belong to the whole span.
    let part = Seen { to: 150, ..hour(2, 30, cool.0, cool.1) };
    assert_eq!(take(part), []);
    assert_eq!(take(hour(2, 35, hot.0, hot.1).so_far()), [(120, Change::Raised)]);
    assert_eq!(
        machine.kept.iter().map(|seen| (seen.from, seen.to)).collect::<Vec<_>>(),
        [(0, 60), (60, 120), (120, 180)]
    );
}

#[test]
fn an_interval_on_both_sides_of_a_limit_is_undecided() {
    use crate::question::Alarm;
    let alarm = Alarm::parse("mean(x) > 80").expect("a condition");
    let probe = alarm.probe(80.0);
    for (value, bound, verdict) in [
        (80.1, 0.05, Verdict::Holds),
        (80.0, 0.05, Verdict::Undecided),
        (80.05, 0.05, Verdict::Undecided),
        (79.9, 0.05, Verdict::Fails),
        (80.0, 0.0, Verdict::Fails),
    ] {
        assert_eq!(Verdict::of(&probe, value, bound), verdict, "{value} {bound}");
    }
}

/// A piece of a stream with windows of a day stands for the whole day, before those with windows of an hour.
#[test]
fn pieces_of_a_longer_window_give_way_to_shorter_ones() {
    let seen = |from: i64, to: i64, verdict| Seen {
        from,
        to,
        readings: 12,
        over: verdict,
        near: verdict,
        value: None,
        bound: None,
        partial: false,
    };
    let (hot, cool) = (Verdict::Holds, Verdict::Fails);
    let hour = |at: i64, verdict| seen(at * 10, at * 10 + 10, verdict);
    let piece = |verdict| seen(0, 240, verdict).so_far();
    let rule = Rule::default();
    let told = |machine: &mut AlarmState, seen: Seen| -> Vec<(i64, Change)> {
        machine.take(rule, [seen]).into_iter().map(|told| (told.seen.from, told.change)).collect()
    };
    // It neither ends a raised alarm nor takes the place of the hours.
    let mut machine = AlarmState::default();
    assert_eq!(told(&mut machine, hour(7, hot)), [(70, Change::Raised)]);
    assert_eq!(told(&mut machine, piece(cool)), []);
    assert_eq!(machine.raised_since(rule), Some(70));
    assert_eq!(told(&mut machine, hour(8, cool)), [(80, Change::Cleared)]);
    assert_eq!(told(&mut machine, piece(hot)), []);
    assert_eq!(told(&mut machine, hour(9, hot)), [(90, Change::Raised)]);
    // It came before the hours.
    let mut machine = AlarmState::default();
    assert_eq!(told(&mut machine, piece(cool)), []);
    assert_eq!(told(&mut machine, hour(8, hot).so_far()), [(80, Change::Raised)]);
    assert_eq!(told(&mut machine, hour(8, hot)), []);
    assert_eq!(told(&mut machine, hour(9, cool)), [(90, Change::Cleared)]);
    // It raised the alarm, and the hours do not.
    let mut machine = AlarmState::default();
    assert_eq!(told(&mut machine, piece(hot)), [(0, Change::Raised)]);
    let mended = machine.take(rule, [hour(8, cool)]);
    let mended: Vec<_> = mended.iter().map(|told| (told.seen.from, told.change, told.mends)).collect();
    assert_eq!(mended, [(80, Change::Cleared, Some((0, Change::Raised)))]);
    // The whole day takes the place of its pieces, and not of decided hours if it is undecided.
    let mut machine = AlarmState::default();
    assert_eq!(told(&mut machine, hour(3, hot)), [(30, Change::Raised)]);
    assert_eq!(told(&mut machine, seen(0, 240, Verdict::Undecided)), []);
    assert_eq!(machine.raised_since(rule), Some(30));
}
