//! Logs of events; never bodies or tokens.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

/// Writes logs to standard error. `RUST_LOG` sets the level; the default is `info`.
pub fn to_stderr() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    // Colours only on a terminal.
    let ansi = std::io::stderr().is_terminal();
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(ansi);
    let set = logs.try_init();
    if set.is_err() {
        tracing::debug!("logs were set up before");
    }
}
