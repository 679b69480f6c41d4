//! Makes and checks the data of the example firmware, `crates/sums/firmware`.
//!
//! With `provision`, `cargo run --release --package sotto-wire --example firmware_device -- provision` writes
//! the ids of the device's streams. With `open` it reads the lines that the firmware prints, makes the same windows by
//! `sotto-sums` and `sotto-wire`, compares them byte for byte, and opens their sums.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::{env, fs, io};

use sotto_keys::SigningIdentity;
use sotto_pack::{Channel, Digit, Period, Placed, Quantity, SumsPart, WindowDescription};
use sotto_rlwe::KeyId;
use sotto_sums::{Answer, Encryptor, Opening, StartKeys, StreamKeys, Sum, TagKey};
use sotto_wire::{Envelope, MaskName, StreamHeader, SumsStream};

type Error = Box<dyn std::error::Error>;

/// The device's secret and signing key. They are public: use them for tests only.
const SECRET: [u8; 32] = [0x51; 32];
const SIGNING_KEY: [u8; 32] = [0x52; 32];
const TICKS: u32 = 16;
const NO_SUMS: &str = "the stream is not one of sums";
const STREAMS: [&str; 2] = ["readings", "squares"];

fn main() -> Result<(), Error> {
    match env::args().nth(1).as_deref() {
        Some("provision") => provision(),
        Some("open") => open(),
        _ => Err("provision or open".into()),
    }
}

/// Returns the header of a stream of readings of 12 bits, for sums of 2,048 windows.
fn header(name: &str) -> Result<Arc<StreamHeader>, Error> {
    let level =
        Channel { name: "level".into(), maximum: 4094.0, resolution: Some(1.0), ..Channel::default() };
    let part = |quantity, width| SumsPart {
        quantities: vec![Placed { quantity, digit: Digit::Whole, width }],
        reasons: 0,
    };
    let mut parts = vec![part(Quantity::Reading(0), 23)];
    if name == "squares" {
        parts.push(part(Quantity::Square(0), 35));
    }
    let stream = SumsStream {
        device: "board".into(),
        stream: name.into(),
        period: Period::of_seconds(60, 1)?,
        ticks: TICKS,
        channels: vec![level],
        rounded: false,
        parts,
    };
    Ok(Arc::new(StreamHeader::of_sums(stream, |id| KeyId(StreamKeys::derive(&SECRET, id).id()))?))
}

fn provision() -> Result<(), Error> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sums/firmware/provision");
    fs::create_dir_all(&folder)?;
    for name in STREAMS {
        let header = header(name)?;
        fs::write(folder.join(format!("{name}.stream")), header.stream_id().ok_or(NO_SUMS)?)?;
        fs::write(folder.join(format!("{name}.header")), header.id().0)?;
    }
    Ok(())
}

/// Returns the readings of the firmware's sensor.
fn readings(sequence: u64) -> [i64; TICKS as usize] {
    core::array::from_fn(|tick| ((sequence * 97 + tick as u64 * 251) % 4095) as i64 - 2047)
}

/// Returns the values of a part.
fn values(sequence: u64, part: usize) -> [i64; TICKS as usize] {
    readings(sequence).map(|reading| reading.pow(part as u32 + 1))
}

/// Makes a window as a device with an allocator makes it.
fn window(header: &Arc<StreamHeader>, salt: [u8; 12], sequence: u64) -> Result<Envelope, Error> {
    let start = 1_795_000_000_000 + 960_000 * sequence as i64;
    let window = WindowDescription::whole(header.layout(), start, header.period(), TICKS);
    let mut encryptor = Encryptor::new(&SECRET, header.stream_id().ok_or(NO_SUMS)?, &salt, sequence);
    let (mut encrypted, mut bodies) = (encryptor.window(sequence)?, Vec::new());
    for (part, described) in header.parts().iter().enumerate() {
        let form = header.sums_form(part)?;
        let mut body = vec![0; form.body_bytes(TICKS)];
        let values = values(sequence, part).map(Some);
        let counts = described.counts(&window);
        let tag = encrypted.encrypt(&form, TICKS, part as u32, values, counts, &mut body)?;
        bodies.extend(body);
        bodies.extend(tag.to_bytes());
    }
    let identity = SigningIdentity::from_bytes(&SIGNING_KEY);
    let name = MaskName { salt, sequence };
    Ok(Envelope::sign_sums(header, sequence, name, window, &bodies, |message| identity.sign(message))?)
}

