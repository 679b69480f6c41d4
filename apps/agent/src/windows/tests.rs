use std::collections::{BTreeMap, BTreeSet};

use sotto_pack::{
    Channel, ChannelKind, Clock, Cut, Encoding, Grid, Layout, LeftOut, Period, Presence, Reason, Span,
};
use sotto_rlwe::{KeyId, ParameterId};
use zeroize::Zeroizing;

use super::sent::of_windows;
use super::*;
use crate::encrypt::{EncryptError, Encrypted, Encryption, Encryptor, Unencrypted};
use crate::source::{Row, SourceError};
use crate::spool::{Cuts, Sent};
use crate::streams::Stream;

mod joined;
mod late;
mod pieces;
mod rounded;
mod samples;
mod site;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

/// An encryptor that is never called.
struct Never;

impl Encryptor for Never {
    fn parameters(&self) -> ParameterId {
        ParameterId([0; 32])
    }

    fn key(&self) -> KeyId {
        KeyId([0; 16])
    }

    fn slot_shape(&self) -> (u32, u32) {
        (1, 64)
    }

    fn frame_bytes(&self) -> usize {
        0
    }

    fn check(&self, _: &Layout) -> Result<(), EncryptError> {
        Ok(())
    }

    fn encrypt(&self, _: Unencrypted) -> Result<Encrypted, EncryptError> {
        Err(EncryptError::NoSlots)
    }
}

/// A source of given rows. A row without a time stands for one whose time cannot be read.
struct Script {
    channels: Vec<Channel>,
    rows: Vec<Row>,
    next: usize,
    left_out: LeftOut,
    paced: bool,
    live: Option<Live>,
}

/// Rows that come at their times by a clock, which moves on to the end.
struct Live {
    present: Present,
    until: i64,
}

impl Source for Script {
    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn next_row(&mut self) -> Result<Row, SourceError> {
        self.next += 1;
        self.rows.get(self.next - 1).cloned().ok_or(SourceError::Ended)
    }

    fn next_row_before(&mut self, at: i64) -> Result<Option<Row>, SourceError> {
        let Some(Live { present, until }) = &self.live else { return self.next_row().map(Some) };
        let next = self.rows.get(self.next).map_or(*until, |row| row.at).max(present.get());
        let is_due = at > present.get() && at <= next;
        if is_due || at < *until && self.next == self.rows.len() {
            present.set(at.max(present.get()));
            return Ok(None);
        }
        present.set(next);
        self.next_row().map(Some)
    }

    fn take_left_out(&mut self) -> LeftOut {
        std::mem::take(&mut self.left_out)
    }

    fn paced(&self) -> bool {
        self.paced
    }

    fn restart(&mut self) -> Result<(), SourceError> {
        assert!(!self.paced, "rows that arrive over time are gone");
        self.next = 0;
        Ok(())
    }
}

/// Returns the number of messes that a property test makes: `SOTTO_MESSES`, 1,000 by default.
fn messes() -> u32 {
    std::env::var("SOTTO_MESSES").ok().and_then(|count| count.parse().ok()).unwrap_or(1000)
}

fn channel(name: &str) -> Channel {
    Channel { name: name.into(), minimum: 0.0, maximum: 1000.0, ..Channel::default() }
}

fn row(at: i64, values: &[Option<f64>]) -> Row {
    let missing = values.iter().map(|value| value.is_none().then_some(Reason::Empty)).collect();
    Row { at, values: Zeroizing::new(values.to_vec()), missing }
}

/// Returns rows of one channel; times are in minutes.
fn rows(readings: &[(i64, f64)]) -> Vec<Row> {
    readings.iter().map(|(minute, value)| row(minute * MINUTE, &[Some(*value)])).collect()
}

fn stream(name: &str, channels: &[&str]) -> Stream {
    of_channels(name, channels.iter().map(|name| channel(name)).collect())
}

