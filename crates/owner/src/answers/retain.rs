//! Retention: the cloud keeps sums of old windows in place of their bodies.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sotto_pack::{Span, StreamProfile};
use sotto_wire::Ordered;

use crate::declared::Plant;
use crate::error::OwnerError;
use crate::language::By;
use crate::orders::{self, Orders};
use crate::quantities::Input;
use crate::streams::span_of;
use crate::windows::{Retention, RollUps, StreamLog, ToSum, roll_up_orders, sync_log, to_roll_up};
use crate::work::Computer;
use crate::{cache, devices};

/// The windows of a stream that were added up, or are to be.
///
/// ```no_run
/// use sotto_owner::{Plant, Retention};
///
/// let plant = Plant::open("dairy".as_ref())?;
/// let retention = Retention::new("level", "90d".parse()?, vec!["month:forever".parse()?])?;
/// for of in plant.retain(&retention, true)? {
///     println!("{}: {} windows become {} sums", of.device, of.windows, of.sums);
/// }
/// # Ok::<(), sotto_owner::OwnerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Retained {
    /// The device's name.
    pub device: String,
    /// The stream's name.
    pub stream: String,
    /// The channels of the stream: all are added up together.
    pub channels: Vec<String>,
    /// Windows of the sums, those of earlier sums too.
    pub windows: u64,
    /// Sums that come in their place.
    pub sums: u64,
    /// The start of the first window, as RFC 3339.
    pub from: String,
    /// The start of the last one.
    pub to: String,
    /// Bytes that the cloud freed; None if nothing was ordered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freed_bytes: Option<u64>,
    /// Windows that stay as they are, as their own tags do not fit: they would spoil their sum. 0 if nothing was ordered.
    pub faulty: u64,
}

/// Orders the cloud to add up old windows of all streams with a channel. With `dry_run` orders nothing.
pub(crate) fn retain(
    plant: &Plant,
    retention: &Retention,
    dry_run: bool,
) -> Result<Vec<Retained>, OwnerError> {
    if !plant.settings().channels.contains_key(&retention.channel) {
        return Err(OwnerError::NotDeclared { kind: "channel", name: retention.channel.clone() });
    }
    if retention.has_hours() {
        check_hours(plant, &retention.channel)?;
    }
    let (client, clock) = (plant.cloud()?, plant.settings().clock()?);
    let now = jiff::Timestamp::now().as_millisecond();
    let (orders, mut all) = (Orders::new(plant, &client), Vec::new());
    // Those of the owner's other computers too.
    orders.learn()?;
    for (device, record) in devices::all_records(plant)? {
        for stream in record.streams() {
            let channels = channels(plant, &record, stream);
            if !channels.contains(&retention.channel) {
                continue;
            }
            let log = sync_log(&orders, &record, stream)?;
            let earlier = RollUps::of(&orders.roll_ups(&device, stream)?);
            let by_hour = profiles(&record, stream).all(|profile| profile.span == Some(Span::Hour));
            let mut groups = to_roll_up(retention, (&log, by_hour), &earlier, &clock, now);
            let (mut freed, mut faulty) = (0, 0);
            if !dry_run && !groups.is_empty() {
                let mut computer = Computer::new(plant, &client, false)?;
                faulty = leave_out_faulty(&mut computer, (&device, &log, &earlier), &mut groups)?;
                for order in roll_up_orders(stream, &log, &groups) {
                    freed += orders::sign(plant, &device, Ordered::RollUp(order))?.send(&client)?.bytes;
                }
                // Its sums have other windows from now on.
                cache::forget(plant, &device)?;
            }
            let starts = || groups.iter().flat_map(|group| [group.span.0, group.span.1]);
            let Some((from, to)) = starts().min().zip(starts().max()) else { continue };
            all.push(Retained {
                device: plant.shown_device(&device).to_owned(),
                stream: stream.to_owned(),
                channels,
                windows: groups.iter().map(ToSum::windows).sum(),
                sums: groups.len() as u64,
                from: clock.rfc3339(from),
                to: clock.rfc3339(to),
                freed_bytes: (!dry_run).then_some(freed),
                faulty,
            });
        }
    }
    Ok(all)
}

