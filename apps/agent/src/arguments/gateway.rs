//! The arguments of a gateway: one agent for many devices, and the addresses at which it listens.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::CollectArguments;

/// The devices of a gateway, and where it listens.
#[derive(Args, Clone, Debug, Default)]
pub struct GatewayArguments {
    /// A folder of bundles: takes readings of all of its devices from programs that cannot encrypt, and looks at it again when
    /// it changes
    #[arg(long, value_name = "DIR", conflicts_with = "spool")]
    pub devices: Option<PathBuf>,
    /// Takes InfluxDB's line protocol here: 127.0.0.1:8086, unix:/run/sotto.sock or udp://127.0.0.1:8089, whose datagrams may be
    /// lost; may be repeated. An address that other machines reach needs --tls-cert and --token-file
    #[arg(long, value_name = "ADDRESS", requires = "devices", conflicts_with = "bundle")]
    pub listen: Vec<Listen>,
    /// PEM file with the certificate that --listen shows, and those above it
    #[arg(long, value_name = "FILE", requires = "listen", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// PEM file with the key of that certificate
    #[arg(long, value_name = "FILE", requires = "listen", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// File with the token that senders have to show
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub token_file: Option<PathBuf>,
    /// Limit in bytes on the accepted readings whose windows are open, for all devices together; senders are told to keep
    /// further ones
    #[arg(long, value_name = "BYTES", default_value_t = 4 << 30, requires = "devices")]
    pub journal_limit: u64,
    /// Brokers, meters, registers, sensors and commands
    #[command(flatten)]
    pub collect: CollectArguments,
}

/// A place where readings come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// HTTP on an address.
    Tcp(SocketAddr),
    /// HTTP on a socket in the file system.
    Unix(PathBuf),
    /// Datagrams, which may be lost.
    Udp(SocketAddr),
}

/// A text that names no place to listen at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no place to listen at: give 127.0.0.1:8086, unix:/run/sotto.sock or udp://127.0.0.1:8089")]
pub struct NotAnEndpoint(String);

impl Listen {
    /// Returns true if no other machine reaches it.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match self {
            Self::Unix(_) => true,
            Self::Tcp(address) | Self::Udp(address) => match address.ip() {
                IpAddr::V4(ip) => ip.is_loopback(),
                IpAddr::V6(ip) => ip.to_ipv4_mapped().map_or(ip.is_loopback(), |ip| ip.is_loopback()),
            },
        }
    }
}

impl std::fmt::Display for Listen {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp(address) => write!(out, "{address}"),
            Self::Unix(path) => write!(out, "unix:{}", path.display()),
            Self::Udp(address) => write!(out, "udp://{address}"),
        }
    }
}

impl FromStr for Listen {
    type Err = NotAnEndpoint;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let no = || NotAnEndpoint(text.to_owned());
        if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            return Ok(Self::Unix(path.strip_prefix("//").unwrap_or(path).into()));
        }
        let address = |text: &str| -> Result<SocketAddr, NotAnEndpoint> {
            let text = text
                .strip_prefix("localhost")
                .map_or_else(|| text.to_owned(), |rest| format!("127.0.0.1{rest}"));
            text.parse().map_err(|_| no())
        };
        match text.strip_prefix("udp://") {
            Some(rest) => address(rest).map(Self::Udp),
            None => address(text.strip_prefix("http://").unwrap_or(text)).map(Self::Tcp),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::arguments::{Arguments, Command};

    use super::*;

    #[test]
    fn places_to_listen_at() {
        for (text, shown, is_local) in [
            ("127.0.0.1:8086", "127.0.0.1:8086", true),
            ("localhost:8086", "127.0.0.1:8086", true),
            ("[::1]:80", "[::1]:80", true),
            ("[::ffff:127.0.0.1]:80", "[::ffff:127.0.0.1]:80", true),
            ("0.0.0.0:8086", "0.0.0.0:8086", false),
            ("192.168.1.5:8086", "192.168.1.5:8086", false),
            ("unix:/run/sotto.sock", "unix:/run/sotto.sock", true),
            ("udp://10.0.0.1:8089", "udp://10.0.0.1:8089", false),
        ] {
            let listen: Listen = text.parse().unwrap();
            assert_eq!((listen.to_string().as_str(), listen.is_local()), (shown, is_local));
        }
        for text in ["", "8086", "unix:", "udp://", "tcp://1.2.3.4:5", "example.com:80"] {
            assert!(text.parse::<Listen>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_folder_of_bundles_stands_in_for_a_bundle() {
        let read =
            |words: &[&str]| Arguments::read([&["sotto-agent"], words].concat()).map(|read| read.command);
        let Ok(Command::Run(run)) =
            read(&["run", "--devices", "d", "--listen", "127.0.0.1:1", "--listen", "udp://127.0.0.1:2"])
        else {
            panic!("it runs")
        };
        assert_eq!((run.gateway.devices, run.gateway.listen.len()), (Some(PathBuf::from("d")), 2));
        assert!(read(&["run"]).is_err() && read(&["run", "--bundle", "b", "--devices", "d"]).is_err());
        for source in [["--listen", "127.0.0.1:1"], ["--mqtt", "mqtt://broker"], ["--exec", "true"]] {
            assert!(read(&[&["run", "--bundle", "b"], &source[..]].concat()).is_err(), "{source:?}");
        }
        assert!(
            matches!(read(&["run", "--bundle", "b"]), Ok(Command::Run(run)) if run.gateway.devices.is_none())
        );
        assert!(
            matches!(read(&["check", "--devices", "d", "--listen", "127.0.0.1:1", "--for", "5s"]), Ok(Command::Check(check)) if check.time == 5000)
        );
        assert!(matches!(read(&["status", "--devices", "d"]), Ok(Command::Status(_))));
    }
}
