//! Logs of events; never bodies or tokens.

use std::io::IsTerminal as _;

use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Writes logs to standard error. `RUST_LOG` sets the level, for all or by target (`warn,sotto_cloud=debug`); the default
/// is `info`.
pub fn to_stderr() {
    let filter = std::env::var("RUST_LOG").ok().and_then(|levels| levels.parse().ok());
    let filter = filter.unwrap_or_else(|| Targets::new().with_default(LevelFilter::INFO));
    // Colours only on a terminal.
    let ansi = std::io::stderr().is_terminal();
    let logs = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(ansi);
    let set = tracing_subscriber::registry().with(logs.with_filter(filter)).try_init();
    if set.is_err() {
        tracing::debug!("logs were set up before");
    }
}
