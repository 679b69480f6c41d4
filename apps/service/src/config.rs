//! What configurations share: files, ranges, and where a service listens without TLS.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use serde::de::DeserializeOwned;

use crate::tls::Files;

/// Bytes of the longest file.
const LONGEST_FILE: u64 = 1 << 20;

/// The text of a file that configures.
pub fn text(file: &Path) -> anyhow::Result<String> {
    let cannot = || format!("cannot read {}", file.display());
    let mut text = String::new();
    let opened = File::open(file).with_context(cannot)?;
    opened.take(LONGEST_FILE + 1).read_to_string(&mut text).with_context(cannot)?;
    ensure!(text.len() as u64 <= LONGEST_FILE, "{} has more than {LONGEST_FILE} bytes", file.display());
    Ok(text)
}

/// Settings from a file.
pub fn read<T: DeserializeOwned>(file: &Path) -> anyhow::Result<T> {
    let text = text(file)?;
    parse(&text).with_context(|| format!("{} is not a configuration", file.display()))
}

/// Settings from the text of a file.
pub fn parse<T: DeserializeOwned>(text: &str) -> anyhow::Result<T> {
    Ok(toml::from_str(text)?)
}

/// Refuses an address that other machines reach without TLS, unless that was asked for. `secret` names what would travel in the clear.
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

/// Refuses a value, given with its name, that is not from 1 to the last of the three.
pub fn within(values: &[(&str, u64, u64)]) -> anyhow::Result<()> {
    for (name, value, most) in values {
        ensure!((1..=*most).contains(value), "{name} is {value}: it must be 1 to {most}");
    }
    Ok(())
}

/// Prints a file with every key.
pub fn print(file: &str) -> anyhow::Result<()> {
    std::io::stdout().write_all(file.as_bytes()).context("cannot write to standard output")
}
