//! Groups of windows of streams of sums.

use std::sync::Arc;

use sotto_pack::{Digit, Period, Quantity, Replaces, SumsPart};
use sotto_wire::{
    Envelope, MOST_GROUPED, MaskName, SUMS_WINDOW_OVERHEAD, SignedHeader, StreamHeader, SumsStream,
    TakenReceipt, WindowGroup, WireError, is_group, stream_tag,
};

use super::{Head, channel, gappy, header, header_of, identity, pad, placed, reading, window};

fn sign(windows: Vec<Envelope>) -> Result<WindowGroup, WireError> {
    WindowGroup::sign(windows, |message| identity().sign(message))
}

/// A window with gaps; one that follows it; one after a pause, of another start and length; one that overlaps it.
fn mixed(header: &Arc<StreamHeader>) -> Vec<Envelope> {
    let other = MaskName { salt: [9; 12], sequence: 0 };
    let mut heads = [
        gappy(),
        Head::whole(header, 301, pad(301), -5, 6),
        Head::whole(header, 310, other, 1 << 40, 3),
        Head::whole(header, 311, pad(311), i64::MIN, 3),
    ];
    let [.., last] = &mut heads;
    last.description.generated = true;
    heads.map(|head| window(header, head, &reading)).to_vec()
}

#[test]
fn groups_are_read_as_written() {
    let (header, key) = (header(), identity().verifying_key());
    let group = sign(mixed(&header)).unwrap();
    let bytes = group.write();
    let read = WindowGroup::read(&bytes, &header).unwrap();
    assert_eq!(
        (&read, read.write(), read.upload_key()),
        (&group, bytes.clone(), "cellar.tank.300-311".into())
    );
    read.verify(&key).unwrap();
    assert_eq!(stream_tag(&bytes), Ok(Some(header.id().tag())));
    assert!(is_group(&bytes));
    for (member, alone) in read.windows().iter().zip(mixed(&header)) {
        let kept = Envelope::read_window(&member.write(), &header).unwrap();
        kept.verify(&key).unwrap();
        assert_eq!((&kept, stream_tag(&kept.write())), (member, Ok(Some(header.id().tag()))));
        assert_eq!(Envelope::read_kept(&kept.write_kept(), 1 << 20).as_ref(), Ok(member));
        assert_eq!(
            SignedHeader::read(&kept.signed_header().write(), 1 << 20).as_ref(),
            Ok(member.signed_header())
        );
        assert_eq!(kept.window_digest(), alone.window_digest());
        assert!(kept.signed_header().is_same_encryption(alone.signed_header()));
        // Numbered anew, it has a signature of its own.
        let again = kept.renumbered(900, |message| identity().sign(message)).unwrap();
        assert_eq!(again.write()[0], 5);
        again.verify(&key).unwrap();
    }
}

#[test]
fn the_signature_covers_each_byte_of_a_group() {
    let (header, key) = (header(), identity().verifying_key());
    let group = sign(mixed(&header)).unwrap();
    let member = group.windows()[2].write();
    let accepted = |bytes: &[u8]| {
        let alone = Envelope::read_window(bytes, &header).inspect(|read| assert_eq!(read.write(), bytes));
        let together = WindowGroup::read(bytes, &header).inspect(|read| assert_eq!(read.write(), bytes));
        alone.is_ok_and(|read| read.verify(&key).is_ok())
            || together.is_ok_and(|read| read.verify(&key).is_ok())
    };
    for bytes in [group.write(), member] {
        assert!(accepted(&bytes));
        for bit in 0..8 * bytes.len() {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!accepted(&flipped), "bit {bit}");
        }
        for end in 0..bytes.len() {
            assert!(!accepted(&bytes[..end]), "{end} bytes");
        }
        assert!(!accepted(&[&bytes[..], &[0]].concat()));
    }
}

