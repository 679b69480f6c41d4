//! Runs clouds, agents and `sotto watch` as processes: alarms are those that plain Rust computes from the readings, no
//! event is lost or repeated, and requests do not depend on readings.

mod events;
mod house;
mod meter;
mod mutes;
mod requests;
mod server;
mod silence;
mod sinks;
mod year;

use super::ask;
use crate::suite::{Context, Outcome};
use anyhow::Result;
use std::fmt::Write as _;

/// 2026-05-04T00:00:00Z in milliseconds, and the time between readings.
pub(super) const BEGIN: i64 = 1_777_852_800_000;
pub(super) const MINUTE: i64 = 60_000;
const PER_HOUR: i64 = 12;

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    ask::run_parts(
        context,
        &[
            ("events", events::run),
            ("polynomials", events::on_a_polynomial),
            ("restarts", events::restarts),
            ("sinks", sinks::run),
            ("silence", silence::run),
            ("mutes", mutes::run),
            ("a year of a house", house::run),
            ("requests", requests::run),
        ],
    )
}

/// Returns a file of readings every five minutes: in each hour the first eleven are 20 °C below its number, the last is
/// its number. An hour without a number has no readings.
pub(super) fn file(hours: &[Option<f64>]) -> String {
    let mut text = "time,temperature\n".to_owned();
    for (hour, most) in (0..).zip(hours) {
        let Some(most) = most else { continue };
        for tick in 0..PER_HOUR {
            let at = BEGIN + (hour * PER_HOUR + tick) * 5 * MINUTE;
            let time = jiff::Timestamp::from_millisecond(at).unwrap_or_default();
            let value = if tick == PER_HOUR - 1 { *most } else { *most - 20.0 };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{time},{value:.1}");
        }
    }
    text
}
