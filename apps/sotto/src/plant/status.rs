//! `sotto status`: devices, arrived readings, missing readings.

use std::process::ExitCode;

use serde_json::json;
use sotto_owner::{DeviceStatus, UnknownOrders};

use super::backup::last_backup;
use super::price::say_never_raised;
use super::{Place, show};
use crate::output::say;
use crate::run::Run;

/// Arguments of `sotto status`.
#[derive(clap::Args, Debug)]
pub(crate) struct Status {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

impl Run for Status {
    fn run(self) -> anyhow::Result<ExitCode> {
        let opened = self.place.open().and_then(|plant| plant.status().map(|devices| (plant, devices)));
        let (plant, devices) = match opened {
            Ok(found) => found,
            Err(error) if self.json => {
                say(serde_json::to_string_pretty(
                    &json!({"error": error.to_string(), "exit_code": error.exit_code()}),
                )?);
                return Ok(ExitCode::from(error.exit_code()));
            }
            Err(error) => {
                eprintln!("sotto: {error}");
                return Ok(ExitCode::from(error.exit_code()));
            }
        };
        say_never_raised(&plant)?;
        let (unknown, unknown_devices) = (plant.unknown_orders(), plant.unknown_devices());
        let first = devices.iter().flat_map(|device| &device.troubles).next();
        let code = first.map_or(ExitCode::SUCCESS, |trouble| ExitCode::from(trouble.exit_code));
        if self.json {
            say(serde_json::to_string_pretty(
                &json!({"version": 1, "devices": devices, "unknown_keys": unknown.as_ref().ok(), "unknown_devices": unknown_devices.as_ref().ok(), "backup": plant.last_backup()?}),
            )?);
            return Ok(code);
        }
        say(format!("cloud {}: reachable", plant.settings().cloud.url));
        if let Some(until) = plant.certificate_ends_soon()? {
            say(format!(
                "the cloud's certificate is valid until {until}: make a new one with `sotto tls renew`"
            ));
        }
        let now = jiff::Timestamp::now().as_millisecond();
        match unknown {
            Ok(unknown) => UnknownOrders::notes(&unknown).into_iter().for_each(say),
            Err(error) => say(format!("the orders cannot be read: {error}")),
        }
        for device in &devices {
            if !device.enrolled {
                let settings = plant.settings().devices.get(&device.device);
                let channels = settings.map(|settings| settings.channels.join(",")).unwrap_or_default();
                say(format!(
                    "{0}: not enrolled; run sotto device add {0} --channels {channels}",
                    device.device
                ));
                continue;
            }
            say(if device.listed {
                let windows = match show::counted(device.received, "window") {
                    all if device.windows == device.received => all,
                    all => format!("{all}, {} of which count", device.windows),
                };
                let heard = device.heard_ms.map(|at| format!("; last heard {}", show::ago(at, now)));
                format!("{}: {windows}, {} bytes{}", device.device, device.bytes, heard.unwrap_or_default())
            } else {
                format!("{}: its windows cannot be listed", device.device)
            });
            late(device, now).into_iter().for_each(|late| say(format!("  {late}")));
            device.troubles.iter().for_each(|trouble| say(format!("  {}", trouble.error)));
            for channel in &device.channels {
                let readings = show::counted(channel.readings, "reading");
                let span = match (&channel.oldest, &channel.newest) {
                    (Some(first), Some(last)) => {
                        format!(" from {} to {}", minute(Some(first)), minute(Some(last)))
                    }
                    _ => String::new(),
                };
                say(format!("  {}: {readings}{span}", channel.channel));
                let mut lacking = Vec::new();
                if let Some(newest) = channel
                    .newest_ms
                    .filter(|at| device.newest_ms.is_some_and(|all| is_behind(*at, all, channel.window_ms)))
                {
                    lacking.push(format!("the newest {}", show::ago(newest, now)));
                }
                if channel.missing > 0 {
                    lacking.push(format!("{} missing", channel.missing));
                }
                if !channel.left_out.is_empty() {
                    lacking.push(format!("left out: {}", sotto_owner::left_out_in_words(&channel.left_out)));
                }
                if !lacking.is_empty() {
                    say(format!("    {}", lacking.join("; ")));
                }
            }
            remarks(device).iter().for_each(|remark| say(format!("  {remark}")));
        }
        match unknown_devices {
            Ok(notes) => notes.into_iter().for_each(say),
            Err(error) => say(format!("devices that this folder does not know cannot be named: {error}")),
        }
        if devices.is_empty() {
            let channels: Vec<&str> = plant.settings().channels.keys().map(String::as_str).collect();
            say(match channels.is_empty() {
                true => "no device and no channel yet: sotto channel add NAME --unit U --range A..B --resolution R --every TIME".to_owned(),
                false => format!("no device yet: sotto device add NAME --channels {}", channels.join(",")),
            });
        }
        say(last_backup(plant.last_backup()?.as_ref()));
        for (name, question) in &plant.settings().questions {
            let cost = plant.last_cost(name).map_or_else(String::new, |kept| {
                let answer = kept.answer;
                format!(
                    "\n  last answer: {} windows, {} bytes up, {} bytes down, {:.2} s",
                    answer.windows, answer.bytes_up, answer.bytes_down, answer.seconds
                )
            });
            say(format!("question {name}: {}{cost}", question.text));
        }
        Ok(code)
    }
}

/// Returns the stream of a device that is late, in words; None if none is.
pub(super) fn late(device: &DeviceStatus, now: i64) -> Option<String> {
    let late = device.late_stream.as_ref()?;
    Some(format!(
        "late: the newest window of {} ended {}, and its windows cover {} at most",
        late.stream,
        show::ago(late.newest_ms, now),
        length_in_words(late.window_ms)
    ))
}

/// Returns remarks on a device's windows, each with its way out.
pub(super) fn remarks(device: &DeviceStatus) -> Vec<String> {
    let mut remarks = Vec::new();
    if device.generated > 0 {
        remarks.push(format!(
            "{} hold readings that a generator made up",
            show::counted(device.generated, "window")
        ));
    }
    if device.recoveries > 0 {
        remarks.push(format!(
            "it lost its spool {}, last on {}: windows that were waiting there are lost unless the file is read again",
            show::counted(device.recoveries, "time"),
            minute(device.recovered_at.as_deref())
        ));
    }
    if device.repeated_masks > 0 {
        remarks.push(format!(
            "the cloud refused {}, last on {}: other windows have the same masks or pads, and two windows under one \
             reveal their difference. Is a copy of the device running? Stop one of them, and give the device new keys: \
             `sotto device renew`",
            show::counted(device.repeated_masks, "window"),
            minute(device.repeated_at.as_deref())
        ));
    }
    if device.taken_numbers > 0 {
        remarks.push(format!(
            "the cloud refused {}, last on {}: other windows have their numbers or their ticks. Either its spool was an old copy: \
             `sotto-agent requeue` sends what was put aside; or two devices run with one bundle: stop one of them, \
             and add it with a name of its own (`sotto device add`)",
            show::counted(device.taken_numbers, "window"),
            minute(device.taken_at.as_deref())
        ));
    }
    if device.revoked {
        remarks.push(format!(
            "revoked: the cloud refuses its windows; sotto device renew {} brings it back",
            device.device
        ));
    }
    if device.earlier > 0 {
        remarks.push(format!(
            "{} of places, which an earlier version sent, are not read any more: `sotto device renew {}` makes a bundle with \
             which the device sends its readings again",
            show::counted(device.earlier, "window"),
            device.device
        ));
    }
    if device.without_secret > 0 {
        remarks.push(format!(
            "{} cannot be opened without the device's secret",
            show::counted(device.without_secret, "window")
        ));
    }
    let told = device.windows + device.earlier + device.unusable + device.without_secret;
    if device.received > told {
        remarks.push(format!(
            "{} hold readings that other windows have, which count in their place",
            show::counted(device.received - told, "window")
        ));
    }
    if device.unusable > 0 {
        remarks.push(format!(
            "{} windows cannot be used: they are not from this plant's bundles, or another window covers their time",
            device.unusable
        ));
    }
    remarks
}

/// Returns true if a channel's newest reading is older than the device's newest window by more than two of the channel's
/// windows: the channel is silent, the device is not.
fn is_behind(newest: i64, of_device: i64, length: Option<i64>) -> bool {
    length.is_some_and(|length| of_device.saturating_sub(newest) > length.saturating_mul(2))
}

/// Returns a length of time: `1 hour`, `25 hours`.
fn length_in_words(milliseconds: i64) -> String {
    let minutes = milliseconds.unsigned_abs() / 60_000;
    match minutes {
        0 => show::counted(milliseconds.unsigned_abs() / 1000, "second"),
        1440.. if minutes.is_multiple_of(1440) => show::counted(minutes / 1440, "day"),
        60.. if minutes.is_multiple_of(60) => show::counted(minutes / 60, "hour"),
        _ => show::counted(minutes, "minute"),
    }
}

/// Formats a time to the minute for people; `--json` includes its offset.
pub(super) fn minute(time: Option<&str>) -> String {
    time.map_or_else(|| "–".to_owned(), |time| time.get(..16).unwrap_or(time).replacen('T', " ", 1))
}
