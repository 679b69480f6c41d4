//! The price of declarations on a device: bytes, windows, the delay until an answer, the bounds of values.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sotto_pack::{Channel, ChannelKind, Quantiser};

use super::choose::{Chosen, bins_of, holds};
use super::kind::Kind;
use crate::gathered::{USUAL_BINS, WindowQuantity};

/// Milliseconds of a day.
const DAY: u64 = 86_400_000;

/// The interval of pieces for which a price has the bytes: 5 minutes, in milliseconds.
const USUAL_FRESH: u32 = 300_000;

/// The price of a device's streams, for windows without gaps that travel alone.
///
/// Example: [`Change`]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Price {
    /// Bytes for each reading. A reading that is sent in two windows counts once.
    pub bytes_a_reading: f64,
    /// Bytes that the device sends in a day.
    pub bytes_a_day: u64,
    /// The same with pieces of open windows every 5 minutes (`sotto-agent run --fresh 5m`).
    pub bytes_a_day_fresh_5m: u64,
    /// Windows that the device sends in a day; below 1 for longer ones.
    pub windows_a_day: f64,
    /// The price of each channel.
    pub channels: BTreeMap<String, ChannelPrice>,
    /// The channels, and the pairs of them, of which windows of whole numbers also answer these quantities.
    pub also: BTreeMap<&'static str, BTreeSet<String>>,
}

/// The windows of a channel, and the bounds of its values.
///
/// Example: [`Change`]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelPrice {
    /// The unit of its values.
    pub unit: String,
    /// Milliseconds of its shortest windows.
    pub window_ms: u64,
    /// Number of those windows in a day; below 1 for longer ones.
    pub windows_a_day: f64,
    /// Milliseconds after which an answer can have a reading, at most: the window and one period. Pieces shorten it.
    pub delay_ms: u64,
    /// Number of windows in which each reading is sent.
    pub sent: usize,
    /// Number of bins in which the device counts its readings; 0 if it does not.
    pub bins: usize,
    /// The largest error of a mean.
    pub mean_within: f64,
    /// The largest error of the smallest reading.
    pub least_within: f64,
    /// The largest error of the largest reading.
    pub largest_within: f64,
    /// The largest error of a quantile.
    pub quantile_within: f64,
    /// True if a quantile takes the readings of each window, as no bins answer it.
    pub quantile_by_readings: bool,
}

impl Price {
    /// Returns the price of a device with these streams.
    #[must_use]
    pub fn of(streams: &[Chosen]) -> Self {
        let mut channels: BTreeMap<String, ChannelPrice> = BTreeMap::new();
        let mut readings = 0.0;
        // Exact values have the smaller bounds.
        let mut by_kind: Vec<&Chosen> = streams.iter().collect();
        by_kind.sort_by_key(|chosen| chosen.stream.kind);
        for chosen in by_kind {
            for (at, channel) in (0u16..).zip(chosen.layout.channels()) {
                let own = ChannelPrice::of(chosen, at, channel);
                match channels.get_mut(&channel.name) {
                    Some(known) => known.add(&own),
                    None => {
                        readings += DAY as f64 / chosen.cut.period.milliseconds_of(1);
                        channels.insert(channel.name.clone(), own);
                    }
                }
            }
        }
        let bytes_a_day = streams.iter().map(Chosen::bytes_a_day).sum();
        Self {
            bytes_a_reading: if readings > 0.0 { bytes_a_day as f64 / readings } else { 0.0 },
            bytes_a_day,
            bytes_a_day_fresh_5m: streams.iter().map(|stream| stream.fresh_bytes_a_day(USUAL_FRESH)).sum(),
            windows_a_day: streams.iter().map(windows_a_day).sum(),
            channels,
            also: also(streams),
        }
    }
}

/// Returns the quantities of streams beside sums, bins and extremes, whose price says bounds.
fn also(streams: &[Chosen]) -> BTreeMap<&'static str, BTreeSet<String>> {
    let mut all: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
    for stream in streams.iter().map(|chosen| &chosen.stream).filter(|stream| stream.kind == Kind::Exact) {
        if stream.needs.squares {
            all.entry("variances and deviations").or_default().extend(stream.channels.iter().cloned());
        }
        for (x, y) in &stream.needs.products {
            all.entry("products").or_default().insert(format!("{x} and {y}"));
        }
        for (name, quantities) in &stream.needs.windows {
            let has_bound =
                |of: &&WindowQuantity| matches!(of, WindowQuantity::Least | WindowQuantity::Largest);
            for quantity in quantities.iter().filter(|quantity| !has_bound(quantity)) {
                all.entry(quantity.words()).or_default().insert(name.clone());
            }
        }
    }
    all
}

fn windows_a_day(chosen: &Chosen) -> f64 {
    (chosen.windows_a_day() as f64).min(DAY as f64 / chosen.cut.period.milliseconds_of(1))
}

