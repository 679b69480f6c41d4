//! `sotto init`: makes a plant's folder.

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
    /// The address on which the cloud on this machine listens.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7410")]
    listen: SocketAddr,
    /// The plant's time zone, such as Europe/Vienna; hours and days begin by its clocks [default: UTC]
    #[arg(long, value_name = "ZONE")]
    time_zone: Option<String>,
}

impl Run for Init {
    fn run(self) -> anyhow::Result<ExitCode> {
        let Self { folder, cloud, listen, time_zone } = self;
        let local = cloud.is_none();
        let plant = Plant::init(&folder, &NewPlant { cloud, listen, time_zone })?;
        let folder = plant.folder().display();
        say(format!(
            "{folder}: a new plant. Its settings are in {folder}/sotto.toml, its secrets in {folder}/secrets."
        ));
        say("Next: sotto channel add NAME --unit … --range … --resolution … --every …");
        if local {
            say(format!("The cloud, in a terminal of its own: sotto-cloud run --config {folder}/cloud.toml"));
        }
        Ok(ExitCode::SUCCESS)
    }
}
