//! From a new plant to an answer over TLS with the plant's private authority.

use std::fmt::Write as _;
use std::path::Path;

use clap::Parser as _;
use serde_json::Value;
use sotto_agent::arguments::{Arguments, Command as AgentCommand};
use sotto_agent::device::Device;
use sotto_agent::stop::Stop;
use sotto_cloud::config::{Config, Settings};
use sotto_cloud::server::Server;
use tokio::runtime::Runtime;

use crate::session::sotto;

/// Runs the device on a day of hourly readings, 0.0 to 2.3.
fn device(folder: &Path, bundle: &str, more: &[&str]) -> anyhow::Result<()> {
    let csv = folder.join("day.csv");
    let mut text = "time,value\n".to_owned();
    for hour in 0..24 {
        writeln!(text, "2024-01-01T{hour:02}:00:00Z,{}.{}", hour / 10, hour % 10).unwrap();
    }
    std::fs::write(&csv, text).unwrap();
    let (bundle, spool) = (folder.join(bundle), folder.join(bundle).with_extension("spool"));
    let paths = [bundle.to_str().unwrap(), spool.to_str().unwrap(), csv.to_str().unwrap()];
    let arguments = ["sotto-agent", "run", "--bundle", paths[0], "--spool", paths[1], "--csv", paths[2]];
    let columns = ["--time", "time", "--column", "heat=value"];
    let all = arguments.iter().chain(&columns).chain(more);
    let AgentCommand::Run(run) = Arguments::parse_from(all).command else { panic!("run") };
    let mut device = Device::open(*run, &Stop::default())?;
    let sender = device.start_sending();
    while let Some(window) = device.read_and_pack()? {
        let signed = device.encrypt(window)?;
        let signed = device.sign(signed)?;
        device.spool(signed)?;
    }
    device.finish(sender)
}

#[test]
fn an_owner_and_a_device_reach_their_cloud_over_tls() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path();
    let run = |arguments: &[&str]| sotto(folder, arguments).unwrap();
    run(&["init", "plant"]);
    run(&[
        "channel",
        "add",
        "heat",
        "--unit",
        "kW",
        "--range",
        "0..10",
        "--resolution",
        "0.1",
        "--every",
        "1h",
    ]);
    run(&["question", "add", "daily", "mean(heat) by day"]);
    let made = run(&["tls", "init", "--host", "farm.local"]);
    assert!(made.contains("farm.local") && made.contains("cloud.toml"), "{made}");

    let settings = Settings::read(&folder.join("plant/cloud.toml")).unwrap();
    let config = Config::new(Settings { listen: Some("127.0.0.1:0".parse().unwrap()), ..settings }).unwrap();
    let runtime = Runtime::new().unwrap();
    let server = runtime.block_on(Server::open(&config)).unwrap();
    let url = format!("https://{}", server.address());
    runtime.spawn(server.serve(std::future::pending()));
    let file = folder.join("plant/sotto.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("https://127.0.0.1:7410", &url)).unwrap();

    run(&["device", "add", "boiler", "--channels", "heat"]);
    device(folder, "boiler.bundle", &[]).unwrap();
    let answer: Value = serde_json::from_str(&run(&["ask", "daily", "--json"])).unwrap();
    let text = answer.to_string();
    assert!(text.contains("1.15"), "the mean of 0.0 to 2.3: {text}");

    // Another authority in place of the plant's.
    run(&["init", "other"]);
    run(&["--version"]);
    sotto(&folder.join("other"), &["tls", "init"]).unwrap();
    std::fs::copy(folder.join("other/ca.pem"), folder.join("plant/ca.pem")).unwrap();
    let refused = sotto(&folder.join("plant"), &["status"]).unwrap_err();
    assert!(
        refused.contains("not signed by the authority") && !refused.contains("sotto-cloud run"),
        "{refused}"
    );
    let again = sotto(&folder.join("plant"), &["tls", "init"]).unwrap_err();
    assert!(again.contains("there already"), "{again}");
}
