//! Settings of a service, each declared once: in [`settings!`](crate::settings!). A setting is a flag, an environment
//! variable and a key of the configuration file; a flag overrides the variable, which overrides the file, which
//! overrides the default.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;

use crate::config;
use crate::connections::Limits;
use crate::tls::Files;

/// The part of a configuration that every service has: where and how it listens, and when it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listening {
    /// Address and port; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Where the address is written once connections are accepted.
    pub address_file: Option<PathBuf>,
    /// Limits on connections.
    pub limits: Limits,
    /// Certificate and key, if connections use TLS.
    pub tls: Option<Files>,
    /// True if the process ends when standard input does.
    pub exit_with_stdin: bool,
}

impl Listening {
    /// Refuses limits outside their ranges.
    ///
    /// # Errors
    /// Names the first setting outside its range.
    pub fn check(&self) -> anyhow::Result<()> {
        let Limits { header_time, body_time, connection_time, connections, connections_per_peer } =
            self.limits;
        config::within(&[
            ("body_seconds", body_time.as_secs(), 3600),
            ("header_seconds", header_time.as_secs(), 3600),
            ("connection_seconds", connection_time.as_secs(), 86_400),
            ("connections", connections as u64, 1 << 20),
            ("connections_per_peer", connections_per_peer as u64, 1 << 20),
        ])
    }
}

/// Settings as the user gives them.
pub trait Settings: Args + Default {
    /// The configuration that results.
    type Config;
    /// The environment variable that names the configuration file.
    const FILE: &'static str;

    /// Reads a configuration file.
    ///
    /// # Errors
    /// The file cannot be read, or is not a configuration.
    fn read(file: &Path) -> anyhow::Result<Self>;

    /// Returns these settings, completed from `other`.
    #[must_use]
    fn or(self, other: Self) -> Self;

    /// Checks the settings and fills in defaults.
    ///
    /// # Errors
    /// Names the setting that is missing or invalid.
    fn config(self) -> anyhow::Result<Self::Config>;
}

/// Settings by flags and environment variables, and the file that has others.
#[derive(Debug, Args)]
pub struct Given<S: Settings> {
    /// The configuration file; `config print-default` prints an example.
    #[arg(long, env = S::FILE, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: S,
}

impl<S: Settings> Given<S> {
    /// Merges these settings with the file that they name into a configuration.
    ///
    /// # Errors
    /// The file cannot be read, or a setting is missing or invalid.
    pub fn settle(self) -> anyhow::Result<S::Config> {
        let file = match &self.config {
            Some(file) => S::read(file)?,
            None => S::default(),
        };
        self.settings.or(file).config().context("the configuration cannot be used")
    }
}

/// The value of a setting.
#[doc(hidden)]
pub trait Value {
    /// Makes a relative path relative to a folder.
    #[must_use]
    fn in_folder(self, folder: &Path) -> Self;
}

impl Value for PathBuf {
    fn in_folder(self, folder: &Path) -> Self {
        folder.join(self)
    }
}

macro_rules! values {
    ($($value:ty),*) => {$(
        impl Value for $value {
            fn in_folder(self, _: &Path) -> Self {
                self
            }
        }
    )*};
}

values!(SocketAddr, bool, u64, usize);

/// Returns a count; one per core for 0.
#[doc(hidden)]
pub fn or_cores(count: usize) -> usize {
    if count == 0 { thread::available_parallelism().map_or(1, usize::from) } else { count }
}

/// Returns seconds as a time.
#[doc(hidden)]
pub fn seconds(given: Option<u64>, default: u64) -> Duration {
    Duration::from_secs(given.unwrap_or(default))
}

/// Writes a name in capitals, as environment variables are written.
#[doc(hidden)]
#[must_use]
pub const fn capitals<const N: usize>(name: &str) -> [u8; N] {
    let (name, mut capitals, mut at) = (name.as_bytes(), [0; N], 0);
    while at < N {
        capitals[at] = name[at].to_ascii_uppercase();
        at += 1;
    }
    capitals
}

