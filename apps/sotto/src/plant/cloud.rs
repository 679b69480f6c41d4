//! `sotto cloud`: the cloud's signing key and its logs.

use std::process::ExitCode;

use clap::Subcommand;
use serde_json::json;
use sotto_owner::{OwnerError, Plant};

use super::group::OnPlant;
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
    /// machine, which is pinned. Nothing that the cloud stores is lost.
    Secrets,
    /// Accept the current logs of a device in the cloud, after its operator has restored a backup.
    Accept {
        /// The device
        device: String,
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
            }
            Self::Accept { device } => {
                if plant.device(device)?.is_none() {
                    return Err(
                        OwnerError::NotDeclared { kind: "enrolled device", name: device.clone() }.into()
                    );
                }
                say(if plant.accept_logs(device)? {
                    format!("the logs of {device} are read from the cloud again when they are next needed")
                } else {
                    format!("no log of {device} was read yet")
                });
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
