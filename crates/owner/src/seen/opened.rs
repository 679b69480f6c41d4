//! The readings of one window of sums, opened from its message.

use sotto_keys::DeviceSecret;
use sotto_pack::{Quantity, WindowDescription};
use sotto_sums::{Answer, Opening, StartKeys, StreamKeys, TagKey};
use sotto_wire::{Envelope, WireError};

use crate::error::OwnerError;

/// The readings of a channel by tick, in steps from the middle of its range. Ticks without a reading have none.
pub(super) type Ticks = Vec<Option<i64>>;

/// Opens all parts of a window of sums. Returns the readings of each channel, in the order of its stream; None for a channel whose
/// readings are not among the sums.
///
/// # Errors
/// [`OwnerError::WrongAnswer`] if a tag does not fit: the message is not the one that the device encrypted.
pub(super) fn opened(secret: &DeviceSecret, window: &Envelope) -> Result<Vec<Option<Ticks>>, OwnerError> {
    let signed = window.signed_header();
    let of_sums = || OwnerError::wrong("the window is not one of sums");
    let (stream, described) = signed.stream().zip(signed.description()).ok_or_else(of_sums)?;
    let (id, pads) = stream.stream_id().zip(signed.mask()).ok_or_else(of_sums)?;
    let secret = secret.expose_secret_bytes();
    let (of_stream, start) = (StreamKeys::derive(secret, id), StartKeys::derive(secret, id, &pads.salt));
    let (ticks, wrong) = (described.sent_ticks(), |error: WireError| OwnerError::wrong(&error.to_string()));
    let mut readings: Vec<Option<Ticks>> = vec![None; described.layout.channels().len()];
    for (number, part) in stream.parts().iter().enumerate() {
        let (form, sent) = (stream.sums_form(number).map_err(wrong)?, window.part(number).map_err(wrong)?);
        let (counts, present) = (part.counts(&described), part.present(&described));
        let number = u32::try_from(number).map_err(|_| of_sums())?;
        let mut opening = Opening::new(&form, number);
        opening.add(&start, pads.sequence, ticks, 1, |place| present.get(place).copied().unwrap_or_default());
        let answer = Answer::from((&sent, &counts[..]));
        let values = opening.open(&TagKey::new(&of_stream, &form, number), &answer).map_err(|error| {
            OwnerError::wrong(&format!(
                "window {} of stream {} does not open ({error:?}): its bytes are not those that the device encrypted",
                signed.header().sequence,
                stream.stream()
            ))
        })?;
        let (once, of_ticks) = part.split();
        let first: usize = once.iter().map(|placed| placed.quantity.places()).sum();
        for (at, placed) in of_ticks.iter().enumerate() {
            let Quantity::Reading(column) = placed.quantity else { continue };
            let Some(readings) = readings.get_mut(usize::from(column)) else { continue };
            let readings = readings.get_or_insert_with(|| empty(&described, column));
            let values = values.iter().skip(first + at).step_by(of_ticks.len().max(1));
            for (reading, value) in readings.iter_mut().zip(values) {
                let Some(q) = reading else { continue };
                *q = q.saturating_add(value.saturating_mul(placed.digit.factor()));
            }
        }
    }
    Ok(readings)
}

