//! Layouts, windows and unpacking.

use proptest::prelude::*;
use sotto_pack::{
    Channel, Encoding, Layout, LayoutParts, OutOfRange, PackError, Period, Reading, Slots, Window,
    block_heads, unpack,
};

const START: i64 = 1_700_000_000_000;
const INTEGER: Encoding = Encoding::Integer { bits: 12 };

fn channel(name: &str) -> Channel {
    Channel {
        name: name.into(),
        unit: "°C".into(),
        minimum: -40.0,
        maximum: 85.0,
        resolution: None,
        ..Channel::default()
    }
}

fn channels(count: usize) -> Vec<Channel> {
    (0..count).map(|index| channel(&format!("sensor {index}"))).collect()
}

fn layout(count: usize, ticks: u32, columns: u32, rows: u32) -> Result<Layout, PackError> {
    Layout::smallest(channels(count), ticks, columns, rows, INTEGER)
}

fn window(encoding: Encoding) -> Window {
    let layout = Layout::smallest(channels(2), 3, 8, 2, encoding).unwrap();
    Window::new(layout, START, Period::from_milliseconds(1000)).unwrap()
}

/// Pushes rows of values, one a tick of this many milliseconds.
fn push_rows(window: &mut Window, period: i64, rows: &[Vec<Option<f64>>]) {
    for (tick, row) in rows.iter().enumerate() {
        for (channel, value) in row.iter().enumerate() {
            let Some(value) = *value else { continue };
            let at = START + tick as i64 * period;
            window.push(&Reading { at, channel: channel as u16, value }).unwrap();
        }
    }
}

#[test]
fn blocks_follow_one_another_and_stay_within_rows() {
    let layout = layout(4, 5, 16, 2).unwrap();
    assert_eq!((layout.block(), layout.slots(), Layout::capacity(5, 16, 2)), (8, 32, 4));
    assert_eq!(layout.slot(1, 4), Some(12));
    assert_eq!(layout.slot(2, 0), Some(16));
    assert_eq!(layout.slot(2, 5), None);
    assert_eq!(layout.slot(4, 0), None);
    assert_eq!(Layout::capacity(17, 16, 2), 0);
    assert_eq!(Layout::capacity(u32::MAX, 16, 2), 0);
}

