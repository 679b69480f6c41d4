//! `[mail]` in `sotto.toml`: the server that takes the messages of alarms.

use serde::{Deserialize, Serialize};

use super::address::{NotAnAddress, Server, decoded};

/// Largest length of an address, in bytes (RFC 5321, section 4.5.3.1.3).
const LONGEST_ADDRESS: usize = 254;
/// Largest number of addresses of an alarm.
const MOST_ADDRESSES: usize = 20;

/// The server that takes messages, and their sender.
///
/// ```
/// use sotto_owner::alarm::{MailServer, MailSettings, MailTls};
/// use sotto_owner::settings::Settings;
///
/// let settings = Settings::parse(r#"
///     version = 1
///     cloud = { url = "http://127.0.0.1:7410" }
///     channels.temperature = { unit = "°C", range = "-20..120", resolution = 0.1, every = "5m" }
///     mail = { server = "smtps://farm:s3cret@mail.example", from = "barn@farm.example" }
///     alarms.hot = { when = "temperature > 80", mail = "ann@farm.example, bo@farm.example" }
/// "#)?;
/// let mail: &MailSettings = settings.mail.as_ref().expect("a server");
/// let server: MailServer = mail.server.parse()?;
/// assert_eq!((server.host.as_str(), server.port, server.tls), ("mail.example", 465, MailTls::FromTheStart));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MailSettings {
    /// The address of the server: see [`MailServer`].
    pub server: String,
    /// The sender's address: `barn@farm.example`.
    pub from: String,
    /// A PEM file with the authority of the server's certificate, relative to the plant's folder. None: Mozilla's list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
}

impl MailSettings {
    /// Returns true if the server's address names a user without a password.
    #[must_use]
    pub fn lacks_password(&self) -> bool {
        let server = Server::of(&self.server);
        server.user.is_some() && server.password.is_none()
    }

    /// Returns the settings with a password behind the user of the server's address.
    #[must_use]
    pub fn with_password(self, password: &str) -> Self {
        let mut encoded = String::with_capacity(3 * password.len());
        for byte in password.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => encoded.push(char::from(byte)),
                other => encoded.push_str(&format!("%{other:02X}")),
            }
        }
        let server = match self.server.rsplit_once('@') {
            Some((login, host)) => format!("{login}:{encoded}@{host}"),
            None => self.server,
        };
        Self { server, ..self }
    }

    /// Checks the addresses.
    ///
    /// # Errors
    /// The reason and a remedy.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.server.parse::<MailServer>().map_err(|error| format!("server: {error}"))?;
        mailbox(&self.from).map_err(|error| format!("from: {error}"))
    }
}

/// How a connection to a server of messages is encrypted.
///
/// Example: [`MailSettings`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailTls {
    /// TLS before the first command (RFC 8314, section 3.3).
    FromTheStart,
    /// The command STARTTLS before anything is sent (RFC 3207); without it nothing is sent.
    StartTls,
    /// None: the server is this machine, or the address says so.
    None,
}

/// The address of a server that takes messages.
///
/// `smtps://user:password@host` is with TLS from the start, at port 465 unless another one is named; `smtp://…` begins with
/// STARTTLS, at port 587, or is a server on this machine without TLS, at port 25. `?starttls=yes` and `?starttls=no` say it
/// otherwise; a password goes to no other machine without TLS. `%40` and the like stand for bytes in a user and a password.
///
/// ```
/// use sotto_owner::alarm::{MailServer, MailTls};
///
/// let server: MailServer = "smtp://farm%40mail.example:s3cret@mail.example".parse()?;
/// assert_eq!((server.port, server.tls, server.user.as_deref()), (587, MailTls::StartTls, Some("farm@mail.example")));
/// let here: MailServer = "smtp://localhost".parse()?;
/// assert_eq!((here.port, here.tls), (25, MailTls::None));
/// assert!("https://mail.example".parse::<MailServer>().is_err());
/// # Ok::<(), sotto_owner::alarm::NotAnAddress>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct MailServer {
    /// The server's name or IP address.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// How the connection is encrypted.
    pub tls: MailTls,
    /// The user, if one is named.
    pub user: Option<String>,
    /// The password, if one is named.
    pub password: Option<String>,
}

impl std::str::FromStr for MailServer {
    type Err = NotAnAddress;

