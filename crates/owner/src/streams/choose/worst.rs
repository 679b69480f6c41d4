//! The worst case of a stream's questions, by which parameters are tested.

use sotto_pack::{Channel, Cut, Encoding, Layout, Period, Span, StepDigits, WindowDescription};

use super::chosen::{MOST_COMPARED, MOST_WINDOWS};
use crate::amount::Every;
use crate::error::OwnerError;
use crate::quantities::{Beyond, LARGEST_WEIGHT, MOST_BEYOND_FRAMES, MOST_FRAMES, Quantity, TickWeights};
use crate::streams::{Kind, Needs, StreamNeeds, Wishes};

/// Returns the largest number of ticks in a window of a span.
pub(crate) fn longest(span: Span, period: Period) -> u64 {
    let hours = match span {
        Span::Hour => 1,
        Span::Day => 25,
        Span::Week => 7 * 24 + 1,
        Span::Month => 31 * 24 + 1,
    };
    period.ticks_in(hours * 3_600_000)
}

/// Returns the layout of a stream's windows on rows of `columns` columns. A channel's readings are adjacent, all
/// channels are in one row, and a span that does not fit is divided into equal windows.
pub(super) fn layout(
    stream: &StreamNeeds,
    channels: &[Channel],
    columns: u32,
    rows: u32,
    wishes: Wishes,
) -> Result<(Layout, Cut), OwnerError> {
    let blocks = (channels.len() as u32).next_power_of_two();
    let most = u64::from(columns / blocks);
    if most == 0 {
        return Err(OwnerError::NoParameters(format!(
            "{} channels do not fit a window: declare them for several devices",
            channels.len()
        )));
    }
    if stream.period.milliseconds().is_none() {
        return Err(OwnerError::NoParameters(format!(
            "{} is read every {}: ciphertexts take whole milliseconds, sums with tags any period; declare it with whole milliseconds, or \
             ask for sums, means and readings alone",
            stream.channels.join(", "),
            Every { period: stream.period }
        )));
    }
    let longest = ticks_wished(stream, wishes)?;
    let encoding = match stream.kind {
        Kind::Exact | Kind::Steps => Encoding::Resolution,
        Kind::Real => Encoding::Real,
    };
    let mut windows = longest.div_ceil(most);
    loop {
        let ticks = u32::try_from(longest.div_ceil(windows)).unwrap_or(u32::MAX).max(1);
        let layout = Layout::smallest(channels.to_vec(), ticks, columns, rows, encoding)
            .map_err(|error| OwnerError::NoParameters(error.to_string()))?;
        if WindowDescription::longest(&layout, false).to_json().is_ok() {
            return Ok((layout, Cut::new(stream.span, stream.period, ticks)));
        }
        if ticks == 1 {
            return Err(OwnerError::NoParameters(format!(
                "the description of a window of {} is too long: declare channels for several devices, ask for fewer in one question, \
                 or shorten their words",
                if channels.len() == 1 {
                    channels[0].name.clone()
                } else {
                    format!("{} channels", channels.len())
                }
            )));
        }
        windows *= 2;
    }
}

