//! Groups of windows: one signature over 2 to 64 windows of a stream.

use std::sync::Arc;

use rand_core::{Rng, SeedableRng};
use sotto_keys::SigningIdentity;
use sotto_pack::{Channel, Presence, WindowDescription};
use sotto_rlwe::{Kept, KeyId, ParameterId};
use sotto_wire::{
    Envelope, LARGEST_ENVELOPE, MOST_GROUPED, MaskName, SignedHeader, SlotsWindow, StreamHeader, StreamParts,
    WINDOW_OVERHEAD, WindowGroup, WindowValues, WireError, is_group, mask_seed, stream_tag,
};

type Generator = chacha20::ChaCha8Rng;

/// Bytes of a window's body.
const BODY: usize = 72;
const SIGNATURE: usize = 64;
const START: i64 = 1_795_000_000_000;

fn generator(seed: u64) -> Generator {
    Generator::seed_from_u64(seed)
}

fn below(rng: &mut Generator, end: u32) -> u32 {
    rng.next_u32() % end
}

fn identity() -> SigningIdentity {
    SigningIdentity::from_bytes(&[7; 32])
}

fn key() -> [u8; 32] {
    identity().verifying_key()
}

fn stream_of(device: &str, ticks: u32) -> Arc<StreamHeader> {
    let channel = Channel {
        name: "level".into(),
        unit: "°C".into(),
        minimum: -20.0,
        maximum: 389.5,
        resolution: Some(0.1),
        ..Channel::default()
    };
    let parts = StreamParts {
        device: device.into(),
        stream: "real-1h".into(),
        parameters: ParameterId([1; 32]),
        key: KeyId([2; 16]),
        period: 60_000,
        ticks,
        channels: vec![channel],
        values: WindowValues::Slots(32),
    };
    Arc::new(StreamHeader::new(parts).unwrap())
}

fn stream(ticks: u32) -> Arc<StreamHeader> {
    stream_of("boiler", ticks)
}

/// A window under the mask `mask`, with a random body.
fn window(
    stream: &Arc<StreamHeader>,
    sequence: u64,
    start: i64,
    presence: Presence,
    mask: MaskName,
) -> Envelope {
    let count = presence.count();
    let description = WindowDescription {
        layout: stream.layout().clone(),
        present: vec![count],
        start,
        period: stream.period(),
        length: stream.layout().ticks(),
        presence: if presence.end() == count { Vec::new() } else { vec![presence] },
        left_out: Vec::new(),
        rounded: None,
        generated: false,
        replaces: None,
        provisional: false,
    };
    let (parameters, key) = (stream.parameters(), stream.key());
    let (kept, seed) = (Kept::Folded(32), mask_seed(key, stream.stream(), &mask));
    let mut body = vec![0; BODY];
    generator(sequence).fill_bytes(&mut body);
    let frame = SlotsWindow { parameters, key, kept, mask, seed, body }.write();
    Envelope::sign_window(stream, sequence, description, &frame, |m| identity().sign(m)).unwrap()
}

/// Windows without gaps, each starting where the one before ends.
fn windows(stream: &Arc<StreamHeader>, first: u64, count: u64) -> Vec<Envelope> {
    let ticks = stream.layout().ticks();
    let length = stream.period().after(ticks.into());
    (first..first + count)
        .map(|sequence| {
            let start = START + length * sequence as i64;
            window(stream, sequence, start, Presence::first(ticks), MaskName { salt: [3; 12], sequence })
        })
        .collect()
}

fn grouped(windows: &[Envelope]) -> WindowGroup {
    WindowGroup::sign(windows.to_vec(), |message| identity().sign(message)).unwrap()
}

fn refused(windows: Vec<Envelope>) -> bool {
    let refused = WindowGroup::sign(windows, |message| identity().sign(message));
    matches!(refused, Err(WireError::Value(_)))
}

/// Sizes in bytes, for the table in docs/concepts/wire.md.
#[test]
fn a_further_window_takes_ten_bytes_beside_its_body_at_most() {
    let stream = stream(16);
    let body = BODY;
    // The last windows of a year of readings at one a minute.
    let first = 525_599 / 16 - 23;
    let all = windows(&stream, first, 24);
    let group = grouped(&all).write().len();
    assert_eq!(group, 2 + WINDOW_OVERHEAD - 1 + 1 + body + 23 * (5 + body), "24 windows without a gap");
    let counted: usize = grouped(&all).windows().iter().filter_map(Envelope::member_bytes).sum();
    assert!(group <= counted && all[0].member_bytes().is_none(), "{group} bytes, {counted} counted");
    let alone: usize = all.iter().map(|window| window.write().len()).sum();
    assert_eq!(alone, 24 * (WINDOW_OVERHEAD - 1 + body));

    // After each window three numbers and a day are skipped. In each window one reading is missing; the body keeps its
    // length.
    let sparse: Vec<Envelope> = (0..24)
        .map(|at| {
            let (mut presence, sequence) = (Presence::first(7), first + 4 * at);
            (8..16).for_each(|tick| presence.insert(tick));
            let start = START + 86_400_000 * at as i64;
            window(&stream, sequence, start, presence, MaskName { salt: [3; 12], sequence })
        })
        .collect();
    let alone = sparse[0].write().len();
    let group = grouped(&sparse).write().len();
    let further = (group - 2 - 1 - alone) / 23 - body;
    // 5 of these bytes say which reading is missing.
    assert!(further <= 10 + 5, "{further}");
}

