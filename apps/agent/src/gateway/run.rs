//! `sotto-agent run --devices`: opens the doors and the devices, and ends both at a stop.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::devices::{Gateway, Options};
use super::http::Server;
use super::point::Intake;
use super::tally::Tally;
use crate::arguments::{CheckArguments, GatewayArguments, RunArguments};
use crate::output::tell;
use crate::stop::Stop;

/// Runs a gateway until a stop.
///
/// # Errors
/// Names the argument, the folder or the door that cannot be used, and the reason.
pub fn run(arguments: RunArguments, stop: &Stop) -> Result<()> {
    let RunArguments { device, read, gateway: doors, .. } = arguments;
    let devices = doors.devices.clone().context("give --devices DIR")?;
    if arguments.once || arguments.correct || arguments.clear_log.is_some() || arguments.ticks.is_some() {
        bail!(
            "--once, --correct, --ticks and --clear-log are for one device: leave them out, or give --bundle"
        );
    }
    if read.reads_files()? || read.source.is_some() {
        bail!("--devices takes readings from senders: give --listen, or --bundle for a file or sensors");
    }
    let (phase, allow_future) = (read.phase, read.allow_future);
    let (late, fresh, journal_limit) = (arguments.late, arguments.fresh, doors.journal_limit);
    raise_open_files();
    let options = Options { devices, device, late, fresh, phase, allow_future, journal_limit };
    let gateway = Gateway::open(options, stop)?;
    let server = Server::open(&doors, Arc::clone(&gateway) as Arc<dyn Intake>)?;
    let threads = gateway.start();
    tell_places(&server, gateway.members().list.len());
    serve(server, stop);
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
            "sotto-agent: listens at {place} for {}",
            crate::nouns::counted(devices as u64, "device")
        ));
    }
}

/// Listens for a while, and tells which readings would be taken, and by whom.
///
/// # Errors
/// Those of [`run`].
pub fn check(arguments: &CheckArguments, stop: &Stop) -> Result<String> {
    let GatewayArguments { devices, listen, .. } = &arguments.gateway;
    let devices = devices.as_deref().context("give --devices DIR")?;
    if listen.is_empty() {
        bail!("give --listen ADDRESS: where readings come in");
    }
    let tally = Arc::new(Tally::of(devices)?);
    let server = Server::open(&arguments.gateway, Arc::clone(&tally) as Arc<dyn Intake>)?;
    for place in server.places() {
        tell(format!("sotto-agent: counts what comes at {place}, and tells senders to keep it"));
    }
    let (over, asked) = (Stop::new(), stop.clone());
    let (ends, time) = (over.clone(), Duration::from_millis(arguments.time.into()));
    std::thread::spawn(move || {
        let _ = asked.wait(time);
        ends.ask();
    });
    server.serve(&over);
    tally.report(arguments.json)
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
