//! Addresses of brokers: `mqtt://host:port`.

use std::fmt;
use std::str::FromStr;

/// The address of a broker. `mqtt://` is without TLS, at port 1883 unless another one is named; `mqtts://` is with TLS, at
/// port 8883. User and password have no place in it: addresses end in logs and lists of processes.
///
/// ```
/// use sotto_mqtt::Broker;
///
/// let broker: Broker = "mqtts://broker.example".parse()?;
/// assert_eq!((broker.host.as_str(), broker.port, broker.tls), ("broker.example", 8883, true));
/// assert_eq!(broker.to_string(), "mqtts://broker.example:8883");
/// assert!("mqtt://farm:secret@broker.example".parse::<Broker>().is_err());
/// # Ok::<(), sotto_mqtt::NotABroker>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broker {
    /// The broker's name or IP address.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// True if the connection is TLS.
    pub tls: bool,
}

/// The text is no address of a broker.
///
/// Example: [`Broker`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}: write mqtt://broker.local:1883 or mqtts://broker.example")]
pub struct NotABroker(&'static str);

impl FromStr for Broker {
    type Err = NotABroker;

    fn from_str(text: &str) -> Result<Self, NotABroker> {
        let (tls, rest) = match text.split_once("://") {
            Some(("mqtt", rest)) => (false, rest),
            Some(("mqtts", rest)) => (true, rest),
            _ => return Err(NotABroker("it is no address of an MQTT broker")),
        };
        if rest.contains('@') {
            return Err(NotABroker(
                "an address has no user and no password: give them by SOTTO_MQTT_USER and SOTTO_MQTT_PASSWORD, or by a file",
            ));
        }
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        if rest.contains('/') {
            return Err(NotABroker("an address has no topic: give it by --topic or --preset"));
        }
        let (host, port) = match rest.rsplit_once(':').filter(|(_, port)| !port.contains(']')) {
            Some((host, port)) => (host, Some(port)),
            None => (rest, None),
        };
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let port = match port {
            Some(port) => port.parse().ok().filter(|port| *port > 0).ok_or(NotABroker("the port is none"))?,
            None if tls => 8883,
            None => 1883,
        };
        if !sotto_http::is_host(host) {
            return Err(NotABroker("the host is none"));
        }
        Ok(Self { host: host.to_owned(), port, tls })
    }
}

impl fmt::Display for Broker {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, tls } = self;
        let scheme = if *tls { "mqtts" } else { "mqtt" };
        if host.contains(':') {
            write!(out, "{scheme}://[{host}]:{port}")
        } else {
            write!(out, "{scheme}://{host}:{port}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_whole_or_refused() {
        for (text, shown) in [
            ("mqtt://broker.local", "mqtt://broker.local:1883"),
            ("mqtt://broker.local/", "mqtt://broker.local:1883"),
            ("mqtts://10.0.0.7:99", "mqtts://10.0.0.7:99"),
            ("mqtt://[::1]:1884", "mqtt://[::1]:1884"),
            ("mqtt://[::1]", "mqtt://[::1]:1883"),
        ] {
            assert_eq!(text.parse::<Broker>().map(|broker| broker.to_string()).as_deref(), Ok(shown));
        }
        for wrong in [
            "",
            "broker",
            "http://b",
            "mqtt://",
            "mqtt://b:0",
            "mqtt://b:x",
            "mqtt://a b",
            "mqtt://b/topic",
            "mqtt://u@b",
        ] {
            assert!(wrong.parse::<Broker>().is_err(), "{wrong}");
        }
    }
}
