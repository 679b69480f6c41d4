//! Example firmware for a few kilobytes of memory. It encrypts windows of sixteen readings of 12 bits and
//! prints their messages, signed with the feature `signature`.
//!
//! The board is emulated by qemu. Files of the host (semihosting) replace its durable counter, its entropy
//! and its radio: `window-counter`, `/dev/urandom` and the standard output. A comment at each says how a real
//! board differs.
#![no_std]
#![no_main]

mod board;
#[cfg(feature = "signature")]
mod signature;
mod stack;

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher};
use panic_halt as _;
use semihosting::io::{Read, Write};
use semihosting::{fs, io, process};
use sotto_device::{Form, Head, Mask, MaskKey, SecretBits, WHOLE_HEAD_BYTES, encrypt};

/// The form for sums of 2,048 windows of 12 bits, as in `conformance/examples/firmware_device.rs`, which made
/// the files of `provision`.
const FORM: Form = match Form::new(4096, PRIME, 16_777_259, 16, 36) {
    Ok(form) => form,
    Err(_) => panic!("no form"),
};
const PRIME: u64 = 1_099_511_480_321;
/// The secret and the stream's mask key, which an owner's tool writes into each device. These belong to a
/// public example.
static SECRET: [u8; FORM.degree() / 4] = *include_bytes!("../provision/secret.bin");
static MASK_KEY: [u8; 32] = *include_bytes!("../provision/mask-key.bin");
/// The id of the stream, as the owner registered it.
static STREAM_ID: [u8; 32] = *include_bytes!("../provision/stream-id.bin");
/// A secret of zeros, to compare times with.
static OTHER: [u8; FORM.degree() / 4] = [0; FORM.degree() / 4];
/// Windows a run.
const WINDOWS: u64 = 3;

/// Encrypts and prints the windows; called by [`board`] through `finish`.
fn run() -> io::Result<()> {
    let mut seed = [0; 44];
    // A real board reads its hardware random generator.
    fs::File::open(c"/dev/urandom")?.read_exact(&mut seed)?;
    let (key, salt) = seed.split_at(32);
    let mut errors = Errors::new(key, salt);
    let salt: [u8; 12] = salt.try_into().unwrap_or_default();
    let mut out = io::stdout()?;
    line(&mut out, "salt", &salt)?;
    number(&mut out, "reference", board::reference())?;
    for _ in 0..WINDOWS {
        let sequence = next_sequence()?;
        let values = read_sensor(sequence);
        let mask = MaskKey(MASK_KEY).mask(&salt, sequence);
        let mut body = [0; FORM.body_bytes()];
        let painted = stack::paint();
        let (ticks, done) = board::timed(|| window(&SECRET, &mask, &values, &mut errors, &mut body));
        let stack = painted.used();
        done?;
        line(&mut out, "sequence", &sequence.to_be_bytes())?;
        let mut head = [0; WHOLE_HEAD_BYTES];
        let head = head_of(salt, sequence, &mut head)?;
        line(&mut out, "head", head)?;
        #[cfg(feature = "signature")]
        signature::sign(&STREAM_ID, head, &body, &mut out)?;
        line(&mut out, "body", &body)?;
        number(&mut out, "ticks", ticks)?;
        number(&mut out, "stack", stack)?;
        // Times another secret with other readings, for comparison. This body is never printed.
        let other = values.map(|value| 4095 - value);
        let (ticks, done) = board::timed(|| window(&OTHER, &mask, &other, &mut errors, &mut body));
        done?;
        number(&mut out, "other", ticks)?;
    }
    Ok(())
}

/// Computes the body of one window.
#[inline(never)]
fn window(
    secret: &[u8],
    mask: &Mask,
    values: &[u64; FORM.places()],
    errors: &mut Errors,
    body: &mut [u8; FORM.body_bytes()],
) -> io::Result<()> {
    let mut sums = [0; FORM.places()];
    let secret = SecretBits::new(secret);
    let done = encrypt(&FORM, secret, mask, values, &mut || errors.next(), &mut sums, body);
    done.map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// Writes the head of a window. Its start is computed from its number; a real board reads its clock.
fn head_of(salt: [u8; 12], sequence: u64, out: &mut [u8]) -> io::Result<&[u8]> {
    let stream = core::array::from_fn(|at| STREAM_ID[at]);
    let (start, ticks) = (1_795_000_000_000 + 960_000 * sequence as i64, FORM.places() as u32);
    let head = Head { stream, salt, sequence, start, ticks, channels: 1 };
    let length = head.write(|_, _| true, out).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(&out[..length])
}

/// Returns the number of the next window, after storing that it is used: a board that loses power here skips
/// a number, but never uses one twice. A counter that cannot be read ends the run.
///
/// A real board keeps the counter in two pages of its flash in turn.
fn next_sequence() -> io::Result<u64> {
    let name = c"window-counter";
    let mut bytes = [0; 8];
    // Without the file the device is new. The salt is new at every start, so that numbers may begin again.
    if let Ok(mut file) = fs::File::open(name) {
        file.read_exact(&mut bytes)?;
    }
    let sequence = u64::from_le_bytes(bytes);
    fs::write(name, (sequence + 1).to_le_bytes())?;
    Ok(sequence)
}

/// Returns sixteen readings of 12 bits that the test knows. A real board reads its analogue-to-digital
/// converter.
fn read_sensor(sequence: u64) -> [u64; FORM.places()] {
    core::array::from_fn(|place| (sequence * 97 + place as u64 * 251) % 4096)
}

/// Random words for errors: ChaCha20 under a key drawn at this start.
struct Errors(ChaCha20);

impl Errors {
    fn new(key: &[u8], salt: &[u8]) -> Self {
        let (mut whole, mut nonce) = ([0; 32], [0; 12]);
        whole.copy_from_slice(key);
        nonce.copy_from_slice(salt);
        Self(ChaCha20::new(&whole.into(), &nonce.into()))
    }

    fn next(&mut self) -> u64 {
        let mut word = [0; 8];
        self.0.apply_keystream(&mut word);
        u64::from_le_bytes(word)
    }
}

/// Prints a name and bytes in hexadecimal. A real board sends them by radio.
fn line(out: &mut impl Write, name: &str, bytes: &[u8]) -> io::Result<()> {
    out.write_all(name.as_bytes())?;
    out.write_all(b" ")?;
    for byte in bytes {
        let digit = |value: u8| b"0123456789abcdef"[usize::from(value & 15)];
        out.write_all(&[digit(byte >> 4), digit(*byte)])?;
    }
    out.write_all(b"\n")
}

fn number(out: &mut impl Write, name: &str, value: u32) -> io::Result<()> {
    line(out, name, &value.to_be_bytes())
}

fn finish() -> ! {
    process::exit(i32::from(run().is_err()))
}
