#![allow(clippy::unwrap_used)]

use std::fs;
use std::sync::Arc;

use sotto_pack::{Channel, Layout, Period, WindowDescription};
use sotto_rlwe::Origin;
use sotto_wire::MaskName;

use super::*;
use crate::quantities::{Input, Inputs};

const STREAM: [u8; 32] = [9; 32];
const DEVICE: &str = "boiler";
/// Bits of the widest place.
const BITS: u8 = 30;

fn secret(number: u8) -> DeviceSecret {
    DeviceSecret::from_bytes(&[number; 32])
}

pub(crate) fn input(number: u64) -> Input {
    let level = Channel { name: "level".into(), maximum: 100.0, resolution: Some(1.0), ..Channel::default() };
    let layout = Layout::of_sums(vec![level], 6).unwrap();
    let start = 360_000 * number as i64;
    let window = WindowDescription::whole(&layout, start, Period::from_milliseconds(60_000), 6);
    let mut identity = [0xA5; 32];
    identity[..8].copy_from_slice(&number.to_le_bytes());
    Input {
        id: String::new(),
        identity,
        sequence: number,
        bytes: 0,
        name: Some(MaskName { salt: [0x5A; sotto_sums::SALT_BYTES], sequence: number }),
        window: Arc::new(window),
        offset: 0,
        ticks: 0..6,
        origin: Origin::SecretKey,
        rolled: None,
        count: 1,
    }
}

fn inputs(numbers: std::ops::Range<u64>) -> Vec<Input> {
    numbers.map(input).collect()
}

/// Windows, and the positions of all of them.
struct All<'i>(Inputs<'i>, std::ops::Range<usize>);

fn refs(inputs: &[Input]) -> All<'_> {
    let inputs = Inputs::of(inputs);
    let windows = 0..inputs.len();
    All(inputs, windows)
}

/// A change of the windows of a sum.
type Change = fn(&mut Vec<Input>);

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn cache(&self) -> Cache {
        self.cache_of(MOST_BYTES)
    }

    fn cache_of(&self, most: u64) -> Cache {
        Cache::at(self.0.path().join(FOLDER), most)
    }

    fn file(&self) -> PathBuf {
        path(&self.0.path().join(FOLDER), DEVICE, &STREAM)
    }

    /// Returns the sums of a stream as a new process reads them.
    fn read(&self) -> StreamCache {
        StreamCache::read(&self.file(), STREAM, &secret(1))
    }

    /// Writes sums of a stream as a process does at its end.
    fn write(&self, add: impl FnOnce(&mut StreamCache)) {
        let mut cache = self.cache();
        let mut sums = self.read();
        add(&mut sums);
        cache.put_back(sums, &secret(1));
    }
}

fn plain<'s>(inputs: &'s All<'s>) -> Sum<'s> {
    Sum { part: 1, channel: None, inputs: &inputs.0, windows: &inputs.1, weights: None }
}

