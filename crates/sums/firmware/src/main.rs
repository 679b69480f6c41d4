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
mod stream;

use panic_halt as _;
use semihosting::io::{Read, Write};
use semihosting::{fs, io, process};
use sotto_sums::{Encryptor, WHOLE_HEAD_BYTES, WholeHead};
use stream::{MOST_BYTES, STREAMS, Stream, TICKS};

/// The secret, which an owner's tool writes into each device. This one belongs to a public example.
static SECRET: [u8; 32] = [0x51; 32];
/// Another secret, to compare instructions with.
static OTHER: [u8; 32] = [0; 32];
/// Windows of a stream a run.
const WINDOWS: u64 = 2;
/// Windows that are timed together: a tick of a board's clock has up to 63 instructions.
const TIMED: u64 = 64;

type Readings = [u16; TICKS as usize];

/// Encrypts and prints the windows; called by [`board`] through `finish`.
fn run() -> io::Result<()> {
    let mut salt = [0; 12];
    // A real board reads its hardware random generator.
    fs::File::open(c"/dev/urandom")?.read_exact(&mut salt)?;
    let mut out = io::stdout()?;
    line(&mut out, "salt", &salt)?;
    number(&mut out, "reference", board::reference())?;
    number(&mut out, "keys", size_of::<Encryptor>() as u32)?;
    for (index, stream) in (0..).zip(&STREAMS) {
        number(&mut out, "stream", index)?;
        let (used, (ticks, mut encryptor)) =
            stack::measured(|| board::timed(|| start(&SECRET, &stream.id, &salt)));
        number(&mut out, "start-ticks", ticks)?;
        number(&mut out, "start-stack", used)?;
        for _ in 0..WINDOWS {
            send(stream, &mut encryptor, salt, &mut out)?;
        }
        compare(stream, &mut out)?;
    }
    Ok(())
}

/// Derives the keys of a start.
#[inline(never)]
fn start(secret: &[u8; 32], stream: &[u8; 32], salt: &[u8; 12]) -> Encryptor {
    Encryptor::new(secret, stream, salt, 0)
}

/// Encrypts the next window, and prints its message and the stack that its encryption took.
fn send(stream: &Stream, encryptor: &mut Encryptor, salt: [u8; 12], out: &mut impl Write) -> io::Result<()> {
    let sequence = next_sequence()?;
    let readings = read_sensor(sequence);
    let mut parts = [0; MOST_BYTES];
    let (used, done) = stack::measured(|| stream.encrypt(encryptor, sequence, &readings, &mut parts));
    let parts = &parts[..done.map_err(|_| io::ErrorKind::InvalidInput)?];
    number(out, "stack", used)?;
    number(out, "buffers", (size_of_val(&readings) + parts.len()) as u32)?;
    let mut head = [0; WHOLE_HEAD_BYTES];
    let head = head_of(stream, salt, sequence, &mut head);
    // Signed before the message is printed, as its own lines come between.
    #[cfg(feature = "signature")]
    let signature = signature::sign(stream, head, parts, out)?;
    line(out, "sequence", &sequence.to_be_bytes())?;
    line(out, "head", head)?;
    line(out, "parts", parts)?;
    #[cfg(feature = "signature")]
    line(out, "signature", &signature)?;
    Ok(())
}

/// Times many windows under two secrets with two lists of readings. They are never printed, and have a salt
/// of their own.
fn compare(stream: &Stream, out: &mut impl Write) -> io::Result<()> {
    let cases: [(&str, _, fn(u16) -> u16); 2] =
        [("ticks", &SECRET, |reading| reading), ("other", &OTHER, |reading| 4094 - reading)];
    for (name, secret, changed) in cases {
        let mut encryptor = start(secret, &stream.id, &[0; 12]);
        let mut parts = [0; MOST_BYTES];
        let readings = read_sensor(0).map(changed);
        let windows = || {
            (0..TIMED).try_for_each(|window| {
                stream.encrypt(&mut encryptor, window, &readings, &mut parts).map(|_| ())
            })
        };
        let (ticks, done) = board::timed(windows);
        done.map_err(|_| io::ErrorKind::InvalidInput)?;
        number(out, name, ticks)?;
    }
    Ok(())
}

/// Writes the head of a window. Its start is computed from its number; a real board reads its clock.
fn head_of<'o>(
    stream: &Stream,
    salt: [u8; 12],
    number: u64,
    out: &'o mut [u8; WHOLE_HEAD_BYTES],
) -> &'o [u8] {
    let start = 1_795_000_000_000 + 960_000 * number as i64;
    let tag = core::array::from_fn(|at| stream.header_id[at]);
    let length = WholeHead { stream: tag, salt, number, start, ticks: TICKS }.write(out);
    &out[..length]
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
fn read_sensor(sequence: u64) -> Readings {
    core::array::from_fn(|tick| ((sequence * 97 + tick as u64 * 251) % 4095) as u16)
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
