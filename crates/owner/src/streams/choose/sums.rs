//! The form of a stream of sums: its parts, and the bits of each place.

use sotto_pack::{
    Channel, ChannelBins, Cut, Digit, Layout, MOST_BINS, MOST_SUM_TICKS, Period, Placed, Quantiser, Quantity,
    SumsPart, WindowDescription,
};
use sotto_program::KeysNeeded;
use sotto_rlwe::KeyId;
use sotto_sums::{Form, MOST_PLACES, TAG_BYTES};
use sotto_wire::{SUMS_WINDOW_OVERHEAD, StreamHeader, SumsStream, WireError};

use super::chosen::Chosen;
use super::day::windows_a_day;
use super::worst::ticks_wished;
use crate::amount::Every;
use crate::gathered::WindowQuantity;
use crate::streams::{Needs, StreamNeeds, Wishes};

/// Number of windows that one sum holds by default: a year of days.
pub const SUMMED_WINDOWS: u64 = 512;

/// Bytes of a sum in an answer beside its parts: its windows, its ticks, the number of its parts.
pub(crate) const SUM_HEAD_BYTES: usize = 13;

/// The name of a device and a stream that do not exist.
const NOBODY: &str = "nobody";

/// Returns the form with the longest windows, for sums of [`SUMMED_WINDOWS`] windows.
///
/// # Errors
/// The reason why there is none.
pub(super) fn best(stream: &StreamNeeds, channels: &[Channel], wishes: Wishes) -> Result<Chosen, String> {
    let quantities = quantities(stream, channels)?;
    let ticks = ticks(stream, channels, &quantities, wishes)?;
    let layout = Layout::of_sums(channels.to_vec(), ticks).map_err(|error| error.to_string())?;
    let sums = parts(&quantities, &layout, SUMMED_WINDOWS)?;
    let refused = |error: WireError| error.to_string();
    let header = header(&layout, stream.period, &sums).map_err(refused)?;
    let forms = forms(&header).map_err(refused)?;
    // Parts that do not add come down window by window.
    let added = || forms.iter().zip(&sums).filter(|(_, part)| adds(part)).map(|(form, _)| form);
    Ok(Chosen {
        stream: stream.clone(),
        spec: None,
        cut: Cut::new(stream.span, stream.period, ticks),
        keys: KeysNeeded::default(),
        levels_used: 0,
        flooding_bits: None,
        noise_bits_left: f64::INFINITY,
        window_bytes: window_bytes(&header).map_err(refused)?,
        answer_bytes: added().map(|form| answer_bytes(form, ticks)).sum(),
        results_in_one: 1,
        sums_of: added().map(Form::capacity).min().unwrap_or_default(),
        key_bytes: 0,
        alternatives: Vec::new(),
        sums,
        layout,
        wishes,
    })
}

/// Returns true if windows of a part are added.
pub(super) fn adds(part: &SumsPart) -> bool {
    part.quantities.iter().all(|placed| placed.quantity.adds())
}

/// Returns the bytes of a sum of one part of windows of so many ticks.
pub(super) fn answer_bytes(form: &Form<'_>, ticks: u32) -> u64 {
    (form.body_bytes(ticks) + form.counts(ticks) + TAG_BYTES) as u64
}

impl Chosen {
    /// Returns the header of a stream of sums with this form, of no device. Returns None for ciphertexts.
    pub(crate) fn sums_header(&self) -> Option<StreamHeader> {
        header(&self.layout, self.cut.period, &self.sums).ok()
    }

    /// Returns the bytes of a window of sums whose places hold sums of this many windows. Returns None for ciphertexts, and
    /// where no place does.
    #[must_use]
    pub fn window_bytes_for(&self, windows: u64) -> Option<usize> {
        let low = |placed: &&Placed| placed.digit != Digit::High;
        let quantities = |part: &SumsPart| {
            part.quantities.iter().filter(low).map(|placed| placed.quantity.clone()).collect::<Vec<_>>()
        };
        let quantities: Vec<Vec<Quantity>> = self.sums.iter().map(quantities).collect();
        let parts = parts(&quantities, &self.layout, windows).ok().filter(|parts| !parts.is_empty())?;
        window_bytes(&header(&self.layout, self.cut.period, &parts).ok()?).ok()
    }
}

