//! Readings that have arrived, by device, and those that are missing.

use std::collections::BTreeMap;

use serde::Serialize;
use sotto_pack::LeftOut;

use crate::ask::{DeviceWindows, list_windows, ticks_between, windows_left_out};
use crate::error::OwnerError;
use crate::plant::Plant;

/// A device as its owner sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceStatus {
    /// The device's name.
    pub device: String,
    /// True if a bundle was made for it.
    pub enrolled: bool,
    /// Windows that have arrived.
    pub windows: u64,
    /// Bytes that it has sent.
    pub bytes: u64,
    /// Its channels.
    pub channels: Vec<ChannelStatus>,
    /// Windows of made-up readings, from an agent's generator.
    pub generated: u64,
    /// How often the device lost its spool, and asked the cloud where it stood.
    pub recoveries: u64,
    /// When it last did, by the cloud's clock: RFC 3339.
    pub recovered_at: Option<String>,
    /// Windows that the cloud refused because another one has their mask: the device runs twice from one copy of its memory.
    pub repeated_masks: u64,
    /// When the last one was, by the cloud's clock: RFC 3339.
    pub repeated_at: Option<String>,
    /// True if the cloud refuses what the device sends, until it is registered again.
    pub revoked: bool,
    /// Windows that were not made with a bundle of this plant, or that cover a time twice.
    pub unusable: u64,
}

/// A channel of a device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelStatus {
    /// The channel's name.
    pub channel: String,
    /// Readings that have arrived.
    pub readings: u64,
    /// Readings that are missing between the first and the last window.
    pub missing: u64,
    /// Where its first window begins: RFC 3339.
    pub from: Option<String>,
    /// Where its last window ends.
    pub to: Option<String>,
    /// Readings that the device left out, by reason.
    pub left_out: LeftOut,
}

impl Plant {
    /// Registers every enrolled device that the cloud does not know, and counts the readings of each.
    ///
    /// # Errors
    /// The cloud is away or refuses.
    pub fn status(&self) -> Result<Vec<DeviceStatus>, OwnerError> {
        let cloud = self.cloud()?;
        let records = self.devices()?;
        let known = cloud.devices().collect::<Result<Vec<_>, _>>()?;
        for name in records.keys() {
            let complete = match known.iter().find(|device| device.name == *name) {
                // A device that the owner has revoked stays revoked.
                Some(device) => device.revoked || self.is_registered(name, &device.keys)?,
                None => false,
            };
            if !complete {
                self.register(&cloud, name)?;
            }
        }
        let clock = self.settings().clock()?;
        let mut all = Vec::new();
        for (name, settings) in &self.settings().devices {
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
            let listed = list_windows(self, &cloud, record, (None, None))?;
            let left_out = windows_left_out(&listed.windows);
            let known = known.iter().find(|device| device.name == *name);
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
}

fn status_of(
    listed: &DeviceWindows,
    channel: &str,
    left_out: &BTreeMap<String, LeftOut>,
    clock: &sotto_pack::Clock,
) -> ChannelStatus {
    // A reading that is sent in both kinds of streams is one reading: the kind with more of them tells.
    let mut by_kind: BTreeMap<_, (u64, u64, i64, i64)> = BTreeMap::new();
    for window in &listed.windows {
        let (Some(at), Some(kind)) = (window.channel(channel), window.kind()) else { continue };
        let entry = by_kind.entry(kind).or_insert((0, 0, window.start(), window.start()));
        entry.0 += u64::from(window.description.present[usize::from(at)]);
        // Counted from the end of the window before: ticks between windows are missing, too.
        entry.1 += ticks_between(entry.3, window.end(), window.description.period);
        entry.3 = entry.3.max(window.end());
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
