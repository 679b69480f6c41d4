//! Streams of sums: values at places, counts, and the refusals of parts.

use proptest::prelude::*;
use proptest::sample::select;
use sotto_pack::{
    Channel, Digit, Layout, LeftOut, MOST_BINS, Placed, Presence, Quantity, Reason, SumsError, SumsPart,
    WindowDescription,
};

const TICKS: u32 = 9;
/// The most steps that a channel may have on each side, and a channel whose middle is no multiple of its resolution.
const TOPS: [i64; 2] = [1 << 30, 11];

fn channels() -> Vec<Channel> {
    let channel = |name: &str, minimum, maximum, resolution| Channel {
        name: name.into(),
        unit: "cm".into(),
        minimum,
        maximum,
        resolution: Some(resolution),
        ..Channel::default()
    };
    let half = f64::from(1 << 30) / 4.0;
    vec![channel("level", -half, half, 0.25), channel("flow", 0.0, 10.5, 0.5)]
}

fn layout() -> Layout {
    Layout::of_sums(channels(), TICKS).unwrap()
}

fn whole(quantity: Quantity, width: u8) -> Placed {
    Placed { quantity, digit: Digit::Whole, width }
}

fn split(quantity: &Quantity) -> [Placed; 2] {
    [(Digit::Low, 40), (Digit::High, 40)].map(|(digit, width)| Placed {
        quantity: quantity.clone(),
        digit,
        width,
    })
}

/// Every quantity of both columns, whole and in two places. Only the square of the first takes more than 60 bits.
fn every(edges: [Vec<i64>; 2]) -> SumsPart {
    let (mut once, mut ticks) = (Vec::new(), Vec::new());
    for (column, edges) in [0, 1].into_iter().zip(edges) {
        once.push(whole(Quantity::Bins { column, edges }, 12));
        for quantity in [Quantity::Least(column), Quantity::Largest(column)] {
            once.push(whole(quantity.clone(), 50));
            once.extend(split(&quantity));
        }
        ticks.push(whole(Quantity::Reading(column), 50));
        ticks.extend(split(&Quantity::Square(column)));
    }
    ticks.push(whole(Quantity::Product(0, 1), 60));
    ticks.push(whole(Quantity::Square(1), 20));
    once.extend(ticks);
    SumsPart { quantities: once, reasons: 3 }
}

/// A window's readings, by column and tick.
type Readings = [[Option<i64>; TICKS as usize]; 2];

fn readings() -> impl Strategy<Value = Readings> {
    let of = |top: i64| {
        let ends = select(vec![-top, -1, 0, 1, top]);
        let reading = prop::option::weighted(0.7, prop_oneof![-top..=top, ends]);
        prop_oneof![4 => prop::array::uniform9(reading), 1 => Just([None; TICKS as usize])]
    };
    (of(TOPS[0]), of(TOPS[1])).prop_map(|(level, flow)| [level, flow])
}

fn edges() -> impl Strategy<Value = [Vec<i64>; 2]> {
    let of = |top: i64| {
        let edge = prop_oneof![-top..=top, select(vec![i64::MIN, -top, 0, top, top + 1, i64::MAX])];
        prop::collection::btree_set(edge, 0..6).prop_map(|edges| edges.into_iter().collect())
    };
    (of(TOPS[0]), of(TOPS[1])).prop_map(|(level, flow)| [level, flow])
}

fn share(digit: Digit, value: i128) -> i64 {
    let share = match digit {
        Digit::Whole => value,
        Digit::Low => value.rem_euclid(1 << 30),
        Digit::High => value.div_euclid(1 << 30),
    };
    share.try_into().unwrap()
}

/// The values as the documentation says, one place after the other.
fn expected(part: &SumsPart, readings: &Readings, sent: usize) -> Vec<Option<i64>> {
    let (mut once, mut ticks) = (Vec::new(), Vec::new());
    for Placed { quantity, digit, .. } in &part.quantities {
        let of = |column: u16| readings[usize::from(column)].iter().copied().flatten();
        let one = |value: Option<i64>| vec![value.map(|value| share(*digit, value.into()))];
        once.extend(match quantity {
            Quantity::Least(column) => one(of(*column).min()),
            Quantity::Largest(column) => one(of(*column).max()),
            Quantity::Bins { column, edges } => {
                let mut bins = vec![0; edges.len() + 1];
                of(*column).for_each(|q| bins[edges.iter().filter(|edge| **edge <= q).count()] += 1);
                bins.into_iter().map(|bin| of(*column).next().map(|_| bin)).collect()
            }
            _ => Vec::new(),
        });
    }
    for (level, flow) in readings[0].iter().zip(&readings[1]).take(sent) {
        for Placed { quantity, digit, .. } in &part.quantities {
            let at = |column: u16| [level, flow][usize::from(column)].map(i128::from);
            let value = match quantity {
                Quantity::Reading(column) => at(*column),
                Quantity::Square(column) => at(*column).map(|q| q * q),
                Quantity::Product(x, y) => at(*x).zip(at(*y)).map(|(x, y)| x * y),
                _ => continue,
            };
            ticks.push(value.map(|value| share(*digit, value)));
        }
    }
    once.extend(ticks);
    once
}

