//! A connection: messages in and out.

use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, Instant};

use mqtt_protocol_core::mqtt::common::Cursor;
use mqtt_protocol_core::mqtt::connection::{Connection as Protocol, ConnectionOptions, Event};
use mqtt_protocol_core::mqtt::packet::{GenericPacketTrait as _, Packet};
use mqtt_protocol_core::mqtt::result_code::MqttError as Fault;
use mqtt_protocol_core::mqtt::{self, role};

use crate::message::Message;
use crate::received::Received;
use crate::socket::Socket;
use crate::timers::Timers;
use crate::{LONGEST_PACKET, MqttError, Options, Version, packets};

/// Messages that a broker may send before the first of them is acknowledged: version 5 tells it so.
const IN_FLIGHT: u16 = 1000;
/// Bytes that are read at once.
const BUFFER: usize = 16 << 10;

/// A connection to a broker. Every error ends it.
///
/// ```no_run
/// use std::time::Duration;
/// use sotto_mqtt::{Connection, Message, Options};
///
/// let mut connection = Connection::open(&Options::new("mqtt://broker.local".parse()?, "agent"))?;
/// connection.publish("farm/alarms", b"hot", false)?;
/// connection.subscribe(&["farm/+".to_owned()])?;
/// let message: Option<Message> = connection.next(Duration::from_secs(1))?;
/// connection.close();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Connection {
    broker: String,
    version: Version,
    limit: Duration,
    socket: Socket,
    protocol: Protocol<role::Client>,
    timers: Timers,
    buffer: Vec<u8>,
    messages: VecDeque<Message>,
    answers: VecDeque<Received>,
    session_kept: bool,
}

impl Connection {
    /// Connects, with TLS if the broker's address says so, and waits for the broker's answer.
    ///
    /// # Errors
    /// [`MqttError`] if the broker is away, refuses, or does not answer within the limit.
    pub fn open(options: &Options) -> Result<Self, MqttError> {
        let broker = options.broker.to_string();
        let socket = Socket::connect(options).map_err(|error| match error.kind() {
            std::io::ErrorKind::TimedOut | std::io::ErrorKind::WouldBlock => {
                MqttError::Silent { broker: broker.clone(), seconds: options.limit.as_secs() }
            }
            _ => MqttError::Away { broker: broker.clone(), reason: error.to_string() },
        })?;
        let mut limits = ConnectionOptions::new().maximum_packet_size_recv(LONGEST_PACKET);
        let version = match options.version {
            Version::V3 => mqtt::Version::V3_1_1,
            Version::V5 => {
                limits = limits.receive_maximum(IN_FLIGHT);
                mqtt::Version::V5_0
            }
        };
        let mut protocol = Protocol::with_options(version, limits);
        protocol.set_pingresp_recv_timeout(u64::try_from(options.limit.as_millis()).unwrap_or(u64::MAX));
        let mut connection = Self {
            broker,
            version: options.version,
            limit: options.limit,
            socket,
            protocol,
            timers: Timers::default(),
            buffer: vec![0; BUFFER],
            messages: VecDeque::new(),
            answers: VecDeque::new(),
            session_kept: false,
        };
        connection.send(packets::connect(options)?)?;
        match connection.answer(|answer| matches!(answer, Received::Accepted(_) | Received::Refused(_)))? {
            Received::Accepted(session_kept) => connection.session_kept = session_kept,
            Received::Refused(reason) => {
                return Err(MqttError::Refused { broker: connection.broker, reason });
            }
            _ => return Err(connection.not_mqtt("no answer to the connection")),
        }
        Ok(connection)
    }

    /// Returns true if the broker had kept subscriptions and messages of an earlier connection.
    #[must_use]
    pub fn session_kept(&self) -> bool {
        self.session_kept
    }

    /// Subscribes to filters with QoS 1, and waits for the answer.
    ///
    /// # Errors
    /// [`MqttError::Refused`] names a filter that the broker does not grant.
    pub fn subscribe(&mut self, filters: &[String]) -> Result<(), MqttError> {
        let id = self.packet_id()?;
        self.send(packets::subscribe(self.version, id, filters)?)?;
        let answer = self.answer(|answer| matches!(answer, Received::Subscribed(of, _) if *of == id))?;
        let Received::Subscribed(_, granted) = answer else { return Ok(()) };
        if granted.len() != filters.len() {
            return Err(self.not_mqtt("an answer to other filters"));
        }
        match granted.iter().position(|granted| !granted) {
            Some(refused) => {
                let reason =
                    format!("the broker does not allow this user to subscribe to {}", filters[refused]);
                Err(MqttError::Refused { broker: self.broker.clone(), reason })
            }
            None => Ok(()),
        }
    }

    /// Returns the next message; `None` if none comes within `wait`. Keeps the connection alive meanwhile.
    ///
    /// # Errors
    /// [`MqttError`] if the connection ends.
    pub fn next(&mut self, wait: Duration) -> Result<Option<Message>, MqttError> {
        let until = Instant::now() + wait;
        loop {
            if let Some(message) = self.messages.pop_front() {
                return Ok(Some(message));
            }
            self.answers.clear();
            let left = until.saturating_duration_since(Instant::now());
            if !self.receive(left)? && left.is_zero() {
                return Ok(None);
            }
        }
    }

