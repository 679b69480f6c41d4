//! Telegraf, built from its module, in front of a gateway: a file that it reads again and again, and the load of this machine.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::process::Gateway;
use super::{DEVICES, FIRST, MINUTE, value, values, wrong};
use crate::suites::ask::{Cases, Running, Site};

const MODULE: &str = "github.com/influxdata/telegraf/cmd/telegraf@v1.37.2";
/// With this tag a build has the parts that other tags name, and no others.
const TAGS: &str = "custom,inputs.cpu,inputs.file,outputs.influxdb,parsers.influx,serializers.influx";
const MINUTES: u64 = 90;
/// Time before and after the kill: Telegraf reads and sends each second.
const WHILE: Duration = Duration::from_secs(4);

pub(super) fn run(cases: &mut Cases) -> Result<()> {
    let telegraf = install(cases.sotto().parent().context("the program has no folder")?)?;
    let mut site = Site::new(cases.sotto(), "UTC")?;
    site.sotto(&["channel", "add", "flow", "--range", "0..100", "--resolution", "0.5", "--every", "1m"])?;
    site.sotto(&["channel", "add", "load", "--range", "0..100", "--resolution", "0.1", "--every", "1s"])?;
    site.sotto(&["question", "add", "total", "count(flow), sum(flow) by day per device"])?;
    site.sotto(&["question", "add", "busy", "count(load) by day per device"])?;
    std::fs::create_dir(site.folder().join("bundles"))?;
    for (device, channel) in [(DEVICES[0], "flow"), ("cellar", "load")] {
        let bundle = format!("bundles/{device}.bundle");
        site.sotto(&["device", "add", device, "--channels", channel, "--bundle", &bundle])?;
    }
    let of_cellar = "where = { host = \"cellar\" }\ncolumns = { load = \"usage_active[cpu=cpu-total]\" }\n";
    site.write("bundles/cellar.toml", of_cellar)?;
    site.start_cloud()?;
    let gateway = Gateway::start(&site)?;
    let port = gateway.port;
    let mut sender = start(&site, &telegraf, port)?;
    thread::sleep(WHILE);
    gateway.end("KILL")?;
    thread::sleep(Duration::from_secs(1));
    let gateway = Gateway::start_at(&site, port)?;
    thread::sleep(WHILE);
    sender.end("TERM")?;
    gateway.end("TERM")?;
    // A gateway that runs again sends the rest of the spools.
    let gateway = Gateway::start(&site)?;
    thread::sleep(Duration::from_secs(1));
    gateway.end("TERM")?;
    cases.case("readings that came again and again", judge(&site)?);
    cases.case("processes that are left", site.close()?);
    Ok(())
}

/// Builds Telegraf; returns its path.
fn install(programs: &Path) -> Result<PathBuf> {
    let folder = std::path::absolute(programs.join("telegraf"))?;
    let mut go = Command::new("go");
    go.args(["install", "-tags", TAGS, MODULE]).env("GOBIN", &folder).env("GOFLAGS", "-mod=mod");
    ensure!(go.status().context("cannot start go")?.success(), "go cannot install {MODULE}");
    Ok(folder.join("telegraf"))
}

fn start(site: &Site, telegraf: &Path, port: u16) -> Result<Running> {
    let mut readings = String::new();
    for minute in 0..MINUTES {
        let at = FIRST + minute * MINUTE;
        // Writing to a string cannot fail.
        let _ = writeln!(readings, "heat,device={} flow={} {at}000000000", DEVICES[0], value(0, minute));
    }
    site.write("readings.txt", readings)?;
    let configuration = format!(
        r#"[agent]
interval = "1s"
flush_interval = "1s"
hostname = "cellar"
skip_processors_after_aggregators = true
[[outputs.influxdb]]
urls = ["http://127.0.0.1:{port}"]
database = "telegraf"
[[inputs.file]]
files = ["readings.txt"]
data_format = "influx"
[[inputs.cpu]]
percpu = true
totalcpu = true
report_active = true
"#
    );
    site.write("telegraf.conf", configuration)?;
    let mut command = Command::new(telegraf);
    command.args(["--config", "telegraf.conf"]).current_dir(site.folder());
    site.start_program(&mut command, "telegraf.log")
}

fn judge(site: &Site) -> Result<Vec<String>> {
    let mut faults = wrong(&values(&site.ask("total", &[])?)?, 0, MINUTES);
    let busy = values(&site.ask("busy", &[])?)?;
    let count = busy.get(&("cellar".to_owned(), "count(load)".to_owned())).copied().unwrap_or_default();
    // One a second, but for the first: Telegraf keeps what the gateway did not take.
    let (least, most) = (WHILE.as_secs_f64(), 3.0 * WHILE.as_secs_f64() + 3.0);
    if !(least..=most).contains(&count) {
        faults.push(format!("count(load) of cellar is {count}, not from {least} to {most}"));
    }
    println!("{MINUTES} readings of a file, sent again each second, and {count} of a processor's load");
    Ok(faults)
}