fn of_channels(name: &str, channels: Vec<Channel>) -> Stream {
    let layout = Layout::smallest(channels, 60, 64, 2, Encoding::Integer { bits: 12 }).unwrap();
    let encryption = Encryption::Ciphertexts { encryptor: Box::new(Never), header: None };
    Stream { name: name.into(), layout, encryption, message_bytes: 0 }
}

fn cut(period: u32) -> Cut {
    Cut { span: Span::Hour, period: Period::from_milliseconds(period), ticks: 60, grid: Grid::OfSpan }
}

/// Parameters of a pass over rows of channel `x`, for one stream with a period of a minute and a span of an hour.
#[derive(Default)]
struct Pass {
    paced: bool,
    sent: Sent,
    own_period: Option<u32>,
    without_time: LeftOut,
    /// Maximum number of open windows of a file.
    open: Option<usize>,
    kind: ChannelKind,
    phase: Option<u32>,
    /// The cut of the stream, if not that.
    cut: Option<Cut>,
}

impl Pass {
    fn windows(&self, rows: Vec<Row>) -> Windows {
        let channels = vec![Channel { kind: self.kind.clone(), ..channel("x") }];
        let left_out = self.without_time.clone();
        let first_times = rows.iter().map(|row| row.at).collect();
        let streams = [of_channels("s", channels.clone())];
        let source = Script { channels, rows, next: 0, left_out, paced: self.paced, live: None };
        let cuts = Cuts::new(Clock::utc(), [("s".to_owned(), self.cut.unwrap_or(cut(60_000)))].into());
        let most_slots = self.open.map(|open| open * (streams[0].layout.slots() + OVERHEAD));
        let (own_period, phase) = (self.own_period.map(Period::from_milliseconds), self.phase);
        let options = Options { own_period, most_slots, phase, first_times, ..Options::default() };
        Windows::new(Box::new(source), &streams, &cuts, |_| self.sent.clone(), Stop::new(), &options)
    }

    fn run(&self, rows: Vec<Row>) -> (Vec<Closed>, Taken) {
        let mut windows = self.windows(rows);
        let mut all = Vec::new();
        while let Some(closed) = windows.next_closed().unwrap() {
            all.push(closed);
        }
        (all, windows.taken().remove(0))
    }
}

/// Returns the readings of a window with the minute of their slot.
fn slots(closed: &Closed) -> Vec<(i64, f64)> {
    let packed = &closed.window.packed;
    let presence: &Presence = &packed.presence[0];
    let quantiser = packed.layout.quantiser(0).unwrap();
    let value = |tick: u32| quantiser.value(packed.integers().unwrap()[tick as usize]).round();
    presence.iter().map(|tick| (packed.start / MINUTE + i64::from(tick), value(tick))).collect()
}

fn left_out(closed: &Closed) -> Vec<(Reason, u64)> {
    closed.window.packed.left_out[0].iter().collect()
}

#[test]
fn a_reading_takes_the_slot_that_holds_its_time() {
    let at = |at, value| row(at, &[Some(value)]);
    let rows =
        vec![at(0, 1.0), at(2 * MINUTE - 1, 2.0), at(2 * MINUTE, 3.0), at(HOUR - 1, 4.0), at(HOUR, 5.0)];
    let (windows, _) = Pass::default().run(rows);
    assert_eq!(slots(&windows[0]), [(0, 1.0), (1, 2.0), (2, 3.0), (59, 4.0)]);
    assert_eq!(slots(&windows[1]), [(60, 5.0)]);
    assert_eq!((windows[0].window.until, windows[1].window.until), (HOUR, HOUR + MINUTE));
    assert_eq!((windows[0].window.packed.length, windows[1].window.packed.length), (60, 1));
    assert_eq!((windows[0].window.started_at, windows[0].window.ended_at), (0, HOUR - 1));
}