/// Returns 0 at the ticks with a reading of a channel.
fn empty(described: &WindowDescription, column: u16) -> Ticks {
    let presence = described.presence(column);
    let has = |tick| presence.as_ref().is_some_and(|presence| presence.contains(tick));
    (0..described.ticks()).map(|tick| has(tick).then_some(0)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use sotto_pack::{Channel, Digit, Period, Placed, Presence, SumsPart};
    use sotto_rlwe::KeyId;
    use sotto_sums::{Encryptor, SALT_BYTES};
    use sotto_wire::{MaskName, StreamHeader, SumsStream};

    use super::*;

    const SECRET: [u8; 32] = [5; 32];
    const SALT: [u8; SALT_BYTES] = [3; SALT_BYTES];
    const NUMBER: u64 = 9;

    /// Returns a stream of two channels: readings of both beside bins of the first, squares of the second in a part of their own.
    fn stream() -> Arc<StreamHeader> {
        let channel = |name: &str| Channel {
            name: name.into(),
            maximum: 100.0,
            resolution: Some(1.0),
            ..Channel::default()
        };
        let placed = |(quantity, width)| Placed { quantity, digit: Digit::Whole, width };
        let part = |quantities: Vec<(Quantity, u8)>| SumsPart {
            quantities: quantities.into_iter().map(placed).collect(),
            reasons: 1,
        };
        let bins = Quantity::Bins { column: 0, edges: vec![0, 10] };
        let stream = SumsStream {
            device: "cellar".into(),
            stream: "tank".into(),
            period: Period::of_seconds(60, 1).unwrap(),
            ticks: 6,
            channels: vec![channel("level"), channel("flow")],
            rounded: false,
            parts: vec![
                part(vec![(bins, 12), (Quantity::Reading(0), 16), (Quantity::Reading(1), 16)]),
                part(vec![(Quantity::Square(1), 24)]),
            ],
        };
        Arc::new(StreamHeader::of_sums(stream, |_| KeyId([2; 16])).unwrap())
    }

    const LEVEL: [Option<i64>; 6] = [Some(-50), None, Some(0), Some(7), Some(50), None];
    const FLOW: [Option<i64>; 6] = [Some(1), Some(2), None, Some(4), Some(-5), None];

    /// Returns the window as its device signs it, after a change of the encrypted bytes.
    fn window(changed: impl FnOnce(&mut Vec<u8>)) -> Option<Envelope> {
        let stream = stream();
        let present = |readings: &[Option<i64>; 6]| {
            let mut presence = Presence::first(0);
            (0..).zip(readings).filter(|(_, q)| q.is_some()).for_each(|(tick, _)| presence.insert(tick));
            presence
        };
        let presence = vec![present(&LEVEL), present(&FLOW)];
        let description = WindowDescription {
            present: presence.iter().map(Presence::count).collect(),
            presence: presence.clone(),
            ..WindowDescription::whole(stream.layout(), 0, Period::from_milliseconds(60_000), 6)
        };
        let ticks = description.sent_ticks();
        let mut slots = vec![0; stream.layout().slots()];
        for (column, readings) in [(0, &LEVEL), (1, &FLOW)] {
            for (tick, q) in (0..).zip(readings) {
                if let (Some(slot), Some(q)) = (stream.layout().slot(column, tick), q) {
                    slots[slot] = *q;
                }
            }
        }
        let mut encryptor = Encryptor::new(&SECRET, stream.stream_id().unwrap(), &SALT, NUMBER);
        let (mut pads, mut parts) = (encryptor.window(NUMBER).unwrap(), Vec::new());
        for (at, described) in stream.parts().iter().enumerate() {
            let form = stream.sums_form(at).unwrap();
            let values = described.values(stream.layout(), ticks, &slots, &presence);
            let mut body = vec![0; form.body_bytes(ticks)];
            let counts = described.counts(&description);
            let tag = pads.encrypt(&form, ticks, at as u32, values, counts, &mut body).unwrap();
            parts.extend(body.into_iter().chain(tag.to_bytes()));
        }
        changed(&mut parts);
        let name = MaskName { salt: SALT, sequence: NUMBER };
        Envelope::sign_sums(&stream, NUMBER, name, description, &parts, |_| [0; 64]).ok()
    }

    #[test]
    fn readings_are_those_of_each_tick() {
        let readings = opened(&DeviceSecret::from_bytes(&SECRET), &window(|_| {}).unwrap()).unwrap();
        assert_eq!(readings, [Some(LEVEL.to_vec()), Some(FLOW.to_vec())]);
    }

    #[test]
    fn changed_bytes_of_any_part_and_another_secret_are_refused() {
        let secret = DeviceSecret::from_bytes(&SECRET);
        let (mut length, mut refused) = (0, 0);
        window(|parts| length = parts.len());
        for at in 0..length {
            // The last bits of a body are 0, and a tag is below a prime: other bytes are no message at all.
            let Some(changed) = window(|parts| parts[at] ^= 1) else { continue };
            assert!(opened(&secret, &changed).is_err(), "byte {at}");
            refused += 1;
        }
        assert!(refused > length / 2, "{refused} of {length}");
        let other = opened(&DeviceSecret::from_bytes(&[6; 32]), &window(|_| {}).unwrap()).unwrap_err();
        assert!(other.to_string().contains("window 9 of stream tank does not open"), "{other}");
    }
}
