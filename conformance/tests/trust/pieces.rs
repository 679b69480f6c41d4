//! Windows of a device that sends pieces of its open windows, and one that was amended.

use std::path::Path;

use sotto_wire::Envelope;

use crate::device::{self, Device, Facts, HOUR};
use crate::liar::Truth;

/// 2025-03-01T00:00:00Z, whose day has window 0.
const FIRST_DAY: i64 = 1_740_787_200_000;

/// Sends the windows to a cloud. Without the whole one of the second day, its pieces keep their bodies.
pub(crate) fn send(truth: &Truth, bundle: &Path, with_whole: bool) {
    let device = Device::read(bundle);
    for window in windows(&device) {
        if with_whole || window.header().sequence != 4 {
            device::send(truth, &window);
        }
    }
}

/// Returns the windows from number 1 on. The second day has three pieces, one of them without a reading, and a whole window
/// in their place with two late readings more; the third day is open, and has three pieces; then the first day comes
/// again, and the fourth day is whole.
fn windows(device: &Device) -> Vec<Envelope> {
    let span = |day: i64, hour: i64, length: u32| (FIRST_DAY + (24 * day + hour) * HOUR, length);
    let read = |day: i64, hours: &[i64], first: i64, higher: f64| -> Vec<(i64, f64)> {
        let value = |hour: i64| 20.0 + ((24 * day + hour) * 7 % 50) as f64 / 10.0 + higher;
        hours.iter().map(|hour| (hour - first, value(*hour))).collect()
    };
    let hours = |from: i64, to: i64| (from..to).collect::<Vec<_>>();
    let piece = |number, day, (from, to): (i64, i64), is_empty: bool| {
        let readings = if is_empty { Vec::new() } else { read(day, &hours(from, to), from, 0.0) };
        let facts = Facts { provisional: true, ..Facts::default() };
        device.window(number, span(day, from, (to - from) as u32), &readings, facts)
    };
    let whole = |number, day, readings: &[(i64, f64)], replaces: &[u64]| {
        device.window(number, span(day, 0, 24), readings, Facts { replaces, ..Facts::default() })
    };
    let late = [hours(0, 8), vec![9, 10], hours(16, 24)].concat();
    vec![
        piece(1, 1, (0, 8), false),
        piece(2, 1, (8, 16), true),
        piece(3, 1, (16, 24), false),
        whole(4, 1, &read(1, &late, 0, 0.0), &[1, 2, 3]),
        piece(5, 2, (0, 6), false),
        piece(6, 2, (6, 12), true),
        piece(7, 2, (12, 18), false),
        whole(8, 0, &read(0, &hours(0, 24), 0, 1.5), &[0]),
        whole(9, 3, &read(3, &hours(0, 24), 0, 0.0), &[]),
    ]
}
