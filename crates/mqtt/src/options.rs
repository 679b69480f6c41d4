//! Options of a connection.

use std::fmt;
use std::time::Duration;

use sotto_http::Trust;
use zeroize::Zeroizing;

use crate::Broker;

/// The version of the protocol.
///
/// Example: [`Options`]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// 3.1.1, which every broker knows.
    #[default]
    V3,
    /// 5.
    V5,
}

/// A user and its password, which is wiped when dropped. `Debug` shows neither.
///
/// Example: [`Options`]
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// The user.
    pub user: String,
    /// The password, if the user has one.
    pub password: Option<Zeroizing<String>>,
}

impl fmt::Debug for Login {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Login")
    }
}

/// The broker, and how to connect to it.
///
/// ```
/// use sotto_mqtt::{Login, Options, Version};
///
/// let login = Login { user: "farm".to_owned(), password: None };
/// let options = Options { login: Some(login), version: Version::V5, ..Options::new("mqtt://[::1]".parse()?, "agent") };
/// assert!(!options.session, "a new session at each connection");
/// # Ok::<(), sotto_mqtt::NotABroker>(())
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    /// The broker.
    pub broker: Broker,
    /// The client's name. A broker ends the connection of a client whose name another one takes.
    pub client: String,
    /// User and password.
    pub login: Option<Login>,
    /// The authorities that may sign the broker's certificate.
    pub trust: Trust,
    /// The version of the protocol.
    pub version: Version,
    /// True if the broker keeps subscriptions and messages between connections: for a week with version 5.
    pub session: bool,
    /// The longest time without a packet, after which the broker is asked for one.
    pub keep_alive: Duration,
    /// The time limit of each answer.
    pub limit: Duration,
}

impl Options {
    /// Creates options without a login and a session, for a broker of Mozilla's authorities, with version 3.1.1.
    #[must_use]
    pub fn new(broker: Broker, client: &str) -> Self {
        Self {
            broker,
            client: client.to_owned(),
            login: None,
            trust: Trust::default(),
            version: Version::default(),
            session: false,
            keep_alive: Duration::from_secs(30),
            limit: Duration::from_secs(10),
        }
    }
}
