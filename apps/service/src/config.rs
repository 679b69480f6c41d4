//! Configuration shared by the services: files, ranges, and the rule for addresses without TLS.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use serde::de::DeserializeOwned;

use crate::tls::Files;

/// Maximum bytes of a configuration file.
const LONGEST_FILE: u64 = 1 << 20;

/// Reads the text of a configuration file.
///
/// # Errors
/// The file cannot be read, or has more than 1 MiB.
pub fn text(file: &Path) -> anyhow::Result<String> {
    let cannot = || format!("cannot read {}", file.display());
    let mut text = String::new();
    let opened = File::open(file).with_context(cannot)?;
    opened.take(LONGEST_FILE + 1).read_to_string(&mut text).with_context(cannot)?;
    ensure!(text.len() as u64 <= LONGEST_FILE, "{} has more than {LONGEST_FILE} bytes", file.display());
    Ok(text)
}

/// Reads settings from a file.
///
/// # Errors
/// The file cannot be read, or is not a configuration.
pub fn read<T: DeserializeOwned>(file: &Path) -> anyhow::Result<T> {
    let text = text(file)?;
    parse(&text).with_context(|| format!("{} is not a configuration", file.display()))
}

/// Parses the text of a configuration file.
///
/// # Errors
/// The text is not a configuration.
pub fn parse<T: DeserializeOwned>(text: &str) -> anyhow::Result<T> {
    Ok(toml::from_str(text)?)
}

/// Refuses an address that other machines can reach without TLS, unless `allow_plain_http` is set. `secret` names the
/// data that would travel in the clear.
///
/// # Errors
/// Names the address and the options that would allow it.
pub fn reachable_where_allowed(
    listen: SocketAddr,
    protected: Option<&Files>,
    allow_plain_http: bool,
    secret: &str,
) -> anyhow::Result<()> {
    if !listen.ip().is_loopback() && protected.is_none() && !allow_plain_http {
        bail!(
            "{listen} can be reached from other machines, and without TLS {secret} would travel in the clear. Name a certificate and \
             its key (tls.certificate and tls.key; `sotto tls init` makes them), or listen on 127.0.0.1 behind a proxy that \
             terminates TLS, or say --allow-plain-http if the network is yours"
        );
    }
    Ok(())
}

/// Refuses a value outside 1 … maximum. Each entry has the name, the value and the maximum.
///
/// # Errors
/// Names the first value outside its range.
pub fn within(values: &[(&str, u64, u64)]) -> anyhow::Result<()> {
    for (name, value, most) in values {
        ensure!((1..=*most).contains(value), "{name} is {value}: it must be 1 to {most}");
    }
    Ok(())
}

/// Prints a text. Succeeds if the reader has closed the pipe.
///
/// # Errors
/// Standard output cannot be written for another reason.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}