#[test]
fn readings_left_out_are_counted_by_reason() {
    let mut text = row(9 * MINUTE, &[None]);
    text.missing = vec![Some(Reason::Text)];
    let at = |at, value| row(at, &[Some(value)]);
    let script = vec![
        at(0, 1.0),
        at(0, 2.0),
        at(1, 3.0),
        at(5 * MINUTE, 1001.0),
        at(6 * MINUTE, f64::NAN),
        at(6 * MINUTE, -0.5),
        row(7 * MINUTE, &[None]),
        text,
        at(10 * MINUTE, 4.0),
    ];
    let pass = Pass { without_time: [(Reason::NoTime, 2)].into_iter().collect_left_out(), ..Pass::default() };
    let (windows, taken) = pass.run(script);
    assert_eq!(slots(&windows[0]), [(0, 1.0), (10, 4.0)], "the first reading of a slot stays");
    let counts = [
        (Reason::Empty, 1),
        (Reason::Text, 1),
        (Reason::OutOfRange, 3),
        (Reason::Duplicate, 1),
        (Reason::OffGrid, 1),
        (Reason::NoTime, 2),
    ];
    assert_eq!(left_out(&windows[0]), counts);
    assert_eq!(taken.totals.left_out().iter().collect::<Vec<_>>(), counts);
    assert_eq!((taken.totals.windows, taken.totals.readings()), (1, 2));
    assert_eq!(taken.span, Some((0, 10 * MINUTE)));
}

trait CollectLeftOut {
    fn collect_left_out(self) -> LeftOut;
}

impl<I: Iterator<Item = (Reason, u64)>> CollectLeftOut for I {
    fn collect_left_out(self) -> LeftOut {
        let mut all = LeftOut::default();
        self.for_each(|(reason, count)| all.add(reason, count));
        all
    }
}

#[test]
fn a_window_without_a_reading_is_not_sent_and_the_next_counts_for_it() {
    let too_large = |minute: i64| row(minute * MINUTE, &[Some(2000.0)]);
    for paced in [false, true] {
        let script = vec![too_large(5), too_large(70), row(130 * MINUTE, &[Some(7.0)])];
        let (windows, _) = Pass { paced, ..Pass::default() }.run(script);
        assert_eq!(windows.len(), 1, "paced: {paced}");
        assert_eq!(
            (slots(&windows[0]), left_out(&windows[0])),
            (vec![(130, 7.0)], vec![(Reason::OutOfRange, 2)])
        );
    }
}

/// After a stop at any row, the next run continues: no slot is in two windows, and none is lost.
#[test]
fn a_run_that_is_stopped_is_continued() {
    let script: Vec<(i64, f64)> =
        [0, 1, 2, 30, 58, 59, 60, 61, 119, 185, 186, 187].map(|minute| (minute, minute as f64)).into();
    for paced in [false, true] {
        for stopped in 0..=script.len() {
            let (first, _) = Pass { paced, ..Pass::default() }.run(rows(&script[..stopped]));
            let sent = of_windows(&first);
            let (second, taken) = Pass { paced, sent, ..Pass::default() }.run(rows(&script));
            let all: Vec<(i64, f64)> = first.iter().chain(&second).flat_map(slots).collect();
            assert_eq!(all, script, "stopped after {stopped}");
            assert_eq!(taken.totals.left_out().count(Reason::AlreadySent), stopped as u64);
            for pair in first.iter().chain(&second).collect::<Vec<_>>().windows(2) {
                assert!(pair[0].window.until <= pair[1].window.packed.start, "stopped after {stopped}");
            }
        }
    }
}

#[test]
fn rows_that_wait_for_their_readings_are_not_passed_over() {
    // A sheet with a row for every minute, only the first of them filled in.
    let sheet = |filled: i64| -> Vec<Row> {
        (0..7200)
            .map(|minute| row(minute * MINUTE, &[(minute < filled && minute != 3).then_some(1.0)]))
            .collect()
    };
    let (first, taken) = Pass::default().run(sheet(70));
    assert_eq!((first.len(), first[1].window.until), (2, 70 * MINUTE));
    assert_eq!(left_out(&first[0]), [(Reason::Empty, 1)]);
    assert_eq!(left_out(&first[1]), [], "the rows behind are read again");
    assert_eq!(taken.totals.left_out().count(Reason::Empty), 7200 - 69, "the report counts them");
    let (second, _) = Pass { sent: of_windows(&first), ..Pass::default() }.run(sheet(100));
    assert_eq!((slots(&second[0]).len(), second[0].window.packed.start), (30, 70 * MINUTE));
    assert_eq!(left_out(&second[0]), [(Reason::AlreadySent, 69)]);
}

