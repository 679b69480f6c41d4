//! Version 2 of the envelope: compact windows.

use std::sync::Arc;

use rand_core::{Rng, SeedableRng};
use sotto_keys::SigningIdentity;
use sotto_pack::{Channel, ChannelBins, FleetId, LeftOut, Places, Presence, Reason, WindowDescription};
use sotto_rlwe::{KeyId, ParameterId};
use sotto_wire::{
    CompactCiphertext, CompactForm, Envelope, LARGEST_ENVELOPE, MaskName, SignedHeader, StreamHeader,
    StreamParts, WINDOW_OVERHEAD, WindowValues, WireError, message_digest, stream_tag,
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

fn parts(channels: usize, ticks: u32, width: u32) -> StreamParts {
    let channel = |at: usize| Channel {
        name: format!("channel {at}"),
        unit: "°C".into(),
        minimum: -20.0,
        maximum: 389.5,
        resolution: Some(0.1),
    };
    StreamParts {
        device: "boiler".into(),
        stream: "exact-1h".into(),
        parameters: ParameterId([1; 32]),
        key: KeyId([2; 16]),
        period: 60_000,
        ticks,
        channels: (0..channels).map(channel).collect(),
        values: WindowValues::Places(Places { width, ..Places::default() }),
        fleet: None,
    }
}

fn places(parts: &mut StreamParts) -> &mut Places {
    match &mut parts.values {
        WindowValues::Places(places) => places,
        WindowValues::Slots(_) | WindowValues::Steps(_) | WindowValues::Sums(_) => {
            panic!("windows of places")
        }
    }
}

fn stream(channels: usize, ticks: u32, width: u32) -> Arc<StreamHeader> {
    Arc::new(StreamHeader::new(parts(channels, ticks, width)).unwrap())
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
        generated: false,
    }
}

fn complete(stream: &StreamHeader, length: u32) -> WindowDescription {
    described(stream, length, vec![Presence::first(length); stream.layout().channels().len()])
}

/// Returns the frame of a random body for a description.
fn ciphertext(
    stream: &StreamHeader,
    description: &WindowDescription,
    number: u64,
    rng: &mut Generator,
) -> Vec<u8> {
    let columns = stream.layout().channels().len();
    let WindowValues::Places(places) = stream.values() else { panic!("windows of places") };
    let form = CompactForm {
        parameters: stream.parameters(),
        key: stream.key(),
        places: (columns as u32 * Places::ticks(description)) as u16,
        width: places.width as u8,
    };
    let mut body = vec![0; form.bytes(form.places)];
    rng.fill_bytes(&mut body);
    let free = 8 * body.len() - usize::from(form.places) * usize::from(form.width);
    if let Some(last) = body.last_mut() {
        *last &= 0xff >> free;
    }
    let mask = MaskName { salt: [3; 12], sequence: number };
    CompactCiphertext { form, mask, body }.write().unwrap()
}

fn sealed(
    stream: &Arc<StreamHeader>,
    description: &WindowDescription,
    sequence: u64,
    number: u64,
) -> Envelope {
    let body = ciphertext(stream, description, number, &mut generator(sequence));
    Envelope::sign_window(stream, sequence, description.clone(), &body, |m| identity().sign(m)).unwrap()
}

#[test]
fn a_message_of_few_readings_fits_a_radio_frame() {
    for (readings, most) in [(16, 180), (60, 400), (1000, 4600)] {
        let stream = stream(1, readings, 36);
        // The last window of a year of readings at one a minute.
        let number = 525_599 / u64::from(readings);
        let message = sealed(&stream, &complete(&stream, readings), number, number);
        let bytes = message.write().len();
        let coefficients = (36 * readings as usize).div_ceil(8);
        assert!(bytes <= most, "{readings} readings take {bytes} bytes");
        assert!(WINDOW_OVERHEAD <= 100 && bytes - coefficients <= WINDOW_OVERHEAD, "{bytes}");
    }
}

