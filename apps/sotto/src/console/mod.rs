//! `sotto console`: the owner's page, served on loopback.
//!
//! The plant's secrets stay in this process; the page gets answers. docs/adr/0026-console.md says why it is safe.

mod access;
mod guard;
mod lines;
mod now;
mod open;
mod page;
mod picture;
mod refusal;
mod routes;

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use sotto_owner::{Every, Plant};
use sotto_service::connections::{self, Limits};
use tokio::sync::{Semaphore, watch};

use crate::output::{say, tell};
use crate::plant::Place;
use crate::run::Run;
use access::Access;
use refusal::Refusal;

/// Looks at the cloud that have not ended, at most: one that does not answer leaves some behind.
const LOOKS: usize = 8;
/// Other requests to the plant at one time.
const OTHERS: usize = 16;
/// Questions that are under way at one time.
const WORKING: usize = 2;
/// Another user of the machine may open connections, too: few places, and not for long without a request.
const LIMITS: Limits = Limits {
    header_time: Duration::from_secs(10),
    body_time: guard::BODY_TIME,
    connection_time: Duration::from_secs(24 * 3600),
    connections: 128,
    connections_per_peer: 4,
};

/// Arguments of `sotto console`.
#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// The port on 127.0.0.1; 0 takes any free one [default: `[console] port` of sotto.toml, else 7466]
    #[arg(long)]
    port: Option<u16>,
    /// Do not open the browser
    #[arg(long)]
    no_browser: bool,
    /// Write nothing: the page declares, mutes, adds and removes nothing
    #[arg(long)]
    read_only: bool,
    /// Let charts load months, days and hours of the whole time when they open, so that no request tells the cloud which time is
    /// looked at
    #[arg(long)]
    prefetch: bool,
    /// End sessions without a key, a move of the pointer or a touch after this time
    #[arg(long, value_name = "TIME", default_value = "30m")]
    idle: Every,
    /// Look at the cloud this often while the page is open
    #[arg(long, value_name = "TIME", default_value = "5s")]
    every: Every,
    /// Print a code for a browser that has no session, of the console that runs, and end
    #[arg(long, conflicts_with_all = ["port", "no_browser", "read_only", "prefetch", "licences"])]
    code: bool,
    /// Print the licences of the libraries in the page, and end
    #[arg(long)]
    licences: bool,
    #[command(flatten)]
    place: Place,
}

/// A console that runs.
pub(super) struct Console {
    /// The plant with its key open: each request reads its settings again.
    plant: Mutex<Plant>,
    access: Access,
    /// The token of `sotto console --code`, which a file of the plant's owner has.
    token: zeroize::Zeroizing<String>,
    /// The value of `Host` that names this console. Not `localhost`: on ::1 another user of the machine may have the port.
    host: String,
    read_only: bool,
    prefetch: bool,
    /// *Now*, as JSON; empty before the first look.
    now: watch::Sender<Arc<str>>,
    /// One look at a time.
    looking: tokio::sync::Mutex<()>,
    /// Looks that have not ended.
    looks: Arc<Semaphore>,
    working: Arc<Semaphore>,
    /// Other requests to the plant that are under way.
    others: Arc<Semaphore>,
    /// The files of the bundles that this console has made, by device.
    bundles: Mutex<BTreeMap<String, PathBuf>>,
}

impl Console {
    /// Returns the plant, with the settings of this moment.
    fn plant(&self) -> Result<Plant, Refusal> {
        Ok(self.plant.lock().unwrap_or_else(PoisonError::into_inner).reopened()?)
    }

    fn folder(&self) -> PathBuf {
        self.plant.lock().unwrap_or_else(PoisonError::into_inner).folder().to_owned()
    }

    /// Returns the files of the bundles that this console has made.
    fn bundles(&self) -> MutexGuard<'_, BTreeMap<String, PathBuf>> {
        self.bundles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a plant whose key is open in place of the one before.
    fn unlocked(&self, plant: Plant) {
        *self.plant.lock().unwrap_or_else(PoisonError::into_inner) = plant;
    }
}

impl Run for Arguments {
    fn run(self) -> anyhow::Result<ExitCode> {
        if self.licences {
            say(page::LICENCES.trim_end());
            return Ok(ExitCode::SUCCESS);
        }
        // Without a terminal, the page asks for the passphrase.
        let is_terminal = std::io::stdin().is_terminal();
        let plant = if is_terminal { self.place.open() } else { self.place.open_unasked() }?;
        if self.code {
            say(open::code(plant.folder())?.as_str());
            return Ok(ExitCode::SUCCESS);
        }
        let plant = match plant.open_secrets() {
            Ok(()) => plant,
            Err(error) => {
                tell(format!("note: {error}; the page asks for the passphrase"));
                self.place.open_unasked()?
            }
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let served = runtime.block_on(serve(self, plant));
        // A request to a cloud that does not answer is not waited for.
        runtime.shutdown_background();
        served.map(|()| ExitCode::SUCCESS)
    }
}

async fn serve(arguments: Arguments, plant: Plant) -> anyhow::Result<()> {
    let port = arguments.port.unwrap_or(plant.settings().console.port);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = tokio::net::TcpListener::bind(address).await.with_context(|| {
        format!("{address} cannot be served: another program has the port; name another one with --port")
    })?;
    let address = listener.local_addr()?;
    let folder = plant.folder().to_owned();
    let token = open::new_token()?;
    let console = Arc::new(Console {
        plant: Mutex::new(plant),
        access: Access::new(Duration::from_millis(arguments.idle.milliseconds().into())),
        token,
        host: address.to_string(),
        read_only: arguments.read_only,
        prefetch: arguments.prefetch,
        now: watch::channel(Arc::from("")).0,
        looking: tokio::sync::Mutex::default(),
        looks: Arc::new(Semaphore::new(LOOKS)),
        working: Arc::new(Semaphore::new(WORKING)),
        others: Arc::new(Semaphore::new(OTHERS)),
        bundles: Mutex::default(),
    });
    let files = open::Files::write(&folder, &console, address)?;
    say(format!("The page of {}: http://{address}", folder.display()));
    say("A browser without a session asks for a code: `sotto console --code` prints one.");
    if arguments.no_browser || !open::browser(files.page()) {
        say(format!(
            "Open {} in a browser of this machine. It works once, for ten minutes.",
            files.page().display()
        ));
    }
    let every = Duration::from_millis(arguments.every.milliseconds().into()).max(Duration::from_millis(200));
    tokio::spawn(now::watching(Arc::clone(&console), every));
    tokio::spawn(now::reading(Arc::clone(&console), every));
    let app = page::routes()
        .merge(routes::routes())
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&console), guard::guard))
        .with_state(console);
    tokio::select! {
        // Dropped at the end: readers of *Now* are not waited for.
        () = connections::serve(listener, &app, LIMITS, None, std::future::pending()) => {}
        stopped = stopped() => stopped?,
    }
    drop(files);
    Ok(())
}

/// Waits for Ctrl-C, or the end of the process by the system.
async fn stopped() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        // The last one: its terminal is closed.
        let (mut ended, mut closed) = (signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
        tokio::select! {
            pressed = tokio::signal::ctrl_c() => pressed,
            _ = ended.recv() => Ok(()),
            _ = closed.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}
