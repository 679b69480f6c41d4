//! A topic of an MQTT broker as a sink of events: one connection for each message, with QoS 1.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use sotto_http::Trust;
use sotto_mqtt::{Broker, Connection, Login, Options};
use sotto_owner::alarm::MqttAddress;
use zeroize::Zeroizing;

/// Number of connections that this process has made.
static CONNECTIONS: AtomicU32 = AtomicU32::new(0);

/// Publishes a message and waits for the broker's acknowledgement. `again` says that it may have been published before.
///
/// # Errors
/// The reason, if the broker is away, refuses, or does not acknowledge within `limit`.
pub(super) fn publish(
    address: &MqttAddress,
    trust: &Trust,
    message: &[u8],
    again: bool,
    limit: Duration,
) -> Result<(), String> {
    let MqttAddress { host, port, tls, user, password, topic } = address;
    // A broker ends the connection of a client whose name another one takes: each has its own.
    let number = CONNECTIONS.fetch_add(1, Ordering::Relaxed);
    let client = format!("sotto{}x{number}", std::process::id());
    let broker = Broker { host: host.clone(), port: *port, tls: *tls };
    let login = |user: &String| Login { user: user.clone(), password: password.clone().map(Zeroizing::new) };
    let options = Options {
        login: user.as_ref().map(login),
        trust: trust.clone(),
        limit,
        ..Options::new(broker, &client)
    };
    let published = Connection::open(&options).and_then(|mut connection| {
        connection.publish(topic, message, again)?;
        connection.close();
        Ok(())
    });
    published.map_err(|error| error.to_string())
}