    /// Acknowledges a message: the broker forgets it.
    ///
    /// # Errors
    /// [`MqttError`] if the connection ends.
    pub fn acknowledge(&mut self, message: &Message) -> Result<(), MqttError> {
        match message.acknowledgement {
            Some(id) => self.send(packets::acknowledgement(self.version, id)?),
            None => Ok(()),
        }
    }

    /// Publishes a message with QoS 1, and waits for its acknowledgement. `again` says that it may have been published
    /// before.
    ///
    /// # Errors
    /// [`MqttError`] if the broker does not acknowledge it within the limit.
    pub fn publish(&mut self, topic: &str, payload: &[u8], again: bool) -> Result<(), MqttError> {
        let id = self.packet_id()?;
        self.send(packets::publish(self.version, id, topic, payload, again)?)?;
        match self.answer(|answer| matches!(answer, Received::Acknowledged(of, _) if *of == id))? {
            Received::Acknowledged(_, Some(reason)) => {
                Err(MqttError::Refused { broker: self.broker.clone(), reason })
            }
            _ => Ok(()),
        }
    }

    /// Ends the connection in order: the broker publishes no will, and keeps the session if it has one.
    pub fn close(mut self) {
        if let Ok(packet) = packets::disconnect(self.version) {
            let _ = self.send(packet);
        }
        self.socket.close();
    }

    fn packet_id(&mut self) -> Result<u16, MqttError> {
        self.protocol.acquire_packet_id().map_err(|_| self.not_mqtt("it acknowledges nothing"))
    }

    /// Waits for an answer. Other answers are dropped; messages wait.
    fn answer(&mut self, is_it: impl Fn(&Received) -> bool) -> Result<Received, MqttError> {
        let until = Instant::now() + self.limit;
        loop {
            while let Some(answer) = self.answers.pop_front() {
                if is_it(&answer) {
                    return Ok(answer);
                }
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(MqttError::Silent { broker: self.broker.clone(), seconds: self.limit.as_secs() });
            }
            self.receive(left)?;
        }
    }

    fn send(&mut self, packet: Packet) -> Result<(), MqttError> {
        let events = self.protocol.send(packet);
        self.handle(events)
    }

    /// Reads once, for at most `wait`; returns true if something came.
    fn receive(&mut self, wait: Duration) -> Result<bool, MqttError> {
        if let Some(kind) = self.timers.due() {
            let events = self.protocol.notify_timer_fired(kind);
            self.handle(events)?;
        }
        let wait = self.timers.next().map_or(wait, |next| next.min(wait));
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = self.socket.read(&mut buffer, wait);
        let handled = match read {
            Ok(Some(count)) => self.take_in(&buffer[..count]).map(|()| true),
            Ok(None) => Ok(false),
            Err(error) => Err(MqttError::Away { broker: self.broker.clone(), reason: error.to_string() }),
        };
        self.buffer = buffer;
        handled
    }

    fn take_in(&mut self, bytes: &[u8]) -> Result<(), MqttError> {
        let mut cursor = Cursor::new(bytes);
        while (cursor.position() as usize) < bytes.len() {
            let events = self.protocol.recv(&mut cursor);
            self.handle(events)?;
        }
        Ok(())
    }

    fn handle(&mut self, events: Vec<Event>) -> Result<(), MqttError> {
        let mut ended = None;
        for event in events {
            match event {
                Event::RequestSendPacket { packet, .. } => {
                    self.socket.write(&packet.to_continuous_buffer()).map_err(|error| MqttError::Away {
                        broker: self.broker.clone(),
                        reason: error.to_string(),
                    })?;
                }
                Event::NotifyPacketReceived(packet) => match Received::from(packet) {
                    Received::Message(message) => self.messages.push_back(message),
                    Received::Ended(reason) => {
                        ended = Some(MqttError::Away { broker: self.broker.clone(), reason });
                    }
                    Received::Forbidden(reason) => return Err(self.not_mqtt(reason)),
                    Received::Other => {}
                    answer => self.answers.push_back(answer),
                },
                Event::NotifyError(fault) => ended = Some(self.fault(fault)),
                Event::RequestClose => {
                    let silent =
                        || MqttError::Silent { broker: self.broker.clone(), seconds: self.limit.as_secs() };
                    ended = ended.or_else(|| Some(silent()));
                }
                Event::RequestTimerReset { kind, duration_ms } => self.timers.set(kind, duration_ms),
                Event::RequestTimerCancel(kind) => self.timers.cancel(kind),
                Event::NotifyPacketIdReleased(_) => {}
            }
        }
        match ended {
            // An answer that came before the end is read first.
            Some(_) if self.answers.iter().any(|answer| matches!(answer, Received::Refused(_))) => Ok(()),
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn fault(&self, fault: Fault) -> MqttError {
        match fault {
            Fault::PacketTooLarge => self.not_mqtt("a packet of more than 4 MiB"),
            fault => self.not_mqtt(&format!("{fault:?}")),
        }
    }

    fn not_mqtt(&self, reason: &str) -> MqttError {
        MqttError::NotMqtt { broker: self.broker.clone(), reason: reason.to_owned() }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Connection({})", self.broker)
    }
}
