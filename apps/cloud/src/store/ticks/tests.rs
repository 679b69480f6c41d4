//! Ticks that two windows share, beside the definition by sets.

use std::collections::BTreeSet;

use proptest::prelude::*;
use sotto_pack::{Channel, Layout, Period, Presence};

use super::*;

const PERIOD: u32 = 7;

fn layout(names: &[&str]) -> Layout {
    let channel = |name: &&str| Channel {
        name: (*name).into(),
        maximum: 100.0,
        resolution: Some(1.0),
        ..Channel::default()
    };
    Layout::of_sums(names.iter().map(channel).collect(), 32).unwrap()
}

fn window(layout: &Layout, start: i64, ticks: &[BTreeSet<u32>]) -> WindowDescription {
    let of = |ticks: &BTreeSet<u32>| {
        let mut presence = Presence::default();
        ticks.iter().for_each(|tick| presence.insert(*tick));
        presence
    };
    let presence: Vec<Presence> = ticks.iter().map(of).collect();
    let present = presence.iter().map(Presence::count).collect();
    WindowDescription {
        present,
        presence,
        ..WindowDescription::whole(layout, start, Period::from_milliseconds(PERIOD), 32)
    }
}

/// Returns the channels and instants at which a window has readings.
fn instants(window: &WindowDescription) -> BTreeSet<(String, i64)> {
    let of = |(number, channel): (u16, &Channel)| {
        let at = |tick: u32| (channel.name.clone(), window.start + i64::from(PERIOD * tick));
        window.presence(number).unwrap().iter().map(at).collect::<Vec<_>>()
    };
    (0..).zip(window.layout.channels()).flat_map(of).collect()
}

fn ticks() -> impl Strategy<Value = Vec<BTreeSet<u32>>> {
    proptest::collection::vec(proptest::collection::btree_set(0_u32..32, 0..4), 2)
}

proptest! {
    #[test]
    fn a_tick_is_shared_if_both_windows_have_its_instant(
        own in ticks(),
        other in ticks(),
        apart in -240_i64..240,
        swapped: bool,
    ) {
        let (names, of_other) = (["heat", "flow"], if swapped { ["flow", "heat"] } else { ["heat", "flow"] });
        let own = window(&layout(&names), 1_000, &own);
        let other = window(&layout(&of_other), 1_000 + apart, &other);
        let common: BTreeSet<(String, i64)> = instants(&own).intersection(&instants(&other)).cloned().collect();
        match shared(&own, 17, &other, &[]) {
            None => prop_assert!(common.is_empty(), "{:?}", common),
            Some(TakenTick { window, channel, at }) => {
                prop_assert_eq!(window, 17);
                prop_assert!(common.contains(&(channel, at)));
            }
        }
    }
}

#[test]
fn starts_and_numbers_of_ticks_beyond_all_times_are_no_panic() {
    let layout = layout(&["heat"]);
    let all: BTreeSet<u32> = (0..32).collect();
    let at = |start: i64| window(&layout, start, std::slice::from_ref(&all));
    for (own, other) in [(i64::MIN, i64::MAX), (i64::MAX, i64::MIN), (i64::MAX, 0), (0, i64::MIN)] {
        assert_eq!(shared(&at(own), 0, &at(other), &[]), None);
    }
    assert_eq!(shared(&at(i64::MAX), 0, &at(i64::MAX), &[]).unwrap().at, i64::MAX);
}

#[test]
fn a_channel_of_a_window_that_is_replaced_is_free() {
    let layout = layout(&["heat", "flow"]);
    let all: BTreeSet<u32> = (0..9).collect();
    let (own, other) =
        (window(&layout, 0, &[all.clone(), all.clone()]), window(&layout, 0, &[all.clone(), all]));
    let replaces = |windows: &[u64], channels: &[u16]| Replaces {
        windows: windows.to_vec(),
        channels: channels.to_vec(),
    };
    let taken = |replaced: &[&Replaces]| shared(&own, 17, &other, replaced).map(|taken| taken.channel);
    assert_eq!(taken(&[]), Some("heat".into()));
    assert_eq!(taken(&[&replaces(&[16], &[0, 1])]), Some("heat".into()), "another window");
    assert_eq!(taken(&[&replaces(&[17], &[0])]), Some("flow".into()), "the other channel");
    assert_eq!(taken(&[&replaces(&[17], &[0]), &replaces(&[3, 17], &[1])]), None);
}