/// Declares the settings of a service: `Settings`, as the user gives them, with the table `TlsSettings`; and `Config`,
/// checked, with defaults. Each setting has its help, its name, its type, the unit of its value, and one of
///
/// - `required("MESSAGE")`: the message if it is missing;
/// - `optional()`: `None` if it is missing;
/// - `default(VALUE)`, `default(VALUE, MOST)`: between 1 and `MOST`;
/// - `cores(VALUE, MOST)`: the same, and 0 means one per core.
///
/// The settings of [`Listening`](crate::settings::Listening) are added: the address before the first group, its file
/// after it, those of connections after the second, those of TLS after the last. `paths relative` makes paths in a file
/// relative to its folder.
#[macro_export]
macro_rules! settings {
    (
        prefix $prefix:literal, port $port:literal, connections $connections:literal,
        in_clear $secret:literal, paths $paths:ident;
        files { $($files:tt)* }
        sizes { $($sizes:tt)* }
        work { $($work:tt)* }
    ) => {
        $crate::given! {
            $prefix $paths
            /// Address and port to listen on; port 0 takes a free one
            listen: std::net::SocketAddr, "ADDRESS:PORT", address($port);
            $($files)*
            /// File for the address, written once connections are accepted
            address_file: std::path::PathBuf, "FILE", optional();
            $($sizes)*
            /// Seconds for a request's body to arrive
            body_seconds: u64, "SECONDS", default(60);
            /// Seconds for a request's head to arrive, and for an idle connection to begin a request
            header_seconds: u64, "SECONDS", default(10);
            /// Seconds after which a connection accepts no further request; the current one may take twice body_seconds
            /// more
            connection_seconds: u64, "SECONDS", default(300);
            /// Maximum number of open connections; reduced if the process may have too few file handles
            connections: usize, "COUNT", default($connections);
            /// Maximum number of open connections of one peer: an IPv4 address or an IPv6 /64 network; 16 times as many
            /// for a loopback address
            connections_per_peer: usize, "COUNT", default(64);
            $($work)*
        }
        $crate::configured! {
            $port, $connections, $secret;
            $($files)* $($sizes)* $($work)*
        }
    };
}

/// Declares the settings as the user gives them.
#[doc(hidden)]
#[macro_export]
macro_rules! given {
    (
        $prefix:literal $paths:ident
        $($(#[doc = $doc:literal])* $name:ident: $type:ty, $unit:literal, $kind:ident($($argument:tt)*);)*
    ) => {
        /// Settings from flags, environment variables, or a file.
        #[derive(clap::Args, Clone, Debug, Default, serde::Deserialize, PartialEq, Eq)]
        #[serde(deny_unknown_fields)]
        #[allow(missing_docs, reason = "the help says it")]
        pub struct Settings {
            $(
                #[arg(
                    long,
                    env = $crate::variable!($prefix, stringify!($name)),
                    value_name = $unit,
                    help = $crate::help!($kind($($argument)*), $($doc),*)
                )]
                pub $name: Option<$type>,
            )*
            #[command(flatten)]
            #[serde(default)]
            pub tls: TlsSettings,
            /// Listen on addresses other than loopback without TLS [default: false]
            #[arg(long, env = $crate::variable!($prefix, "allow_plain_http"), value_name = "BOOL")]
            #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
            pub allow_plain_http: Option<bool>,
            /// Exit when standard input ends, so that this process ends with its parent [default: false]
            #[arg(long, env = $crate::variable!($prefix, "exit_with_stdin"), value_name = "BOOL")]
            #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
            pub exit_with_stdin: Option<bool>,
        }

        /// The table `tls`: PEM files, read again when they change.
        #[derive(clap::Args, Clone, Debug, Default, serde::Deserialize, PartialEq, Eq)]
        #[serde(deny_unknown_fields)]
        #[allow(missing_docs, reason = "the help says it")]
        pub struct TlsSettings {
            /// PEM file with the certificate chain, the service's own certificate first; read again when it changes
            #[arg(long = "tls-certificate", env = $crate::variable!($prefix, "tls_certificate"), value_name = "FILE")]
            pub certificate: Option<std::path::PathBuf>,
            /// PEM file with the certificate's private key, mode 0600
            #[arg(long = "tls-key", env = $crate::variable!($prefix, "tls_key"), value_name = "FILE")]
            pub key: Option<std::path::PathBuf>,
        }

        impl Settings {
            /// Reads a configuration file.
            ///
            /// # Errors
            /// The file cannot be read, or is not a configuration.
            pub fn read(file: &std::path::Path) -> anyhow::Result<Self> {
                let read: Self = $crate::config::read(file)?;
                Ok(read.in_folder($crate::folder!($paths, file)))
            }

            /// Returns these settings, completed from `other`.
            #[must_use]
            pub fn or(self, other: Self) -> Self {
                let (tls, of_other) = (self.tls, other.tls);
                Self {
                    $($name: self.$name.or(other.$name),)*
                    tls: TlsSettings {
                        certificate: tls.certificate.or(of_other.certificate),
                        key: tls.key.or(of_other.key),
                    },
                    allow_plain_http: self.allow_plain_http.or(other.allow_plain_http),
                    exit_with_stdin: self.exit_with_stdin.or(other.exit_with_stdin),
                }
            }

            /// Parses the text of a file.
            ///
            /// # Errors
            /// The text is not a configuration.
            pub fn parse(text: &str) -> anyhow::Result<Self> {
                $crate::config::parse(text)
            }

            /// Makes relative paths relative to a folder.
            fn in_folder(self, folder: &std::path::Path) -> Self {
                use $crate::settings::Value;
                fn inside<V: Value>(value: Option<V>, folder: &std::path::Path) -> Option<V> {
                    value.map(|value| value.in_folder(folder))
                }
                let Self { tls: TlsSettings { certificate, key }, allow_plain_http, exit_with_stdin, .. } = self;
                Self {
                    $($name: inside(self.$name, folder),)*
                    tls: TlsSettings { certificate: inside(certificate, folder), key: inside(key, folder) },
                    allow_plain_http,
                    exit_with_stdin,
                }
            }
        }

        impl $crate::settings::Settings for Settings {
            type Config = Config;
            const FILE: &'static str = $crate::variable!($prefix, "config");

            fn read(file: &std::path::Path) -> anyhow::Result<Self> {
                Self::read(file)
            }

            fn or(self, other: Self) -> Self {
                self.or(other)
            }

            fn config(self) -> anyhow::Result<Config> {
                Config::new(self)
            }
        }
    };
}