impl ChannelPrice {
    fn of(chosen: &Chosen, at: u16, channel: &Channel) -> Self {
        let resolution = channel.resolution.unwrap_or_default();
        // States are whole numbers.
        let mean_within = if matches!(channel.kind, ChannelKind::State(_)) { 0.0 } else { resolution / 2.0 };
        let bins = bins_of(&chosen.sums, at);
        let range = channel.maximum - channel.minimum;
        let quantiser = Quantiser::with_resolution(channel.minimum, channel.maximum, resolution).ok();
        let widest = bins.as_ref().zip(quantiser).and_then(|(bins, quantiser)| {
            let width = |(low, high)| quantiser.value(high) - quantiser.value(low);
            bins.ends(&quantiser).map(width).reduce(f64::max)
        });
        let answers = |width: &f64| *width <= range / f64::from(USUAL_BINS) + resolution;
        let of_bins = widest.filter(answers).map(|width| (width / 2.0).max(mean_within));
        let quantile_within = of_bins.unwrap_or(mean_within);
        let end_within = |end| if holds(&chosen.sums, at, &[end]) { mean_within } else { quantile_within };
        Self {
            unit: channel.unit.clone(),
            window_ms: chosen.window_ms(),
            windows_a_day: windows_a_day(chosen),
            delay_ms: chosen.delay_ms(None),
            sent: usize::from(chosen.stream.kind == Kind::Exact),
            bins: bins.map_or(0, |bins| bins.count()),
            mean_within,
            least_within: end_within(WindowQuantity::Least),
            largest_within: end_within(WindowQuantity::Largest),
            quantile_within,
            quantile_by_readings: of_bins.is_none(),
        }
    }

    /// Adds another stream with the channel.
    fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        if other.window_ms < self.window_ms {
            (self.window_ms, self.windows_a_day) = (other.window_ms, other.windows_a_day);
        }
        self.delay_ms = self.delay_ms.min(other.delay_ms);
        self.least_within = self.least_within.min(other.least_within);
        self.largest_within = self.largest_within.min(other.largest_within);
        if self.quantile_by_readings && !other.quantile_by_readings {
            (self.bins, self.quantile_within) = (other.bins, other.quantile_within);
            self.quantile_by_readings = false;
        }
        self.bins = self.bins.max(other.bins);
    }
}

/// The price of a device before and after a declaration.
///
/// ```
/// use sotto_owner::{Change, ChannelPrice, NewPlant, Plant, Price, edit, settings::ChannelSettings};
///
/// # let folder = tempfile::tempdir()?;
/// # let new = NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
/// # let mut plant = Plant::init(&folder.path().join("dairy"), &new)?; // a plant without channels
/// let channel = ChannelSettings::new("°C", "-20..120".parse()?, 0.1, "5m".parse()?);
/// plant.edit(|settings| edit::add_channel(settings, "temperature", &channel))?;
/// let hourly = "mean(temperature) by hour".into();
/// let asked = plant.edited(|settings| edit::add_question(settings, "hourly", &hourly))?;
/// let changes = Change::all(&plant.prices()?, &asked.prices()?);
/// let (before, after): (&Price, &Price) = (changes[0].before.as_ref().unwrap(), &changes[0].after);
/// let windows = |price: &Price| { let of: &ChannelPrice = &price.channels["temperature"]; of.windows_a_day };
/// assert_eq!((windows(before), windows(after)), (1.0, 24.0));
/// assert!(before.bytes_a_day < after.bytes_a_day);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The device.
    pub device: String,
    /// Its price before. None: it is new.
    pub before: Option<Price>,
    /// Its price after.
    pub after: Price,
}

impl Change {
    /// Returns true if the declaration changes anything of the device.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.before.as_ref() != Some(&self.after)
    }

    /// Returns the change of each device, the largest first, and those without a change last.
    #[must_use]
    pub fn all(before: &[(String, Price)], after: &[(String, Price)]) -> Vec<Self> {
        let of = |(device, after): &(String, Price)| {
            let before = before.iter().find(|(name, _)| name == device).map(|(_, price)| price.clone());
            Self { device: device.clone(), before, after: after.clone() }
        };
        let mut all: Vec<Self> = after.iter().map(of).collect();
        let grows = |change: &Self| {
            let before = change.before.as_ref().map_or(0, |before| before.bytes_a_day);
            change.after.bytes_a_day.abs_diff(before)
        };
        all.sort_by_key(|change| {
            std::cmp::Reverse((change.is_any(), grows(change), change.after.bytes_a_day))
        });
        all
    }

    /// Returns the quantities that windows also answered before and do not after, each with its channels or pairs of them.
    #[must_use]
    pub fn lost(&self) -> Vec<(&'static str, Vec<&str>)> {
        let before = self.before.iter().flat_map(|before| &before.also);
        let lost = before.map(|(quantity, of)| {
            let is_kept =
                |name: &&String| self.after.also.get(quantity).is_some_and(|after| after.contains(*name));
            (*quantity, of.iter().filter(|name| !is_kept(name)).map(String::as_str).collect::<Vec<_>>())
        });
        lost.filter(|(_, of)| !of.is_empty()).collect()
    }

    /// Returns the channels whose windows or bounds change, those with the same change together.
    #[must_use]
    pub fn channels(&self) -> Vec<ChannelChange<'_>> {
        let mut changes: Vec<ChannelChange<'_>> = Vec::new();
        for (name, after) in &self.after.channels {
            let before = self.before.as_ref().and_then(|before| before.channels.get(name));
            if before == Some(after) {
                continue;
            }
            match changes.iter_mut().find(|change| change.before == before && change.after == after) {
                Some(change) => change.names.push(name),
                None => changes.push(ChannelChange { names: vec![name], before, after }),
            }
        }
        changes
    }
}

/// Channels with the same change of their price.
///
/// Example: [`Change`]
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelChange<'c> {
    /// Their names.
    pub names: Vec<&'c str>,
    /// Their price before. None: they are new.
    pub before: Option<&'c ChannelPrice>,
    /// Their price after.
    pub after: &'c ChannelPrice,
}