/// The description of a window, and its slots. A slot without a reading has a number that no value may depend on.
fn described(layout: &Layout, readings: &Readings) -> (WindowDescription, Vec<i64>) {
    let mut slots = vec![-7_777; layout.slots()];
    let presence = [0, 1].map(|column: u16| {
        let mut presence = Presence::default();
        for (tick, q) in (0..).zip(readings[usize::from(column)]) {
            if let Some(q) = q {
                slots[layout.slot(column, tick).unwrap()] = q;
                presence.insert(tick);
            }
        }
        presence
    });
    let present = presence.iter().map(Presence::count).collect();
    let whole = WindowDescription::whole(layout, 0, sotto_pack::Period::from_milliseconds(1000), TICKS);
    (WindowDescription { present, presence: presence.to_vec(), ..whole }, slots)
}

/// 1 for the window, readings and extremes once, readings left out by column, then each tick.
fn expected_counts(part: &SumsPart, readings: &Readings, left_out: &[[u64; 3]], sent: usize) -> Vec<u16> {
    let count = |column: u16| readings[usize::from(column)].iter().flatten().count() as u16;
    let has = |column: u16, tick: usize| readings[usize::from(column)][tick].is_some();
    let mut counts = vec![1];
    counts.extend(part.quantities.iter().filter_map(|placed| match &placed.quantity {
        Quantity::Bins { column, .. } => Some(count(*column)),
        Quantity::Least(column) | Quantity::Largest(column) => Some(u16::from(count(*column) > 0)),
        _ => None,
    }));
    counts.extend(left_out.iter().flatten().map(|count| u16::try_from(*count).unwrap_or(65_535)));
    for tick in 0..sent {
        counts.extend(part.quantities.iter().filter_map(|placed| match &placed.quantity {
            Quantity::Reading(x) | Quantity::Square(x) => Some(u16::from(has(*x, tick))),
            Quantity::Product(x, y) => Some(u16::from(has(*x, tick) && has(*y, tick))),
            _ => None,
        }));
    }
    counts
}

proptest! {
    #[test]
    fn values_and_counts_are_those_of_the_readings(
        readings in readings(), edges in edges(),
        left_out in prop::option::of(prop::array::uniform2(prop::array::uniform3(0_u64..70_000))),
    ) {
        let (part, layout) = (every(edges), layout());
        prop_assert_eq!(part.check(&layout), Ok(()));
        let (mut window, slots) = described(&layout, &readings);
        let sent = (0..TICKS as usize).rev().find(|at| readings.iter().any(|all| all[*at].is_some()));
        let sent = sent.map_or(0, |last| last + 1);
        prop_assert_eq!(window.sent_ticks() as usize, sent);
        let expected = expected(&part, &readings, sent);
        let values = part.values(&layout, sent as u32, &slots, &window.presence);
        prop_assert_eq!(&values, &expected);
        let present: Vec<bool> = expected.iter().map(Option::is_some).collect();
        prop_assert_eq!(part.present(&window), present);
        // Each value is in the range of its place.
        let (once, ticks) = part.split();
        let places = once.iter().flat_map(|placed| vec![placed; placed.quantity.places()]);
        for (placed, value) in places.chain(ticks.iter().cycle()).zip(&values) {
            let (least, most) = placed.range(&layout).unwrap();
            prop_assert!(value.is_none_or(|value| (least..=most).contains(&value)), "{placed:?}: {value:?}");
        }

        let counts = left_out.unwrap_or_default();
        if left_out.is_some() {
            window.left_out = counts.map(|counts| {
                let mut all = LeftOut::default();
                Reason::ALL.iter().zip(counts).for_each(|(reason, count)| all.add(*reason, count));
                all
            }).to_vec();
        }
        let expected = expected_counts(&part, &readings, &counts, sent);
        let (once, tick) = part.count_numbers(2);
        prop_assert_eq!(once + sent * tick, expected.len());
        prop_assert_eq!(part.counts(&window), expected);
    }

    #[test]
    fn two_digits_are_their_value(value in prop_oneof![any::<i64>(), select(vec![i64::MIN, -1, 0, 1 << 30, i64::MAX])]) {
        let value = i128::from(value);
        prop_assert!((0..1 << 30).contains(&Digit::Low.of(value)));
        let shares = [Digit::Low, Digit::High].map(|digit| digit.of(value) * i128::from(digit.factor()));
        prop_assert_eq!(shares[0] + shares[1], value);
        prop_assert_eq!((Digit::Whole.of(value), Digit::Whole.factor()), (value, 1));
    }
}

