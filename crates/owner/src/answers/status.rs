//! The status of devices: readings received and missing.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sotto_api::devices::Device;
use sotto_cloud_client::{Cloud, CloudError};
use sotto_pack::LeftOut;

use super::cause;
use super::empty::Cause;
use super::late::{LateStream, Sending};
use crate::declared::Plant;
use crate::declared::settings::DeviceSettings;
use crate::devices::DeviceRecord;
use crate::error::OwnerError;
use crate::orders::Orders;
use crate::windows::{Between, DeviceWindows, Needed, StoredWindow, ticks_between};
use crate::{devices, windows};

/// The status of a device.
///
/// ```no_run
/// use sotto_owner::{ChannelStatus, DeviceStatus, Plant, Trouble};
///
/// let devices: Vec<DeviceStatus> = Plant::open("dairy".as_ref())?.status()?;
/// for device in &devices {
///     let channels: &[ChannelStatus] = &device.channels;
///     let missing: u64 = channels.iter().map(|channel| channel.missing).sum();
///     println!("{}: {} windows, {missing} readings missing", device.device, device.windows);
///     for Trouble { error, .. } in &device.troubles {
///         println!("  {error}");
///     }
/// }
/// # Ok::<(), sotto_owner::OwnerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceStatus {
    /// The device's name.
    pub device: String,
    /// True if it has a bundle.
    pub enrolled: bool,
    /// Number of windows whose readings count: for each question that a bundle was made for, every reading once.
    pub windows: u64,
    /// Number of windows in the cloud, with those whose readings are in others or that cannot be used.
    pub received: u64,
    /// Number of windows that cannot be opened because the device's secret is missing.
    pub without_secret: u64,
    /// Number of bytes of the windows that count.
    pub bytes: u64,
    /// Time at which the cloud stored its last message, by the cloud's clock, as RFC 3339.
    pub heard_at: Option<String>,
    /// The same, in milliseconds since 1970.
    pub heard_ms: Option<i64>,
    /// True if the next window of one of its streams is overdue: the newest ended more than two windows ago.
    pub late: bool,
    /// The stream that is late for the longest time, measured in its windows.
    pub late_stream: Option<LateStream>,
    /// End of its newest window, in milliseconds since 1970.
    pub newest_ms: Option<i64>,
    /// The longest time that one of its windows covers, in milliseconds.
    pub window_ms: Option<i64>,
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
    /// Number of windows that the cloud refused because another one has their number, or a reading at one of their ticks.
    /// Then a copy of the device's bundle or of its spool is in use.
    pub taken_numbers: u64,
    /// Time of the last such refusal by the cloud's clock, as RFC 3339.
    pub taken_at: Option<String>,
    /// True if the cloud refuses the device's windows until it is registered again.
    pub revoked: bool,
    /// Number of windows that no bundle of this plant made, or that cover a time twice.
    pub unusable: u64,
    /// Number of windows of places, which an earlier version sent and this one does not read.
    pub earlier: u64,
    /// False if its windows could not be listed: then the counts are 0.
    pub listed: bool,
    /// The faults of its files, its registration and its logs, the first one first.
    pub troubles: Vec<Trouble>,
}

/// A fault of one device, which does not keep the others from their status.
///
/// Example: [`DeviceStatus`]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trouble {
    /// The fault, with its remedy.
    pub error: String,
    /// The exit code of a command that ends with it ([`OwnerError::exit_code`]).
    pub exit_code: u8,
}

impl From<OwnerError> for Trouble {
    fn from(error: OwnerError) -> Self {
        Self { error: error.to_string(), exit_code: error.exit_code() }
    }
}