/// Declares the configuration that results.
#[doc(hidden)]
#[macro_export]
macro_rules! configured {
    (
        $port:literal, $connections:literal, $secret:literal;
        $($(#[doc = $doc:literal])* $name:ident: $type:ty, $unit:literal, $kind:ident($($argument:tt)*);)*
    ) => {
        /// A valid configuration. Its own fields are those of [`Settings`].
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the help says it")]
        pub struct Config {
            /// Where and how the service listens.
            pub listening: $crate::settings::Listening,
            $(pub $name: $crate::kept!($kind, $type),)*
        }

        impl Config {
            /// Checks settings and fills in defaults.
            ///
            /// # Errors
            /// Names the setting that is missing or invalid.
            pub fn new(settings: Settings) -> anyhow::Result<Self> {
                use $crate::settings::seconds;
                let local = std::net::SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, $port));
                let listen = settings.listen.unwrap_or(local);
                let allowed = settings.allow_plain_http.unwrap_or(false);
                let tls = $crate::tls::Files::named(settings.tls.certificate, settings.tls.key)?;
                $crate::config::reachable_where_allowed(listen, tls.as_ref(), allowed, $secret)?;
                let limits = $crate::connections::Limits {
                    header_time: seconds(settings.header_seconds, 10),
                    body_time: seconds(settings.body_seconds, 60),
                    connection_time: seconds(settings.connection_seconds, 300),
                    connections: settings.connections.unwrap_or($connections),
                    connections_per_peer: settings.connections_per_peer.unwrap_or(64),
                };
                let exit_with_stdin = settings.exit_with_stdin.unwrap_or(false);
                let address_file = settings.address_file;
                let config = Self {
                    listening: $crate::settings::Listening { listen, address_file, limits, tls, exit_with_stdin },
                    $($name: $crate::taken!(settings.$name, $kind($($argument)*)),)*
                };
                $($crate::checked!(config.$name, $name, $kind($($argument)*));)*
                config.listening.check()?;
                Ok(config)
            }

            /// Returns the time for a request's body to arrive.
            pub fn body_time(&self) -> std::time::Duration {
                self.listening.limits.body_time
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! variable {
    ($prefix:literal, $name:expr) => {{
        const TEXT: &str = concat!($prefix, $name);
        const CAPITALS: [u8; TEXT.len()] = $crate::settings::capitals(TEXT);
        const NAME: &str = match std::str::from_utf8(&CAPITALS) {
            Ok(name) => name,
            Err(_) => TEXT,
        };
        NAME
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! help {
    (address($port:literal), $($doc:literal),*) => {
        concat!($($doc,)* " [default: 127.0.0.1:", $port, "]").trim()
    };
    (default($value:literal $(, $most:expr)?), $($doc:literal),*) => {
        concat!($($doc,)* " [default: ", $value, "]").trim()
    };
    (cores($value:literal, $most:expr), $($doc:literal),*) => {
        concat!($($doc,)* " [default: ", $value, "]").trim()
    };
    ($kind:ident($($message:literal)?), $($doc:literal),*) => { concat!($($doc),*).trim() };
}

#[doc(hidden)]
#[macro_export]
macro_rules! folder {
    (relative, $file:ident) => {
        $file.parent().unwrap_or(std::path::Path::new(""))
    };
    (as_given, $file:ident) => {{
        let _ = $file;
        std::path::Path::new("")
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! kept {
    (optional, $type:ty) => { Option<$type> };
    ($kind:ident, $type:ty) => { $type };
}

#[doc(hidden)]
#[macro_export]
macro_rules! taken {
    ($given:expr, optional()) => {
        $given
    };
    ($given:expr, required($message:literal)) => {
        anyhow::Context::context($given, $message)?
    };
    ($given:expr, default($value:literal $(, $most:expr)?)) => {
        $given.unwrap_or($value)
    };
    ($given:expr, cores($value:literal, $most:expr)) => {
        $crate::settings::or_cores($given.unwrap_or($value))
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! checked {
    ($kept:expr, $name:ident, $kind:ident($value:literal, $most:expr)) => {
        $crate::config::within(&[(stringify!($name), $kept as u64, $most)])?;
    };
    ($kept:expr, $name:ident, $kind:ident($($other:tt)*)) => {};
}