#[test]
fn missing_readings_count_in_the_window_of_their_time() {
    let script = vec![
        row(0, &[Some(1.0)]),
        row(59 * MINUTE, &[None]),
        row(60 * MINUTE, &[None]),
        row(61 * MINUTE, &[None]),
        row(62 * MINUTE, &[Some(1.0)]),
    ];
    for paced in [false, true] {
        let (windows, _) = Pass { paced, ..Pass::default() }.run(script.clone());
        let counts: Vec<_> = windows.iter().map(left_out).collect();
        assert_eq!(counts, [vec![(Reason::Empty, 1)], vec![(Reason::Empty, 2)]], "paced: {paced}");
    }
}

#[test]
fn rows_about_other_channels_leave_nothing_out() {
    let elsewhere = |minute: i64| Row { missing: vec![None], ..row(minute * MINUTE, &[None]) };
    let script =
        vec![row(0, &[Some(1.0)]), elsewhere(0), elsewhere(1), row(2 * MINUTE, &[Some(2.0)]), elsewhere(3)];
    for paced in [false, true] {
        let (windows, taken) = Pass { paced, ..Pass::default() }.run(script.clone());
        assert_eq!(slots(&windows[0]), [(0, 1.0), (2, 2.0)], "paced: {paced}");
        assert!(taken.totals.left_out().is_empty(), "paced: {paced}");
    }
}

#[test]
fn a_sensor_that_is_asked_more_often_than_a_stream_needs_leaves_nothing_out() {
    let script: Vec<Row> = (0..12).map(|i| row(i * 10_000, &[Some(i as f64)])).collect();
    let (windows, taken) = Pass { paced: true, own_period: Some(10_000), ..Pass::default() }.run(script);
    assert_eq!(slots(&windows[0]), [(0, 0.0), (1, 6.0)]);
    assert!(taken.totals.left_out().is_empty());
}

#[test]
fn one_pass_feeds_every_stream_whose_channels_are_there() {
    let streams = [stream("fast", &["x", "y"]), stream("other", &["z"]), stream("slow", &["y"])];
    let cuts: BTreeMap<String, Cut> = [("fast", cut(60_000)), ("other", cut(60_000)), ("slow", cut(600_000))]
        .map(|(name, cut)| (name.to_owned(), cut))
        .into();
    let cuts = Cuts::new(Clock::utc(), cuts);
    let channels = vec![channel("y"), channel("x")];
    let script: Vec<Row> =
        (0..60).map(|minute| row(minute * MINUTE, &[(minute % 10 == 0).then_some(5.0), Some(1.0)])).collect();
    let source =
        Script { channels, rows: script, next: 0, left_out: LeftOut::default(), paced: false, live: None };
    let (none, options) = (|_: &str| Sent::default(), Options::default());
    let mut windows = Windows::new(Box::new(source), &streams, &cuts, none, Stop::new(), &options);
    let mut fed = BTreeSet::new();
    while let Some(closed) = windows.next_closed().unwrap() {
        let packed = &closed.window.packed;
        fed.insert((closed.stream, packed.present.clone(), packed.length, closed.window.until));
    }
    assert_eq!(fed, BTreeSet::from([(0, vec![60, 6], 60, HOUR), (2, vec![6], 6, HOUR)]));
}

#[test]
fn once_is_one_window_a_stream() {
    let mut windows = Pass::default().windows(rows(&[(0, 1.0), (60, 2.0), (120, 3.0)]));
    windows.once = true;
    assert!(windows.next_closed().unwrap().is_some());
    assert!(windows.next_closed().unwrap().is_none());
    assert_eq!((windows.without_window(), windows.taken()[0].totals.windows), (None, 1));
}