#[test]
fn groups_that_cannot_be_are_refused() {
    let header = header();
    let windows = mixed(&header);
    assert!(sign(windows[..1].to_vec()).is_err());
    assert!(sign(vec![windows[1].clone(), windows[0].clone()]).is_err());
    assert!(sign(vec![windows[1].clone(), windows[1].clone()]).is_err());
    let numbered = |number| window(&header, Head::whole(&header, number, pad(number), 0, 1), &reading);
    assert!(sign((0..MOST_GROUPED as u64).map(numbered).collect()).is_ok());
    assert!(sign((0..=MOST_GROUPED as u64).map(numbered).collect()).is_err());
    // A window that comes in the place of others is the first of its group.
    let again = |number: u64| {
        let mut head = Head::whole(&header, number, pad(number), 0, 6);
        head.description.replaces = Some(Replaces { windows: vec![3], channels: vec![0] });
        window(&header, head, &reading)
    };
    assert!(sign(vec![numbered(8), again(9)]).is_err());
    let group = sign(vec![again(9), numbered(10)]).unwrap();
    assert_eq!(WindowGroup::read(&group.write(), &header).as_ref(), Ok(&group));
    // So is a provisional one.
    let piece = |number: u64| {
        let mut head = Head::whole(&header, number, pad(number), 0, 6);
        head.description.provisional = true;
        window(&header, head, &reading)
    };
    assert!(sign(vec![numbered(8), piece(9)]).is_err());
    assert!(sign(vec![piece(9), numbered(10)]).is_ok());
    let mut other = super::stream();
    other.ticks = 7;
    let other = header_of(other);
    let stranger = window(&other, Head::whole(&other, 900, pad(900), 0, 1), &reading);
    assert!(sign(vec![windows[0].clone(), stranger]).is_err());
}

/// A day of hourly readings of 12 bits and their squares for sums of 512 days, with two tags, 64 windows a group. The
/// origin is in the middle of the range: squares take a bit less.
#[test]
fn a_further_window_of_a_group_takes_a_byte_beside_its_parts() {
    let part =
        |quantity, width| SumsPart { quantities: vec![placed(quantity, Digit::Whole, width)], reasons: 0 };
    let stream = SumsStream {
        device: "cellar".into(),
        stream: "tank".into(),
        period: Period::of_seconds(3600, 1).unwrap(),
        ticks: 24,
        channels: vec![channel("level", -204.7, 204.7, 0.1)],
        rounded: false,
        parts: vec![part(Quantity::Reading(0), 21), part(Quantity::Square(0), 32)],
    };
    let header = header_of(stream);
    assert!((0..2).all(|part| header.sums_form(part).unwrap().fits(512)));
    let day = |day: u64| {
        let head = Head::whole(&header, day, pad(day), 1_795_000_000_000 + 86_400_000 * day as i64, 24);
        window(&header, head, &|_, tick| i64::from(tick))
    };
    let parts: usize =
        (0..2).map(|part| header.sums_form(part).unwrap().body_bytes(24) + sotto_sums::TAG_BYTES).sum();
    let group = sign((0..64).map(day).collect()).unwrap().write().len();
    // The first number has one byte, the time six.
    assert_eq!(group, 2 + (SUMS_WINDOW_OVERHEAD - 3) + 64 * parts + 63);
    // 175 bytes in two parts, and 2.5 of head and signature.
    let a_reading = group as f64 / (64.0 * 24.0);
    assert!(a_reading <= 7.5, "{a_reading} bytes a reading");
}

#[test]
fn the_first_window_of_a_group_names_the_last_receipt() {
    let (header, key) = (header(), identity().verifying_key());
    let sign_again = |window: Envelope, sequence, position| {
        window.after_receipt(TakenReceipt { sequence, position }, |message| identity().sign(message)).unwrap()
    };
    let windows = mixed(&header);
    let number = windows[0].header().sequence;
    let most = u64::MAX;
    for (sequence, position) in
        [(299, 299), (299, 310), (0, 0), (number, 0), (most, most), (most, 0), (0, most)]
    {
        let mut after = windows.clone();
        after[0] = sign_again(after[0].clone(), sequence, position);
        let alone = Envelope::read_window(&after[0].write(), &header).unwrap();
        alone.verify(&key).unwrap();
        assert!(alone.begins_group());
        let receipt = Some(TakenReceipt { sequence, position });
        assert_eq!(alone.signed_header().taken_receipt(), receipt);
        let group = sign(after.clone()).unwrap();
        let read = WindowGroup::read(&group.write(), &header).unwrap();
        assert_eq!(read, group);
        read.verify(&key).unwrap();
        let named: Vec<_> = read.windows().iter().map(|one| one.signed_header().taken_receipt()).collect();
        assert_eq!(named, [receipt, None, None, None]);
        // A new number leaves the receipt as it is.
        let again = alone.renumbered(900, |message| identity().sign(message)).unwrap();
        assert_eq!(again.signed_header().taken_receipt(), receipt);
        after.swap(0, 1);
        assert!(sign(after).is_err(), "not the first");
    }
    // The usual one: the window before, where no window came between.
    let bytes = windows[0].write().len();
    assert_eq!(sign_again(windows[0].clone(), number - 1, number - 1).write().len(), bytes + 2);
}
