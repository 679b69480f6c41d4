//! Sizes, computed from forms.

use sotto_pack::{Digit, Period, Quantity, SumsPart};
use sotto_wire::{SUMS_WINDOW_OVERHEAD, SumsStream};

use super::{Head, channel, header_of, pad, placed, window};

/// The bits that a sum of windows of readings from -`top` to `top` needs.
fn width(top: u64, windows: u64) -> u8 {
    (u64::BITS - (2 * top * windows).leading_zeros()) as u8
}

/// A message of 16 readings of 12 bits for sums of 2,048 windows, signed alone, with its tag.
#[test]
fn a_message_of_sixteen_readings_is_short() {
    let width = width(2047, 2048);
    let part = SumsPart { quantities: vec![placed(Quantity::Reading(0), Digit::Whole, width)], reasons: 0 };
    let stream = SumsStream {
        device: "cellar".into(),
        stream: "tank".into(),
        period: Period::of_seconds(60, 1).unwrap(),
        ticks: 16,
        channels: vec![channel("level", 0.0, 409.4, 0.1)],
        rounded: false,
        parts: vec![part],
    };
    let header = header_of(stream);
    let form = header.sums_form(0).unwrap();
    assert!(form.fits(2048));
    let parts = form.body_bytes(16) + sotto_sums::TAG_BYTES;
    assert_eq!(form.body_bytes(16), 16 * usize::from(width) / 8);
    // The last number of three bytes; now, and at the end of the year 9999.
    for (start, less) in [(1_795_000_000_000, 1), (253_402_300_799_999, 0)] {
        let head = Head::whole(&header, (1 << 21) - 1, pad((1 << 21) - 1), start, 16);
        let message = window(&header, head, &|_, tick| i64::from(tick)).write().len();
        assert_eq!(message, SUMS_WINDOW_OVERHEAD + parts - less);
        assert!(message <= 152, "{message} bytes");
    }
}
