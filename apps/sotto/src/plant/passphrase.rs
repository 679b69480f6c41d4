//! `sotto passphrase`, `sotto unlock`, `sotto lock`: the passphrase over the plant's secrets.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::Subcommand;
use sotto_owner::{Every, Unlock};
use zeroize::Zeroizing;

use super::Place;
use super::progress::waiting;
use crate::output::say;
use crate::run::Run;

/// Arguments of `sotto passphrase`.
#[derive(clap::Args, Debug)]
pub(crate) struct Passphrase {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    place: Place,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Give the plant a passphrase: all secrets but the owner's token and the key of a cloud on this machine are sealed. If
    /// it was interrupted, the same command finishes.
    Set,
    /// Replace the passphrase.
    Change {
        /// The file that holds the new passphrase [default: a question on the terminal]
        #[arg(long, value_name = "FILE")]
        new_passphrase_file: Option<PathBuf>,
    },
    /// Write the secrets in the clear again.
    Remove,
    /// Seal a secret that you have put into the folder of secrets in the clear, as from an older copy.
    Seal {
        /// Its name in the folder, such as boiler.key
        file: String,
    },
}

/// Arguments of `sotto unlock`.
#[derive(clap::Args, Debug)]
pub(crate) struct UnlockFor {
    /// The time after which the keyring forgets the key: 30m, 8h, 2d
    #[arg(long = "for", value_name = "TIME", default_value = "8h")]
    time: Every,
    #[command(flatten)]
    place: Place,
}

/// Arguments of `sotto lock`.
#[derive(clap::Args, Debug)]
pub(crate) struct Lock {
    #[command(flatten)]
    place: Place,
}

/// Asks for the passphrase on the terminal.
pub(super) fn ask() -> io::Result<Zeroizing<String>> {
    rpassword::prompt_password("Passphrase: ").map(Zeroizing::new)
}

/// Reads a new passphrase: in a file, or typed twice.
pub(super) fn new_passphrase(file: Option<&PathBuf>) -> anyhow::Result<Zeroizing<String>> {
    if let Some(file) = file {
        return Ok(Unlock::passphrase_in(file)?);
    }
    let prompt = |prompt: &str| {
        let hint = "there is no terminal to ask for the new passphrase: name a file that holds it";
        rpassword::prompt_password(prompt).map(Zeroizing::new).context(hint)
    };
    let passphrase = prompt("New passphrase: ")?;
    anyhow::ensure!(*prompt("Once more: ")? == *passphrase, "the two passphrases differ");
    Ok(passphrase)
}

impl Run for Passphrase {
    fn run(self) -> anyhow::Result<ExitCode> {
        let plant = self.place.open()?;
        match &self.command {
            Command::Set => {
                let passphrase = match self.place.passphrase_file.as_ref() {
                    None if plant.is_changing_passphrase() => ask()?,
                    file => new_passphrase(file)?,
                };
                waiting("sealing the secrets", || plant.set_passphrase(&passphrase))?;
                say(
                    "The secrets of this plant are under your passphrase now. Nobody can recover it: keep a copy.",
                );
                say(
                    "In the clear stay secrets/owner-token, which shows a cloud that you are the owner, and what a cloud on this machine \
                     reads by itself: secrets/cloud-signing-key and tls/server.key. None of them decrypts a reading.",
                );
                say(
                    "Bundles, earlier copies of the folder, and blocks of the disk that held the files still have them in the clear.",
                );
            }
            Command::Change { new_passphrase_file } => {
                plant.open_secrets()?;
                let passphrase = new_passphrase(new_passphrase_file.as_ref())?;
                plant.change_passphrase(&passphrase)?;
                say("The passphrase is changed. Earlier copies of the folder open with the earlier one.");
            }
            Command::Remove => {
                plant.remove_passphrase()?;
                say(
                    "The secrets of this plant are in the clear: whoever can read the folder can read all data.",
                );
            }
            Command::Seal { file } => {
                plant.seal_secret(file)?;
                say(format!("secrets/{file}: sealed"));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Run for UnlockFor {
    fn run(self) -> anyhow::Result<ExitCode> {
        let plant = self.place.open()?;
        plant.unlock_for(Duration::from_millis(self.time.milliseconds().into()))?;
        say(format!(
            "The kernel keeps the key of {} for {}, for all programs of this user; `sotto lock` ends that.",
            plant.folder().display(),
            self.time
        ));
        Ok(ExitCode::SUCCESS)
    }
}

impl Run for Lock {
    fn run(self) -> anyhow::Result<ExitCode> {
        let plant = self.place.open()?;
        say(match plant.lock()? {
            true => "The kernel has forgotten the plant's key.",
            false => "The kernel did not keep the plant's key.",
        });
        Ok(ExitCode::SUCCESS)
    }
}
