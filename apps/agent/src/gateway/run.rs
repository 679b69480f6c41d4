//! `sotto-agent run --devices`: opens the listeners and the devices, and ends both at a stop.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use jiff::tz::TimeZone;

use super::collect::{Collectors, Seen, Site};
use super::devices::{Gateway, Options};
use super::folder::{bundles, own_folder};
use super::http::Server;
use super::point::{Intake, IntakeError, Point, Taken};
use super::tally::Tally;
use crate::arguments::{CheckArguments, GatewayArguments, RunArguments};
use crate::bundle::Bundle;
use crate::output::tell;
use crate::stop::Stop;

/// Runs a gateway until a stop.
///
/// # Errors
/// Names the argument, the folder or the address that cannot be used, and the reason.
pub fn run(arguments: RunArguments, stop: &Stop) -> Result<()> {
    let RunArguments { device, read, gateway: listeners, .. } = arguments;
    let devices = listeners
        .devices
        .clone()
        .context("give --devices DIR: the folder of the bundles whose readings come")?;
    if arguments.once || arguments.correct || arguments.clear_log.is_some() || arguments.ticks.is_some() {
        bail!(
            "--once, --correct, --ticks and --clear-log are for one device: leave them out, or give --bundle"
        );
    }
    if read.reads_files()? || read.source.is_some() {
        bail!(
            "--devices takes readings from senders: give --listen, --mqtt and the like, or --bundle for a file or sensors"
        );
    }
    let (phase, allow_future) = (read.phase, read.allow_future);
    let (late, fresh, journal_limit) = (arguments.late, arguments.fresh, listeners.journal_limit);
    raise_open_files();
    let options =
        Options { devices: devices.clone(), device, late, fresh, phase, allow_future, journal_limit };
    let gateway = Gateway::open(options, stop)?;
    let server = Server::open(&listeners, Arc::clone(&gateway) as Arc<dyn Intake>)?;
    let threads = gateway.start();
    let site = Site {
        intake: Arc::clone(&gateway) as Arc<dyn Intake>,
        stop: stop.clone(),
        zone: zone_of(&devices),
        seen: None,
    };
    let collectors = Collectors::start(&listeners.collect, &own_folder(&devices), &site)?;
    tell_places(&server, gateway.members().list.len());
    serve(server, stop);
    collectors.join();
    gateway.finish(threads);
    Ok(())
}

/// Serves until a stop.
fn serve(server: Server, stop: &Stop) {
    match server.places().is_empty() {
        true => while !stop.wait(Duration::from_secs(60)) {},
        false => server.serve(stop),
    }
}

fn tell_places(server: &Server, devices: usize) {
    for place in server.places() {
        tell(format!(
            "sotto-agent: listening at {place} for {}",
            crate::nouns::counted(devices as u64, "device")
        ));
    }
}

/// Listens for a while, and tells which readings would be taken, and by whom.
///
/// # Errors
/// Those of [`run`].
pub fn check(arguments: &CheckArguments, stop: &Stop) -> Result<String> {
    let GatewayArguments { devices, listen, collect, .. } = &arguments.gateway;
    if listen.is_empty() && !collect.is_any() {
        bail!("give --listen ADDRESS, --mqtt and the like: where readings come in");
    }
    if devices.is_none() && !listen.is_empty() {
        bail!("give --devices DIR: the folder of the bundles whose readings come");
    }
    let tally = devices.as_deref().map(Tally::of).transpose()?.map(Arc::new);
    let intake: Arc<dyn Intake> = match &tally {
        Some(tally) => Arc::clone(tally) as Arc<dyn Intake>,
        None => Arc::new(Nobody),
    };
    let server = Server::open(&arguments.gateway, Arc::clone(&intake))?;
    for place in server.places() {
        tell(format!("sotto-agent: listening at {place}, counts readings, and tells senders to keep them"));
    }
    let (over, asked) = (Stop::new(), stop.clone());
    let (ends, time) = (over.clone(), Duration::from_millis(arguments.time.into()));
    std::thread::spawn(move || {
        let _ = asked.wait(time);
        ends.ask();
    });
    let folder = devices.as_deref().unwrap_or(Path::new("."));
    let zone = devices.as_deref().map_or_else(TimeZone::system, zone_of);
    let seen = Arc::new(Seen::default());
    let site = Site { intake, stop: over.clone(), zone, seen: Some(Arc::clone(&seen)) };
    let collectors = Collectors::start(collect, &own_folder(folder), &site)?;
    serve(server, &over);
    collectors.join();
    report(arguments, collect.is_any().then_some(&*seen), tally.as_deref())
}

/// Returns the counts of topics and channels, and those of the devices that would take them.
fn report(arguments: &CheckArguments, seen: Option<&Seen>, tally: Option<&Tally>) -> Result<String> {
    if arguments.json {
        let mut document = match tally {
            Some(tally) => serde_json::from_str(&tally.report(true)?)?,
            None => serde_json::Map::new(),
        };
        if let Some(seen) = seen {
            document.insert("collected".to_owned(), seen.json());
        }
        return serde_json::to_string_pretty(&document).context("the counts cannot be written as JSON");
    }
    let mut lines = seen.map_or_else(Vec::new, Seen::lines);
    if let Some(tally) = tally {
        lines.push(tally.report(false)?);
    }
    Ok(lines.join("\n"))
}

/// Takes nothing: there are no devices.
struct Nobody;

impl Intake for Nobody {
    fn take(&self, _points: &[Point<'_>], _sender: &str) -> Result<Taken, IntakeError> {
        Err(IntakeError::Checking)
    }
}

/// Returns the zone of the first bundle that has one, else that of this machine: of the times that state no offset.
fn zone_of(devices: &Path) -> TimeZone {
    let zone = |path: &PathBuf| TimeZone::get(Bundle::read(path).ok()?.profile.zone.as_deref()?).ok();
    let found = bundles(devices).ok().and_then(|found| found.keys().find_map(zone));
    found.unwrap_or_else(TimeZone::system)
}

/// Raises the limit on open files to the highest allowed: each device keeps its spool's lock open.
#[cfg(unix)]
fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            tracing::warn!(%error, "the limit on open files stays: many devices may not open");
        }
    }
}

#[cfg(not(unix))]
fn raise_open_files() {}
