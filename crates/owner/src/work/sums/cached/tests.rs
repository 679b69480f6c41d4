#![allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]

use std::sync::Arc;

use proptest::prelude::*;
use sotto_keys::DeviceSecret;
use sotto_pack::{Channel, Digit, Period, Placed, Presence, Quantity as Sent, SumsPart, WindowDescription};
use sotto_rlwe::KeyId;
use sotto_wire::SumsStream;

use super::super::Read;
use super::super::columns::sources;
use super::super::cut::{cut, cut_always};
use super::super::tests::stream;
use super::*;
use crate::cache::Cache;
use crate::cache::tests::input;
use crate::gathered::WindowQuantity;
use crate::open::Numbers;
use crate::quantities::{Input, InputRun};
use crate::work::job::Results;

const DEVICE: &str = "cellar";
/// The most windows of a sum.
const MOST: usize = 7;

/// A window with the readings that the cloud does not know: a sum of windows is that of their values.
#[derive(Clone, Debug)]
struct Window {
    input: Input,
    value: i64,
}

struct World {
    folder: tempfile::TempDir,
    secret: DeviceSecret,
    windows: Vec<Window>,
    /// The number of windows that were ever made.
    made: u64,
}

/// The windows that were requested for an answer, and the number of sums.
#[derive(Debug, PartialEq)]
struct Requested {
    windows: Vec<u64>,
    sums: usize,
}

fn opened(part: u8, values: Vec<i64>) -> Opened {
    Opened { part, channel: None, values }
}

/// A stream of two channels. One part does not add; of each channel it has two places, which are not beside each other.
fn held() -> Arc<StreamHeader> {
    let channel = |name: &str| Channel {
        name: name.into(),
        maximum: 100.0,
        resolution: Some(1.0),
        ..Channel::default()
    };
    let placed = |quantity| Placed { quantity, digit: Digit::Whole, width: 20 };
    let part = |quantities: &[Sent]| SumsPart {
        quantities: quantities.iter().cloned().map(placed).collect(),
        reasons: 0,
    };
    let stream = SumsStream {
        device: DEVICE.into(),
        stream: "tank".into(),
        period: Period::of_seconds(60, 1).unwrap(),
        ticks: 6,
        channels: vec![channel("level"), channel("heat")],
        rounded: false,
        parts: vec![
            part(&[Sent::Reading(0), Sent::Reading(1)]),
            part(&[Sent::Least(0), Sent::Largest(1), Sent::Largest(0), Sent::Changes(1)]),
        ],
    };
    Arc::new(StreamHeader::of_sums(stream, |_| KeyId([2; 16])).unwrap())
}