#[test]
fn a_sum_is_found_by_exactly_its_windows() {
    let folder = Folder::new();
    let all = inputs(0..10);
    let weights = vec![1; 10];
    folder.write(|sums| {
        sums.add(plain(&refs(&all)), &[7, -8], BITS, 0, false);
        sums.add(Sum { weights: Some(&weights), ..plain(&refs(&all)) }, &[5, 6], BITS, 0, false);
    });
    let found = |sum: Sum<'_>| folder.read().find(sum);
    assert_eq!(found(plain(&refs(&all))), [(10, vec![7, -8])]);
    fn weighted<'s>(inputs: &'s All<'s>, weights: &'s [i64]) -> Sum<'s> {
        Sum { weights: Some(weights), ..plain(inputs) }
    }
    assert_eq!(found(weighted(&refs(&all), &weights)), [(10, vec![5, 6])]);
    // More windows begin with these; with weights a sum is taken as a whole.
    let more = inputs(0..12);
    assert_eq!(found(plain(&refs(&more))), [(10, vec![7, -8])]);
    assert_eq!(found(weighted(&refs(&more), &[1; 12])), []);

    let changed: [(&str, Change); 10] = [
        ("deleted at the end", |all| drop(all.pop())),
        ("deleted at the beginning", |all| drop(all.remove(0))),
        ("deleted in the middle", |all| drop(all.remove(4))),
        ("replaced", |all| all[4] = input(11)),
        ("another identity", |all| all[9].identity[31] ^= 1),
        ("other pads", |all| all[9].name.as_mut().unwrap().salt[0] ^= 1),
        ("another pad number", |all| all[0].name.as_mut().unwrap().sequence = 77),
        ("another number", |all| all[3].sequence = 78),
        ("in another order", |all| all.swap(2, 3)),
        ("twice", |all| all[3] = all[2].clone()),
    ];
    for (name, change) in changed {
        let mut other = inputs(0..10);
        change(&mut other);
        assert_eq!(found(plain(&refs(&other))), [], "{name}");
        let of_others = vec![1; other.len()];
        assert_eq!(found(weighted(&refs(&other), &of_others)), [], "{name}");
    }
    assert_eq!(found(Sum { part: 0, ..plain(&refs(&all)) }), [], "another part");
    for channel in [0, 1] {
        let values = vec![i64::from(channel); 10];
        let windows = refs(&all);
        let stretch = Sum { channel: Some(channel), ..plain(&windows) };
        assert_eq!(found(stretch), [], "values of a channel, window by window");
        folder.write(|sums| sums.add(stretch, &values, BITS, 0, false));
        assert_eq!(found(stretch), [(10, values)]);
        assert_eq!(found(plain(&refs(&all))), [(10, vec![7, -8])]);
    }
    let mut others = weights;
    others[9] = 2;
    assert_eq!(found(weighted(&refs(&all), &others)), [], "another weight");
    let of_other = StreamCache::read(&folder.file(), [8; 32], &secret(1)).find(plain(&refs(&all)));
    assert_eq!(of_other, [], "another stream");
}

#[test]
fn a_growing_sum_takes_the_place_of_the_one_before_its_beginning() {
    let folder = Folder::new();
    let all = inputs(0..400);
    for count in 1..=all.len() {
        folder.write(|sums| {
            let (windows, before) = (refs(&all[..count]), count - 1);
            let found = sums.find(plain(&windows));
            assert_eq!(found.last().map_or(0, |(count, _)| *count), before);
            sums.add(plain(&windows), &[count as i64; 100], BITS, before, true);
        });
    }
    assert_eq!(folder.read().find(plain(&refs(&all))), [(399, vec![399; 100]), (400, vec![400; 100])]);
    // 455 bytes each: the file was written anew after 256 segments, with two of them.
    assert!(fs::metadata(folder.file()).unwrap().len() < 100_000);
    // A sum that was whole stays beside the longer one.
    folder.write(|sums| {
        let day = refs(&all[300..324]);
        sums.add(plain(&day), &[1], BITS, 0, false);
        sums.add(plain(&refs(&all[300..348])), &[2], BITS, 24, true);
    });
    assert_eq!(folder.read().find(plain(&refs(&all[300..348]))), [(24, vec![1]), (48, vec![2])]);
}

/// Writes three segments of sums, of one to four windows each.
fn three_segments(folder: &Folder) -> Vec<Vec<Input>> {
    let sums: Vec<Vec<Input>> = (0..12).map(|at| inputs(at * 10..at * 10 + 1 + at % 4)).collect();
    for sums_of in sums.chunks(4) {
        folder.write(|cache| {
            for windows in sums_of {
                let value = windows[0].sequence as i64;
                cache.add(plain(&refs(windows)), &[value, -value], BITS, 0, false);
            }
        });
    }
    sums
}

