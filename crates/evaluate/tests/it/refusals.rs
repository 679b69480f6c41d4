//! Requests for sums with tags that are refused.

use sotto_evaluate::{SumError, TaggedSum, TaggedSumming};
use sotto_wire::{MaskName, StreamHeader, WireError};

use crate::tagged::{Draws, Sent, header, send, stream};

fn pad(sequence: u64) -> MaskName {
    MaskName { salt: [3; 12], sequence }
}

fn window(header: &std::sync::Arc<StreamHeader>, number: u64) -> Sent {
    send(header, number, pad(number), &mut Draws(1))
}

fn whole(parts: &[u8], windows: u32) -> TaggedSum<'_> {
    TaggedSum { windows: (0, windows), parts, weights: None }
}

fn words(refused: Result<(), SumError>) -> String {
    match refused {
        Err(SumError::Request(words)) => words.into(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn windows_of_other_streams_widths_and_keys_are_refused() {
    let (one, mut draws) = (header("cellar", 24), Draws(2));
    let renewed = StreamHeader::of_sums(stream("cellar", 24), |_| sotto_rlwe::KeyId([9; 16])).unwrap();
    let renewed = std::sync::Arc::new(renewed);
    for other in [header("attic", 24), header("cellar", 25), renewed] {
        let mut summing = TaggedSumming::new(&one, 2, vec![whole(&[0], 2)]).unwrap();
        summing.add(&window(&one, 0).window).unwrap();
        let mixed = send(&other, 1, pad(1), &mut draws).window;
        assert!(words(summing.add(&mixed)).contains("one stream, one form and one key"));
        assert!(words(summing.add_frame(&mixed.write_kept())).contains("one stream"));
    }
}

#[test]
fn requests_are_checked_before_anything_is_added() {
    let header = header("cellar", 24);
    let refused =
        |windows, sum: TaggedSum<'_>| words(TaggedSumming::new(&header, windows, vec![sum]).map(|_| ()));
    assert!(refused(2, whole(&[0, 2], 2)).contains("a part that the stream does not have"));
    assert!(refused(2, whole(&[], 2)).contains("at least one"));
    assert!(refused(2, whole(&[1, 0], 2)).contains("ascending"));
    assert!(refused(2, whole(&[0, 0], 2)).contains("ascending"));
    assert!(refused(2, whole(&[0], 3)).contains("more windows"));
    assert!(refused(2, whole(&[0], 0)).contains("more windows"));
    assert!(
        refused(2, TaggedSum { windows: (u32::MAX, u32::MAX), ..whole(&[0], 1) }).contains("more windows")
    );
    assert!(refused(2, TaggedSum { weights: Some(&[1]), ..whole(&[0], 2) }).contains("a weight for each"));
    // 4094·Σ|c| < 2^24.
    assert!(
        TaggedSumming::new(&header, 1, vec![TaggedSum { weights: Some(&[-4098]), ..whole(&[0], 1) }]).is_ok()
    );
    assert!(refused(1, TaggedSum { weights: Some(&[-4099]), ..whole(&[0], 1) }).contains("do not fit"));
    assert!(
        refused(2, TaggedSum { weights: Some(&[i64::MIN, i64::MAX]), ..whole(&[0], 2) })
            .contains("do not fit")
    );
    assert!(refused((1 << 20) + 1, whole(&[0], 1)).contains("2^20"));
    let many = vec![whole(&[0], 1); 4097];
    assert!(words(TaggedSumming::new(&header, 1, many).map(|_| ())).contains("4096"));
}

#[test]
fn an_answer_has_the_windows_of_its_request() {
    let header = header("cellar", 24);
    let begin = || TaggedSumming::new(&header, 2, vec![whole(&[0, 1], 2)]).unwrap();
    let mut short = begin();
    short.add(&window(&header, 0).window).unwrap();
    assert!(short.names().eq([pad(0)]));
    assert!(words(short.frame().map(|_| ())).contains("fewer windows"));
    let mut long = begin();
    for number in 0..2 {
        long.add(&window(&header, number).window).unwrap();
    }
    assert!(words(long.add(&window(&header, 2).window)).contains("more windows"));
    let mut damaged = window(&header, 0).window.write_kept();
    damaged[60] ^= 1;
    assert_eq!(begin().add_frame(&damaged), Err(SumError::Frame(WireError::Digest)));
}
