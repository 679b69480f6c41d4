//! Windows that count the readings that were rounded.

use std::sync::Arc;

use sotto_pack::{LeftOut, Reason};
use sotto_wire::{Envelope, MaskName, StreamHeader, SumsStream, WindowGroup};

use super::{Head, header, header_of, identity, stream, window};

/// Bytes of a window's head before its flags: version, stream, salt, number, start.
const BEFORE_FLAGS: usize = 1 + 8 + 12 + 1 + 6;

fn counting() -> Arc<StreamHeader> {
    header_of(SumsStream { rounded: true, ..stream() })
}

fn head(header: &StreamHeader, sequence: u64, rounded: Option<[u32; 2]>) -> Head {
    let mask = MaskName { salt: [9; 12], sequence };
    let mut head = Head::whole(header, sequence, mask, 1_795_000_000_000 + 120 * sequence as i64, 6);
    head.description.rounded = rounded.map(Vec::from);
    head
}

#[test]
fn a_window_costs_no_more_where_nothing_is_rounded_and_a_byte_a_channel_where_all_is() {
    let (plain, counting) = (header(), counting());
    assert_ne!(plain.id(), counting.id(), "it is another stream");
    assert_eq!(StreamHeader::read(&counting.write()).unwrap(), *counting);
    let bytes = |rounded| {
        let sent = window(&counting, head(&counting, 1, Some(rounded)), &|_, tick| tick.into());
        let read = Envelope::read_window(&sent.write(), &counting).unwrap();
        read.verify(&identity().verifying_key()).unwrap();
        assert_eq!(read.signed_header().description().unwrap().rounded, Some(rounded.to_vec()));
        sent.write().len()
    };
    let without = window(&plain, head(&plain, 1, None), &|_, tick| tick.into()).write().len();
    assert_eq!(
        [[0, 0], [6, 6], [0, 6], [1, 5], [0, 3]].map(|rounded| bytes(rounded) - without),
        [0, 2, 2, 4, 3]
    );
}

#[test]
fn counts_travel_beside_readings_left_out_and_in_groups() {
    let counting = counting();
    let windows = [[0, 0], [6, 2], [1, 0]].into_iter().enumerate().map(|(at, rounded)| {
        let mut head = head(&counting, at as u64, Some(rounded));
        if at == 2 {
            let mut left_out = LeftOut::default();
            left_out.add(Reason::OutOfRange, 3);
            left_out.add(Reason::ClockAhead, 300);
            head.description.left_out = vec![LeftOut::default(), left_out];
        }
        window(&counting, head, &|_, tick| tick.into())
    });
    let windows: Vec<Envelope> = windows.collect();
    let group = WindowGroup::sign(windows.clone(), |message| identity().sign(message)).unwrap();
    let read = WindowGroup::read(&group.write(), &counting).unwrap();
    read.verify(&identity().verifying_key()).unwrap();
    for (sent, read) in windows.iter().zip(read.windows()) {
        assert_eq!(read.signed_header().description(), sent.signed_header().description());
    }
}

#[test]
fn counts_that_no_window_has_are_refused() {
    let (plain, counting) = (header(), counting());
    let signed = |header: &Arc<StreamHeader>, rounded| {
        let parts = vec![0; header.parts_bytes(6).unwrap()];
        head(header, 1, rounded).sign(header, &parts).map(drop)
    };
    assert!(signed(&counting, Some([6, 6])).is_ok() && signed(&plain, None).is_ok());
    assert!(signed(&counting, None).is_err() && signed(&plain, Some([0, 0])).is_err());
    assert!(signed(&counting, Some([7, 0])).is_err());

    let sent = window(&counting, head(&counting, 1, Some([2, 0])), &|_, tick| tick.into()).write();
    // Flags, ticks, 2: some, their number, 0: none.
    let at = BEFORE_FLAGS;
    assert_eq!(sent[at..at + 5], [4, 6, 2, 2, 0]);
    let read = |change: &[(usize, u8)]| {
        let mut bytes = sent.clone();
        change.iter().for_each(|(place, byte)| bytes[at + place] = *byte);
        Envelope::read_window(&bytes, &counting).is_ok()
    };
    assert!(read(&[]) && read(&[(3, 5)]));
    for refused in [(3, 0), (3, 6), (3, 7), (2, 3), (2, 1)] {
        assert!(!read(&[refused]), "{refused:?}");
    }
}
