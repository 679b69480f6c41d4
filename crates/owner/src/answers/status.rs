//! The status of devices: readings received and missing.

use std::collections::BTreeMap;

use serde::Serialize;
use sotto_pack::LeftOut;

use crate::declared::Plant;
use crate::error::OwnerError;
use crate::windows::{Between, DeviceWindows, ticks_between};
use crate::{devices, windows};

/// The status of a device.
///
/// ```no_run
/// use sotto_owner::{ChannelStatus, DeviceStatus, Plant};
///
/// let devices: Vec<DeviceStatus> = Plant::open("dairy".as_ref())?.status()?;
/// for device in &devices {
///     let channels: &[ChannelStatus] = &device.channels;
///     let missing: u64 = channels.iter().map(|channel| channel.missing).sum();
///     println!("{}: {} windows, {missing} readings missing", device.device, device.windows);
/// }
/// # Ok::<(), sotto_owner::OwnerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceStatus {
    /// The device's name.
    pub device: String,
    /// True if it has a bundle.
    pub enrolled: bool,
    /// Number of windows received.
    pub windows: u64,
    /// Number of bytes received.
    pub bytes: u64,
    /// One entry for each of its channels.
    pub channels: Vec<ChannelStatus>,
    /// Number of windows with made-up readings, from an agent's generator.
    pub generated: u64,
    /// Number of times that the device lost its spool and asked the cloud for its position.
    pub recoveries: u64,
    /// Time of the last such request by the cloud's clock, as RFC 3339.
    pub recovered_at: Option<String>,
    /// Number of windows that the cloud refused because another one has the same mask. Then two devices run from one
    /// copy of memory.
    pub repeated_masks: u64,
    /// Time of the last such refusal by the cloud's clock, as RFC 3339.
    pub repeated_at: Option<String>,
    /// True if the cloud refuses the device's windows until it is registered again.
    pub revoked: bool,
    /// Number of windows that no bundle of this plant made, or that cover a time twice.
    pub unusable: u64,
}

/// The status of a channel of a device.
///
/// Example: [`DeviceStatus`]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelStatus {
    /// The channel's name.
    pub channel: String,
    /// Number of readings received.
    pub readings: u64,
    /// Number of readings missing between the first and the last window.
    pub missing: u64,
    /// Start of its first window, as RFC 3339.
    pub from: Option<String>,
    /// End of its last window, as RFC 3339.
    pub to: Option<String>,
    /// Counts of readings that the device left out, by reason.
    pub left_out: LeftOut,
}

fn status_of(
    listed: &DeviceWindows,
    channel: &str,
    left_out: &BTreeMap<String, LeftOut>,
    clock: &sotto_pack::Clock,
) -> ChannelStatus {
    // A reading in streams of both kinds counts once: the kind with more readings is used.
    let mut by_kind: BTreeMap<_, (u64, u64, i64, i64)> = BTreeMap::new();
    for window in &listed.windows {
        let (Some(at), Some(kind)) = (window.channel(channel), window.kind()) else { continue };
        let entry = by_kind.entry(kind).or_insert((0, 0, window.from(), window.from()));
        entry.0 += u64::from(window.description.present[usize::from(at)]);
        // Counted from the end of the previous window, because ticks between windows are missing too.
        entry.1 += ticks_between(entry.3, window.to(), window.description.period);
        entry.3 = entry.3.max(window.to());
    }
    let most = by_kind.values().max_by_key(|(readings, ..)| *readings).copied();
    let (readings, expected, from, to) = most.unwrap_or_default();
    ChannelStatus {
        channel: channel.to_owned(),
        readings,
        missing: expected.saturating_sub(readings),
        from: most.map(|_| clock.rfc3339(from)),
        to: most.map(|_| clock.rfc3339(to)),
        left_out: left_out.get(channel).cloned().unwrap_or_default(),
    }
}

/// Registers every enrolled device that the cloud does not know, and returns the status of each declared device.
pub(crate) fn status(plant: &Plant) -> Result<Vec<DeviceStatus>, OwnerError> {
    let cloud = plant.cloud()?;
    let records = devices::enrolled(plant)?;
    let known = cloud.devices().collect::<Result<Vec<_>, _>>()?;
    for name in records.keys() {
        let complete = match known.iter().find(|device| device.name == plant.wire_device(name)) {
            // A device revoked by the owner stays revoked.
            Some(device) => device.revoked || devices::is_registered(plant, name, &device.keys)?,
            None => false,
        };
        if !complete {
            devices::register(plant, &cloud, name)?;
        }
    }
    let clock = plant.settings().clock()?;
    let mut all = Vec::new();
    for (name, settings) in &plant.settings().devices {
        let Some(record) = records.get(name) else {
            all.push(DeviceStatus {
                device: name.clone(),
                enrolled: false,
                windows: 0,
                bytes: 0,
                channels: Vec::new(),
                generated: 0,
                recoveries: 0,
                recovered_at: None,
                repeated_masks: 0,
                repeated_at: None,
                revoked: false,
                unusable: 0,
            });
            continue;
        };
        let listed = windows::list(plant, &cloud, record, Between::default(), None)?;
        let left_out = windows::left_out(&listed.windows);
        let known = known.iter().find(|device| device.name == plant.wire_device(name));
        let channel = |channel: &String| status_of(&listed, channel, &left_out, &clock);
        all.push(DeviceStatus {
            device: name.clone(),
            enrolled: true,
            windows: listed.windows.len() as u64,
            bytes: listed.windows.iter().map(|window| window.bytes).sum(),
            channels: settings.channels.iter().map(channel).collect(),
            generated: listed.windows.iter().filter(|window| window.description.generated).count() as u64,
            recoveries: known.map_or(0, |device| device.recoveries),
            recovered_at: known.and_then(|device| device.recovered_at).map(|at| clock.rfc3339(at)),
            repeated_masks: known.map_or(0, |device| device.repeated_masks),
            repeated_at: known.and_then(|device| device.repeated_at).map(|at| clock.rfc3339(at)),
            revoked: known.is_some_and(|device| device.revoked),
            unusable: listed.aside.unusable() as u64,
        });
    }
    Ok(all)
}
