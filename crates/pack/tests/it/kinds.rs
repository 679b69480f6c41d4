//! Quantities of kinds of channels: ends, increases and changes of a window, cosine and sine of its angles.

use proptest::prelude::*;
use sotto_pack::{
    ANGLE_STEPS, Angle, Channel, ChannelKind, Counter, Digit, Layout, PackError, Placed, Presence, Quantity,
    State, SumsError, SumsPart,
};

const TICKS: u32 = 12;

fn counter(at_most: Option<f64>) -> Channel {
    Channel {
        name: "meter".into(),
        unit: "kWh".into(),
        minimum: 0.0,
        maximum: 999.0,
        resolution: Some(1.0),
        kind: ChannelKind::Counter(Counter { at_most, ..Counter::default() }),
    }
}

/// Returns the values of quantities of the only column, each whole.
fn values(channel: Channel, quantities: &[Quantity], readings: &[Option<f64>]) -> Vec<Option<i64>> {
    let layout = Layout::of_sums(vec![channel], TICKS).unwrap();
    let (mut slots, mut present) = (vec![0; layout.slots()], Presence::default());
    for (tick, reading) in (0..).zip(readings) {
        if let Some(reading) = reading {
            slots[layout.slot(0, tick).unwrap()] = layout.quantiser(0).unwrap().quantise(*reading).unwrap();
            present.insert(tick);
        }
    }
    let placed = |quantity: &Quantity| Placed { quantity: quantity.clone(), digit: Digit::Whole, width: 40 };
    let part = SumsPart { quantities: quantities.iter().map(placed).collect(), reasons: 0 };
    part.check(&layout).unwrap();
    part.values(&layout, readings.len() as u32, &slots, &[present])
}

