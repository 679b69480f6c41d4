//! Streams of sums whose tags prove nothing any more: their device encrypted two windows under one pad number.

use std::collections::BTreeSet;

use sotto_api::devices::{Device, RepeatedPads};
use sotto_wire::{STREAM_TAG_BYTES, SignedHeader};

use super::window::{DeviceWindows, StoredWindow, number, once};
use crate::declared::Plant;
use crate::devices::{self, DeviceRecord};
use crate::error::OwnerError;

/// Largest frame of a signed window without its bodies, in bytes.
const LARGEST_SIGNED: u64 = 128 << 10;

/// Two windows of one stream under one pad number, as their device signed them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Proof {
    stream: String,
    /// The first bytes of the hash of the stream's header.
    tag: [u8; STREAM_TAG_BYTES],
    sequences: [u64; 2],
}

/// Returns the proof that a device used pads twice. Returns None unless the device signed both windows, and they differ.
fn proof(pads: &RepeatedPads, verifying_key: &[u8; 32]) -> Option<Proof> {
    let read = |frame: &String| {
        let signed = SignedHeader::read(&hex::decode(frame).ok()?, LARGEST_SIGNED).ok()?;
        signed.verify(verifying_key).ok().map(|()| signed)
    };
    let [first, second] = [read(&pads.signed[0])?, read(&pads.signed[1])?];
    let stream = first.stream().filter(|stream| stream.is_of_sums())?;
    let repeated = second.stream() == Some(stream)
        && first.mask() == second.mask()
        && !first.is_same_encryption(&second);
    repeated.then(|| Proof {
        stream: stream.stream().to_owned(),
        tag: stream.id().tag().0,
        sequences: [first.header().sequence, second.header().sequence],
    })
}

/// Returns the proofs against a device that the cloud lists.
fn proofs(record: &DeviceRecord, known: &Device) -> Vec<Proof> {
    let key: Option<[u8; 32]> = hex::decode(&record.verifying_key).ok().and_then(|key| key.try_into().ok());
    let of_key = |key| known.repeated_pads.iter().filter_map(move |pads| proof(pads, &key));
    key.into_iter().flat_map(of_key).collect()
}

/// Returns the headers of a device's streams whose tags prove nothing. `known` are the devices as the cloud lists them.
pub(crate) fn twice(record: &DeviceRecord, known: &[Device]) -> BTreeSet<[u8; STREAM_TAG_BYTES]> {
    let known = known.iter().filter(|known| known.name == record.device);
    known.flat_map(|known| proofs(record, known)).map(|proof| proof.tag).collect()
}

/// Marks the streams of these devices whose tags prove nothing, and returns a note for each with windows, by the device's
/// name in `sotto.toml`. `known` are the devices as the cloud lists them.
pub(crate) fn mark_twice<'d>(
    plant: &Plant,
    known: &[Device],
    listed: impl Iterator<Item = &'d mut DeviceWindows>,
) -> Result<Vec<(String, String)>, OwnerError> {
    let mut notes = Vec::new();
    for device in listed {
        let Some(known) = known.iter().find(|known| known.name == device.device) else { continue };
        let Some(record) = devices::record(plant, &device.device)? else { continue };
        for Proof { stream, tag, sequences: [first, second] } in proofs(&record, known) {
            device.twice.insert(tag);
            let of_stream = |window: &&StoredWindow| {
                window.stream_of_sums().is_some_and(|stream| stream.id().tag().0 == tag)
            };
            let name = &device.shown;
            match number(once(&device.windows).filter(of_stream)) {
                0 => {}
                count => notes.push((
                    name.clone(),
                    format!(
                        "the sums of {count} windows of {name} are unchecked: the device encrypted windows {first} and {second} of stream \
                         {stream} under one pad number, and whoever has both can shift its sums unnoticed. `sotto device renew {name}` \
                         gives it new keys"
                    ),
                )),
            }
        }
    }
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sotto_keys::SigningIdentity;
    use sotto_pack::{Channel, Digit, Period, Placed, Quantity, SumsPart, WindowDescription};
    use sotto_rlwe::KeyId;
    use sotto_wire::{Envelope, MaskName, StreamHeader, SumsStream};

    use super::*;

    fn stream() -> Arc<StreamHeader> {
        let level =
            Channel { name: "level".into(), maximum: 100.0, resolution: Some(1.0), ..Channel::default() };
        let readings = Placed { quantity: Quantity::Reading(0), digit: Digit::Whole, width: 16 };
        let stream = SumsStream {
            device: "cellar".into(),
            stream: "tank".into(),
            period: Period::of_seconds(60, 1).unwrap(),
            ticks: 4,
            channels: vec![level],
            rounded: false,
            parts: vec![SumsPart { quantities: vec![readings], reasons: 0 }],
        };
        Arc::new(StreamHeader::of_sums(stream, |_| KeyId([2; 16])).unwrap())
    }

    fn signed(device: &SigningIdentity, sequence: u64, pads: u64, body: u8) -> String {
        let stream = stream();
        let window = WindowDescription::whole(
            stream.layout(),
            60_000 * sequence as i64,
            Period::from_milliseconds(60_000),
            1,
        );
        let (name, parts) = (MaskName { salt: [3; 12], sequence: pads }, [body, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        let envelope =
            Envelope::sign_sums(&stream, sequence, name, window, &parts, |message| device.sign(message));
        hex::encode(envelope.unwrap().signed_header().write())
    }

    #[test]
    fn only_two_signed_windows_that_differ_are_a_proof() {
        let [device, other] = [3, 4].map(|byte| SigningIdentity::from_bytes(&[byte; 32]));
        let key = device.verifying_key();
        let pads = |signed: [String; 2]| RepeatedPads {
            stream: "tank".into(),
            tag: "00".repeat(8),
            signed,
            noted_at: 0,
        };
        let proven = |signed| proof(&pads(signed), &key);
        let first = signed(&device, 7, 7, 1);
        let found = proven([first.clone(), signed(&device, 8, 7, 2)]).unwrap();
        assert_eq!((found.stream.as_str(), found.sequences), ("tank", [7, 8]));
        assert_eq!(found.tag, stream().id().tag().0);
        // The same body and tag give nothing away; other pads are no repetition; somebody else's signature proves nothing.
        assert_eq!(proven([first.clone(), signed(&device, 8, 7, 1)]), None);
        assert_eq!(proven([first.clone(), signed(&device, 8, 8, 2)]), None);
        assert_eq!(proven([first.clone(), signed(&other, 8, 7, 2)]), None);
        assert_eq!(proven([first, "00".into()]), None);
    }
}