/// The ends of the range of every quantity are values of readings.
#[test]
fn ranges_are_those_of_the_readings() {
    let layout = layout();
    let [x, y] = TOPS.map(i128::from);
    assert_eq!([0, 1].map(|at| layout.quantiser(at).unwrap().top()), TOPS);
    let range = |quantity: Quantity| quantity.range(&layout).unwrap();
    assert_eq!(range(Quantity::Reading(0)), (-x, x));
    assert_eq!((range(Quantity::Least(1)), range(Quantity::Largest(1))), ((-y, y), (-y, y)));
    assert_eq!(range(Quantity::Square(0)), (0, 1 << 60));
    assert_eq!(range(Quantity::Product(0, 1)), (-x * y, x * y));
    assert_eq!(range(Quantity::Bins { column: 0, edges: vec![0] }), (0, TICKS.into()));
    let [low, high] = split(&Quantity::Product(0, 1)).map(|placed| placed.range(&layout).unwrap());
    assert_eq!((low, high), ((0, (1 << 30) - 1), (-11, 11)));
}

#[test]
fn parts_that_do_not_fit_their_channels_are_refused() {
    let layout = layout();
    let bins = |edges| whole(Quantity::Bins { column: 0, edges }, 12);
    let check = |quantities, reasons| SumsPart { quantities, reasons }.check(&layout);
    let refused = |placed| check(vec![placed], 0);
    assert_eq!(refused(whole(Quantity::Reading(2), 60)), Err(SumsError::Column));
    assert_eq!(refused(whole(Quantity::Product(1, 2), 60)), Err(SumsError::Column));
    assert_eq!(refused(whole(Quantity::Bins { column: 2, edges: vec![0] }, 12)), Err(SumsError::Column));
    assert_eq!(refused(whole(Quantity::Product(1, 0), 60)), Err(SumsError::Product));
    assert_eq!(refused(whole(Quantity::Product(1, 1), 60)), Err(SumsError::Product));
    assert_eq!(refused(bins((0..MOST_BINS as i64).collect())), Err(SumsError::Bins));
    assert_eq!(refused(bins((1..MOST_BINS as i64).collect())), Ok(()));
    assert_eq!(refused(bins(vec![1, 1])), Err(SumsError::Edges));
    assert_eq!(refused(bins(vec![1, 0])), Err(SumsError::Edges));
    assert_eq!(check(vec![whole(Quantity::Reading(1), 20), bins(vec![0])], 0), Err(SumsError::Order));
    assert_eq!(check(vec![bins(vec![0]), whole(Quantity::Reading(1), 20)], 0), Ok(()));
    let reasons = Reason::ALL.len() as u8;
    assert_eq!(check(vec![bins(vec![0])], reasons), Ok(()));
    assert_eq!(check(vec![bins(vec![0])], reasons + 1), Err(SumsError::Reasons));
}

/// The least width that tells all values of a place apart, for each quantity.
#[test]
fn a_place_has_the_bits_of_its_quantity() {
    let layout = layout();
    let fits = |placed: Placed| match placed.range(&layout) {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error, SumsError::Range);
            false
        }
    };
    // -2^30 … 2^30 are 2^31 + 1 values, -11 … 11 are 23; 0 … 121; 0 … 9; products of -11·2^30 … 11·2^30.
    for (quantity, least) in [
        (Quantity::Reading(0), 32),
        (Quantity::Largest(1), 5),
        (Quantity::Square(1), 7),
        (Quantity::Bins { column: 1, edges: vec![0] }, 4),
        (Quantity::Product(0, 1), 35),
    ] {
        let widths: Vec<u8> = (0..=61).filter(|width| fits(whole(quantity.clone(), *width))).collect();
        assert_eq!(widths, (least..=60).collect::<Vec<_>>(), "{quantity:?}");
    }
    // 2^60 + 1 values: only in two places.
    assert!((0..=u8::MAX).all(|width| !fits(whole(Quantity::Square(0), width))));
    let widths = |digit| -> Vec<u8> {
        let placed = |width| Placed { quantity: Quantity::Square(0), digit, width };
        (0..=61).filter(|width| fits(placed(*width))).collect()
    };
    assert_eq!(widths(Digit::Low), (30..=60).collect::<Vec<_>>());
    assert_eq!(widths(Digit::High), (31..=60).collect::<Vec<_>>());
}