fn right_of(cache: &mut StreamCache, sums: &[Vec<Input>]) -> usize {
    let right = sums.iter().filter(|windows| {
        let (value, windows) = (windows[0].sequence as i64, refs(windows));
        match cache.find(plain(&windows)).last() {
            Some((count, values)) if *count == windows.0.len() => {
                assert_eq!(*values, [value, -value]);
                true
            }
            _ => false,
        }
    });
    right.count()
}

#[test]
fn a_changed_file_gives_right_sums_or_none_and_is_written_anew() {
    let folder = Folder::new();
    let sums = three_segments(&folder);
    let whole = fs::read(folder.file()).unwrap();
    assert_eq!(right_of(&mut folder.read(), &sums), sums.len());
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1 << (at % 8);
        fs::write(folder.file(), &changed).unwrap();
        let right = right_of(&mut folder.read(), &sums);
        assert!(right <= 8 && right.is_multiple_of(4), "byte {at}: {right} of {}", sums.len());
    }
    for cut in 0..whole.len() {
        fs::write(folder.file(), &whole[..cut]).unwrap();
        assert!(right_of(&mut folder.read(), &sums) <= 8, "{cut} bytes");
    }
    for other in
        [&b""[..], b"SQLite format 3\0", &[0xFF; 5000], &whole[16..], &[&whole[..], b"more"].concat()]
    {
        fs::write(folder.file(), other).unwrap();
        let mut read = folder.read();
        right_of(&mut read, &sums);
        folder.write(|cache| {
            sums.iter().for_each(|windows| {
                let value = windows[0].sequence as i64;
                cache.add(plain(&refs(windows)), &[value, -value], BITS, 0, false);
            });
        });
    }
    assert_eq!(right_of(&mut folder.read(), &sums), sums.len(), "written anew");
    folder.write(|cache| cache.add(plain(&refs(&inputs(500..501))), &[3], BITS, 0, false));
    assert_eq!(right_of(&mut folder.read(), &sums), sums.len(), "and appended to");
}