/// Returns the quantities of each part: readings, then squares and products, then counts by bin, then those that do not add.
fn quantities(stream: &StreamNeeds, channels: &[Channel]) -> Result<Vec<Vec<Quantity>>, String> {
    let position = |name: &String| channels.iter().position(|channel| channel.name == *name);
    let all = || 0..channels.len() as u16;
    let mut products = Vec::with_capacity(stream.needs.products.len());
    for (x, y) in &stream.needs.products {
        let (Some(x), Some(y)) = (position(x), position(y)) else { continue };
        products.push((x.min(y) as u16, x.max(y) as u16));
    }
    products.sort_unstable();
    products.dedup();
    let squares = all().filter(|_| stream.needs.squares).map(Quantity::Square);
    let products = products.into_iter().map(|(x, y)| Quantity::Product(x, y));
    let bins = bins(&stream.needs, channels)?;
    let bins = bins.into_iter().map(|bins| Quantity::Bins { column: bins.channel, edges: bins.edges });
    let mut held: Vec<Quantity> = Vec::new();
    for (name, quantities) in &stream.needs.windows {
        let Some(at) = position(name) else { continue };
        held.extend(quantities.iter().map(|quantity| quantity.sent(at as u16)));
    }
    held.sort_by_key(|quantity| quantity.columns());
    let readings = all().map(Quantity::Reading).collect();
    let parts = [readings, squares.chain(products).collect(), bins.collect(), held];
    Ok(parts.into_iter().filter(|quantities: &Vec<Quantity>| !quantities.is_empty()).collect())
}

/// Returns the ticks of a window: those of the span, divided evenly if they do not fit one window.
fn ticks(
    stream: &StreamNeeds,
    channels: &[Channel],
    quantities: &[Vec<Quantity>],
    wishes: Wishes,
) -> Result<u32, String> {
    let once = |part: &Vec<Quantity>| {
        part.iter().filter(|quantity| quantity.is_once()).map(|q| q.places() + 1).sum::<usize>()
    };
    let at_tick = |part: &Vec<Quantity>| part.iter().filter(|quantity| !quantity.is_once()).count();
    let mut most = u64::from(MOST_SUM_TICKS);
    for part in quantities {
        let left = MOST_PLACES.checked_sub(once(part) + 1);
        let left = left.ok_or_else(|| format!("{} bins do not fit a window", once(part)))?;
        most = most.min(left as u64 / (at_tick(part) as u64).max(1));
    }
    let longest = ticks_wished(stream, wishes).map_err(|error| error.to_string())?;
    loop {
        if most == 0 {
            return Err(format!("{} channels with their products do not fit a window", channels.len()));
        }
        let ticks = stream.period.whole_cycles(longest.div_ceil(longest.div_ceil(most)).max(1) as u32);
        if ticks == 0 {
            return Err(format!(
                "a window of readings every {} has a multiple of {} of them, and at most {most} fit",
                Every { period: stream.period },
                stream.period.cycle_ticks()
            ));
        }
        if is_described(channels, ticks) {
            return Ok(ticks);
        }
        most = most.min(ticks.into()) / 2;
    }
}

/// Returns the windows a day of a stream of sums with these channels; None if they do not fit one.
pub(in crate::streams) fn windows_of_sums(
    stream: &StreamNeeds,
    channels: &[Channel],
    wishes: Wishes,
) -> Option<u64> {
    let quantities = quantities(stream, channels).ok()?;
    let ticks = ticks(stream, channels, &quantities, wishes).ok()?;
    Some(windows_a_day(stream.period, ticks))
}

/// Returns true if the description of a window of this many ticks is not too long, whichever readings are missing.
fn is_described(channels: &[Channel], ticks: u32) -> bool {
    let Ok(layout) = Layout::of_sums(channels.to_vec(), ticks) else { return false };
    WindowDescription::longest(&layout, true).to_json().is_ok()
}

/// Returns the parts with places for sums of this many windows.
fn parts(quantities: &[Vec<Quantity>], layout: &Layout, windows: u64) -> Result<Vec<SumsPart>, String> {
    let part = |quantities: &Vec<Quantity>| {
        let placed = quantities.iter().map(|quantity| placed(quantity, layout, windows));
        let placed = placed.collect::<Result<Vec<_>, String>>()?;
        Ok(SumsPart { quantities: placed.into_iter().flatten().collect(), reasons: 0 })
    };
    quantities.iter().map(part).collect()
}

/// Returns a quantity at places that hold sums of this many windows, of one if they do not add: at one place or, if that
/// would have more than 60 bits, as two digits.
fn placed(quantity: &Quantity, layout: &Layout, windows: u64) -> Result<Vec<Placed>, String> {
    let windows = if quantity.adds() { windows } else { 1 };
    let one = |digit| {
        Placed::for_windows(quantity.clone(), digit, layout, windows).map_err(|error| error.to_string())
    };
    if let Some(whole) = one(Digit::Whole)? {
        return Ok(vec![whole]);
    }
    match (one(Digit::Low)?, one(Digit::High)?) {
        (Some(low), Some(high)) => Ok(vec![low, high]),
        _ => Err(format!("sums of {windows} windows do not fit two places of 60 bits")),
    }
}

