//! `sotto demo`: a cloud, two devices and their owner, as real processes on this machine.

mod answer;
mod arguments;
mod ask;
mod device;
mod lane;
mod plan;
mod present;
mod processes;
mod question;
mod report;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use sotto_cloud_client::Cloud;

use crate::phases::Phases;
use device::{Device, DeviceReport, KeyKind};
use processes::Processes;

pub(crate) use arguments::Arguments;

/// Runs it: the steps below are the story.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut phases = Phases::default();
    let input = plan::Input::decide(arguments)?;
    let mut lanes = lane::choose(&input)?;
    let mut processes = Processes::new()?;
    let cloud = start_cloud(&mut processes)?;
    let mut devices =
        [Device::new("device-1", KeyKind::SecretKey)?, Device::new("device-2", KeyKind::PublicKey)?];
    for lane in &lanes {
        cloud.put_parameters(&lane.parameters_frame())?;
    }
    let mut enrolled = Vec::new();
    for (number, device) in devices.iter_mut().enumerate() {
        device.enrol(&enrolled, &mut lanes, &cloud, &mut processes, &mut phases)?;
        device.start(&input, number, &lanes, &mut processes)?;
        enrolled.push(device.name.clone());
    }
    let reports = wait_for_devices(&mut processes, &devices, &input)?;
    for report in &reports {
        report.add_to(&mut phases);
    }
    let mut answers = Vec::new();
    let [first, second] = &devices;
    // What is asked of both is answered under the second device's key: only the owner has it, so no device that is stolen
    // reads the other's data.
    for devices in [&[first][..], &[second], &[second, first]] {
        answers.extend(ask::everything(devices, &lanes, &cloud, &processes, &mut phases)?);
    }
    let seen = ask::first_bytes(&devices[0], &cloud)?;
    let document = report::Document::new(&input, &reports, processes.list(), answers, phases.summary());
    processes.stop();
    if arguments.json {
        crate::output::say(serde_json::to_string_pretty(&document)?);
    } else {
        present::print(&document, &lanes, &seen);
    }
    Ok(if document.all_within_bounds() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn start_cloud(processes: &mut Processes) -> anyhow::Result<Cloud> {
    let token = hex::encode(random_bytes::<32>()?);
    let token_file = processes.folder().join("owner-token");
    processes::write_private(&token_file, token.as_bytes())?;
    let address_file = processes.folder().join("cloud-address");
    let arguments = [
        "run".into(),
        "--listen".into(),
        "127.0.0.1:0".into(),
        "--data".into(),
        processes.folder().join("cloud").into_os_string(),
        "--owner-token-file".into(),
        token_file.into_os_string(),
        "--address-file".into(),
        address_file.clone().into_os_string(),
        "--exit-with-stdin".into(),
    ];
    processes.start("cloud", "sotto-cloud", &arguments)?;
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        if let Ok(address) = std::fs::read_to_string(&address_file) {
            let url = format!("http://{}", address.trim());
            processes.cloud_url = url.clone();
            return Ok(Cloud::new(&url, &token)?);
        }
        processes.fail_if_ended("cloud")?;
        anyhow::ensure!(Instant::now() < deadline, "the cloud did not start within 10 s");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// 32 or so bytes from the operating system.
fn random_bytes<const N: usize>() -> anyhow::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("no randomness: {error}"))?;
    Ok(bytes)
}

fn wait_for_devices(
    processes: &mut Processes,
    devices: &[Device],
    input: &plan::Input,
) -> anyhow::Result<Vec<DeviceReport>> {
    let expected = input.expected_seconds();
    let bar = ProgressBar::new((expected * 10.0) as u64);
    bar.set_style(ProgressStyle::with_template("{msg} {wide_bar} {eta}")?);
    bar.set_message(format!("both devices read {}", input.describe()));
    let start = Instant::now();
    for device in devices {
        while !processes.ended(&device.name)? {
            bar.set_position((start.elapsed().as_secs_f64() * 10.0) as u64);
            std::thread::sleep(Duration::from_millis(20));
            anyhow::ensure!(start.elapsed().as_secs_f64() < expected + 60.0, "{} does not end", device.name);
        }
    }
    bar.finish_and_clear();
    devices.iter().map(|device| device.report(processes).with_context(|| device.name.clone())).collect()
}