    fn from_str(text: &str) -> Result<Self, NotAnAddress> {
        let wrong = |why: &str| {
            NotAnAddress(format!(
                "{why}: write smtps://user:password@host, or smtp://user:password@host for a server that begins with STARTTLS"
            ))
        };
        let Server { scheme, user, password, host, port, path } = Server::of(text);
        let is_here = sotto_http::is_loopback(host);
        let says = path.strip_prefix('/').unwrap_or(path);
        let (tls, usual) = match (scheme, says) {
            ("smtps", "") => (MailTls::FromTheStart, 465),
            ("smtp", "") if is_here => (MailTls::None, 25),
            ("smtp", "" | "?starttls=yes") => (MailTls::StartTls, 587),
            ("smtp", "?starttls=no") => (MailTls::None, 25),
            _ => return Err(wrong("it is no address of a server of e-mail")),
        };
        if !sotto_http::is_host(host) {
            return Err(wrong("the host is none"));
        }
        if tls == MailTls::None && user.is_some() && !is_here {
            return Err(wrong("without TLS the network sees its password"));
        }
        let port = match port {
            Some(port) => {
                port.parse().ok().filter(|port| *port > 0).ok_or_else(|| wrong("the port is none"))?
            }
            None => usual,
        };
        let (user, password) = (user.map(decoded), password.map(decoded));
        if user.is_some() != password.is_some() {
            return Err(wrong("a user has a password"));
        }
        Ok(Self { host: host.to_owned(), port, tls, user, password })
    }
}

/// Checks the address of a person: `ann@farm.example`.
fn mailbox(text: &str) -> Result<(), NotAnAddress> {
    let wrong = || NotAnAddress(format!("{text:?} is no address of a person: write ann@farm.example"));
    let (name, host) = text.rsplit_once('@').ok_or_else(wrong)?;
    let bad = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | ',' | ';' | '"');
    if name.is_empty() || host.is_empty() || text.len() > LONGEST_ADDRESS || text.contains(bad) {
        return Err(wrong());
    }
    Ok(())
}

/// Splits `ann@farm.example, bo@farm.example` and checks each address.
///
/// # Errors
/// [`NotAnAddress`] with the form.
pub(super) fn mailboxes(text: &str) -> Result<Vec<&str>, NotAnAddress> {
    let all: Vec<&str> = text.split(',').map(str::trim).collect();
    if all.len() > MOST_ADDRESSES {
        return Err(NotAnAddress(format!("an alarm goes to at most {MOST_ADDRESSES} addresses")));
    }
    all.iter().try_for_each(|one| mailbox(one))?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_read_whole_or_refused() {
        let read = |text: &str| text.parse::<MailServer>();
        let of = read("smtps://a:p%2Fq@[::1]:2525/").expect("an address");
        assert_eq!((of.host.as_str(), of.port, of.tls), ("::1", 2525, MailTls::FromTheStart));
        assert_eq!((of.user.as_deref(), of.password.as_deref()), (Some("a"), Some("p/q")));
        for (text, tls) in [
            ("smtp://relay.lan?starttls=no", MailTls::None),
            ("smtp://a:b@127.0.0.1:99/?starttls=yes", MailTls::StartTls),
            ("smtp://a:b@localhost", MailTls::None),
        ] {
            assert_eq!(read(text).expect(text).tls, tls, "{text}");
        }
        for wrong in [
            "",
            "mail.example",
            "https://mail.example",
            "smtp://",
            "smtp://h:0",
            "smtp://h:x",
            "smtp://h/path",
            "smtp://h?tls=none",
            "smtps://user@h",
            "smtps://h?starttls=no",
            "smtp://farm:word@mail.example?starttls=no",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_password_of_any_characters_comes_back() {
        let of = |server: &str| MailSettings { server: server.to_owned(), from: "a@h".to_owned(), ca: None };
        let plain = of("smtps://farm%40h@mail.example:99");
        assert!(plain.lacks_password() && !of("smtp://localhost").lacks_password());
        let server: MailServer = plain.with_password("a:b/@%é ?#").server.parse().expect("an address");
        assert_eq!(
            (server.user.as_deref(), server.password.as_deref()),
            (Some("farm@h"), Some("a:b/@%é ?#"))
        );
        assert_eq!((server.host.as_str(), server.port), ("mail.example", 99));
    }

    #[test]
    fn a_line_break_does_not_make_a_second_address() {
        assert_eq!(mailboxes("ann@farm.example,bo@h").expect("two"), ["ann@farm.example", "bo@h"]);
        let long = format!("{}@h", "a".repeat(LONGEST_ADDRESS));
        for wrong in
            ["", "ann", "@h", "ann@", "ann@h,", "ann@h\r\nBcc: eve@h", "Ann <ann@h>", "a b@h", long.as_str()]
        {
            assert!(mailboxes(wrong).is_err(), "{wrong}");
        }
        let many = vec!["a@h"; MOST_ADDRESSES + 1].join(",");
        assert!(mailboxes(&many).is_err());
    }
}