/// The quantities of each channel in their order.
const HELD: [[WindowQuantity; 2]; 2] =
    [[WindowQuantity::Least, WindowQuantity::Largest], [WindowQuantity::Largest, WindowQuantity::Changes]];

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, secret: DeviceSecret::from_bytes(&[5; 32]), windows: Vec::new(), made: 0 }
    }

    fn window(&mut self, place: u64) -> Window {
        self.made += 1;
        let mut input = input(place);
        input.sequence = self.made;
        input.identity[16..24].copy_from_slice(&self.made.to_le_bytes());
        // Every fifth window has no reading of one channel, every seventh none of the other.
        let present = [5, 7].map(|every| if self.made.is_multiple_of(every) { 0 } else { 6 });
        let presence = present.map(Presence::first);
        input.window = Arc::new(WindowDescription {
            layout: held().layout().clone(),
            present: present.into(),
            presence: presence.into(),
            ..(*input.window).clone()
        });
        Window { input, value: (self.made * 37 % 1001) as i64 - 500 }
    }

    fn add(&mut self, count: usize) {
        for _ in 0..count {
            let place = self.windows.len() as u64;
            let window = self.window(place);
            self.windows.push(window);
        }
    }

    /// Answers a question of sums of these ranges as a new process does, and compares them with the windows' values.
    fn ask(&self, ranges: &[Range<usize>], parts: &[u8], weights: Option<i64>) -> Requested {
        let stream = stream();
        let all = Inputs::of(self.windows.iter().map(|window| &window.input));
        let mut tasks = Vec::new();
        for range in ranges {
            for windows in cut(&all, range.clone(), MOST) {
                let weights = weights.map(|first| (first..).take(windows.len()).collect());
                tasks.push(Task {
                    part: 0,
                    windows,
                    parts: parts.to_vec(),
                    weights,
                    factor: 1,
                    read: Vec::new(),
                    each: false,
                });
            }
        }
        let true_values = |windows: &[InputRun<'_>], task: &Task, part: u8| -> Vec<i64> {
            let of = |(at, run): (usize, &InputRun<'_>)| {
                let input = run.input;
                let window =
                    self.windows.iter().find(|window| window.input.identity == input.identity).unwrap();
                window.value * task.weights.as_ref().map_or(1, |weights| weights[at])
            };
            let sum: i64 = windows.iter().enumerate().map(of).sum();
            vec![sum, -sum, i64::from(part)].into_iter().take(2 + usize::from(windows.len() > 3)).collect()
        };
        let check = |task: &Task, opened: &[Opened]| {
            assert!(opened.iter().map(|opened| opened.part).eq(task.parts.iter().copied()));
            for Opened { part, values, .. } in opened {
                let windows: Vec<_> = all.runs(task.windows.clone()).collect();
                let expected = true_values(&windows, task, *part);
                assert_eq!(values[..2], expected[..2], "{:?}", task.windows);
            }
        };
        let mut cache = Cache::at(self.folder.path().to_owned(), 1 << 20);
        let mut of_stream = cache.take(DEVICE, &stream, &self.secret);
        let mut split = Split::of(&stream, tasks.clone(), all.clone(), Some(&mut of_stream));
        split.found.iter().for_each(|(task, opened)| check(task, opened));
        assert_eq!(split.found.len() + split.left.len(), tasks.len());
        for (at, task) in split.left.iter().enumerate() {
            let windows: Vec<_> = split.inputs.runs(task.windows.clone()).collect();
            let opened = |part: &u8| opened(*part, true_values(&windows, task, *part));
            let opened = split.wholes.take(at, task.parts.iter().map(opened).collect()).unwrap().unwrap();
            check(split.wholes.task(at), &opened);
            split.wholes.keep(at, &opened, &stream, &mut of_stream);
        }
        let requested = Requested {
            windows: split.inputs.runs(0..split.inputs.len()).map(InputRun::sequence).collect(),
            sums: split.left.len(),
        };
        assert_eq!(split.cached_windows() as usize + requested.windows.len(), all.len());
        cache.put_back(of_stream, &self.secret);
        requested
    }
}

impl World {
    /// Asks for the values that these windows hold of some channels, as a new process does, and compares them.
    fn ask_each(&self, ranges: &[Range<usize>], channels: &[u16]) -> Requested {
        let stream = held();
        let all = Inputs::of(self.windows.iter().map(|window| &window.input));
        let asked: Vec<(u16, WindowQuantity)> = channels
            .iter()
            .flat_map(|channel| HELD[usize::from(*channel)].map(|quantity| (*channel, quantity)))
            .collect();
        let mut tasks = Vec::new();
        for (part, range) in ranges.iter().enumerate() {
            for windows in cut_always(&all, range.clone(), MOST) {
                let window = Some(windows.start - range.start);
                let read = |(quantity, (channel, of)): (usize, &(u16, WindowQuantity))| Read {
                    quantity,
                    source: sources(&stream, &of.sent(*channel))[0],
                    ticks: None,
                    window,
                };
                let read = asked.iter().enumerate().map(read).collect();
                tasks.push(Task {
                    part,
                    windows,
                    parts: vec![1],
                    weights: None,
                    factor: 1,
                    read,
                    each: true,
                });
            }
        }
        let empty = |range: &Range<usize>| -> Results {
            asked.iter().map(|_| (Numbers::Sums(vec![0; range.len()]), 0.0)).collect()
        };
        let mut results: Vec<Results> = ranges.iter().map(empty).collect();
        let mut cache = Cache::at(self.folder.path().to_owned(), 1 << 20);
        let mut of_stream = cache.take(DEVICE, &stream, &self.secret);
        let mut split = Split::of(&stream, tasks, all.clone(), Some(&mut of_stream));
        for (task, opened) in &split.found {
            each::put(&stream, task, opened, &mut results[task.part]).unwrap();
        }
        for (at, task) in split.left.iter().enumerate() {
            let input = split.inputs.at(task.windows.start).input;
            let asked = channels.iter().any(|channel| input.window.present[usize::from(*channel)] > 0);
            assert!(asked && task.windows.len() == 1, "a window without a reading");
            let values = [0, 1, 2, 3].map(|place| self.held(input, place)).into();
            if let Some(opened) = split.wholes.take(at, vec![opened(1, values)]).unwrap() {
                let whole = split.wholes.task(at);
                each::put(&stream, whole, &opened, &mut results[whole.part]).unwrap();
                split.wholes.keep(at, &opened, &stream, &mut of_stream);
            }
        }
        for (range, results) in ranges.iter().zip(&results) {
            for ((channel, of), (numbers, _)) in asked.iter().zip(results) {
                let in_channel = HELD[usize::from(*channel)].iter().position(|other| other == of).unwrap();
                let place = [[0, 2], [1, 3]][usize::from(*channel)][in_channel];
                let held = |at: usize| i128::from(self.held(&self.windows[range.start + at].input, place));
                let Numbers::Sums(numbers) = numbers else { panic!("reals") };
                assert!(
                    numbers.iter().copied().eq((0..range.len()).map(held)),
                    "{channel} {of:?} of {range:?}"
                );
            }
        }
        cache.put_back(of_stream, &self.secret);
        Requested {
            windows: split.left.iter().map(|task| split.inputs.at(task.windows.start).sequence()).collect(),
            sums: split.left.len(),
        }
    }

