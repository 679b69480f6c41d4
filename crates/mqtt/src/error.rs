//! Errors of a connection.

/// The reason why a connection ended, or was not made.
///
/// ```no_run
/// use sotto_mqtt::{Connection, MqttError, Options};
///
/// let options = Options::new("mqtt://broker.local".parse()?, "farm-agent");
/// match Connection::open(&options) {
///     Err(MqttError::Refused { reason, .. }) => println!("{reason}: look at the broker's list of users"),
///     other => drop(other?),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MqttError {
    /// The broker cannot be reached, or the connection broke.
    #[error("{broker}: {reason}")]
    Away {
        /// The broker.
        broker: String,
        /// The reason.
        reason: String,
    },
    /// The broker did not answer in time.
    #[error("{broker} did not answer within {seconds} s")]
    Silent {
        /// The broker.
        broker: String,
        /// The limit.
        seconds: u64,
    },
    /// The broker refuses.
    #[error("{broker}: {reason}")]
    Refused {
        /// The broker.
        broker: String,
        /// The reason.
        reason: String,
    },
    /// The broker sends packets that the protocol forbids, or too long ones.
    #[error("{broker} does not keep to MQTT: {reason}")]
    NotMqtt {
        /// The broker.
        broker: String,
        /// The reason.
        reason: String,
    },
    /// A name, a topic or a message cannot be sent.
    #[error("{0} cannot be sent by MQTT: it is too long, or has characters that the protocol forbids")]
    Unsendable(&'static str),
}
