//! Retention: the cloud keeps sums of old windows in place of their bodies.

use serde::Serialize;
use sotto_wire::Ordered;

use crate::declared::Plant;
use crate::error::OwnerError;
use crate::orders::{self, Orders};
use crate::windows::{Retention, RollUps, sync_log, to_roll_up};
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
            let found = to_roll_up(retention, &log, (stream, &earlier), &clock, now);
            let Some((from, to)) = found.span else { continue };
            let mut freed = 0;
            if !dry_run {
                for order in found.orders {
                    freed += orders::sign(plant, &device, Ordered::RollUp(order))?.send(&client)?.bytes;
                }
                // Its sums have other windows from now on.
                cache::forget(plant, &device)?;
            }
            all.push(Retained {
                device: plant.shown_device(&device).to_owned(),
                stream: stream.to_owned(),
                channels,
                windows: found.windows,
                sums: found.sums,
                from: clock.rfc3339(from),
                to: clock.rfc3339(to),
                freed_bytes: (!dry_run).then_some(freed),
            });
        }
    }
    Ok(all)
}

/// Returns the channels of a stream, by the names that they have in `sotto.toml`.
fn channels(plant: &Plant, record: &devices::DeviceRecord, stream: &str) -> Vec<String> {
    let mut names = Vec::new();
    for profile in
        record.bundles.iter().flat_map(|bundle| &bundle.streams).filter(|profile| profile.stream == stream)
    {
        for channel in &profile.channels {
            let name = plant.settings().shown_channel(&channel.name).to_owned();
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}
