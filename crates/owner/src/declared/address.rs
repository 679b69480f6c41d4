//! Addresses of brokers: `mqtt://user:password@host:port/topic`.

use std::fmt;

/// The address of a topic of an MQTT broker.
///
/// `mqtt://` is without TLS, at port 1883 unless another one is named; `mqtts://` is with TLS, at port 8883. The topic
/// is all that follows the first slash. `%40` and the like stand for bytes in a user and a password.
///
/// ```
/// use sotto_owner::alarm::MqttAddress;
///
/// let topic: MqttAddress = "mqtts://farm:s3cret@broker.example/farm/alarms".parse()?;
/// assert_eq!((topic.host.as_str(), topic.port, topic.tls), ("broker.example", 8883, true));
/// assert_eq!(topic.topic, "farm/alarms");
/// assert_eq!(topic.to_string(), "mqtts://broker.example:8883/farm/alarms", "never with the password");
/// assert!("mqtt://broker.example".parse::<MqttAddress>().is_err(), "no topic");
/// # Ok::<(), sotto_owner::alarm::NotAnAddress>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct MqttAddress {
    /// The broker's name or IP address.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// True if the connection is TLS.
    pub tls: bool,
    /// The user, if one is named.
    pub user: Option<String>,
    /// The password, if one is named.
    pub password: Option<String>,
    /// The topic: 1 to 1024 bytes, without wildcards.
    pub topic: String,
}

/// A text is no address of the wanted kind.
///
/// Example: [`MqttAddress`]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotAnAddress(pub(super) String);

/// An address, cut into its parts: `scheme://user:password@host:port/path`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Server<'a> {
    /// Empty if there is none.
    pub(super) scheme: &'a str,
    /// The user, if a login stands before the host. Bytes stand as `%40` and the like.
    pub(super) user: Option<&'a str>,
    /// The password, if there is a colon in the login.
    pub(super) password: Option<&'a str>,
    /// The name or IP address, without the brackets of one of version 6.
    pub(super) host: &'a str,
    /// The text behind the host's colon.
    pub(super) port: Option<&'a str>,
    /// Everything behind, with the mark that begins it.
    pub(super) path: &'a str,
}

impl<'a> Server<'a> {
    /// Cuts an address. Checks nothing.
    pub(super) fn of(address: &'a str) -> Self {
        let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
        // A topic begins behind a slash alone.
        let ends: &[char] = if scheme.starts_with("mqtt") { &['/'] } else { &['/', '?', '#'] };
        let (server, path) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
        let (login, server) = match server.rsplit_once('@') {
            Some((login, server)) => (Some(login), server),
            None => (None, server),
        };
        let (user, password) = match login.map(|login| login.split_once(':').ok_or(login)) {
            None => (None, None),
            Some(Ok((user, password))) => (Some(user), Some(password)),
            Some(Err(user)) => (Some(user), None),
        };
        let (host, port) = match server.rsplit_once(':').filter(|(_, port)| !port.contains(']')) {
            Some((host, port)) => (host, Some(port)),
            None => (server, None),
        };
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        Self { scheme, user, password, host, port, path }
    }

    /// Returns true if a connection without TLS shows a password to other machines.
    fn shows_password(&self) -> bool {
        self.password.is_some() && !sotto_http::is_loopback(self.host)
    }
}

const FORM: &str = "write mqtt://host/topic or mqtts://user:password@host:port/topic";

const LONGEST_TOPIC: usize = 1024;

impl std::str::FromStr for MqttAddress {
    type Err = NotAnAddress;

    fn from_str(text: &str) -> Result<Self, NotAnAddress> {
        let wrong = |reason: &str| NotAnAddress(format!("{reason}: {FORM}"));
        let server = Server::of(text);
        let Server { scheme, user, password, host, port, path } = server;
        let tls = match scheme {
            "mqtt" => false,
            "mqtts" => true,
            _ => return Err(wrong("it is no address of an MQTT broker")),
        };
        let topic = path.strip_prefix('/').unwrap_or_default();
        let port = match port {
            Some(port) => {
                port.parse().ok().filter(|port| *port > 0).ok_or_else(|| wrong("the port is none"))?
            }
            None if tls => 8883,
            None => 1883,
        };
        if !sotto_http::is_host(host) {
            return Err(wrong("the host is none"));
        }
        let bad = |c: char| c.is_control() || matches!(c, '#' | '+');
        if topic.is_empty() || topic.len() > LONGEST_TOPIC || topic.contains(bad) {
            return Err(wrong("the topic is empty, too long, or has # or +"));
        }
        if !tls && server.shows_password() {
            return Err(wrong("mqtt:// shows its password to the network"));
        }
        let (user, password) =
            (user.map(decoded), password.map(decoded).filter(|password| !password.is_empty()));
        Ok(Self { host: host.to_owned(), port, tls, user, password, topic: topic.to_owned() })
    }
}