    /// Returns the value at a place of a window: 0 if it has no reading of the channel.
    fn held(&self, input: &Input, place: usize) -> i64 {
        let window = self.windows.iter().find(|window| window.input.identity == input.identity).unwrap();
        let is_there = input.window.present[place % 2] > 0;
        if is_there { window.value * 4 + place as i64 } else { 0 }
    }
}

const NOTHING: Requested = Requested { windows: Vec::new(), sums: 0 };

#[test]
fn a_second_look_requests_new_windows_only() {
    let mut world = World::new();
    world.add(40);
    let of_days = |world: &World| -> Vec<Range<usize>> {
        let end = world.windows.len();
        (0..end.div_ceil(5)).map(|day| day * 5..end.min(day * 5 + 5)).collect()
    };
    assert_eq!(world.ask(&[0..40], &[0, 1], None).windows.len(), 40);
    assert_eq!(world.ask(&of_days(&world), &[0, 1], None).windows.len(), 40);
    assert_eq!(world.ask(&[0..40], &[0, 1], None), NOTHING);
    assert_eq!(world.ask(&[0..40], &[1], None), NOTHING, "a part of these");
    assert_eq!(world.ask(&of_days(&world), &[0, 1], None), NOTHING);
    for new in [1, 2, 3, 11] {
        let had = world.windows.len() as u64;
        world.add(new);
        let expected: Vec<u64> = (had + 1..=had + new as u64).collect();
        let all = 0..world.windows.len();
        assert_eq!(world.ask(std::slice::from_ref(&all), &[0, 1], None).windows, expected);
        // Days may begin with sums that are there from the question before.
        let of_days_asked = world.ask(&of_days(&world), &[0, 1], None).windows;
        assert!(of_days_asked.iter().all(|window| expected.contains(window)), "{of_days_asked:?}");
        assert_eq!(world.ask(&[all], &[0, 1], None), NOTHING);
        assert_eq!(world.ask(&of_days(&world), &[0, 1], None), NOTHING);
    }
    // A question that begins later has the sums between.
    let later = 3..world.windows.len();
    let requested = world.ask(&[later], &[0, 1], None);
    assert!(requested.sums <= 1 && requested.windows.len() < MOST, "{requested:?}");
    // A replaced window takes its own sum along, and no other.
    let new = world.window(20);
    world.windows[20] = new;
    let requested = world.ask(&[0..world.windows.len()], &[0, 1], None);
    assert!(requested.sums == 1 && requested.windows.len() <= MOST, "{requested:?}");
}

#[test]
fn values_that_do_not_add_are_kept_by_stretch() {
    let mut world = World::new();
    world.add(40);
    let with_reading = |every: &[u64]| -> Vec<u64> {
        (1..=40_u64).filter(|made| every.iter().any(|every| !made.is_multiple_of(*every))).collect()
    };
    assert_eq!(world.ask_each(&[0..40], &[1]).windows, with_reading(&[7]));
    assert_eq!(world.ask_each(&[0..40], &[1]), NOTHING);
    // Of the other channel nothing is kept; then both are.
    assert_eq!(world.ask_each(&[0..40], &[0, 1]).windows, with_reading(&[5, 7]));
    for channels in [&[0, 1][..], &[0], &[1]] {
        assert_eq!(world.ask_each(&[0..40], channels), NOTHING);
    }
    // Sums of the same windows are others.
    assert_eq!(world.ask(&[0..40], &[1], None).windows.len(), 40);
    world.add(3);
    assert_eq!(world.ask_each(&[0..43], &[0]).windows, [41, 42, 43]);
    // A replaced window takes its stretch along, and no other; so does the first of a question that begins later.
    let new = world.window(20);
    world.windows[20] = new;
    let requested = world.ask_each(&[0..43], &[0]).windows;
    assert!(requested.contains(&44) && requested.len() <= MOST, "{requested:?}");
    assert!(world.ask_each(&[3..43], &[0]).windows.len() < MOST);
    assert_eq!(world.ask_each(&[3..43], &[0]), NOTHING);
}

