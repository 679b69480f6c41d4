//! Heads of a stream's windows, and the requests for them.

use sotto_wire::{
    Envelope, Heads, HeadsRequest, LARGEST_HEADS, SignedHeader, WindowGroup, WireError, frame_kind,
};

use super::{Head, gappy, header, header_of, identity, pad, reading, stream, window};
use crate::position::envelope;

/// Heads of version 1, of windows alone and in a group, and of two streams.
fn all() -> Heads {
    let (first, renamed) =
        (header(), header_of(sotto_wire::SumsStream { stream: "tank.2".into(), ..stream() }));
    let alone = window(&first, gappy(), &reading);
    let grouped =
        (301..304).map(|number| window(&first, Head::whole(&first, number, pad(number), 0, 6), &reading));
    let group = WindowGroup::sign(grouped.collect(), |message| identity().sign(message)).unwrap();
    let other = window(&renamed, Head::whole(&renamed, 305, pad(305), 0, 6), &reading);
    let back = window(&first, Head::whole(&first, 306, pad(306), 0, 2), &reading);
    let windows: Vec<Envelope> = [&[envelope(), alone], group.windows(), &[other, back]].concat();
    Heads { heads: windows.iter().map(|window| window.signed_header().clone()).collect(), more: true }
}

#[test]
fn heads_are_read_as_written_and_keep_their_signatures() {
    let heads = all();
    let bytes = heads.write();
    let read = Heads::read(&bytes).unwrap();
    assert_eq!((&read, read.write()), (&heads, bytes.clone()));
    for (number, head) in read.heads.iter().enumerate() {
        // The envelope of version 1 is another device's.
        assert_eq!(head.verify(&identity().verifying_key()).is_ok(), number > 0);
        assert_eq!(head.write(), heads.heads[number].write());
    }
    // Each header of a stream stands once, so most heads take little more than their signature.
    let before = std::iter::once(None).chain(heads.heads.iter().map(Some));
    let bound: usize =
        heads.heads.iter().zip(before).map(|(head, before)| Heads::bytes_of(head, before)).sum();
    assert!(bytes.len() < bound && bytes.len() < heads.heads.iter().map(|head| head.write().len()).sum());
    let none = Heads { heads: Vec::new(), more: false };
    assert_eq!(Heads::read(&none.write()), Ok(none));
}

#[test]
fn lists_that_no_program_writes_are_refused() {
    let heads = all();
    let refused = |change: &dyn Fn(&mut Vec<SignedHeader>)| {
        let mut other = heads.clone();
        change(&mut other.heads);
        Heads::read(&other.write()).is_err()
    };
    assert!(refused(&|heads| heads.swap(1, 2)), "numbers run back");
    assert!(refused(&|heads| heads.insert(1, heads[1].clone())), "a number twice");
    assert!(!refused(&|heads| heads.truncate(3)));
    let bytes = heads.write();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert!(Heads::read(&changed).is_err() && Heads::read(&bytes[..at]).is_err(), "{at}");
    }
    // In valid frames: every byte of the payload is in a signature, or refused.
    let key = identity().verifying_key();
    for at in 16..bytes.len() - 32 {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        let end = changed.len() - 32;
        let hash = blake3::hash(&changed[..end]);
        changed[end..].copy_from_slice(hash.as_bytes());
        let Ok(read) = Heads::read(&changed) else { continue };
        assert_eq!(read.write(), changed, "{at}");
        let signed = read.heads.iter().filter(|head| head.verify(&key).is_ok()).count();
        let of_other_device = read.heads[0] != heads.heads[0];
        assert!(signed < heads.heads.len() - 1 || of_other_device || read.more != heads.more, "{at}");
    }
    let long = vec![0; LARGEST_HEADS as usize + 1];
    assert!(matches!(Heads::read(&long), Err(WireError::TooLarge { .. })));
    assert_eq!(frame_kind(&bytes).unwrap().to_string(), "heads of a stream");
}

#[test]
fn a_question_for_heads_is_signed_whole() {
    let request = HeadsRequest::sign("cellar", "tank", 7, 12, |message| identity().sign(message)).unwrap();
    let bytes = request.write().unwrap();
    let read = HeadsRequest::read(&bytes).unwrap();
    assert_eq!((&read, read.from), (&request, 7));
    read.verify(&identity().verifying_key()).unwrap();
    let changes: [fn(&mut HeadsRequest); 4] = [
        |request| request.device.push('x'),
        |request| request.stream.push('x'),
        |request| request.from += 1,
        |request| request.asked_at += 1,
    ];
    for change in changes {
        let mut changed = request.clone();
        change(&mut changed);
        assert_eq!(changed.verify(&identity().verifying_key()), Err(WireError::Signature));
    }
    assert!(HeadsRequest::sign("no name", "tank", 0, 12, |_| [0; 64]).is_err());
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert!(HeadsRequest::read(&changed).is_err(), "{at}");
    }
}
