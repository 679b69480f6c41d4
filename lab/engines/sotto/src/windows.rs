//! Windows of sums with tags, the scheme `sums`: a device's encryption, a cloud's addition, an owner's opening.

use std::fmt::Display;

use chacha20::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use sotto_harness::protocol::{Measure, Measured, Prepare};
use sotto_harness::windows::{BITS, MOST, READINGS, Step};
use sotto_ring::secure_rng;
use sotto_sums::{Answer, Encryptor, Form, Opening, Place, StartKeys, StreamKeys, Sum, TAG_BYTES, TagKey};

use crate::error::EngineError;
use crate::measure::Timer;

/// The name of the scheme.
pub(crate) const SCHEME: &str = "sums";
/// Ticks of a window.
const TICKS: u32 = READINGS as u32;
/// The counts of a window: itself.
const COUNTS: [u16; 1] = [1];
/// Windows of one timed encryption, whose time is divided by them: a window takes less than a microsecond.
const BATCH: usize = 1000;

type Readings = [i64; READINGS];

/// A device, its owner, and as many windows as the largest sum has.
pub(crate) struct Windows {
    places: [Place; 1],
    device: Device,
    start: StartKeys,
    stream: StreamKeys,
    readings: Vec<Readings>,
    /// Bodies and tags of the windows, one behind the other, under pad numbers from 0 on.
    rows: Vec<u8>,
}

/// The device's half.
struct Device {
    encryptor: Encryptor,
    /// The next pad number.
    next: u64,
}

impl Windows {
    /// Draws a device's secret and the readings of its windows, and encrypts these.
    ///
    /// # Errors
    /// `Request` unless the degree is the number of readings in a window.
    pub(crate) fn prepare(request: &Prepare) -> Result<Self, EngineError> {
        if request.degree != READINGS {
            return Err(EngineError::Request(format!("a window has {READINGS} readings")));
        }
        let (mut seed, mut secret, mut stream, mut salt) = ([0; 32], [0; 32], [0; 32], [0; 12]);
        let mut secure = secure_rng()?;
        [&mut seed[..], &mut secret, &mut stream, &mut salt].into_iter().for_each(|to| secure.fill_bytes(to));
        let mut rng = ChaCha20Rng::from_seed(seed);
        let mut window = |_| std::array::from_fn(|_| i64::from(rng.next_u32() >> (u32::BITS - BITS)));
        let readings: Vec<Readings> = (0..MOST).map(&mut window).collect();
        let largest = (1_i64 << BITS) - 1;
        // Sums of so many windows fit.
        let width = (MOST as u64 * largest as u64).ilog2() + 1;
        let places = [Place::new(width, 0, largest).map_err(refused)?];
        let mut device = Device { encryptor: Encryptor::new(&secret, &stream, &salt, 0), next: 0 };
        let rows = device.encrypt(&form(&places)?, &readings)?;
        let start = StartKeys::derive(&secret, &stream, &salt);
        Ok(Self { places, device, start, stream: StreamKeys::derive(&secret, &stream), readings, rows })
    }

    /// Times a step; opens and compares its result first.
    ///
    /// # Errors
    /// `Unsupported` for other operations, `Wrong` if an opened sum is not that of the readings.
    pub(crate) fn measure(&mut self, request: &Measure) -> Result<Measured, EngineError> {
        let step = Step::named(&request.operation).ok_or(EngineError::Unsupported)?;
        let (timer, form) = (Timer::of(request), form(&self.places)?);
        let row = form.body_bytes(TICKS) + TAG_BYTES;
        let key = TagKey::new(&self.stream, &form, 0);
        let open = |first: u64, count: usize, answer: &Answer<'_>| {
            let windows: Vec<(u64, i64)> = (first..).take(count).map(|number| (number, 1)).collect();
            let mut opening = Opening::new(&form, 0);
            opening.add_whole(&self.start, TICKS, &windows);
            opening.open(&key, answer).map_err(refused)
        };
        let check = |first: u64, rows: &[u8]| {
            let count = rows.len() / row;
            let opened = open(first, count, &Answer::from(&add(&form, rows)?))?;
            if opened == totals(&self.readings[..count]) { Ok(()) } else { Err(EngineError::Wrong) }
        };
        let (microseconds, bytes) = match step {
            Step::Encrypt => {
                let batch = &self.readings[..BATCH];
                let first = self.device.next;
                check(first, &self.device.encrypt(&form, batch)?)?;
                let run = |device: &mut Device, ()| device.encrypt(&form, batch);
                let times = timer.time(&mut self.device, |_| (), run, |_, _| ())?;
                (times.into_iter().map(|time| time / BATCH as f64).collect(), Some(row))
            }
            Step::Sum(count) => {
                let rows = &self.rows[..count * row];
                check(0, rows)?;
                let times = timer.time(&mut (), |()| (), |(), ()| add(&form, rows), |(), _| ())?;
                (times, Some(add(&form, rows)?.to_bytes().len()))
            }
            Step::Open(count) => {
                let rows = &self.rows[..count * row];
                check(0, rows)?;
                let sum = add(&form, rows)?;
                let answer = Answer::from(&sum);
                (timer.time(&mut (), |()| (), |(), ()| open(0, count, &answer), |(), _| ())?, None)
            }
        };
        Ok(Measured { microseconds, bytes: bytes.map(|bytes| bytes as u64), verified: true })
    }
}

impl Device {
    /// Returns bodies and tags of windows, under the next pad numbers.
    fn encrypt(&mut self, form: &Form<'_>, windows: &[Readings]) -> Result<Vec<u8>, EngineError> {
        let row = form.body_bytes(TICKS) + TAG_BYTES;
        let mut rows = vec![0; windows.len() * row];
        for (readings, row) in windows.iter().zip(rows.chunks_exact_mut(row)) {
            let (body, tag) = row.split_at_mut(row.len() - TAG_BYTES);
            let mut window = self.encryptor.window(self.next).map_err(refused)?;
            self.next += 1;
            let drawn = window.encrypt(form, TICKS, 0, readings.map(Some), COUNTS, body).map_err(refused)?;
            tag.copy_from_slice(&drawn.to_bytes());
        }
        Ok(rows)
    }
}

/// Returns the form of the windows.
fn form(places: &[Place; 1]) -> Result<Form<'_>, EngineError> {
    Form::new(&[], places, 1, 0, TICKS).map_err(refused)
}

/// Adds windows as a cloud does.
fn add<'a>(form: &Form<'a>, rows: &[u8]) -> Result<Sum<'a>, EngineError> {
    let mut sum = Sum::new(form);
    sum.add_rows(TICKS, rows, &COUNTS).map_err(refused)?;
    Ok(sum)
}

/// Returns the sum of each reading over windows in the clear.
fn totals(windows: &[Readings]) -> Readings {
    std::array::from_fn(|at| windows.iter().map(|readings| readings[at]).sum())
}

fn refused(error: impl Display) -> EngineError {
    EngineError::Sums(error.to_string())
}
