//! Packets that are sent, of both versions.

use mqtt_protocol_core::mqtt::packet::{
    Packet, Property, Qos, RetainHandling, SessionExpiryInterval, SubEntry, SubOpts, v3_1_1, v5_0,
};
use mqtt_protocol_core::mqtt::result_code::MqttError as Fault;

use crate::{MqttError, Options, Version};

/// For how long a broker keeps a session of version 5 between connections, in seconds: a week.
const SESSION: u32 = 7 * 86_400;

/// Returns CONNECT.
pub(crate) fn connect(options: &Options) -> Result<Packet, MqttError> {
    let unsendable = |what: &'static str| move |_: Fault| MqttError::Unsendable(what);
    let seconds = u16::try_from(options.keep_alive.as_secs()).unwrap_or(u16::MAX);
    let login = options.login.as_ref();
    let user = login.map(|login| login.user.as_str());
    let password =
        login.and_then(|login| login.password.as_ref()).map(|password| password.as_bytes().to_vec());
    macro_rules! filled {
        ($builder:expr) => {{
            let mut builder =
                $builder.client_id(options.client.as_str()).map_err(unsendable("the client's name"))?;
            if let Some(user) = user {
                builder = builder.user_name(user).map_err(unsendable("the user"))?;
            }
            if let Some(password) = password.clone() {
                builder = builder.password(password).map_err(unsendable("the password"))?;
            }
            builder.keep_alive(seconds)
        }};
    }
    match options.version {
        Version::V3 => {
            let builder = filled!(v3_1_1::Connect::builder()).clean_session(!options.session);
            builder.build().map(Packet::from).map_err(unsendable("the login"))
        }
        Version::V5 => {
            let mut builder = filled!(v5_0::Connect::builder()).clean_start(!options.session);
            if options.session {
                let expiry = SessionExpiryInterval::new(SESSION).map_err(unsendable("the session"))?;
                builder = builder.props(vec![Property::SessionExpiryInterval(expiry)]);
            }
            builder.build().map(Packet::from).map_err(unsendable("the login"))
        }
    }
}

/// Returns SUBSCRIBE with QoS 1. Version 5 gives retained messages only to a new subscription.
pub(crate) fn subscribe(version: Version, id: u16, filters: &[String]) -> Result<Packet, MqttError> {
    let unsendable = |_: Fault| MqttError::Unsendable("a filter of topics");
    let mut options = SubOpts::new().set_qos(Qos::AtLeastOnce);
    if version == Version::V5 {
        options = options.set_rh(RetainHandling::SendRetainedIfNotExists);
    }
    let entries = filters.iter().map(|filter| SubEntry::new(filter.as_str(), options));
    let entries = entries.collect::<Result<Vec<_>, Fault>>().map_err(unsendable)?;
    match version {
        Version::V3 => v3_1_1::Subscribe::builder()
            .packet_id(id)
            .entries(entries)
            .build()
            .map(Packet::from)
            .map_err(unsendable),
        Version::V5 => v5_0::Subscribe::builder()
            .packet_id(id)
            .entries(entries)
            .build()
            .map(Packet::from)
            .map_err(unsendable),
    }
}

/// Returns PUBLISH with QoS 1.
pub(crate) fn publish(
    version: Version,
    id: u16,
    topic: &str,
    payload: &[u8],
    again: bool,
) -> Result<Packet, MqttError> {
    let unsendable = |_: Fault| MqttError::Unsendable("a message");
    macro_rules! filled {
        ($builder:expr) => {
            $builder
                .topic_name(topic)
                .map_err(unsendable)?
                .qos(Qos::AtLeastOnce)
                .packet_id(id)
                .dup(again)
                .payload(payload)
                .build()
                .map(Packet::from)
                .map_err(unsendable)
        };
    }
    match version {
        Version::V3 => filled!(v3_1_1::Publish::builder()),
        Version::V5 => filled!(v5_0::Publish::builder()),
    }
}

/// Returns PUBACK.
pub(crate) fn acknowledgement(version: Version, id: u16) -> Result<Packet, MqttError> {
    let unsendable = |_: Fault| MqttError::Unsendable("an acknowledgement");
    match version {
        Version::V3 => v3_1_1::Puback::builder().packet_id(id).build().map(Packet::from).map_err(unsendable),
        Version::V5 => v5_0::Puback::builder().packet_id(id).build().map(Packet::from).map_err(unsendable),
    }
}

/// Returns DISCONNECT.
pub(crate) fn disconnect(version: Version) -> Result<Packet, MqttError> {
    let unsendable = |_: Fault| MqttError::Unsendable("the end");
    match version {
        Version::V3 => v3_1_1::Disconnect::builder().build().map(Packet::from).map_err(unsendable),
        Version::V5 => v5_0::Disconnect::builder().build().map(Packet::from).map_err(unsendable),
    }
}
