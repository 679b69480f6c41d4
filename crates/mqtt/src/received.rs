//! Packets that were received, of both versions.

use mqtt_protocol_core::mqtt::packet::{GenericPacketTrait as _, Packet, Qos};
use mqtt_protocol_core::mqtt::result_code::{ConnectReasonCode, ConnectReturnCode};

use crate::message::Message;

/// A packet of the broker.
pub(crate) enum Received {
    /// It accepts the connection; true if it has kept the session.
    Accepted(bool),
    Refused(String),
    /// The answers to the filters of a subscription; true for each that is granted.
    Subscribed(u16, Vec<bool>),
    /// It has a message; with the reason if it refuses it.
    Acknowledged(u16, Option<String>),
    Message(Message),
    /// It ends the connection.
    Ended(String),
    /// Nothing of interest.
    Other,
    /// A packet that it may not send.
    Forbidden(&'static str),
}

impl From<Packet> for Received {
    fn from(packet: Packet) -> Self {
        match packet {
            Packet::V3_1_1Connack(packet) => match packet.return_code() {
                ConnectReturnCode::Accepted => Self::Accepted(packet.session_present()),
                code => Self::Refused(refusal_of_v3(code).to_owned()),
            },
            Packet::V5_0Connack(packet) => match packet.reason_code() {
                ConnectReasonCode::Success => Self::Accepted(packet.session_present()),
                code => Self::Refused(refusal_of_v5(code)),
            },
            Packet::V3_1_1Suback(packet) => {
                let granted = packet.return_codes().iter().map(|code| code.is_success()).collect();
                Self::Subscribed(packet.packet_id(), granted)
            }
            Packet::V5_0Suback(packet) => {
                let granted = packet.reason_codes().iter().map(|code| code.is_success()).collect();
                Self::Subscribed(packet.packet_id(), granted)
            }
            Packet::V3_1_1Puback(packet) => Self::Acknowledged(packet.packet_id(), None),
            Packet::V5_0Puback(packet) => {
                let refused = packet.reason_code().filter(|code| code.is_failure());
                Self::Acknowledged(
                    packet.packet_id(),
                    refused.map(|code| format!("it refuses the message: {code:?}")),
                )
            }
            Packet::V3_1_1Publish(packet) => message(
                packet.topic_name(),
                packet.payload().as_slice(),
                packet.retain(),
                packet.qos(),
                packet.packet_id(),
            ),
            Packet::V5_0Publish(packet) => message(
                packet.topic_name(),
                packet.payload().as_slice(),
                packet.retain(),
                packet.qos(),
                packet.packet_id(),
            ),
            Packet::V5_0Disconnect(packet) => {
                let reason = packet.reason_code().map_or_else(String::new, |code| format!(": {code:?}"));
                Self::Ended(format!("the broker ends the connection{reason}"))
            }
            Packet::V3_1_1Pingresp(_) | Packet::V5_0Pingresp(_) => Self::Other,
            packet if packet.size() > 0 => {
                Self::Forbidden("a packet that a broker does not send to this client")
            }
            _ => Self::Other,
        }
    }
}

fn message(topic: &str, payload: &[u8], retained: bool, quality: Qos, id: Option<u16>) -> Received {
    let acknowledgement = match quality {
        Qos::AtMostOnce => None,
        Qos::AtLeastOnce => id,
        // The subscription asks for QoS 1 at most.
        Qos::ExactlyOnce => return Received::Forbidden("a message of QoS 2, for which nobody asked"),
    };
    Received::Message(Message {
        topic: topic.to_owned(),
        payload: payload.to_vec(),
        retained,
        acknowledgement,
    })
}

/// MQTT 3.1.1, 3.2.2.3.
fn refusal_of_v3(code: ConnectReturnCode) -> &'static str {
    match code {
        ConnectReturnCode::Accepted => "",
        ConnectReturnCode::UnacceptableProtocolVersion => "the broker refuses MQTT 3.1.1",
        ConnectReturnCode::IdentifierRejected => "the broker refuses the client's name",
        ConnectReturnCode::ServerUnavailable => "the broker is not available",
        ConnectReturnCode::BadUserNameOrPassword => "the broker refuses user and password",
        ConnectReturnCode::NotAuthorized => "the broker does not allow this user to connect",
    }
}

/// MQTT 5, 3.2.2.2.
fn refusal_of_v5(code: ConnectReasonCode) -> String {
    match code {
        ConnectReasonCode::UnsupportedProtocolVersion => "the broker refuses MQTT 5".to_owned(),
        ConnectReasonCode::ClientIdentifierNotValid => "the broker refuses the client's name".to_owned(),
        ConnectReasonCode::BadUserNameOrPassword => "the broker refuses user and password".to_owned(),
        ConnectReasonCode::NotAuthorized => "the broker does not allow this user to connect".to_owned(),
        code => format!("the broker refuses the connection: {code:?}"),
    }
}
