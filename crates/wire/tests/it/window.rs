//! Version 2 of the envelope: windows of slots.

use std::sync::Arc;

use rand_core::{Rng, SeedableRng};
use sotto_keys::SigningIdentity;
use sotto_pack::{Channel, LeftOut, Presence, Reason, WindowDescription};
use sotto_rlwe::{Kept, KeyId, ParameterId};
use sotto_wire::{
    Envelope, LARGEST_ENVELOPE, MaskName, SignedHeader, SlotsWindow, StreamHeader, StreamParts,
    WINDOW_OVERHEAD, WindowValues, WireError, mask_seed, message_digest, stream_tag,
};

type Generator = chacha20::ChaCha8Rng;

fn generator(seed: u64) -> Generator {
    Generator::seed_from_u64(seed)
}

fn below(rng: &mut Generator, end: u32) -> u32 {
    rng.next_u32() % end
}

fn identity() -> SigningIdentity {
    SigningIdentity::from_bytes(&[7; 32])
}

/// The slots of a stream of this many channels and ticks: the fewest.
fn slots(channels: usize, ticks: u32) -> u32 {
    (channels.next_power_of_two() as u32 * ticks.next_power_of_two()).max(2)
}

fn parts(channels: usize, ticks: u32) -> StreamParts {
    let channel = |at: usize| Channel {
        name: format!("channel {at}"),
        unit: "°C".into(),
        minimum: -20.0,
        maximum: 389.5,
        resolution: Some(0.1),
        ..Channel::default()
    };
    StreamParts {
        device: "boiler".into(),
        stream: "real-1h".into(),
        parameters: ParameterId([1; 32]),
        key: KeyId([2; 16]),
        period: 60_000,
        ticks,
        channels: (0..channels).map(channel).collect(),
        values: WindowValues::Slots(slots(channels, ticks)),
    }
}

fn stream(channels: usize, ticks: u32) -> Arc<StreamHeader> {
    Arc::new(StreamHeader::new(parts(channels, ticks)).unwrap())
}

fn described(stream: &StreamHeader, length: u32, presence: Vec<Presence>) -> WindowDescription {
    let present: Vec<u32> = presence.iter().map(Presence::count).collect();
    let gaps = presence.iter().zip(&present).any(|(presence, count)| presence.end() != *count);
    WindowDescription {
        layout: stream.layout().clone(),
        present,
        start: 1_795_000_000_000,
        period: stream.period(),
        length,
        presence: if gaps { presence } else { Vec::new() },
        left_out: Vec::new(),
        rounded: None,
        generated: false,
        replaces: None,
        provisional: false,
    }
}

fn complete(stream: &StreamHeader, length: u32) -> WindowDescription {
    described(stream, length, vec![Presence::first(length); stream.layout().channels().len()])
}

/// Returns the frame of a window with a random body.
fn ciphertext(stream: &StreamHeader, number: u64, rng: &mut Generator) -> Vec<u8> {
    let WindowValues::Slots(slots) = stream.values() else { panic!("windows of slots") };
    let (parameters, key) = (stream.parameters(), stream.key());
    let mask = MaskName { salt: [3; 12], sequence: number };
    let (kept, seed) = (Kept::Folded(*slots as usize), mask_seed(key, stream.stream(), &mask));
    let mut body = vec![0; 4 * *slots as usize];
    rng.fill_bytes(&mut body);
    SlotsWindow { parameters, key, kept, mask, seed, body }.write()
}

fn sealed(
    stream: &Arc<StreamHeader>,
    description: &WindowDescription,
    sequence: u64,
    number: u64,
) -> Envelope {
    let body = ciphertext(stream, number, &mut generator(sequence));
    Envelope::sign_window(stream, sequence, description.clone(), &body, |m| identity().sign(m)).unwrap()
}

#[test]
fn a_window_takes_few_bytes_beside_its_body() {
    for readings in [16, 64, 1024] {
        let stream = stream(1, readings);
        // The last window of a year of readings at one a minute.
        let number = 525_599 / u64::from(readings);
        let message = sealed(&stream, &complete(&stream, readings), number, number);
        let bytes = message.write().len() - 4 * readings as usize;
        assert!(WINDOW_OVERHEAD <= 100 && bytes <= WINDOW_OVERHEAD, "{bytes}");
    }
}