/// Opens the sums of all windows of a stream, and compares them with the readings'.
fn open_sums(header: &StreamHeader, salt: &[u8; 12], windows: &[(u64, Envelope)]) -> Result<(), Error> {
    let id = header.stream_id().ok_or(NO_SUMS)?;
    let start = StartKeys::derive(&SECRET, id, salt);
    for (part, described) in header.parts().iter().enumerate() {
        let form = header.sums_form(part)?;
        let key = TagKey::new(&StreamKeys::derive(&SECRET, id), &form, part as u32);
        let (mut opening, mut sum) = (Opening::new(&form, part as u32), Sum::new(&form));
        let mut expected = [0; TICKS as usize];
        for (sequence, window) in windows {
            let description = window.signed_header().description().ok_or(NO_SUMS)?;
            sum.add(&window.part(part)?, &described.counts(&description), 1)?;
            opening.add(&start, *sequence, TICKS, 1, |_place| true);
            expected.iter_mut().zip(values(*sequence, part)).for_each(|(sum, value)| *sum += value);
        }
        let opened = opening.open(&key, &Answer::from(&sum))?;
        if opened != expected {
            return Err(format!("opened {opened:?}, expected {expected:?}").into());
        }
    }
    Ok(())
}

/// Each line is a name and bytes in hexadecimal. The lines of a window end with its signature, or else with its parts.
fn open() -> Result<(), Error> {
    let headers = [header(STREAMS[0])?, header(STREAMS[1])?];
    let identity = SigningIdentity::from_bytes(&SIGNING_KEY);
    let (mut salt, mut stream, mut sequence, mut message) = (None, None, None, Vec::new());
    let mut windows: BTreeMap<usize, Vec<(u64, Envelope)>> = BTreeMap::new();
    let mut signed = 0;
    for line in io::stdin().lines() {
        let line = line?;
        let Some((name, text)) = line.split_once(' ') else { continue };
        match name {
            "salt" => salt = Some(hex::decode(text)?.try_into().map_err(|_| "a salt has 12 bytes")?),
            "stream" => stream = Some(usize::from_str_radix(text, 16)?),
            "sequence" => sequence = Some(u64::from_str_radix(text, 16)?),
            "head" => message = hex::decode(text)?,
            "parts" | "signature" => message.extend(hex::decode(text)?),
            _ => continue,
        }
        let (Some(salt), Some(stream), Some(sequence)) = (salt, stream, sequence) else { continue };
        let header = headers.get(stream).ok_or("no such stream")?;
        let expected = window(header, salt, sequence)?.write();
        match name {
            "parts" => {
                if message[..] != expected[..expected.len() - 64] {
                    return Err(format!("window {sequence} differs from the host's").into());
                }
                let window = Envelope::read_window(&expected, header)?;
                windows.entry(stream).or_default().push((sequence, window));
            }
            "signature" => {
                if message != expected {
                    return Err(format!("the signature of window {sequence} differs").into());
                }
                Envelope::read_window(&message, header)?.verify(&identity.verifying_key())?;
                signed += 1;
            }
            _ => {}
        }
    }
    let salt = salt.ok_or("no salt")?;
    for (stream, header) in headers.iter().enumerate() {
        let windows = windows.get(&stream).ok_or("a stream without windows")?;
        open_sums(header, &salt, windows)?;
        println!("{} windows of {}, {signed} signed in all", windows.len(), header.stream());
    }
    Ok(())
}
