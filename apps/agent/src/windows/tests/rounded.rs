//! Counts of rounded readings: each is that of the ticks whose value differs from the exact one, which a stream of a finer
//! resolution has.

use proptest::prelude::*;
use sotto_pack::{Amount, Counter, Gauge, Several, State};

use super::joined::{Read, of_kind, rows_of};
use super::site::{How, Kill, Message, Site};
use super::*;

const NEVER: i64 = i64::MAX / 4;
const DAY: i64 = 24 * HOUR;
/// Readings are hundredths, and a tick has at most two: their mean is a multiple of this.
const FINE: f64 = 0.005;

fn gauge(several: Several, hold: Option<u64>) -> ChannelKind {
    ChannelKind::Gauge(Gauge { several, hold })
}

/// Channels of whole steps, whose readings travel alone.
fn samples() -> Vec<Channel> {
    vec![
        of_kind("mean", gauge(Several::Mean, None), 1000.0),
        of_kind("last", gauge(Several::Last, None), 1000.0),
        of_kind("first", ChannelKind::Interval, 1000.0),
    ]
}

/// Channels of whole steps, whose windows are made again.
fn reports() -> Vec<Channel> {
    vec![
        of_kind("held", gauge(Several::Mean, Some(20 * 60_000)), 1000.0),
        of_kind("rain", ChannelKind::Amount(Amount::default()), 1000.0),
        of_kind("energy", ChannelKind::Counter(Counter::default()), 1000.0),
    ]
}

/// Returns the same channels with a resolution that has every reading.
fn fine(channels: &[Channel]) -> Vec<Channel> {
    channels.iter().map(|channel| Channel { resolution: Some(FINE), ..channel.clone() }).collect()
}

/// Returns the values of a message's channel, by tick.
fn values(message: &Message, channel: u16) -> Vec<f64> {
    let Message { description, slots, .. } = message;
    let value = |tick| {
        let slot = description.layout.slot(channel, tick).unwrap();
        description.layout.value(channel, slots[slot] as f64).unwrap()
    };
    description.presence(channel).unwrap().iter().map(value).collect()
}

/// Compares the messages of a device with those of one whose resolution has every reading. A tick with several readings that
/// are no multiples counts as rounded also if their mean or sum is one: if `shares` is true there are such ticks.
fn check(coarse: &Site, fine: &Site, shares: bool) {
    assert_eq!(coarse.messages.len(), fine.messages.len());
    for (coarse, fine) in coarse.messages.iter().zip(&fine.messages) {
        assert_eq!((coarse.number, coarse.description.start), (fine.number, fine.description.start));
        for channel in 0..coarse.description.present.len() as u16 {
            let (sent, exact) = (values(coarse, channel), values(fine, channel));
            assert_eq!(coarse.description.presence(channel), fine.description.presence(channel));
            let differ = |(sent, exact): &(&f64, &f64)| (*sent - *exact).abs() > 1e-9;
            let differing = sent.iter().zip(&exact).filter(differ).count() as u64;
            let counted =
                |message: &Message| message.description.rounded.clone().unwrap()[usize::from(channel)];
            let (of_coarse, of_fine) = (u64::from(counted(coarse)), counted(fine));
            assert_eq!(of_fine, 0, "channel {channel}");
            assert!(of_coarse == differing || (shares && of_coarse > differing), "channel {channel}");
            // So the bound holds, over any part of the window.
            for used in 0..=sent.len() {
                let off = sent[..used].iter().sum::<f64>() - exact[..used].iter().sum::<f64>();
                let rounded = coarse.description.rounded_of(channel, used as u64);
                assert!(off.abs() <= 0.5 * rounded as f64 + 1e-9, "channel {channel}: {off}");
            }
        }
    }
}

/// Returns readings of channels at half minutes of four hours, each in one of two runs: some are whole numbers.
fn readings() -> impl Strategy<Value = Vec<(Read, bool)>> {
    let whole = (0..400_i32).prop_map(f64::from);
    let hundredths = (0..40_000_i32).prop_map(|hundredths| f64::from(hundredths) / 100.0);
    let reading = (prop_oneof![whole, hundredths], any::<bool>());
    prop::collection::btree_map((0..3_usize, 0..480_i64), reading, 1..120).prop_map(|readings| {
        let of = |((channel, half), (value, late)): ((usize, i64), (f64, bool))| {
            ((channel, 30 * half, value), late)
        };
        readings.into_iter().map(of).collect()
    })
}

/// Returns true if two readings of a channel are of one tick.
fn share(readings: &[(Read, bool)]) -> bool {
    let mut ticks: Vec<(usize, i64)> =
        readings.iter().map(|((channel, second, _), _)| (*channel, second / 60)).collect();
    ticks.sort_unstable();
    ticks.windows(2).any(|pair| pair[0] == pair[1])
}

/// Returns the rows of one of two runs, in order of time.
fn run_of(readings: &[(Read, bool)], late: bool) -> Vec<Row> {
    let mut of: Vec<Read> = readings.iter().filter(|(_, of)| *of == late).map(|(read, _)| *read).collect();
    of.sort_by_key(|(_, second, _)| *second);
    rows_of(3, &of)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn late_readings_and_corrections_count_right(readings in readings(), corrected in readings(), joined in any::<bool>()) {
        let channels = if joined { reports() } else { samples() };
        let mut sites = [channels.clone(), fine(&channels)].map(|channels| Site::new(channels, cut(60_000), NEVER, DAY));
        for site in &mut sites {
            for late in [false, true] {
                site.run(run_of(&readings, late), &How::default(), Kill::Never).unwrap();
            }
            if joined {
                let how = How { correct: true, allow_missing: true, ..How::default() };
                site.run(run_of(&corrected, false), &how, Kill::Never).unwrap();
            }
        }
        check(&sites[0], &sites[1], share(&readings) || share(&corrected));
    }

    #[test]
    fn pieces_of_open_windows_count_right(readings in readings(), joined in any::<bool>()) {
        let channels = if joined { reports() } else { samples() };
        let mut sites = [channels.clone(), fine(&channels)].map(|channels| Site::new(channels, cut(60_000), NEVER, 0));
        for site in &mut sites {
            let how = How { live: Some(5 * HOUR), fresh: Some(15 * MINUTE as u32), ..How::default() };
            site.run(run_of(&readings, false), &how, Kill::Never).unwrap();
        }
        check(&sites[0], &sites[1], share(&readings));
    }
}

#[test]
fn a_contact_is_exact_and_so_are_zeros_between_amounts() {
    let door = of_kind("door", ChannelKind::State(State::of(["closed", "open"])), 1.0);
    let rain =
        Channel { resolution: Some(0.01), ..of_kind("rain", ChannelKind::Amount(Amount::default()), 10.0) };
    let mut site = Site::new(vec![door, rain], cut(60_000), NEVER, DAY);
    let rows = [(0, 60, 1.0), (1, 90, 0.29), (1, 95, 0.07), (0, 600, 0.0), (1, 4000, 1.13), (1, 4005, 2.0)];
    site.run(rows_of(2, &rows), &How::default(), Kill::Never).unwrap();
    assert!(!site.messages.is_empty());
    for message in &site.messages {
        assert_eq!(message.description.rounded, Some(vec![0, 0]));
    }
    // Of one pulse more, which is none of whole hundredths, the tick alone is rounded.
    site.run(rows_of(2, &[(1, 7200, 0.005)]), &How::default(), Kill::Never).unwrap();
    let rounded: u32 =
        site.messages.iter().filter_map(|message| Some(message.description.rounded.as_ref()?[1])).sum();
    assert_eq!(rounded, 1);
}
