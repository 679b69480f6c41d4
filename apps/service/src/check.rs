//! Checks what every service opens when it starts.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::Path;

use anyhow::Context as _;

use crate::folder;
use crate::settings::Listening;
use crate::tls::Tls;

/// Checks certificate and key, the address, and the folder of the address file, with the errors of a start. The service
/// may be running: its port is in use then.
///
/// # Errors
/// Those of a start.
pub fn check(Listening { listen, address_file, tls, .. }: &Listening) -> anyhow::Result<()> {
    tls.as_ref().map(Tls::open).transpose()?;
    match TcpListener::bind(listen) {
        Err(error) if error.kind() != ErrorKind::AddrInUse => {
            return Err(error).with_context(|| format!("cannot listen on {listen}"));
        }
        _ => {}
    }
    let Some(file) = address_file else { return Ok(()) };
    let above = file.parent().filter(|above| *above != Path::new("")).unwrap_or(Path::new("."));
    let cannot = || format!("cannot write the address to {}", file.display());
    anyhow::ensure!(above.is_dir(), "{}: {} is no folder", cannot(), above.display());
    folder::check(above).with_context(cannot)
}
