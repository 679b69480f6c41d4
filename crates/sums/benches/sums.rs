//! The device, the cloud and the owner: one window of 16 readings, sums of a million, and a window of each of a million
//! devices.
#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use sotto_sums::{
    Answer, DeviceWindow, Encryptor, FleetOpening, Form, Opening, Part, Place, StartKeys, StreamKeys, Sum,
    TagKey,
};

const SECRET: [u8; 32] = [1; 32];
const STREAM: [u8; 32] = [2; 32];
const SALT: [u8; 12] = [3; 12];
const TICKS: u32 = 16;
const MANY: usize = 1_000_000;

/// Readings of 12 bits.
fn place(width: u32) -> [Place; 1] {
    [Place::new(width, 0, 4095).unwrap()]
}

/// Counts: the window, and if `each` the reading of each tick.
fn form(columns: &[Place], each: bool) -> Form<'_> {
    Form::new(&[], columns, 1, u32::from(each), TICKS).unwrap()
}

fn readings() -> [i64; 16] {
    core::array::from_fn(|at| (at as i64 * 977 + 13) % 4096)
}

/// Bodies and tags of `count` windows, one behind the other.
fn rows(form: &Form<'_>, count: usize, counts: &[u16]) -> Vec<u8> {
    let mut encryptor = Encryptor::new(&SECRET, &STREAM, &SALT, 0);
    let mut body = vec![0; form.body_bytes(TICKS)];
    let mut rows = Vec::new();
    for number in 0..count as u64 {
        let mut window = encryptor.window(number).unwrap();
        let counts = counts.iter().copied();
        let tag = window.encrypt(form, TICKS, 0, readings().map(Some), counts, &mut body).unwrap();
        rows.extend(&body);
        rows.extend(tag.to_bytes());
    }
    rows
}

fn one(c: &mut Criterion) {
    let start = StartKeys::derive(&SECRET, &STREAM, &SALT);
    for (name, width, each) in
        [("1 count", 23, false), ("17 counts", 23, true), ("32 bits, 17 counts", 32, true)]
    {
        let columns = place(width);
        let form = form(&columns, each);
        let counts = vec![1; form.counts(TICKS)];
        let mut encryptor = Encryptor::new(&SECRET, &STREAM, &SALT, 0);
        let (mut number, mut body) = (0, vec![0; form.body_bytes(TICKS)]);
        c.bench_function(&format!("encrypt and tag a window of 16, {name}"), |b| {
            b.iter(|| {
                number += 1;
                let mut window = encryptor.window(number).unwrap();
                window
                    .encrypt(&form, TICKS, 0, readings().map(Some), counts.iter().copied(), &mut body)
                    .unwrap()
            });
        });
        let row = rows(&form, 1, &counts);
        let key = TagKey::new(&StreamKeys::derive(&SECRET, &STREAM), &form, 0);
        c.bench_function(&format!("open and check a window of 16, {name}"), |b| {
            b.iter(|| {
                let answer = Answer::from((&Part::read(&form, TICKS, &row).unwrap(), &counts[..]));
                let mut opening = Opening::new(&form, 0);
                opening.add(&start, 0, TICKS, 1, |_| true);
                opening.open(&key, &answer).unwrap()
            });
        });
    }
    c.bench_function("derive the keys of a device and a start", |b| {
        b.iter(|| (StreamKeys::derive(&SECRET, &STREAM), StartKeys::derive(&SECRET, &STREAM, &SALT)));
    });
}

