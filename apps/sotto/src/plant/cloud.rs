//! `sotto cloud`: the cloud's signing key and its logs.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::Subcommand;
use serde_json::json;
use sotto_owner::{Accepted, GivenOrder, GivenUp, OwnerError, Plant, UnknownOrders};

use super::forget::NOT_CONFIRMED;
use super::group::OnPlant;
use super::show::counted;
use super::status::minute;
use crate::output::say;

/// The commands of `sotto cloud`.
#[derive(Subcommand, Debug)]
pub(crate) enum Cloud {
    /// Show the pinned keys, and the key with which the cloud claims to sign.
    Show {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Pin the cloud's key, which its operator reads from `sotto-cloud key`. Earlier keys stay pinned.
    Pin {
        /// 64 hexadecimal digits
        key: String,
    },
    /// Make the secrets shared with the cloud that are gone: the owner's token, and the signing key of a cloud on this
    /// machine, which is pinned. Also the owner's signing key. Nothing that the cloud stores is lost.
    Secrets,
    /// List your signed orders: windows that you deleted or of which sums stay, logs that you accepted, devices that you
    /// revoked. Names those that keys which are not yours here have signed.
    Orders {
        /// Believe the orders that another copy of this folder signed: its key, which `sotto cloud orders` shows there
        #[arg(long, value_name = "KEY")]
        believe: Option<String>,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Accept the current logs of a device in the cloud, after its operator has restored a backup. The logs of before are
    /// moved to logs/old.
    Accept {
        /// The device
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        device: Option<String>,
        /// All devices whose logs the cloud does not continue: shows the windows that are given up, and asks for their number
        #[arg(long)]
        all: bool,
        /// The number of windows that are given up, in place of the question
        #[arg(long, value_name = "N", requires = "all")]
        windows: Option<u64>,
        /// Print one JSON document
        #[arg(long, requires = "all")]
        json: bool,
    },
}

impl OnPlant for Cloud {
    fn run(self, plant: &mut Plant) -> anyhow::Result<ExitCode> {
        match &self {
            Self::Show { json } => {
                let (pinned, claimed) = (plant.cloud_keys()?, plant.claimed_cloud_key()?);
                let is_pinned = pinned.shown().first() == Some(&claimed);
                if *json {
                    let document =
                        json!({ "pinned": pinned.shown(), "claimed": claimed, "is_pinned": is_pinned });
                    say(serde_json::to_string_pretty(&document)?);
                    return Ok(ExitCode::SUCCESS);
                }
                pinned.shown().iter().for_each(|key| say(format!("pinned:  {key}")));
                say(format!("claimed: {claimed}"));
                say(match (is_pinned, pinned.is_empty()) {
                    (true, _) => "The cloud signs with the pinned key.".to_owned(),
                    (false, true) => format!(
                        "No key is pinned. Compare the claimed key with the output of `sotto-cloud key` on the cloud's machine, then run sotto cloud pin {claimed}"
                    ),
                    (false, false) => format!(
                        "The cloud signs with another key than the one pinned last. If its operator confirms the new key (`sotto-cloud key`), run sotto cloud pin {claimed}"
                    ),
                });
            }
            Self::Pin { key } => {
                plant.pin_cloud(key)?;
                say("pinned. Devices take it with their next bundle: sotto device renew NAME");
            }
            Self::Secrets => {
                let made = plant.make_cloud_secrets()?;
                for file in &made {
                    say(format!("{}: made anew", file.display()));
                }
                say(match (made.is_empty(), plant.has_cloud()) {
                    (true, _) => "nothing is missing",
                    (false, true) => "Start the cloud again: it reads them when it starts.",
                    (false, false) => "Give it to the cloud's operator, who starts the cloud again with it.",
                });
                if made.iter().any(|file| file.ends_with("cloud-signing-key")) {
                    say(
                        "Devices keep their messages until they know the new key: sotto device renew NAME for each, or --cloud-key in \
                         the agent's options. If a backup has the old key, delete the new one and restore it instead.",
                    );
                }
            }
            Self::Orders { believe, json } => orders(plant, believe.as_deref(), *json)?,
            Self::Accept { device: None, windows, json, .. } => return accept_all(plant, *windows, *json),
            Self::Accept { device: Some(device), .. } => {
                if plant.device(device)?.is_none() {
                    return Err(
                        OwnerError::NotDeclared { kind: "enrolled device", name: device.clone() }.into()
                    );
                }
                let Accepted { mut streams, moved } = plant.accept_logs(device)?;
                streams.retain(|stream| stream.windows > 0);
                if !streams.is_empty() {
                    list(plant, &streams);
                }
                say(if moved {
                    format!(
                        "the logs of {device} count as the cloud has them now; those of before are in logs/old"
                    )
                } else {
                    format!("no log of {device} was read yet: it counts as the cloud has it now")
                });
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn orders(plant: &Plant, believe: Option<&str>, json: bool) -> anyhow::Result<()> {
    if let Some(key) = believe {
        plant.believe_owner_key(key)?;
    }
    let (all, unknown, key) = (plant.orders()?, plant.unknown_orders()?, plant.owner_key()?);
    if json {
        let document = json!({ "version": 1, "owner_key": key, "orders": all, "unknown_keys": unknown });
        say(serde_json::to_string_pretty(&document)?);
        return Ok(());
    }
    if let Some(key) = key {
        say(format!("your key: {key}"));
    }
    if all.is_empty() {
        say("You have given no order yet.");
    }
    for GivenOrder { given_at, order, device, stream, until, windows } in all {
        let windows = windows.map(|windows| counted(windows, "window"));
        let of = stream.map_or_else(String::new, |stream| format!(" of stream {stream}"));
        let what = match order {
            "forget" => format!(
                "delete {}{of} of {device} that ended before {}",
                windows.as_deref().unwrap_or("the windows"),
                minute(until.as_deref())
            ),
            "roll-up" => format!("keep sums of {}{of} of {device}", windows.unwrap_or_default()),
            "accept" => format!("accept the log{of} of {device} with {}", windows.unwrap_or_default()),
            _ => format!("revoke {device}"),
        };
        say(format!("{}  {what}", minute(Some(&given_at))));
    }
    UnknownOrders::notes(&unknown).into_iter().for_each(say);
    Ok(())
}

/// Accepts all logs that the cloud does not continue, if the number of windows that are given up is confirmed.
fn accept_all(plant: &Plant, windows: Option<u64>, json: bool) -> anyhow::Result<ExitCode> {
    let lost = plant.set_back()?;
    let total: u64 = lost.iter().map(|stream| stream.windows).sum();
    if !json {
        list(plant, &lost);
    }
    let is_confirmed = match windows {
        _ if lost.is_empty() => true,
        Some(windows) => windows == total,
        None => !json && asked(total)? == Some(total),
    };
    if is_confirmed {
        plant.accept(&lost)?;
    }
    if json {
        let document = json!({"version": 1, "windows": total, "accepted": is_confirmed, "streams": lost});
        say(serde_json::to_string_pretty(&document)?);
    } else if !is_confirmed {
        eprintln!(
            "sotto: nothing was changed: {total} windows are given up if you confirm that number (--windows {total})"
        );
    } else if !lost.is_empty() {
        say(
            "accepted. The logs of before are in logs/old, as evidence. Devices send the windows of the last days again, which they keep \
             (`sotto-agent run --keep`), when they start or with their next window. Older ones: if a device still has its file, \
             remove its spool (NAME.spool beside the bundle) after that, then run the agent on the file.",
        );
    }
    Ok(if is_confirmed { ExitCode::SUCCESS } else { ExitCode::from(NOT_CONFIRMED) })
}

fn list(plant: &Plant, lost: &[GivenUp]) {
    if lost.is_empty() {
        say("The cloud continues every log: there is nothing to accept.");
    }
    for GivenUp { device, stream, windows, from, to, has, .. } in lost {
        let of = match (from, to) {
            (Some(from), Some(to)) => {
                format!(" with readings from {} to {}", minute(Some(from)), minute(Some(to)))
            }
            _ => String::new(),
        };
        let (device, windows) = (plant.settings().shown_device(device), counted(*windows, "window"));
        say(format!("{device}: stream {stream}: {windows} given up{of}; the cloud has {has}"));
    }
}

/// Asks for a number on a terminal; None if there is no terminal, or no number.
fn asked(total: u64) -> anyhow::Result<Option<u64>> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Ok(None);
    }
    eprint!("{} given up. Type that number to go on: ", counted(total, "window"));
    std::io::stderr().flush()?;
    let mut line = String::new();
    stdin.lock().read_line(&mut line)?;
    Ok(line.trim().parse().ok())
}
