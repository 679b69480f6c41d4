//! A device with a few kilobytes of memory: it encrypts windows of sixteen readings of 12 bits and hands over their messages; with the
//! feature `signature` these are signed.
//!
//! The board is qemu's. Its durable counter, its entropy and its radio are files of the host (semihosting): `window-counter`,
//! `/dev/urandom` and the standard output. What a real board does in their place is said at each.
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

/// Sums of 2,048 windows of 12 bits: the form of `conformance/examples/firmware_device.rs`, which made the files of `provision`.
const FORM: Form = match Form::new(4096, PRIME, 16_777_259, 16, 36) {
    Ok(form) => form,
    Err(_) => panic!("no form"),
};
const PRIME: u64 = 1_099_511_480_321;
/// The secret and the stream's mask key: an owner's tool writes them into each device. These are of an example that everybody has.
static SECRET: [u8; FORM.degree() / 4] = *include_bytes!("../provision/secret.bin");
static MASK_KEY: [u8; 32] = *include_bytes!("../provision/mask-key.bin");
/// The id of the stream that the owner registered.
static STREAM_ID: [u8; 32] = *include_bytes!("../provision/stream-id.bin");
/// Zeros: a secret for comparison.
static OTHER: [u8; FORM.degree() / 4] = [0; FORM.degree() / 4];
/// Windows of a run.
const WINDOWS: u64 = 3;

/// The starting point, called by [`board`].
fn run() -> io::Result<()> {
    let mut seed = [0; 44];
    // A board reads its generator of true random numbers.
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
        // Whether another secret with other readings takes as long. This body never leaves.
        let other = values.map(|value| 4095 - value);
        let (ticks, done) = board::timed(|| window(&OTHER, &mask, &other, &mut errors, &mut body));
        done?;
        number(&mut out, "other", ticks)?;
    }
    Ok(())
}

/// One window's body.
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

/// The head of a window that begins at an hour that its number gives: a board asks its clock.
fn head_of(salt: [u8; 12], sequence: u64, out: &mut [u8]) -> io::Result<&[u8]> {
    let stream = core::array::from_fn(|at| STREAM_ID[at]);
    let (start, ticks) = (1_795_000_000_000 + 960_000 * sequence as i64, FORM.places() as u32);
    let head = Head { stream, salt, sequence, start, ticks, channels: 1 };
    let length = head.write(|_, _| true, out).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(&out[..length])
}

/// The number of the next window. It is stored before anything is encrypted under it: a board that loses its power here leaves a number out,
/// and never takes one twice. A counter that cannot be read ends the run. A board keeps it in two pages of its flash in turn.
fn next_sequence() -> io::Result<u64> {
    let name = c"window-counter";
    let mut bytes = [0; 8];
    // Without the file the device is new. The salt is, at every start.
    if let Ok(mut file) = fs::File::open(name) {
        file.read_exact(&mut bytes)?;
    }
    let sequence = u64::from_le_bytes(bytes);
    fs::write(name, (sequence + 1).to_le_bytes())?;
    Ok(sequence)
}

/// Sixteen readings of 12 bits, which the test knows: a board asks its converter.
fn read_sensor(sequence: u64) -> [u64; FORM.places()] {
    core::array::from_fn(|place| (sequence * 97 + place as u64 * 251) % 4096)
}

/// Words for errors: ChaCha20 under a key of this start.
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

/// A name and bytes in hexadecimal: what a board sends by radio.
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