/// Opens the sums that are to come in the place of bodies, and leaves out windows with which a sum does not open. Returns their
/// number.
fn leave_out_faulty(
    computer: &mut Computer<'_>,
    (device, log, earlier): (&str, &StreamLog, &RollUps),
    groups: &mut Vec<ToSum>,
) -> Result<u64, OwnerError> {
    let mut by_stream: BTreeMap<[u8; 32], Vec<usize>> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate() {
        by_stream.entry(group.header.id().0).or_default().push(at);
    }
    let mut faulty = 0;
    for of_stream in by_stream.into_values() {
        let (firsts, inputs): (Vec<Vec<u64>>, Vec<Vec<Input>>) =
            of_stream.iter().map(|at| groups[*at].inputs(log, earlier).into_iter().unzip()).unzip();
        let alone: Vec<&[Input]> = inputs.iter().map(Vec::as_slice).collect();
        let header = groups[of_stream[0]].header.clone();
        let found = computer.faulty_in(device, &header, &alone)?;
        let numbers: BTreeSet<u64> = found.iter().map(|window| window.sequence).collect();
        faulty += numbers.len() as u64;
        let position = |(first, input): (&u64, &Input)| {
            let (first, from) = (*first, input.sequence);
            let inside = numbers.range(from..from.saturating_add(input.count.into()));
            inside.map(move |number| first + (number - from)).collect::<Vec<_>>()
        };
        for ((at, firsts), inputs) in of_stream.iter().zip(&firsts).zip(&inputs) {
            let positions: BTreeSet<u64> = firsts.iter().zip(inputs).flat_map(position).collect();
            if !positions.is_empty() {
                groups[*at].leave_out(&positions);
            }
        }
    }
    groups.retain(|group| group.windows() > 1);
    Ok(faulty)
}

/// Refuses sums of hours if a device sends a channel in no stream that is cut by the hour.
fn check_hours(plant: &Plant, channel: &str) -> Result<(), OwnerError> {
    let period = plant.settings().channels.get(channel).map(|channel| channel.every.period);
    if period.is_some_and(|period| span_of(Some(By::Hour), period) != Span::Hour) {
        return Err(OwnerError::Question(format!(
            "readings of {channel} are an hour or more apart, and come in windows of a day: there is no sum of an hour to make. Begin with \
             `--roll-up day:…`"
        )));
    }
    let mut without: Vec<String> = Vec::new();
    for (device, record) in devices::enrolled(plant)? {
        let Some(bundle) = record.bundles.last() else { continue };
        let has_channel = |profile: &&StreamProfile| {
            let names = profile.channels.iter().map(|of| plant.settings().shown_channel(&of.name));
            !profile.sums.is_empty() && names.into_iter().any(|name| name == channel)
        };
        let mut streams = bundle.streams.iter().filter(has_channel).peekable();
        if streams.peek().is_some() && !streams.any(|profile| profile.span == Some(Span::Hour)) {
            without.push(plant.shown_device(&device).to_owned());
        }
    }
    let Some(first) = without.first() else { return Ok(()) };
    Err(OwnerError::Question(format!(
        "no sum of an hour can be made of windows of {channel} that {} sent: they are longer than an hour, or cross its end. Declare a question by \
         the hour, as `sotto question add hours 'mean({channel}) by hour'`, and run `sotto device renew {first}`: windows under the new bundle end with \
         the hour. Or begin with `--roll-up day:…`",
        without.join(", ")
    )))
}

/// Iterates over the profiles of a stream in the bundles of its device.
fn profiles<'r>(
    record: &'r devices::DeviceRecord,
    stream: &'r str,
) -> impl Iterator<Item = &'r StreamProfile> {
    let all = record.bundles.iter().flat_map(|bundle| &bundle.streams);
    all.filter(move |profile| profile.stream == stream)
}

/// Returns the channels of a stream, by the names that they have in `sotto.toml`.
fn channels(plant: &Plant, record: &devices::DeviceRecord, stream: &str) -> Vec<String> {
    let mut names = Vec::new();
    for profile in profiles(record, stream) {
        for channel in &profile.channels {
            let name = plant.settings().shown_channel(&channel.name).to_owned();
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}