#[test]
fn windows_come_back_and_have_one_form() {
    let mut rng = generator(1);
    for round in 0..300 {
        let (channels, ticks) = (1 + below(&mut rng, 4) as usize, 1 + below(&mut rng, 60));
        let stream = stream(channels, ticks, 36);
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
        assert_eq!(CompactCiphertext::read(&read.body().frame()).unwrap().mask.sequence, number);

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
    let stream = stream(2, 20, 36);
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
    let stream = stream(1, 16, 36);
    let envelope = sealed(&stream, &complete(&stream, 16), 3, 3);
    let other = |change: &dyn Fn(&mut StreamParts)| {
        let mut parts = parts(1, 16, 36);
        change(&mut parts);
        StreamHeader::new(parts).unwrap()
    };
    let others = [
        other(&|parts| parts.device = "kitchen".into()),
        other(&|parts| parts.stream = "exact-2h".into()),
        other(&|parts| parts.key = KeyId([9; 16])),
        other(&|parts| parts.parameters = ParameterId([9; 32])),
        other(&|parts| parts.period = 1),
        other(&|parts| parts.channels[0].minimum = -20.1),
        other(&|parts| parts.channels[0].resolution = Some(0.2)),
        other(&|parts| parts.channels[0].unit = "K".into()),
        other(&|parts| places(parts).width = 37),
        other(&|parts| places(parts).squares = true),
        other(&|parts| parts.fleet = Some(FleetId([0; 16]))),
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
    let stream = stream(1, 16, 36);
    let envelope = sealed(&stream, &complete(&stream, 16), 3, 3);
    let again = envelope.clone().renumbered(9, |m| identity().sign(m)).unwrap();
    let read = Envelope::read_window(&again.write(), &stream).unwrap();
    read.verify(&identity().verifying_key()).unwrap();
    assert_eq!((read.header().sequence, read.body()), (9, envelope.body()));
    assert!(envelope.renumbered(2, |m| identity().sign(m)).is_err());
}

#[test]
fn headers_of_streams_come_back_and_have_one_form() {
    let mut given = parts(3, 24, 40);
    *places(&mut given) =
        Places { width: 40, squares: true, products: vec![(0, 2), (1, 2)], ..Places::default() };
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
    assert!(refused(&|parts| parts.channels[0].resolution = None));
    assert!(refused(&|parts| parts.channels[0].maximum = f64::NAN));
    assert!(refused(&|parts| places(parts).width = 65));
    assert!(refused(&|parts| places(parts).width = 1));
    assert!(refused(&|parts| places(parts).products = vec![(2, 0)]));
    assert!(refused(&|parts| places(parts).products = vec![(0, 3)]));
}

#[test]
fn headers_of_streams_with_bins_and_of_steps_come_back() {
    let mut counted = parts(3, 24, 40);
    let bins = vec![
        ChannelBins { channel: 0, edges: vec![-7, 3] },
        ChannelBins { channel: 2, edges: (-8..8).collect() },
    ];
    places(&mut counted).bins = bins.clone();
    let steps = StreamParts { values: WindowValues::Steps(128), ..parts(2, 24, 40) };
    for given in [counted.clone(), steps.clone()] {
        let header = StreamHeader::new(given.clone()).unwrap();
        let read = StreamHeader::read(&header.write()).unwrap();
        assert_eq!((&read, read.values()), (&header, &given.values));
        assert_eq!(read.write(), header.write());
    }
    // 24 ticks of three channels, and a place for each bin.
    assert_eq!(StreamHeader::new(counted.clone()).unwrap().form(24).unwrap().places, 3 * 24 + 3 + 17);
    let refused = |bins: Vec<ChannelBins>| {
        let mut parts = counted.clone();
        places(&mut parts).bins = bins;
        StreamHeader::new(parts).is_err()
    };
    assert!(refused(vec![bins[1].clone(), bins[0].clone()]));
    assert!(refused(vec![ChannelBins { channel: 3, edges: vec![1] }]));
    assert!(refused(vec![ChannelBins { channel: 0, edges: vec![1, 1] }]));
    assert!(refused(vec![ChannelBins { channel: 0, edges: (0..1024).collect() }]));
    // 4,096 steps of two digits: two channels take 64 slots each.
    let of = |change: &dyn Fn(&mut StreamParts)| {
        let mut parts = steps.clone();
        change(&mut parts);
        StreamHeader::new(parts)
    };
    assert_eq!(of(&|_| {}).unwrap().layout().columns(), 64);
    assert!(of(&|parts| parts.values = WindowValues::Steps(64)).is_err());
    assert!(of(&|parts| parts.channels[1].maximum = 400.0).is_err());
    assert!(of(&|parts| parts.fleet = Some(FleetId([0; 16]))).is_err());
}

#[test]
fn receipts_name_all_of_a_message() {
    let stream = stream(1, 16, 36);
    let message = sealed(&stream, &complete(&stream, 16), 3, 3).write();
    assert_eq!(message_digest(&message).unwrap(), *blake3::hash(&message).as_bytes());
    assert!(message_digest(&[2]).is_err() && message_digest(&[]).is_err());
}

fn of_fleet() -> StreamParts {
    StreamParts { fleet: Some(FleetId([4; 16])), ..parts(1, 16, 36) }
}

/// Makes a window under the mask of this name.
fn masked(
    stream: &Arc<StreamHeader>,
    description: &WindowDescription,
    sequence: u64,
    mask: MaskName,
) -> Result<Envelope, WireError> {
    let body = ciphertext(stream, description, 0, &mut generator(sequence));
    let body = CompactCiphertext { mask, ..CompactCiphertext::read(&body).unwrap() }.write().unwrap();
    Envelope::sign_window(stream, sequence, description.clone(), &body, |m| identity().sign(m))
}

#[test]
fn a_fleets_mask_is_named_after_the_start_of_its_window() {
    let fleet = Arc::new(StreamHeader::new(of_fleet()).unwrap());
    let mut description = complete(&fleet, 16);
    for start in [0, 1, 1_795_000_000_000, i64::MAX] {
        description.start = start;
        let mask = MaskName::shared(start).unwrap();
        // The mask does not depend on the window's sequence number.
        for sequence in [0, 7, u64::MAX] {
            let envelope = masked(&fleet, &description, sequence, mask).unwrap();
            let bytes = envelope.write();
            let read = Envelope::read_window(&bytes, &fleet).unwrap();
            assert_eq!((&read, read.mask()), (&envelope, Some(mask)));
            let again = read.renumbered(3, |m| identity().sign(m)).unwrap();
            assert_eq!((again.mask(), again.header().sequence), (Some(mask), 3));
        }
        let wrong = MaskName { sequence: mask.sequence ^ 1, ..mask };
        assert!(masked(&fleet, &description, u64::MAX, wrong).is_err());
        // Windows of the stream under masks of their own.
        let own = masked(&fleet, &description, 9, MaskName { salt: [1; 12], sequence: 9 }).unwrap();
        assert_eq!(Envelope::read_window(&own.write(), &fleet).unwrap(), own);
    }
    description.start = -1;
    assert_eq!(MaskName::shared(-1), None);
    let wrong = MaskName { salt: [0; 12], sequence: u64::MAX };
    assert!(masked(&fleet, &description, u64::MAX, wrong).is_err());
    let alone = stream(1, 16, 36);
    let description = complete(&alone, 16);
    assert!(masked(&alone, &description, 9, MaskName::shared(description.start).unwrap()).is_err());
}

#[test]
fn a_changed_window_of_a_fleet_is_refused() {
    let fleet = Arc::new(StreamHeader::new(of_fleet()).unwrap());
    let description = complete(&fleet, 16);
    let bytes = masked(&fleet, &description, 9, MaskName::shared(description.start).unwrap()).unwrap();
    let bytes = bytes.write();
    let accepted = |bytes: &[u8]| {
        Envelope::read_window(bytes, &fleet).is_ok_and(|envelope| {
            assert_eq!(envelope.write(), bytes, "a second form");
            envelope.verify(&identity().verifying_key()).is_ok()
        })
    };
    assert!(accepted(&bytes));
    for bit in 0..8 * bytes.len() {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(!accepted(&changed), "bit {bit}");
    }
}

#[test]
fn streams_of_a_fleet_have_all_but_names_and_key_in_common() {
    let first = StreamHeader::new(of_fleet()).unwrap();
    let other = |change: &dyn Fn(&mut StreamParts)| {
        let mut parts = of_fleet();
        change(&mut parts);
        StreamHeader::new(parts).unwrap()
    };
    let read = StreamHeader::read(&first.write()).unwrap();
    assert_eq!((&read, read.fleet()), (&first, Some(FleetId([4; 16]))));
    let alike = [
        other(&|parts| parts.device = "kitchen".into()),
        other(&|parts| parts.stream = "exact-1h.2".into()),
        other(&|parts| parts.key = KeyId([9; 16])),
    ];
    assert!(alike.iter().all(|header| header.common() == first.common()));
    let others = [
        other(&|parts| parts.parameters = ParameterId([9; 32])),
        other(&|parts| parts.period = 1),
        other(&|parts| parts.ticks = 15),
        other(&|parts| parts.channels[0].minimum = -20.1),
        other(&|parts| places(parts).width = 37),
        other(&|parts| places(parts).squares = true),
        other(&|parts| parts.fleet = Some(FleetId([5; 16]))),
    ];
    assert!(others.iter().all(|header| header.common() != first.common()));
    let mut unknown = first.write();
    // The flags follow names, parameters, key, period, ticks and bits.
    let at = 16 + 1 + 6 + 1 + 8 + 32 + 16 + 4 + 4 + 1;
    assert_eq!(unknown[at], 2);
    unknown[at] = 8;
    let end = unknown.len() - 32;
    let digest = blake3::hash(&unknown[..end]);
    unknown[end..].copy_from_slice(digest.as_bytes());
    assert!(matches!(StreamHeader::read(&unknown), Err(WireError::Value(_))));
}