#[test]
fn groups_come_back_and_have_one_form() {
    let mut rng = generator(1);
    for round in 0..200 {
        let stream = stream(1 + below(&mut rng, 20));
        let count = if round == 0 { MOST_GROUPED as u32 } else { 2 + below(&mut rng, 9) };
        let (mut sequence, mut salt) = (rng.next_u64() >> 32 >> below(&mut rng, 32), [3; 12]);
        let mut start = [0, i64::MIN, i64::MAX, START, -1][round % 5];
        let all: Vec<Envelope> = (0..count)
            .map(|_| {
                sequence += 1 + (rng.next_u64() >> 2 >> below(&mut rng, 62)) * u64::from(below(&mut rng, 2));
                start = start.wrapping_add(rng.next_u64().cast_signed() >> below(&mut rng, 64));
                if below(&mut rng, 4) == 0 {
                    rng.fill_bytes(&mut salt);
                }
                let mut presence = Presence::default();
                let ticks = stream.layout().ticks();
                (0..ticks).filter(|_| below(&mut rng, 5) > 0).for_each(|tick| presence.insert(tick));
                let number = sequence - sequence.min(below(&mut rng, 3).into());
                window(&stream, sequence, start, presence, MaskName { salt, sequence: number })
            })
            .scan(0, |last, window| {
                // The numbers stop ascending once they pass 2^64.
                let ascends = *last < window.header().sequence;
                *last = window.header().sequence;
                ascends.then_some(window)
            })
            .collect();
        if all.len() < 2 {
            continue;
        }
        let group = grouped(&all);
        let bytes = group.write();
        assert!(is_group(&bytes) && !is_group(&all[0].write()));
        assert_eq!(stream_tag(&bytes).unwrap(), Some(stream.id().tag()));
        let read = WindowGroup::read(&bytes, &stream).unwrap();
        assert_eq!(read, group);
        assert_eq!(read.write(), bytes);
        read.verify(&key()).unwrap();
        assert!(read.verify(&SigningIdentity::from_bytes(&[8; 32]).verifying_key()).is_err());
        for (member, window) in read.windows().iter().zip(&all) {
            assert_eq!((member.header(), member.body()), (window.header(), window.body()));
            assert_eq!(member.window(), window.window());
        }
    }
}

#[test]
fn a_member_is_kept_and_verified_without_the_others() {
    let stream = stream(16);
    for count in [2, 3, 24, 33, 63, 64] {
        let all = windows(&stream, 900, count);
        for (member, alone) in grouped(&all).windows().iter().zip(&all) {
            member.verify(&key()).unwrap();
            let bytes = member.write();
            assert!(bytes.len() <= alone.write().len() + 3 + 6 * 32, "{}", bytes.len());
            assert_eq!(stream_tag(&bytes).unwrap(), Some(stream.id().tag()));
            let read = Envelope::read_window(&bytes, &stream).unwrap();
            assert_eq!(&read, member);
            assert_eq!(read.write(), bytes);
            // The same window under another signature.
            assert_ne!(&read, alone);
            assert_eq!(read.window_digest().unwrap(), alone.window_digest().unwrap());
            assert_eq!(read.mask(), alone.mask());

            let kept = member.write_kept();
            assert_eq!(&Envelope::read_kept(&kept, LARGEST_ENVELOPE).unwrap(), member);
            let signed = SignedHeader::of(member);
            let header = signed.write();
            assert_eq!(SignedHeader::read(&header, LARGEST_ENVELOPE).unwrap(), signed);
            signed.verify(&key()).unwrap();
            assert!(Envelope::read(&bytes, LARGEST_ENVELOPE).is_err());
        }
    }
}

#[test]
fn a_member_that_gets_another_number_gets_a_signature_of_its_own() {
    let stream = stream(16);
    let group = grouped(&windows(&stream, 3, 4));
    let again = group.windows()[2].clone().renumbered(90, |m| identity().sign(m)).unwrap();
    let bytes = again.write();
    assert_eq!(bytes[0], 2, "a window of its own");
    let read = Envelope::read_window(&bytes, &stream).unwrap();
    read.verify(&key()).unwrap();
    assert_eq!((read.header().sequence, read.body()), (90, group.windows()[2].body()));
    // Members of groups can be grouped again.
    let regrouped = grouped(&[group.windows()[3].clone(), again]);
    regrouped.verify(&key()).unwrap();
    assert_eq!(regrouped.windows()[0].window_digest(), group.windows()[3].window_digest());
}