proptest! {
    #[test]
    fn a_window_tells_its_ends_its_increase_and_its_changes(
        readings in prop::collection::vec(prop::option::weighted(0.7, 0_u16..1000), 1..12),
        at_most in prop::option::of(1_u16..600),
    ) {
        let given: Vec<Option<f64>> = readings.iter().map(|reading| reading.map(f64::from)).collect();
        let quantities = [
            Quantity::First(0), Quantity::Last(0), Quantity::Increase(0), Quantity::Doubt(0), Quantity::Changes(0),
            Quantity::Falls(0),
        ];
        let found = values(counter(at_most.map(f64::from)), &quantities, &given);
        let there: Vec<(usize, i64)> =
            readings.iter().enumerate().filter_map(|(at, reading)| Some((at, i64::from((*reading)?)))).collect();
        if there.is_empty() {
            prop_assert_eq!(found, vec![None; 6]);
            return Ok(());
        }
        let (mut increase, mut doubt, mut changes, mut falls) = (0, 0, 0, 0);
        for pair in there.windows(2) {
            let (before, next, ticks) = (pair[0].1, pair[1].1, pair[1].0 - pair[0].0);
            changes += i64::from(before != next);
            falls += i64::from(next < before);
            let (again, passed) = (next, next + 1000 - before);
            let (least, most) = (again.min(passed), again.max(passed));
            let allowed = |increase: i64| at_most.is_some_and(|most| increase <= i64::from(most) * ticks as i64);
            match at_most {
                _ if next >= before => increase += next - before,
                None => increase += again,
                Some(_) => {
                    increase += least;
                    doubt += if allowed(least) && !allowed(most) { 0 } else { most - least };
                }
            }
        }
        // The middle of 0 to 999 is 500, away from 0.
        let ends = [there[0].1 - 500, there[there.len() - 1].1 - 500];
        let expected = [ends[0], ends[1], increase, doubt, changes, falls].map(Some);
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn cosines_and_sines_add_up_to_the_direction(degrees in prop::collection::vec(0_u16..=360, 1..12)) {
        let wind = Channel {
            name: "wind".into(),
            unit: "°".into(),
            maximum: 360.0,
            resolution: Some(1.0),
            kind: ChannelKind::Angle(Angle::default()),
            ..Channel::default()
        };
        let given: Vec<Option<f64>> = degrees.iter().map(|degree| Some(f64::from(*degree))).collect();
        let found = values(wind, &[Quantity::Cosine(0), Quantity::Sine(0)], &given);
        let truth = |of: fn(f64) -> f64| degrees.iter().map(|degree| of(f64::from(*degree).to_radians())).sum::<f64>();
        let off = |at: usize, truth: f64| (found[at].unwrap() as f64 - truth * ANGLE_STEPS as f64).abs();
        let most = 0.51 * degrees.len() as f64;
        prop_assert!(off(0, truth(f64::cos)) < most && off(1, truth(f64::sin)) < most);
    }
}

proptest! {
    #[test]
    fn a_window_tells_the_powers_of_its_readings(
        readings in prop::collection::vec(prop::option::weighted(0.7, -50_i32..=50), 1..12),
    ) {
        let level =
            Channel { name: "x".into(), minimum: -50.0, maximum: 50.0, resolution: Some(1.0), ..Channel::default() };
        let given: Vec<Option<f64>> = readings.iter().map(|reading| reading.map(f64::from)).collect();
        let powers = [1, 2, 3, 4].map(|exponent| Quantity::Power { column: 0, exponent });
        let found = values(level, &powers, &given);
        let there: Vec<i64> = readings.iter().flatten().map(|reading| i64::from(*reading)).collect();
        let sum = |exponent| (!there.is_empty()).then(|| there.iter().map(|q| q.pow(exponent)).sum());
        prop_assert_eq!(found, [1, 2, 3, 4].map(sum));
    }
}

#[test]
fn powers_of_many_steps_take_two_places_or_are_refused() {
    let layout = |maximum| {
        let fine = Channel { name: "x".into(), maximum, resolution: Some(1.0), ..Channel::default() };
        Layout::of_sums(vec![fine], TICKS).unwrap()
    };
    let fourth = Quantity::Power { column: 0, exponent: 4 };
    // 12 ticks of up to 2^20 steps: below 2^84.
    let wide = layout(2_097_152.0);
    assert_eq!(Placed::for_windows(fourth.clone(), Digit::Whole, &wide, 1).unwrap(), None);
    let high = Placed::for_windows(fourth.clone(), Digit::High, &wide, 1).unwrap().unwrap();
    assert_eq!(high.width, 54);
    let readings =
        [(0, 1 << 20), (1, -(1 << 20)), (2, 3)].map(|(tick, q)| (tick, q, wide.slot(0, tick).unwrap()));
    let (mut slots, mut present) = (vec![0; wide.slots()], Presence::default());
    for (tick, q, slot) in readings {
        slots[slot] = q;
        present.insert(tick);
    }
    let placed = [Digit::Low, Digit::High].map(|digit| Placed { quantity: fourth.clone(), digit, width: 60 });
    let part = SumsPart { quantities: placed.to_vec(), reasons: 0 };
    part.check(&wide).unwrap();
    let found = part.values(&wide, 3, &slots, &[present]);
    assert_eq!(found, [Some(81), Some(1 << 51)], "2^81 + 81");
    assert_eq!(fourth.range(&layout(1e9)), Err(SumsError::Range));
    let fifth = Quantity::Power { column: 0, exponent: 5 };
    let part =
        SumsPart { quantities: vec![Placed { quantity: fifth, digit: Digit::Whole, width: 60 }], reasons: 0 };
    assert_eq!(part.check(&layout(10.0)), Err(SumsError::Exponent));
}

#[test]
fn a_channel_that_cannot_have_its_kind_is_refused_in_words() {
    let state = |states: &[&str]| ChannelKind::State(State::of(states.iter().copied()));
    let door = Channel { name: "door".into(), maximum: 1.0, resolution: Some(1.0), ..Channel::default() };
    let layout = |channel: Channel| Layout::of_sums(vec![channel], TICKS);
    assert!(layout(Channel { kind: state(&["closed", "open"]), ..door.clone() }).is_ok());
    for (kind, words) in [
        (state(&["open"]), "2 to 256"),
        (state(&["open", "Open"]), "twice"),
        (state(&["open", ""]), "1 to 64 bytes"),
        (state(&["a", "b", "c"]), "0 to 2"),
        (ChannelKind::Counter(Counter { at_most: Some(-1.0), ..Counter::default() }), "above 0"),
    ] {
        match layout(Channel { kind, ..door.clone() }) {
            Err(PackError::Kind { reason, .. }) => assert!(reason.contains(words), "{reason}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_counter_may_have_ten_thousand_million_steps() {
    let meter = Channel { maximum: 9_999_999.0, resolution: Some(0.001), ..counter(None) };
    let quantities = [Quantity::Increase(0), Quantity::Last(0)];
    let found = values(meter, &quantities, &[Some(1_234_567.123), Some(1_234_571.873)]);
    assert_eq!(found[0], Some(4750));
}
