//! How fine bins, gaps and windows are that a question needs.

use sotto_pack::{MOST_BINS, Period, Span};
use sotto_program::limits::GAP_BITS;

use crate::declared::settings::Settings;
use crate::functions::Call;
use crate::gathered::Need;
use crate::language::By;
use crate::question::Question;

/// Returns the number of equal bins over a range for an extreme or a quantile within `precision`. Questions of before may
/// have a smaller precision than the most bins give: new ones are refused ([`too_precise`]).
pub(super) fn bins_within(precision: f64, minimum: f64, maximum: f64) -> u32 {
    let bins = ((maximum - minimum) / (2.0 * precision)).ceil();
    bins.clamp(2.0, MOST_BINS as f64) as u32
}

/// Returns why no number of bins of a channel gives a quantile within `precision`; None if one does.
fn beyond_bins(precision: f64, minimum: f64, maximum: f64) -> Option<String> {
    let range = maximum - minimum;
    let bins = (range / (2.0 * precision)).ceil();
    let least = range / (2.0 * MOST_BINS as f64);
    // Three digits, upwards.
    let last = least.log10().floor() as i32 - 2;
    let least = (least / 10_f64.powi(last)).ceil() * 10_f64.powi(last);
    let places = usize::try_from(-last).unwrap_or_default();
    let told = || {
        format!("it takes {bins} bins, and a channel has at most {MOST_BINS}: give {least:.places$} or more")
    };
    (bins > MOST_BINS as f64).then(told)
}

/// Returns why a question cannot be answered within `precision`, with the channel; None if it can.
pub(crate) fn too_precise(settings: &Settings, question: &Question, precision: f64) -> Option<String> {
    let all: Vec<Need> = question.calls().flat_map(Call::needs).collect();
    all.iter().filter_map(Need::to_precision).find_map(|name| {
        let range = settings.channels.get(name)?.range;
        let reason = beyond_bins(precision, range.minimum, range.maximum)?;
        Some(format!("the precision {precision} of {name} cannot be had: {reason}"))
    })
}

/// Bits of the gap of a comparison in the cloud, unless its question declares a precision.
pub const USUAL_GAP_BITS: u8 = 6;

/// Returns the bits of the gap that leaves values undecided within `precision` of the limit at most, relative to the size
/// of the coefficients. More than the finest comparison has if none is as fine.
pub(super) fn gap_bits(precision: Option<f64>) -> u8 {
    // The largest distance from a limit within the range is twice the size.
    let bits = |precision: f64| (2.0 / precision).log2().ceil().clamp(0.0, 64.0) as u8;
    let wanted = precision.map_or(USUAL_GAP_BITS, bits);
    GAP_BITS.into_iter().find(|bits| *bits >= wanted).unwrap_or(wanted)
}

/// Returns true if the cloud can compare the call's value with its limit: a condition on a polynomial or a model.
#[must_use]
pub fn can_compare_in_cloud(call: &Call) -> bool {
    call.can_compare_in_cloud()
}

/// Returns the span of windows for a grouping. A window covers at most a day, so data reaches the cloud within a day.
///
/// If readings are an hour or more apart, an hourly window would hold one reading at most; then windows cover a day and
/// are split by ticks.
#[must_use]
pub(crate) fn span_of(by: Option<By>, period: Period) -> Span {
    const HOUR: u32 = 3_600_000;
    let is_short = period < Period::from_milliseconds(HOUR);
    match by {
        Some(By::Hour) if is_short => Span::Hour,
        Some(By::Every(length)) if is_short && 1000 * length.seconds() <= HOUR.into() => Span::Hour,
        _ => Span::Day,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_precision_beyond_the_most_bins_is_told_with_the_least() {
        assert_eq!(beyond_bins(0.05, 0.0, 100.0), None);
        let reason = beyond_bins(0.01, 0.0, 100.0).unwrap();
        assert!(
            reason.contains("5000 bins") && reason.contains("1024") && reason.contains("give 0.0489 or more"),
            "{reason}"
        );
        assert_eq!(beyond_bins(0.0489, 0.0, 100.0), None, "the one that is named");
        assert!(beyond_bins(0.0488, 0.0, 100.0).is_some());
    }
}