impl DeviceStatus {
    /// Returns the status of a device about which nothing is known yet.
    fn of(device: &str) -> Self {
        Self {
            device: device.to_owned(),
            enrolled: false,
            windows: 0,
            received: 0,
            without_secret: 0,
            bytes: 0,
            heard_at: None,
            heard_ms: None,
            late: false,
            late_stream: None,
            newest_ms: None,
            window_ms: None,
            channels: Vec::new(),
            generated: 0,
            recoveries: 0,
            recovered_at: None,
            repeated_masks: 0,
            repeated_at: None,
            taken_numbers: 0,
            taken_at: None,
            revoked: false,
            unusable: 0,
            earlier: 0,
            listed: false,
            troubles: Vec::new(),
        }
    }
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
    /// Number of readings missing between the first reading and the end of the last window.
    pub missing: u64,
    /// Start of its first window, as RFC 3339.
    pub from: Option<String>,
    /// End of its last window, as RFC 3339.
    pub to: Option<String>,
    /// Time of the oldest reading, as RFC 3339.
    pub oldest: Option<String>,
    /// Time of the newest reading, as RFC 3339.
    pub newest: Option<String>,
    /// The same, in milliseconds since 1970.
    pub newest_ms: Option<i64>,
    /// The length of the shortest windows that the device sends with it, in milliseconds.
    pub window_ms: Option<i64>,
    /// Counts of readings that the device left out, by reason.
    pub left_out: LeftOut,
}

fn status_of(
    listed: &DeviceWindows,
    channel: &str,
    left_out: &BTreeMap<String, LeftOut>,
    clock: &sotto_pack::Clock,
) -> ChannelStatus {
    // A reading in streams of several forms counts once: the form with most readings is used.
    let mut by_form: BTreeMap<_, (u64, u64, i64, i64)> = BTreeMap::new();
    for window in &listed.windows {
        let (Some(at), Some(form)) = (window.channel(channel), window.form()) else { continue };
        // The device was not there before its first reading.
        let first = listed.first_reading.map_or(window.from(), |first| first.max(window.from()));
        let entry = by_form.entry(form).or_insert((0, 0, window.from(), first));
        entry.0 += window.readings(at);
        // Counted from the end of the previous window, because ticks between windows are missing too.
        entry.1 += ticks_between(entry.3, window.to(), window.description.period);
        entry.3 = entry.3.max(window.to());
    }
    let most = by_form.values().max_by_key(|(readings, ..)| *readings).copied();
    let (readings, expected, from, to) = most.unwrap_or_default();
    let newest_ms = windows::last_reading(&BTreeSet::from([channel.to_owned()]), listed.windows.iter());
    ChannelStatus {
        channel: channel.to_owned(),
        readings,
        missing: expected.saturating_sub(readings),
        from: most.map(|_| clock.rfc3339(from)),
        to: most.map(|_| clock.rfc3339(to)),
        oldest: windows::first_reading(channel, listed.windows.iter()).map(|at| clock.rfc3339(at)),
        newest: newest_ms.map(|at| clock.rfc3339(at)),
        newest_ms,
        window_ms: None,
        left_out: left_out.get(channel).cloned().unwrap_or_default(),
    }
}

/// Registers every enrolled device that the cloud does not know, and returns the status of each declared device. The
/// trouble of one device is in its status; trouble that all devices share is an error.
pub(crate) fn status(plant: &Plant) -> Result<Vec<DeviceStatus>, OwnerError> {
    let cloud = plant.cloud()?;
    let clock = plant.settings().clock()?;
    let known = cloud.devices().collect::<Result<Vec<_>, _>>()?;
    let look = Look { plant, cloud: &cloud, clock: &clock, orders: Orders::new(plant, &cloud) };
    let declared = plant.settings().devices.iter();
    declared
        .map(|(name, settings)| {
            look.at(name, settings, known.iter().find(|d| d.name == plant.wire_device(name)))
        })
        .collect()
}

/// Returns a note for each device of the cloud that this folder does not know, or knows from an older copy.
pub(crate) fn unknown_devices(plant: &Plant) -> Result<Vec<String>, OwnerError> {
    let cloud = plant.cloud()?;
    let known = cloud.devices().collect::<Result<Vec<_>, _>>()?;
    super::notes::on_unknown(plant, &cloud, &known)
}