/// Returns the header of a stream with these parts, of no device: it has their forms.
fn header(layout: &Layout, period: Period, parts: &[SumsPart]) -> Result<StreamHeader, WireError> {
    let stream = SumsStream {
        device: NOBODY.to_owned(),
        stream: NOBODY.to_owned(),
        period,
        ticks: layout.ticks(),
        channels: layout.channels().to_vec(),
        rounded: true,
        parts: parts.to_vec(),
    };
    StreamHeader::of_sums(stream, |_| KeyId([0; 16]))
}

/// Returns the forms of the parts of a stream.
fn forms(header: &StreamHeader) -> Result<Vec<Form<'_>>, WireError> {
    (0..header.parts().len()).map(|part| header.sums_form(part)).collect()
}

/// Returns the bytes of the longest window of a stream.
fn window_bytes(header: &StreamHeader) -> Result<usize, WireError> {
    Ok(SUMS_WINDOW_OVERHEAD + header.parts_bytes(header.layout().ticks())?)
}

/// Returns the bins that a stream's questions need.
///
/// # Errors
/// The reason why there are none: a channel without a resolution, or too many bins.
fn bins(needs: &Needs, channels: &[Channel]) -> Result<Vec<ChannelBins>, String> {
    let mut all = Vec::new();
    for (at, channel) in (0u16..).zip(channels) {
        let Some(needed) = needs.bins.get(&channel.name) else { continue };
        let (minimum, maximum) = (channel.minimum, channel.maximum);
        let resolution = channel.resolution.unwrap_or_default();
        let quantiser = Quantiser::with_resolution(minimum, maximum, resolution);
        let quantiser = quantiser.map_err(|error| error.to_string())?;
        let edges = needed.iter().flat_map(|bins| bins.edges(&quantiser, (minimum, maximum)));
        let bins = ChannelBins::new(at, edges, &quantiser);
        if bins.count() > MOST_BINS {
            return Err(format!(
                "the questions need {} bins of {}, and a channel has at most {MOST_BINS}",
                bins.count(),
                channel.name
            ));
        }
        all.push(bins);
    }
    Ok(all)
}

/// Checks that windows of sums with these parts hold the quantities that are needed.
///
/// # Errors
/// The reason why they do not.
pub(crate) fn fits(needs: &Needs, channels: &[Channel], parts: &[SumsPart]) -> Result<(), String> {
    let sent = |quantity: &Quantity| {
        parts.iter().flat_map(|part| &part.quantities).any(|placed| placed.quantity == *quantity)
    };
    let position = |name: &String| channels.iter().position(|channel| channel.name == *name);
    if needs.squares && !(0..channels.len() as u16).all(|channel| sent(&Quantity::Square(channel))) {
        return Err("it does not send squares".to_owned());
    }
    for (x, y) in &needs.products {
        let at = position(x).zip(position(y)).map(|(x, y)| (x.min(y) as u16, x.max(y) as u16));
        if at.is_none_or(|(x, y)| !sent(&Quantity::Product(x, y))) {
            return Err(format!("it does not send products of {x} and {y}"));
        }
    }
    for (name, quantities) in &needs.windows {
        let at = position(name).map(|at| at as u16);
        if let Some(missing) = quantities.iter().find(|of| at.is_none_or(|at| !sent(&of.sent(at)))) {
            return Err(format!("it does not send {} of {name} in a window", missing.words()));
        }
    }
    for needed in bins(needs, channels)? {
        let sent = bins_of(parts, needed.channel);
        if sent.is_none_or(|sent| needed.edges.iter().any(|edge| !sent.edges.contains(edge))) {
            let name = &channels[usize::from(needed.channel)].name;
            return Err(format!(
                "it does not count the readings of {name} in the bins that the question needs"
            ));
        }
    }
    Ok(())
}

/// Returns true if windows with these parts hold quantities of a channel.
pub(crate) fn holds(parts: &[SumsPart], channel: u16, quantities: &[WindowQuantity]) -> bool {
    let placed = || parts.iter().flat_map(|part| &part.quantities);
    quantities.iter().all(|quantity| placed().any(|placed| placed.quantity == quantity.sent(channel)))
}

/// Returns the largest Σ|c| that every place of these parts of a stream holds.
pub(crate) fn capacity(stream: &StreamHeader, parts: impl IntoIterator<Item = usize>) -> Option<u64> {
    let capacity = |part| Some(stream.sums_form(part).ok()?.capacity());
    parts.into_iter().map(capacity).collect::<Option<Vec<u64>>>()?.into_iter().min()
}

/// Returns the bins in which these parts count the readings of a channel. Returns None if they do not.
pub(crate) fn bins_of(parts: &[SumsPart], channel: u16) -> Option<ChannelBins> {
    parts.iter().flat_map(|part| &part.quantities).find_map(|placed| match &placed.quantity {
        Quantity::Bins { column, edges } if *column == channel => {
            Some(ChannelBins { channel, edges: edges.clone() })
        }
        _ => None,
    })
}