#[test]
fn windows_come_back_and_have_one_form() {
    let mut rng = generator(1);
    for round in 0..300 {
        let (channels, ticks) = (1 + below(&mut rng, 4) as usize, 1 + below(&mut rng, 60));
        let stream = stream(channels, ticks);
        let length = 1 + below(&mut rng, ticks);
        let density = below(&mut rng, 5);
        let presence = (0..channels).map(|_| {
            let mut presence = Presence::default();
            (0..length).filter(|_| below(&mut rng, 4) < density).for_each(|tick| presence.insert(tick));
            presence
        });
        let mut description = described(&stream, length, presence.collect());
        description.start = [0, -1, i64::MIN, i64::MAX, 1_795_000_000_000][round % 5];
        description.generated = below(&mut rng, 2) == 1;
        description.provisional = below(&mut rng, 2) == 1;
        if below(&mut rng, 2) == 1 {
            description.left_out = (0..channels)
                .map(|_| {
                    let mut left_out = LeftOut::default();
                    let reason = Reason::ALL[below(&mut rng, 11) as usize];
                    left_out.add(reason, rng.next_u64() >> below(&mut rng, 64));
                    left_out.add(Reason::Empty, 1);
                    left_out
                })
                .collect();
        }
        let sequence = rng.next_u64() >> below(&mut rng, 64);
        let number = sequence - sequence.min(below(&mut rng, 3).into());
        let envelope = sealed(&stream, &description, sequence, number);
        let bytes = envelope.write();
        assert_eq!(stream_tag(&bytes).unwrap(), Some(stream.id().tag()));
        let read = Envelope::read_window(&bytes, &stream).unwrap();
        assert_eq!(read, envelope);
        assert_eq!(read.write(), bytes);
        assert_eq!(read.message_bytes(), bytes.len());
        read.verify(&identity().verifying_key()).unwrap();
        assert_eq!(WindowDescription::parse(&read.header().layout).unwrap(), description);
        assert_eq!(u64::from(read.header().readings), description.readings());
        assert_eq!(SlotsWindow::read(&read.body().frame()).unwrap().mask.sequence, number);

        // Read from the kept bytes alone, and as a signed header without the body.
        let kept = envelope.write_kept();
        assert_eq!(Envelope::read_kept(&kept, LARGEST_ENVELOPE).unwrap(), envelope);
        let signed = SignedHeader::of(&envelope);
        assert_eq!(SignedHeader::read(&signed.write(), LARGEST_ENVELOPE).unwrap(), signed);
        signed.verify(&identity().verifying_key()).unwrap();
    }
}

#[test]
fn a_changed_window_is_refused() {
    let stream = stream(2, 20);
    let mut presence = Presence::first(4);
    presence.insert(9);
    let mut description = described(&stream, 20, vec![presence, Presence::first(7)]);
    description.left_out = vec![LeftOut::default(), LeftOut::default()];
    description.left_out[1].add(Reason::Text, 300);
    let bytes = sealed(&stream, &description, 700, 698).write();
    let accepted = |bytes: &[u8]| {
        let read = Envelope::read_window(bytes, &stream);
        read.is_ok_and(|envelope| {
            assert_eq!(envelope.write(), bytes, "a second form");
            envelope.verify(&identity().verifying_key()).is_ok()
        })
    };
    assert!(accepted(&bytes));
    for at in 0..bytes.len() {
        assert!(!accepted(&bytes[..at]), "{at}");
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            assert!(!accepted(&changed), "bit {bit} of byte {at}");
        }
    }
    assert!(!accepted(&[&bytes[..], &[0]].concat()));
}

#[test]
fn a_signature_covers_the_whole_header_of_the_stream() {
    let stream = stream(1, 16);
    let envelope = sealed(&stream, &complete(&stream, 16), 3, 3);
    let other = |change: &dyn Fn(&mut StreamParts)| {
        let mut parts = parts(1, 16);
        change(&mut parts);
        StreamHeader::new(parts).unwrap()
    };
    let others = [
        other(&|parts| parts.device = "kitchen".into()),
        other(&|parts| parts.stream = "real-2h".into()),
        other(&|parts| parts.key = KeyId([9; 16])),
        other(&|parts| parts.parameters = ParameterId([9; 32])),
        other(&|parts| parts.period = 1),
        other(&|parts| parts.channels[0].minimum = -20.1),
        other(&|parts| parts.channels[0].resolution = Some(0.2)),
        other(&|parts| parts.channels[0].unit = "K".into()),
        other(&|parts| parts.values = WindowValues::Slots(32)),
        other(&|parts| parts.values = WindowValues::Steps(32)),
    ];
    for other in others {
        assert_ne!(other.id(), stream.id());
        let unknown = WireError::UnknownStream(stream.id().tag());
        assert_eq!(Envelope::read_window(&envelope.write(), &Arc::new(other)), Err(unknown));
    }
    let unknown = WireError::UnknownStream(stream.id().tag());
    assert_eq!(Envelope::read(&envelope.write(), LARGEST_ENVELOPE), Err(unknown));
}