/// Returns the worst case of every quantity that a stream's questions need.
pub(crate) fn worst(stream: &StreamNeeds, layout: &Layout, cut: &Cut) -> Vec<Quantity> {
    let Needs { squares, products, weights, degree, models, gap_bits, .. } = &stream.needs;
    let position = |name: &String| {
        layout
            .channels()
            .iter()
            .position(|channel| channel.name == *name)
            .and_then(|at| u16::try_from(at).ok())
    };
    let mut worst = Vec::new();
    match stream.kind {
        Kind::Exact => {
            worst.push(Quantity::Sum);
            if *squares {
                worst.push(Quantity::Square);
            }
            for (x, y) in products {
                if let (Some(x), Some(y)) = (position(x), position(y)) {
                    worst.push(Quantity::Product(x.min(y), x.max(y)));
                    worst.push(Quantity::JointSquare(x.min(y), x.max(y)));
                }
            }
            if *weights {
                let weights = (0..i64::from(cut.ticks)).map(|tick| LARGEST_WEIGHT - tick % 3).collect();
                worst.push(Quantity::Weighted(TickWeights { channel: 0, weights }));
            }
        }
        Kind::Steps => worst.extend(middle(layout)),
        Kind::Real => {
            if *degree > 1 || !*models {
                let terms = f64::from((*degree).max(1));
                let coefficients = (0..=*degree).map(|k| if k == 0 { 0.0 } else { 1.0 / terms }).collect();
                worst.push(Quantity::Polynomial(0, coefficients));
            }
            if *models {
                let count = layout.channels().len() as f64;
                let terms = (0..layout.channels().len() as u16).map(|c| (c, 0.7 / count)).collect();
                worst.push(Quantity::Linear(terms));
            }
            if let Some(gap_bits) = *gap_bits {
                // All limits have the same depth; the middle one leaves the largest errors.
                let of =
                    |quantity: &Quantity| Beyond { of: Box::new(quantity.clone()), limit: 0.0, gap_bits };
                let compared: Vec<Quantity> =
                    worst.iter().map(|quantity| Quantity::Beyond(of(quantity))).collect();
                worst.extend(compared);
            }
        }
    }
    worst
}

/// Returns a comparison in the middle of the first channel's range: all comparisons have the same degree.
fn middle(layout: &Layout) -> Option<Quantity> {
    let lowest = StepDigits::lowest(layout, 0)?;
    let highest = layout.quantiser(0)?.quantise(layout.channels()[0].maximum).ok()?;
    Some(Quantity::AtLeast(0, lowest + (highest - lowest) / 2 + 1))
}

/// Returns the largest |value| of a result's slot. The plain modulus must be larger than twice this.
pub(crate) fn largest_result(layout: &Layout, needs: &Needs) -> f64 {
    let top = layout.magnitude();
    let square = if needs.squares || !needs.products.is_empty() { top * top } else { top };
    let weighted = if needs.weights { top * LARGEST_WEIGHT as f64 } else { top };
    MOST_WINDOWS as f64 * square.max(weighted)
}

/// Returns the number of windows in a result. Values at single readings are not summed over windows.
pub(super) fn windows_of(quantity: &Quantity) -> usize {
    match quantity {
        Quantity::Polynomial(..) | Quantity::Linear(_) | Quantity::Beyond(_) => 1,
        Quantity::AtLeast(..) => MOST_COMPARED,
        _ => MOST_WINDOWS,
    }
}

/// Returns the number of parts in the worst-case program. A plan has at most 1,024 inputs.
pub(super) fn most_parts(quantity: &Quantity) -> usize {
    let most = match quantity {
        Quantity::Beyond(_) => MOST_BEYOND_FRAMES,
        _ => MOST_FRAMES,
    };
    (sotto_program::limits::INPUTS / windows_of(quantity)).min(most)
}

/// Returns the largest number of ticks in a window of a stream, of the wished length at most.
///
/// # Errors
/// [`OwnerError::NoParameters`] if that is shorter than the time between two readings.
pub(super) fn ticks_wished(stream: &StreamNeeds, wishes: Wishes) -> Result<u64, OwnerError> {
    let longest = longest(stream.span, stream.period);
    let Some(window_ms) = wishes.window_ms else { return Ok(longest) };
    let wished = Every::from_milliseconds(window_ms.max(1));
    let ticks = (f64::from(window_ms) / stream.period.milliseconds_of(1) + 1e-9) as u64;
    if ticks == 0 {
        return Err(OwnerError::NoParameters(format!(
            "readings of {} come every {}: a window of {wished} would hold none",
            stream.channels.join(", "),
            Every { period: stream.period }
        )));
    }
    Ok(longest.min(ticks))
}