/// Prints the time of the cache in the second look at 105,000 windows by day:
/// `cargo test --release -p sotto-owner --lib -- --ignored --nocapture a_second_look_takes`.
#[test]
#[ignore = "prints times"]
fn a_second_look_takes_little_time() {
    const DAY: usize = 24;
    let mut world = World::new();
    world.add(105_000);
    let stream = stream();
    let all = Inputs::of(world.windows.iter().map(|window| &window.input));
    let of_day = |day: usize| {
        let windows = day * DAY..all.len().min((day + 1) * DAY);
        Task { part: 0, windows, parts: vec![0, 1], weights: None, factor: 1, read: Vec::new(), each: false }
    };
    let tasks: Vec<Task> = (0..all.len().div_ceil(DAY)).map(of_day).collect();
    for look in ["first", "second", "third"] {
        let begin = std::time::Instant::now();
        let mut cache = Cache::at(world.folder.path().to_owned(), 64_000_000);
        let mut of_stream = cache.take(DEVICE, &stream, &world.secret);
        let read = begin.elapsed();
        let mut split = Split::of(&stream, tasks.clone(), all.clone(), Some(&mut of_stream));
        let found = begin.elapsed() - read;
        for at in 0..split.left.len() {
            let opened = [0, 1].map(|part| opened(part, vec![7; 6])).into();
            let opened = split.wholes.take(at, opened).unwrap().unwrap();
            split.wholes.keep(at, &opened, &stream, &mut of_stream);
        }
        cache.put_back(of_stream, &world.secret);
        let written = begin.elapsed() - read - found;
        println!(
            "{look}: {} sums requested; read {read:?}, found {found:?}, written {written:?}",
            split.left.len()
        );
    }
}

#[derive(Clone, Debug)]
enum Step {
    Add(usize),
    Replace(prop::sample::Index),
    Delete(prop::sample::Index),
    Ask(prop::sample::Index, prop::sample::Index, usize, bool, Option<i64>),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    use prop::sample::Index;
    let one = prop_oneof![
        3 => (1_usize..12).prop_map(Step::Add),
        1 => any::<Index>().prop_map(Step::Replace),
        1 => any::<Index>().prop_map(Step::Delete),
        5 => (any::<Index>(), any::<Index>(), 1_usize..9, any::<bool>(), prop::option::weighted(0.2, -2..3_i64))
            .prop_map(|(from, to, size, both, weights)| Step::Ask(from, to, size, both, weights)),
    ];
    prop::collection::vec(one, 1..24)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sums_are_those_of_the_windows_whatever_became_of_them(steps in steps()) {
        let mut world = World::new();
        world.add(5);
        for step in steps {
            match step {
                Step::Add(count) => world.add(count),
                Step::Replace(at) => {
                    let at = at.index(world.windows.len());
                    let place = world.windows[at].input.window.start / 360_000;
                    let new = world.window(place as u64);
                    world.windows[at] = new;
                }
                Step::Delete(at) if world.windows.len() > 1 => {
                    let at = at.index(world.windows.len());
                    world.windows.remove(at);
                }
                Step::Delete(_) => {}
                Step::Ask(from, to, size, both, weights) => {
                    let (from, to) = (from.index(world.windows.len()), 1 + to.index(world.windows.len()));
                    let (from, to) = (from.min(to - 1), to.max(from + 1));
                    let whole = |at| from + at * size..to.min(from + (at + 1) * size);
                    let groups: Vec<Range<usize>> = (0..(to - from).div_ceil(size)).map(whole).collect();
                    let parts: &[u8] = if both { &[0, 1] } else { &[1] };
                    world.ask(&[from..to], parts, weights);
                    world.ask(&groups, parts, None);
                    prop_assert_eq!(world.ask(&groups, parts, None), NOTHING);
                    let channels: &[u16] = if both { &[0, 1] } else { &[1] };
                    world.ask_each(&[from..to], channels);
                    world.ask_each(&groups, channels);
                    prop_assert_eq!(world.ask_each(&groups, channels), NOTHING);
                    prop_assert_eq!(world.ask_each(&groups, &[1]), NOTHING);
                }
            }
        }
    }
}