#[test]
fn a_window_that_gets_another_number_keeps_its_mask() {
    let stream = stream(1, 16);
    let envelope = sealed(&stream, &complete(&stream, 16), 3, 3);
    let again = envelope.clone().renumbered(9, |m| identity().sign(m)).unwrap();
    let read = Envelope::read_window(&again.write(), &stream).unwrap();
    read.verify(&identity().verifying_key()).unwrap();
    assert_eq!((read.header().sequence, read.body()), (9, envelope.body()));
    assert!(envelope.renumbered(2, |m| identity().sign(m)).is_err());
}

#[test]
fn headers_of_streams_come_back_and_have_one_form() {
    let mut given = parts(3, 24);
    let header = StreamHeader::new(given.clone()).unwrap();
    let bytes = header.write();
    let read = StreamHeader::read(&bytes).unwrap();
    assert_eq!((&read, read.id()), (&header, header.id()));
    assert_eq!(read.write(), bytes);
    for at in 0..bytes.len() {
        assert!(StreamHeader::read(&bytes[..at]).is_err(), "{at}");
    }
    // Headers are equal only if their bytes are: the signature covers the sign of a zero.
    given.channels[0].minimum = -0.0;
    let negative = StreamHeader::new(given.clone()).unwrap();
    given.channels[0].minimum = 0.0;
    assert_ne!(negative.id(), StreamHeader::new(given.clone()).unwrap().id());
    let refused = |change: &dyn Fn(&mut StreamParts)| {
        let mut parts = given.clone();
        change(&mut parts);
        StreamHeader::new(parts).is_err()
    };
    assert!(refused(&|parts| parts.period = 0));
    assert!(refused(&|parts| parts.ticks = 0));
    assert!(refused(&|parts| parts.ticks = 1000));
    assert!(refused(&|parts| parts.device = "a b".into()));
    assert!(refused(&|parts| parts.stream = String::new()));
    assert!(refused(&|parts| parts.channels.clear()));
    assert!(refused(&|parts| parts.channels[0].maximum = f64::NAN));
    assert!(refused(&|parts| parts.values = WindowValues::Slots(64)));
    assert!(refused(&|parts| parts.values = WindowValues::Slots(129)));
    assert!(refused(&|parts| parts.values = WindowValues::Slots(1 << 17)));
    assert!(refused(&|parts| parts.values = WindowValues::Sums(Vec::new())));
}

#[test]
fn headers_of_streams_of_steps_come_back() {
    let steps = StreamParts { values: WindowValues::Steps(128), ..parts(2, 24) };
    let header = StreamHeader::new(steps.clone()).unwrap();
    let read = StreamHeader::read(&header.write()).unwrap();
    assert_eq!((&read, read.values()), (&header, &steps.values));
    assert_eq!(read.write(), header.write());
    let of = |change: &dyn Fn(&mut StreamParts)| {
        let mut parts = steps.clone();
        change(&mut parts);
        StreamHeader::new(parts)
    };
    assert_eq!(of(&|_| {}).unwrap().layout().columns(), 64);
    assert!(of(&|parts| parts.values = WindowValues::Steps(64)).is_err());
    assert!(of(&|parts| parts.channels[1].maximum = 400.0).is_err());
    assert!(of(&|parts| parts.channels[1].resolution = None).is_err());
}

#[test]
fn receipts_name_all_of_a_message() {
    let stream = stream(1, 16);
    let message = sealed(&stream, &complete(&stream, 16), 3, 3).write();
    assert_eq!(message_digest(&message).unwrap(), *blake3::hash(&message).as_bytes());
    assert!(message_digest(&[2]).is_err() && message_digest(&[]).is_err());
}