/// A look at devices, with the things that all of them share.
struct Look<'l> {
    plant: &'l Plant,
    cloud: &'l Cloud,
    clock: &'l sotto_pack::Clock,
    orders: Orders<'l>,
}

impl Look<'_> {
    /// Returns the status of a device, which the cloud knows as `known`.
    fn at(
        &self,
        name: &str,
        settings: &DeviceSettings,
        known: Option<&Device>,
    ) -> Result<DeviceStatus, OwnerError> {
        let mut status = DeviceStatus::of(name);
        if let Some(known) = known {
            status.recoveries = known.recoveries;
            status.recovered_at = known.recovered_at.map(|at| self.clock.rfc3339(at));
            status.repeated_masks = known.repeated_masks;
            status.repeated_at = known.repeated_at.map(|at| self.clock.rfc3339(at));
            status.taken_numbers = known.taken_numbers;
            status.taken_at = known.taken_at.map(|at| self.clock.rfc3339(at));
            status.revoked = known.revoked;
            status.heard_ms = known.sent.last_stored_at;
            status.heard_at = known.sent.last_stored_at.map(|at| self.clock.rfc3339(at));
        }
        let Some(record) = of_device(devices::record(self.plant, name), &mut status)?.flatten() else {
            return Ok(status);
        };
        status.enrolled = true;
        of_device(devices::has_secrets(self.plant, name), &mut status)?;
        of_device(self.register(&record, known), &mut status)?;
        let listed = windows::list(&self.orders, &record, Between::default(), &Needed::for_status());
        let Some(listed) = of_device(listed, &mut status)? else { return Ok(status) };
        let left_out = windows::left_out(&listed.windows);
        let sending = Sending::of(&record, &listed.windows);
        let channel = |channel: &String| ChannelStatus {
            window_ms: sending.shortest_of(self.plant, channel),
            ..status_of(&listed, channel, &left_out, self.clock)
        };
        status.listed = true;
        status.windows = windows::once(&listed.windows).count() as u64;
        status.bytes = windows::once(&listed.windows).map(|window| window.bytes).sum();
        status.channels = settings.channels.iter().map(channel).collect();
        status.newest_ms = listed.windows.iter().map(StoredWindow::to).max();
        status.window_ms = listed.windows.iter().map(|window| window.to() - window.from()).max();
        let now = jiff::Timestamp::now().as_millisecond();
        status.late_stream = sending.late(now);
        status.late = status.late_stream.is_some();
        let generated = windows::once(&listed.windows).filter(|window| window.description.generated);
        status.generated = generated.count() as u64;
        status.received = listed.received;
        if listed.has_secret {
            status.unusable = listed.aside.unusable() as u64;
        } else {
            status.without_secret = listed.aside.unreadable as u64;
        }
        if let Some((channel, unit)) = &listed.other_unit {
            let (error, exit_code) = (cause::other_unit(channel, unit), Cause::OtherUnit.exit_code());
            status.troubles.push(Trouble { error, exit_code });
        }
        status.earlier = listed.aside.earlier as u64;
        Ok(status)
    }

    /// Registers a device unless the cloud knows it completely. A device revoked by the owner stays revoked.
    fn register(&self, record: &DeviceRecord, known: Option<&Device>) -> Result<(), OwnerError> {
        let complete = match known {
            Some(device) => device.revoked || devices::is_registered(self.plant, record, device)?,
            None => false,
        };
        if complete { Ok(()) } else { devices::register(self.plant, self.cloud, &record.device) }
    }
}

/// Puts an error of one device into its status. Other errors are returned: they are of all devices.
fn of_device<T>(done: Result<T, OwnerError>, status: &mut DeviceStatus) -> Result<Option<T>, OwnerError> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(OwnerError::Cloud(
            error @ (CloudError::Away { .. } | CloudError::Tls(_) | CloudError::Interrupted { .. }),
        )) => Err(error.into()),
        Err(error) => {
            status.enrolled = true;
            status.troubles.push(error.into());
            Ok(None)
        }
    }
}
