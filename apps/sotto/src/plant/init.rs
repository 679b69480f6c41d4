//! `sotto init`: makes a plant's folder.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use sotto_owner::{NewPlant, Plant};

use crate::output::say;
use crate::run::Run;

/// Arguments of `sotto init`.
#[derive(clap::Args, Debug)]
pub(crate) struct Init {
    /// The folder to make.
    folder: PathBuf,
    /// The address of a remote cloud, https://… [default: a cloud on this machine]
    #[arg(long, value_name = "URL", conflicts_with = "listen")]
    cloud: Option<String>,
    /// Pin the key with which the remote cloud signs now, as it says over TLS; asked for on a terminal
    #[arg(long, requires = "cloud")]
    pin: bool,
    /// The address on which the cloud on this machine listens.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7410")]
    listen: SocketAddr,
    /// The plant's time zone, such as Europe/Vienna; hours and days begin by its clocks [default: UTC]
    #[arg(long, value_name = "ZONE")]
    time_zone: Option<String>,
}

impl Run for Init {
    fn run(self) -> anyhow::Result<ExitCode> {
        let Self { folder, cloud, pin, listen, time_zone } = self;
        let local = cloud.is_none();
        let mut plant = Plant::init(&folder, &NewPlant { cloud, listen, time_zone })?;
        let shown = plant.folder().display().to_string();
        let folder = &shown;
        say(format!(
            "{folder}: a new plant. Its settings are in {folder}/sotto.toml, its secrets in {folder}/secrets."
        ));
        say("Next: sotto channel add NAME --unit … --range … --resolution … --every …");
        if local {
            say(format!("The cloud, in a terminal of its own: sotto-cloud run --config {folder}/cloud.toml"));
        } else {
            offer_pin(&mut plant, pin)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Shows the key of a cloud that is reached over TLS, and pins it if that is wished.
fn offer_pin(plant: &mut Plant, pin: bool) -> anyhow::Result<()> {
    if plant.settings().cloud.url.starts_with("https://") {
        match plant.claimed_cloud_key() {
            Ok(key) => {
                say(format!("The cloud signs with key {key}."));
                if pin || confirmed("Pin it? Its operator confirms it by `sotto-cloud key`. [y/N] ")? {
                    plant.pin_cloud(&key)?;
                    say("pinned: devices, logs and answers are compared with it.");
                }
            }
            Err(error) if pin => return Err(error.into()),
            Err(_) => {}
        }
    }
    if let Some(note) = plant.not_pinned() {
        say(format!("note: {note}"));
    }
    Ok(())
}

/// Asks on a terminal; without one the answer is no.
fn confirmed(question: &str) -> anyhow::Result<bool> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Ok(false);
    }
    eprint!("{question}");
    std::io::stderr().flush()?;
    let mut line = String::new();
    stdin.lock().read_line(&mut line)?;
    Ok(line.trim().eq_ignore_ascii_case("y"))
}