#[test]
fn what_cannot_be_laid_out_is_refused() {
    assert_eq!(layout(5, 5, 16, 2), Err(PackError::TooManyChannels { channels: 5, blocks: 4 }));
    let refused = |parts: LayoutParts| match Layout::new(parts) {
        Err(PackError::Dimension { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    let parts =
        || LayoutParts { channels: channels(2), ticks: 3, block: 4, columns: 8, rows: 2, encoding: INTEGER };
    assert!(Layout::new(parts()).is_ok());
    assert!(Layout::new(LayoutParts { block: 8, ..parts() }).is_ok());
    for block in [0, 2, 6, 16] {
        assert_eq!(refused(LayoutParts { block, ..parts() }), "block");
    }
    for columns in [0, 6, 1 << 17] {
        assert_eq!(refused(LayoutParts { columns, ..parts() }), "number of columns");
    }
    for rows in [0, 3] {
        assert_eq!(refused(LayoutParts { rows, ..parts() }), "number of rows");
    }
    for ticks in [0, 9, u32::MAX] {
        assert_eq!(refused(LayoutParts { ticks, ..parts() }), "number of ticks");
    }
    assert_eq!(refused(LayoutParts { channels: vec![], ..parts() }), "number of channels");
    let with = |change: fn(&mut Channel)| {
        let mut parts = parts();
        change(&mut parts.channels[1]);
        Layout::new(parts).unwrap_err()
    };
    assert_eq!(with(|c| c.name.clear()), PackError::ChannelText { index: 1, what: "name" });
    assert_eq!(with(|c| c.name = "a\u{1b}[31m".into()), PackError::ChannelText { index: 1, what: "name" });
    assert_eq!(with(|c| c.unit = "x".repeat(33)), PackError::ChannelText { index: 1, what: "unit" });
    assert_eq!(with(|c| c.name = "sensor 0".into()), PackError::DuplicateChannel { name: "sensor 0".into() });
    assert!(
        matches!(with(|c| c.maximum = f64::NAN), PackError::Range { channel, .. } if channel == "sensor 1")
    );
}

#[test]
fn json_is_checked_when_it_is_read() {
    let layout = layout(2, 3, 8, 2).unwrap();
    let json = serde_json::to_string(&layout).unwrap();
    assert_eq!(serde_json::from_str::<Layout>(&json).unwrap(), layout);
    let wrong = json.replace("\"block\":4", "\"block\":3");
    assert_ne!(wrong, json);
    assert!(serde_json::from_str::<Layout>(&wrong).unwrap_err().to_string().contains("a block of 3"));
}

#[test]
fn rows_of_values_are_packed_and_missing_ones_counted() {
    let mut window = window(INTEGER);
    push_rows(&mut window, 1000, &[vec![Some(-40.0), Some(85.0)], vec![None, Some(22.5)]]);
    assert_eq!(window.filled(), 2);
    window.push(&Reading { at: START + 2000, channel: 0, value: 85.0 }).unwrap();
    assert_eq!(window.filled(), 3);
    let packed = window.close();
    let top = 2047;
    assert_eq!(packed.integers().unwrap(), [-top, 0, top, 0, top, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!((packed.reals(), packed.present.as_slice(), packed.readings()), (None, &[2, 2][..], 4));
    assert_eq!(unpack(&packed.layout, &packed.slots).unwrap(), [[-40.0, 22.5, 85.0], [85.0, 22.5, 22.5]]);
    assert_eq!(block_heads(&packed.layout, packed.integers().unwrap()).unwrap(), [-top, top]);
    assert_eq!(packed.layout.magnitude(), 2047.0);
}

#[test]
fn readings_are_placed_by_their_time() {
    let mut window = window(Encoding::Real);
    let reading = |after, channel, value| Reading { at: START + after, channel, value };
    window.push(&reading(2999, 0, 85.0)).unwrap();
    window.push(&reading(0, 1, -40.0)).unwrap();
    window.push(&reading(1000, 0, 22.5)).unwrap();
    let before = window.clone();
    for (wrong, says) in [
        (reading(2000, 0, 1.0), "channel sensor 0 has a reading at tick 2 already"),
        (reading(0, 2, 1.0), "there is no channel 2: the layout has 2"),
        (reading(-1, 0, 1.0), "is not in the window"),
        (reading(3000, 0, 1.0), "is not in the window"),
        (Reading { at: i64::MIN, channel: 0, value: 1.0 }, "is not in the window"),
        (reading(0, 0, 86.0), "channel sensor 0: 86 is not in the declared range -40 to 85"),
        (reading(0, 0, f64::NAN), "channel sensor 0: NaN is not in the declared range -40 to 85"),
    ] {
        let refused = window.push(&wrong).unwrap_err().to_string();
        assert!(refused.contains(says), "{refused}");
    }
    assert_eq!(window, before);
    assert_eq!((window.end(), window.filled()), (START + 3000, 3));
    let packed = window.close();
    assert_eq!(packed.reals().unwrap()[..8], [0.0, 0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0]);
    assert_eq!(packed.present, [2, 1]);
    assert_eq!(
        (packed.start, packed.period, packed.layout.magnitude()),
        (START, Period::from_milliseconds(1000), 1.0)
    );
}

#[test]
fn a_refused_reading_leaves_the_window_as_it_was() {
    let mut window = window(INTEGER);
    let before = window.clone();
    let reason = OutOfRange { value: 85.5, minimum: -40.0, maximum: 85.0 };
    let refused = PackError::Value { channel: "sensor 1".into(), reason };
    assert_eq!(window.push(&Reading { at: START, channel: 1, value: 85.5 }), Err(refused));
    assert_eq!(window, before);
    let late = Window::new(before.layout().clone(), i64::MAX, Period::from_milliseconds(u32::MAX)).unwrap();
    assert_eq!(late.end(), i64::MAX);
}

#[test]
fn slots_of_another_layout_are_refused() {
    let layout = layout(2, 3, 8, 2).unwrap();
    let with = |slot: usize, number: i64| {
        let mut numbers = vec![0; 16];
        numbers[slot] = number;
        unpack(&layout, &Slots::Integers(numbers))
    };
    assert!(with(0, 2047).is_ok());
    assert_eq!(with(4, 2048), Err(PackError::NotAReading { slot: 4 }));
    assert_eq!(with(4, i64::MIN), Err(PackError::NotAReading { slot: 4 }));
    let short = PackError::Length { expected: 16, found: 15 };
    assert_eq!(unpack(&layout, &Slots::Integers(vec![0; 15])), Err(short.clone()));
    assert_eq!(block_heads(&layout, &[0u8; 15]), Err(short));
    assert!(matches!(unpack(&layout, &Slots::Reals(vec![0.0; 16])), Err(PackError::Encoding { .. })));
    let real = Layout::smallest(channels(1), 3, 8, 2, Encoding::Real).unwrap();
    assert_eq!(unpack(&real, &Slots::Reals(vec![f64::NAN; 16])), Err(PackError::NotAReading { slot: 0 }));
    assert!(matches!(unpack(&real, &Slots::Integers(vec![0; 16])), Err(PackError::Encoding { .. })));
    assert!(real.quantiser(0).is_none() && real.normaliser(0).is_some() && real.normaliser(1).is_none());
}

proptest! {
    #[test]
    fn a_block_never_straddles_rows(
        ticks in 1u32..=64,
        spread in 0u32..=2,
        rows in 1u32..=2,
        count in 1usize..40,
    ) {
        let (columns, block) = (64, (ticks.next_power_of_two() << spread).min(64));
        let channels = channels(count);
        let parts = LayoutParts { channels, ticks, block, columns, rows, encoding: INTEGER };
        let fits = count as u32 * block <= rows * columns;
        let layout = Layout::new(parts);
        prop_assert_eq!(layout.is_ok(), fits);
        let Ok(layout) = layout else { return Ok(()) };
        let mut seen = std::collections::BTreeSet::new();
        for channel in 0..count as u16 {
            let head = layout.slot(channel, 0).unwrap() as u32;
            prop_assert_eq!(head / columns, (head + block - 1) / columns);
            for tick in 0..ticks {
                prop_assert!(seen.insert(layout.slot(channel, tick).unwrap()));
            }
        }
        prop_assert!(seen.into_iter().all(|slot| slot < layout.slots()));
    }

    #[test]
    fn what_is_packed_comes_back(
        rows in prop::collection::vec(prop::collection::vec(prop::option::of(-40.0..=85.0f64), 3), 0..=7),
        bits in 2u32..=32,
        real in any::<bool>(),
    ) {
        let encoding = if real { Encoding::Real } else { Encoding::Integer { bits } };
        let layout = Layout::smallest(channels(3), 7, 16, 2, encoding).unwrap();
        let mut window = Window::new(layout, START, Period::from_milliseconds(10)).unwrap();
        push_rows(&mut window, 10, &rows);
        let packed = window.close();
        let values = unpack(&packed.layout, &packed.slots).unwrap();
        for (channel, values) in values.iter().enumerate() {
            let h = match packed.layout.quantiser(channel as u16) {
                Some(quantiser) => quantiser.value_error(),
                None => packed.layout.normaliser(channel as u16).unwrap().value_error(0.0),
            };
            let given: Vec<Option<f64>> = rows.iter().map(|row| row[channel]).collect();
            prop_assert_eq!(packed.present[channel] as usize, given.iter().flatten().count());
            prop_assert_eq!(values.len(), 7);
            for (tick, value) in values.iter().enumerate() {
                let expected = given.get(tick).copied().flatten().unwrap_or(22.5);
                prop_assert!((value - expected).abs() <= h, "{value} {expected}");
            }
        }
    }
}
