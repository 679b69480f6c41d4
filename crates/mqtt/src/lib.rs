//! A client of MQTT 3.1.1 and 5.
//!
//! The protocol is the crate mqtt-protocol-core's, which does no I/O; sockets are the standard library's, TLS is rustls with
//! ring, as everywhere here. A [`Connection`] blocks, belongs to one thread, and acknowledges a message when its reader says
//! so: not before the readings in it are durable. It does not reconnect: its owner opens another one, with the same session.
//!
//! ```no_run
//! use std::time::Duration;
//! use sotto_mqtt::{Connection, Options};
//!
//! let options = Options::new("mqtt://broker.local".parse()?, "farm-agent");
//! let mut connection = Connection::open(&options)?;
//! connection.subscribe(&["zigbee2mqtt/#".to_owned()])?;
//! while let Some(message) = connection.next(Duration::from_secs(5))? {
//!     println!("{}: {} bytes", message.topic, message.payload.len());
//!     connection.acknowledge(&message)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod broker;
mod connection;
mod error;
mod message;
mod options;
mod packets;
mod received;
mod socket;
mod timers;

pub use broker::{Broker, NotABroker};
pub use connection::Connection;
pub use error::MqttError;
pub use message::Message;
pub use options::{Login, Options, Version};

/// Maximum length of a packet that is received, in bytes.
pub const LONGEST_PACKET: u32 = 4 << 20;