#[test]
fn only_the_device_s_secret_opens_a_file_and_nothing_in_it_is_readable() {
    let folder = Folder::new();
    let sums = three_segments(&folder);
    assert_eq!(right_of(&mut StreamCache::read(&folder.file(), STREAM, &secret(2)), &sums), 0);
    folder.write(|cache| {
        let told = i64::from_le_bytes(*b"readable");
        let windows = inputs(900..901);
        cache.add(plain(&refs(&windows)), &[told & 0x3FFF_FFFF; 64], BITS, 0, false);
    });
    let bytes = fs::read(folder.file()).unwrap();
    let holds = |text: &[u8]| bytes.windows(text.len()).any(|part| part == text);
    assert!(holds(b"sotto cache v2"));
    for (name, text) in [
        ("a value", &b"read"[..]),
        ("an identity", &[0xA5; 4]),
        ("pads", &[0x5A; 4]),
        ("the device", DEVICE.as_bytes()),
        ("a channel", b"level"),
        ("zeros", &[0; 8]),
    ] {
        // The heads of segments have zeros: the numbers before the sealed bytes.
        let found =
            if name == "zeros" { bytes[100..].windows(8).any(|part| part == text) } else { holds(text) };
        assert!(!found, "{name}");
    }
    // Equal sums are sealed to other bytes.
    let twice = Folder::new();
    three_segments(&twice);
    assert_ne!(fs::read(twice.file()).unwrap()[60..], bytes[60..]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(folder.file()).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(folder.0.path().join(FOLDER)).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

#[test]
fn sizes_do_not_follow_from_values() {
    let sizes = [0, 1, -1, (1 << 30) - 1, -(1 << 30) + 1].map(|value| {
        let folder = Folder::new();
        folder.write(|cache| cache.add(plain(&refs(&inputs(0..3))), &[value; 50], BITS, 0, false));
        assert_eq!(folder.read().find(plain(&refs(&inputs(0..3)))), [(3, vec![value; 50])]);
        fs::metadata(folder.file()).unwrap().len()
    });
    assert!(sizes.iter().all(|size| *size == sizes[0]), "{sizes:?}");
}

#[test]
fn the_folder_stays_within_its_limit() {
    let folder = Folder::new();
    let most = 100_000;
    let size = || {
        let files = fs::read_dir(folder.0.path().join(FOLDER).join("boiler.d")).unwrap();
        files.map(|file| file.unwrap().metadata().unwrap().len()).sum::<u64>()
    };
    // Streams one after the other, of 20 kB each: the first ones go.
    for number in 0..10_u8 {
        let mut cache = folder.cache_of(most);
        let file = path(&folder.0.path().join(FOLDER), DEVICE, &[number; 32]);
        let mut sums = StreamCache::read(&file, [number; 32], &secret(1));
        (0..10).for_each(|at| sums.add(plain(&refs(&inputs(at..at + 1))), &[1; 480], BITS, 0, false));
        cache.put_back(sums, &secret(1));
        assert!(size() <= most, "{} bytes", size());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let is_there = |number| {
        let file = path(&folder.0.path().join(FOLDER), DEVICE, &[number; 32]);
        StreamCache::read(&file, [number; 32], &secret(1)).find(plain(&refs(&inputs(9..10)))).len()
    };
    assert_eq!([0, 1, 8, 9].map(is_there), [0, 0, 1, 1]);
    // One stream alone: the sums that were used now, and the newest, stay.
    let mut cache = folder.cache_of(most);
    let mut sums = folder.read();
    (0..100).for_each(|at| sums.add(plain(&refs(&inputs(at..at + 1))), &[1; 480], BITS, 0, false));
    sums.find(plain(&refs(&inputs(5..6))));
    cache.put_back(sums, &secret(1));
    assert!(size() <= most, "{} bytes", size());
    let mut sums = folder.read();
    let mut found = |number| sums.find(plain(&refs(&inputs(number..number + 1)))).len();
    assert_eq!([0, 5, 99].map(&mut found), [0, 1, 1]);
}

#[test]
fn a_folder_that_cannot_be_written_stops_nothing() {
    let folder = Folder::new();
    fs::write(folder.0.path().join(FOLDER), "no folder").unwrap();
    folder.write(|cache| {
        cache.add(plain(&refs(&inputs(0..3))), &[4], BITS, 0, false);
        assert_eq!(cache.find(plain(&refs(&inputs(0..3)))), [(3, vec![4])]);
    });
    assert_eq!(folder.read().find(plain(&refs(&inputs(0..3)))), []);
}

/// Windows of a stream as its device names them: the identity has the number.
fn derived(number: u64, count: u32) -> Input {
    let mut identity = [7; 32];
    identity[24..].copy_from_slice(&number.to_le_bytes());
    Input { identity, count, ..input(number) }
}

#[test]
fn a_sum_has_one_name_whether_its_windows_come_one_by_one_or_in_runs() {
    let folder = Folder::new();
    let alone: Vec<Input> = (0..20).map(|number| derived(number, 1)).collect();
    folder.write(|sums| {
        sums.add(plain(&refs(&alone[..12])), &[1], BITS, 0, false);
        sums.add(plain(&refs(&alone[..15])), &[2], BITS, 0, false);
    });
    let found = |runs: &[(u64, u32)]| {
        let runs: Vec<Input> = runs.iter().map(|(first, count)| derived(*first, *count)).collect();
        let all = refs(&runs);
        folder.read().find(plain(&all)).into_iter().map(|(count, _)| count).collect::<Vec<_>>()
    };
    for runs in [&[(0, 20)][..], &[(0, 1), (1, 12), (13, 7)], &[(0, 12), (12, 3), (15, 5)]] {
        assert_eq!(found(runs), [12, 15], "{runs:?}");
    }
    assert_eq!(found(&[(0, 12), (13, 7)]), [12], "one is missing");
    assert_eq!(found(&[(0, 11), (12, 8)]), [0; 0]);
    assert_eq!(found(&[(1, 19)]), [0; 0]);
}
