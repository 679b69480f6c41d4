//! A device with one stream of sums, for benchmarks: 16 readings of 12 bits a window, 23 bits a place. A window has a body
//! of 46 bytes and a tag of 8.

use std::sync::Arc;

use sotto_pack::{Channel, Digit, Period, Placed, Presence, Quantity, SumsPart, WindowDescription};
use sotto_rlwe::KeyId;
use sotto_sums::{Encryptor, StreamKeys};
use sotto_wire::{Envelope, MaskName, StreamHeader, SumsStream};

pub(crate) const SECRET: [u8; 32] = [1; 32];
pub(crate) const SALT: [u8; 12] = [2; 12];
pub(crate) const TICKS: u32 = 16;
/// Milliseconds of a window with readings every minute.
pub(crate) const SPAN: i64 = 60_000 * TICKS as i64;

/// A reading in steps from the middle of the range.
pub(crate) fn reading(number: u64, tick: u64) -> i64 {
    ((number * 97 + tick * 251) % 4096) as i64 - 2048
}

pub(crate) fn header(device: &str) -> anyhow::Result<Arc<StreamHeader>> {
    let level =
        Channel { name: "level".into(), maximum: 4096.0, resolution: Some(1.0), ..Channel::default() };
    let readings = Placed { quantity: Quantity::Reading(0), digit: Digit::Whole, width: 23 };
    let stream = SumsStream {
        device: device.into(),
        stream: "level".into(),
        period: Period::of_seconds(60, 1)?,
        ticks: TICKS,
        channels: vec![level],
        rounded: false,
        parts: vec![SumsPart { quantities: vec![readings], reasons: 0 }],
    };
    Ok(Arc::new(StreamHeader::of_sums(stream, |id| KeyId(StreamKeys::derive(&SECRET, id).id()))?))
}

pub(crate) fn encryptor(header: &StreamHeader) -> Encryptor {
    Encryptor::new(&SECRET, header.stream_id().expect("a stream of sums"), &SALT, 0)
}

/// Returns a window that starts at `start`, with readings at some ticks.
pub(crate) fn window(
    header: &Arc<StreamHeader>,
    encryptor: &mut Encryptor,
    number: u64,
    start: i64,
    has_reading: impl Fn(u32) -> bool,
    sign: impl FnOnce(&[u8]) -> [u8; 64],
) -> Envelope {
    let whole = WindowDescription::whole(header.layout(), start, header.period(), TICKS);
    let mut presence = Presence::default();
    (0..TICKS).filter(|tick| has_reading(*tick)).for_each(|tick| presence.insert(tick));
    let description = if presence.count() == TICKS {
        whole
    } else {
        WindowDescription { present: vec![presence.count()], presence: vec![presence.clone()], ..whole }
    };
    let (form, ticks) = (header.sums_form(0).expect("a part"), description.sent_ticks());
    let mut parts = vec![0; form.body_bytes(ticks)];
    let values = (0..ticks).map(|tick| presence.contains(tick).then(|| reading(number, tick.into())));
    let counts = header.parts()[0].counts(&description);
    let mut pads = encryptor.window(number).expect("a new number");
    let tag = pads.encrypt(&form, ticks, 0, values, counts, &mut parts).expect("readings in their range");
    parts.extend(tag.to_bytes());
    let name = MaskName { salt: SALT, sequence: number };
    Envelope::sign_sums(header, number, name, description, &parts, sign).expect("a window")
}