#[test]
fn a_changed_group_is_refused() {
    let stream = stream(4);
    let mut all = windows(&stream, 700, 3);
    all[2] = window(&stream, 710, START, Presence::first(2), MaskName { salt: [4; 12], sequence: 705 });
    let bytes = grouped(&all).write();
    let accepted = |bytes: &[u8]| {
        WindowGroup::read(bytes, &stream).is_ok_and(|group| {
            assert_eq!(group.write(), bytes, "a second form");
            group.verify(&key()).is_ok()
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
    for count in [0, 1, 65, 255] {
        let mut changed = bytes.clone();
        changed[1] = count;
        assert_eq!(
            WindowGroup::read(&changed, &stream),
            Err(WireError::Value("a group has 2 to 64 windows"))
        );
    }
}

#[test]
fn a_salt_is_written_only_where_it_changes() {
    let stream = stream(4);
    let bytes = grouped(&windows(&stream, 1, 2)).write();
    let second = bytes.len() - SIGNATURE - BODY - 5;
    assert_eq!(bytes[second], 0, "the next number, no salt");
    let mut again = bytes;
    again.splice(second..=second, [&[1][..], &[3; 12]].concat());
    assert!(matches!(WindowGroup::read(&again, &stream), Err(WireError::Value(_))));
}

#[test]
fn a_group_is_of_one_stream_in_order_and_bounded() {
    let (stream, other) = (stream(4), stream_of("kitchen", 4));
    let all = windows(&stream, 1, 65);
    grouped(&all[..64]);
    assert!(refused(all.clone()), "65 windows");
    assert!(refused(all[..1].to_vec()) && refused(Vec::new()), "fewer than two");
    assert!(refused(vec![all[1].clone(), all[0].clone()]), "another order");
    assert!(refused(vec![all[1].clone(), all[1].clone()]), "one twice");
    assert!(refused(vec![all[1].clone(), windows(&other, 2, 1).remove(0)]), "of two streams");
    let bytes = grouped(&all[..2]).write();
    let unknown = WireError::UnknownStream(stream.id().tag());
    assert_eq!(WindowGroup::read(&bytes, &other), Err(unknown));
    let alone = all[0].write();
    assert_eq!(WindowGroup::read(&alone, &stream), Err(WireError::Version(2)));
    assert_eq!(Envelope::read_window(&bytes, &stream), Err(WireError::Version(3)));
}

/// Parts of one group are invalid in another: a member, its place, its signature.
#[test]
fn members_do_not_move_between_groups() {
    let stream = stream(4);
    let all = windows(&stream, 1, 16);
    let (one, other) = (grouped(&all[..7]), grouped(&all[7..14]));
    let holds = |bytes: &[u8]| {
        Envelope::read_window(bytes, &stream).is_ok_and(|envelope| envelope.verify(&key()).is_ok())
    };
    let bytes = |group: &WindowGroup, at: usize| group.windows()[at].write();
    for (at, alone) in all[..7].iter().enumerate() {
        let (of_one, of_other) = (bytes(&one, at), bytes(&other, at));
        assert!(holds(&of_one) && holds(&of_other));
        assert_eq!(of_one.len(), of_other.len());
        let alone = alone.write();
        let window = of_one.len() - alone.len();
        // One group's window in place of the other's; then with the other's signature too.
        for end in [of_one.len(), of_one.len() - SIGNATURE] {
            let spliced = [&of_other[..window], &of_one[window..end], &of_other[end..]].concat();
            assert!(!holds(&spliced), "{at}");
        }
        // A signature over one window is invalid for a member, and a group's signature is invalid for a single window.
        let end = of_one.len() - SIGNATURE;
        assert!(!holds(&[&of_one[..end], &alone[alone.len() - SIGNATURE..]].concat()));
        assert!(!holds(&of_one[window..]));
        // Any changed bit of the place, the path, the window or the signature.
        for byte in 0..of_one.len() {
            for bit in 0..8 {
                let mut changed = of_one.clone();
                changed[byte] ^= 1 << bit;
                assert!(!holds(&changed), "bit {bit} of byte {byte}");
            }
        }
        for index in 0..8 {
            let mut moved = of_one.clone();
            moved[1] = index;
            assert_eq!(holds(&moved), usize::from(index) == at, "{at} moved to {index}");
        }
    }
    // Two digests of the path are exchanged.
    let mut swapped = bytes(&one, 0);
    let (first, second) = (swapped[3..35].to_vec(), swapped[35..67].to_vec());
    swapped[3..35].copy_from_slice(&second);
    swapped[35..67].copy_from_slice(&first);
    assert!(!holds(&swapped));
    // The signature of another group with the same windows is invalid.
    let (shorter, longer) = (grouped(&all[..6]).write(), grouped(&all[..7]).write());
    let signature = shorter.len() - SIGNATURE;
    let spliced = [&shorter[..signature], &longer[longer.len() - SIGNATURE..]].concat();
    assert_eq!(WindowGroup::read(&spliced, &stream).unwrap().verify(&key()), Err(WireError::Signature));
}

#[test]
fn an_upload_is_named_by_its_first_and_last_number() {
    let group = grouped(&windows(&stream(4), 17, 3));
    assert_eq!(group.upload_key(), "boiler.real-1h.17-19");
}
