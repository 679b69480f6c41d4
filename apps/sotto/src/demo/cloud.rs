//! Starts the demo's cloud, and shows a stored window as the cloud sees it.

use std::time::{Duration, Instant};

use anyhow::Context;
use sotto_cloud_client::EnvelopeQuery;
use sotto_owner::Plant;

use super::device::NAMES;
use super::processes::Processes;

const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of the ciphertext that the screen shows.
const SHOWN: usize = 12;
/// Bytes of the digest at the end of a stored frame.
const DIGEST: usize = 32;

/// Starts `sotto-cloud run` with the plant's configuration, and waits until it listens.
pub(super) fn start(plant: &Plant, processes: &mut Processes) -> anyhow::Result<()> {
    let address_file = processes.folder().join("cloud-address");
    let arguments = [
        "run".into(),
        "--config".into(),
        plant.folder().join("cloud.toml").into_os_string(),
        "--address-file".into(),
        address_file.clone().into_os_string(),
        "--exit-with-stdin".into(),
    ];
    processes.start("cloud", "sotto-cloud", &arguments)?;
    let deadline = Instant::now() + PATIENCE;
    while !address_file.exists() {
        processes.fail_if_ended("cloud")?;
        anyhow::ensure!(Instant::now() < deadline, "the cloud did not start within {} s", PATIENCE.as_secs());
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Describes a stored window as the cloud sees it: its size, its device, and bytes of its residues.
pub(super) fn first_bytes(plant: &Plant) -> anyhow::Result<String> {
    let cloud = plant.cloud()?;
    let first = cloud.envelopes(&EnvelopeQuery::of_device(NAMES[0])).next();
    let first = first.context("the cloud has no window")??;
    let body = cloud.body(&first.id)?;
    // A frame holds headers, residues, digest in this order.
    let end = body.len().saturating_sub(DIGEST);
    let shown = hex::encode(&body[end.saturating_sub(SHOWN)..end]);
    Ok(format!("{} bytes of {}: … {shown} …", body.len(), first.device))
}