/// Replaces `%40` and the like.
pub(super) fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, after @ ..] = rest {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|digits| hex::decode(digits).ok());
        match code {
            Some(code) => {
                bytes.extend(code);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl fmt::Display for MqttAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, tls, topic, .. } = self;
        write!(out, "mqtt{}://{host}:{port}/{topic}", if *tls { "s" } else { "" })
    }
}

/// Checks the address of a webhook: `https://…` or `http://…`.
///
/// # Errors
/// [`NotAnAddress`] with the form.
pub(super) fn check_webhook(text: &str) -> Result<(), NotAnAddress> {
    let server = Server::of(text);
    match server.scheme {
        "http" if server.shows_password() => Err(NotAnAddress(
            "http:// shows its password to the network: write https://user:password@host/path".to_owned(),
        )),
        "http" | "https"
            if !server.host.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control()) =>
        {
            Ok(())
        }
        _ => Err(NotAnAddress("it is no address of a webhook: write https://host/path".to_owned())),
    }
}

/// Returns true if the address of a sink holds a password.
pub(crate) fn names_password(address: &str) -> bool {
    Server::of(address).password.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_whole_or_refused() {
        let read = |text: &str| text.parse::<MqttAddress>();
        let of = read("mqtt://a%40b:p%3Aq@[::1]:99/x").expect("an address");
        assert_eq!((of.host.as_str(), of.port, of.user.as_deref()), ("::1", 99, Some("a@b")));
        assert_eq!(of.password.as_deref(), Some("p:q"));
        for wrong in [
            "",
            "http://h/t",
            "mqtt://h",
            "mqtt://h/",
            "mqtt:///t",
            "mqtt://h:0/t",
            "mqtt://h:x/t",
            "mqtt://h/a/#",
            "mqtt://user:word@h/a",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(check_webhook("https://h/p?q=1").is_ok() && check_webhook("http://127.0.0.1:1").is_ok());
        assert!(check_webhook("https://u:p@h/").is_ok() && check_webhook("http://u:p@localhost:1/").is_ok());
        for wrong in ["", "h", "https://", "ftp://h", "https://h/a b", "http://u:p@h/a"] {
            assert!(check_webhook(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_login_is_read_in_one_way() {
        for (address, user, password, host, port, path) in [
            ("https://u:p@h:1/x@y:z", Some("u"), Some("p"), "h", Some("1"), "/x@y:z"),
            ("mqtt://u@[::1]:2", Some("u"), None, "::1", Some("2"), ""),
            ("http://u:@h", Some("u"), Some(""), "h", None, ""),
            ("http://a@b:c@h?q=d@e", Some("a@b"), Some("c"), "h", None, "?q=d@e"),
            ("mqtts://a:b?c#d@h/t#e@f", Some("a"), Some("b?c#d"), "h", None, "/t#e@f"),
            ("[::1]", None, None, "::1", None, ""),
            ("", None, None, "", None, ""),
        ] {
            let scheme = address.split_once("://").map_or("", |(scheme, _)| scheme);
            let parts = Server { scheme, user, password, host, port, path };
            assert_eq!(Server::of(address), parts, "{address}");
        }
        for shown in ["mqtt://u:p@h/t", "https://u:@h", "mqtts://u:p@[::1]:9/t"] {
            assert!(names_password(shown), "{shown}");
        }
        for without in ["https://u@h/a:b@c", "https://h", "mqtt://h/t"] {
            assert!(!names_password(without), "{without}");
        }
        assert!(
            check_webhook("http://u:p@[::1]:7/").is_ok() && check_webhook("http://u:p@[::2]:7/").is_err()
        );
    }
}