fn many(c: &mut Criterion) {
    let mut group = c.benchmark_group("a million windows of 16");
    group.sample_size(10);
    let start = StartKeys::derive(&SECRET, &STREAM, &SALT);
    // Every number up to 2^40 is met once: an odd factor.
    let scattered = |at: usize| (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24;
    let columns = place(32);
    let form = form(&columns, false);
    let ones: Vec<(u64, i64)> = (0..MANY).map(|at| (scattered(at), 1)).collect();
    let weighted: Vec<(u64, i64)> = (0..MANY).map(|at| (scattered(at), at as i64 % 7 - 3)).collect();
    for (name, windows) in [("weights 1", &ones), ("weights −3 to 3", &weighted)] {
        group.bench_function(format!("open, {name}"), |b| {
            b.iter_batched(
                || Opening::new(&form, 0),
                |mut opening| {
                    opening.add_whole(&start, TICKS, windows);
                    opening.fits()
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.bench_function("open one by one, with gaps", |b| {
        b.iter(|| {
            let mut opening = Opening::new(&form, 0);
            ones.iter()
                .for_each(|(number, weight)| opening.add(&start, *number, TICKS, *weight, |at| at != 3));
            opening.fits()
        });
    });
    for width in [32, 23, 40] {
        let columns = place(width);
        let form = Form::new(&[], &columns, 1, 0, TICKS).unwrap();
        let rows = rows(&form, MANY, &[1]);
        group.bench_function(format!("add rows, {width} bits"), |b| {
            b.iter(|| {
                let mut sum = Sum::new(&form);
                sum.add_rows(TICKS, &rows, &[1]).unwrap();
                sum
            });
        });
        group.bench_function(format!("read and add one by one, {width} bits"), |b| {
            b.iter(|| {
                let mut sum = Sum::new(&form);
                for row in rows.chunks_exact(form.body_bytes(TICKS) + 8) {
                    sum.add(&Part::read(&form, TICKS, row).unwrap(), &[1], 1).unwrap();
                }
                sum
            });
        });
    }
    let bytes = vec![1_u64; 9 * MANY];
    group.bench_function("read 72 MB and add them as words, for comparison", |b| {
        b.iter(|| black_box(&bytes).iter().fold(0, |sum: u64, word| sum.wrapping_add(*word)));
    });
    group.finish();
}

/// A secret, a stream id and a window for each device.
struct Fleet {
    secrets: Vec<[u8; 32]>,
    streams: Vec<[u8; 32]>,
    salts: Vec<[u8; 12]>,
    rows: Vec<u8>,
}

impl Fleet {
    fn new(form: &Form<'_>, devices: usize, counts: &[u16]) -> Self {
        let id = |at: usize| -> [u8; 32] {
            core::array::from_fn(|byte| (at >> (8 * (byte % 4))) as u8 ^ (byte as u8).wrapping_mul(37))
        };
        let (secrets, streams): (Vec<_>, Vec<_>) = (0..devices).map(|at| (id(at), id(!at))).unzip();
        let salts = vec![SALT; devices];
        let (mut rows, mut body) = (Vec::new(), vec![0; form.body_bytes(TICKS)]);
        for (secret, stream) in secrets.iter().zip(&streams) {
            let mut encryptor = Encryptor::new(secret, stream, &SALT, 0);
            let mut window = encryptor.window(9).unwrap();
            let counts = counts.iter().copied();
            let tag = window.encrypt(form, TICKS, 0, readings().map(Some), counts, &mut body).unwrap();
            rows.extend(&body);
            rows.extend(tag.to_bytes());
        }
        Self { secrets, streams, salts, rows }
    }
}

/// One window of each of many devices, from their secrets.
fn fleet(c: &mut Criterion) {
    let mut group = c.benchmark_group("a window of 16 of each device, 17 counts");
    let columns = place(23);
    let form = form(&columns, true);
    let counts = vec![1; form.counts(TICKS)];
    let row = form.body_bytes(TICKS) + 8;
    for devices in [1_000, MANY] {
        if devices == MANY {
            group.sample_size(10);
        }
        let fleet = Fleet::new(&form, devices, &counts);
        group.bench_function(format!("derive the keys of {devices} devices one by one"), |b| {
            b.iter(|| {
                for ((secret, stream), salt) in fleet.secrets.iter().zip(&fleet.streams).zip(&fleet.salts) {
                    black_box((StreamKeys::derive(secret, stream), StartKeys::derive(secret, stream, salt)));
                }
            });
        });
        group.bench_function(format!("open {devices} devices one by one"), |b| {
            b.iter(|| {
                for (at, row) in fleet.rows.chunks_exact(row).enumerate() {
                    let (secret, stream) = (&fleet.secrets[at], &fleet.streams[at]);
                    let start = StartKeys::derive(secret, stream, &fleet.salts[at]);
                    let key = TagKey::new(&StreamKeys::derive(secret, stream), &form, 0);
                    let mut opening = Opening::new(&form, 0);
                    opening.add(&start, 9, TICKS, 1, |_| true);
                    let answer = Answer::from((&Part::read(&form, TICKS, row).unwrap(), &counts[..]));
                    black_box(opening.open(&key, &answer).unwrap());
                }
            });
        });
        group.bench_function(format!("open {devices} devices together"), |b| {
            b.iter(|| {
                let windows = fleet.rows.chunks_exact(row).enumerate().map(|(at, row)| DeviceWindow {
                    secret: &fleet.secrets[at],
                    stream: &fleet.streams[at],
                    salt: &fleet.salts[at],
                    number: 9,
                    ticks: TICKS,
                    present: |_| true,
                    part: Part::read(&form, TICKS, row).unwrap(),
                    counts: &counts,
                });
                let sum = FleetOpening::new(&form, 0).sum(windows);
                assert_eq!(sum.opened, devices);
                sum
            });
        });
    }
    group.finish();
}

criterion_group!(benches, one, many, fleet);
criterion_main!(benches);
