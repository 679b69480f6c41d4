//! A topic of an MQTT broker as a sink of events: a client of version 3.1.1 that publishes one message with QoS 1.
//!
//! An event takes five packets, which are written here: a client library with its own runtime, queue and reconnection
//! would repeat the outbox. References are to the OASIS standard, MQTT 3.1.1.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use sotto_http::Trust;
use sotto_owner::alarm::MqttAddress;

/// Number of connections that this process has made.
static CONNECTIONS: AtomicU32 = AtomicU32::new(0);

/// The packet id of the only message of a connection.
const ID: [u8; 2] = [0, 1];
/// Largest packet that is read, in bytes: answers to a publisher have at most 4.
const LARGEST: usize = 1024;

trait Connection: Read + Write {}
impl<C: Read + Write> Connection for C {}

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
    let begin = Instant::now();
    let left = || {
        let left = limit.saturating_sub(begin.elapsed());
        if left.is_zero() {
            Err(format!("{} did not answer within {} s", address.host, limit.as_secs()))
        } else {
            Ok(left)
        }
    };
    let away = |error: std::io::Error| format!("{}:{}: {error}", address.host, address.port);
    let mut found = (address.host.as_str(), address.port).to_socket_addrs().map_err(away)?;
    let first = found.next().ok_or_else(|| format!("{} has no address", address.host))?;
    let stream = TcpStream::connect_timeout(&first, left()?).map_err(away)?;
    stream.set_nodelay(true).map_err(away)?;
    let timed = |stream: &TcpStream| {
        let left = left()?;
        stream.set_read_timeout(Some(left)).and_then(|()| stream.set_write_timeout(Some(left))).map_err(away)
    };
    timed(&stream)?;
    let socket = stream.try_clone().map_err(away)?;
    let mut connection: Box<dyn Connection> = if address.tls {
        let config = trust.client_config().map_err(|error| error.to_string())?;
        let name = rustls::pki_types::ServerName::try_from(address.host.clone())
            .map_err(|error| error.to_string())?;
        let tls = rustls::ClientConnection::new(Arc::new(config), name).map_err(|error| error.to_string())?;
        Box::new(rustls::StreamOwned::new(tls, stream))
    } else {
        Box::new(stream)
    };
    connection.write_all(&connect(address)).map_err(away)?;
    let (kind, answer) = packet(&mut connection).map_err(away)?;
    // 3.2: CONNACK with return code 0.
    match (kind & 0xF0, answer.get(1)) {
        (0x20, Some(0)) => {}
        (0x20, Some(code)) => return Err(refusal(*code)),
        _ => return Err("it does not answer in MQTT 3.1.1".to_owned()),
    }
    timed(&socket)?;
    connection.write_all(&message_of(&address.topic, message, again)).map_err(away)?;
    loop {
        timed(&socket)?;
        let (kind, answer) = packet(&mut connection).map_err(away)?;
        // 3.4: PUBACK.
        if kind & 0xF0 == 0x40 && answer == ID {
            break;
        }
    }
    // 3.14: DISCONNECT. The message is acknowledged, so that its loss is harmless.
    let _ = connection.write_all(&[0xE0, 0]).and_then(|()| connection.flush());
    Ok(())
}

/// 3.1: CONNECT with a clean session.
fn connect(address: &MqttAddress) -> Vec<u8> {
    let (user, password) = (&address.user, &address.password);
    let flags = 0x02 | if user.is_some() { 0x80 } else { 0 } | if password.is_some() { 0x40 } else { 0 };
    let mut body = text("MQTT");
    body.extend([4, flags, 0, 60]);
    // A broker ends the connection of a client whose name another one takes (3.1.4): each has its own.
    let number = CONNECTIONS.fetch_add(1, Ordering::Relaxed);
    body.extend(text(&format!("sotto{}x{number}", std::process::id())));
    user.iter().chain(password).for_each(|part| body.extend(text(part)));
    framed(0x10, &body)
}

/// 3.3: PUBLISH with QoS 1.
fn message_of(topic: &str, message: &[u8], again: bool) -> Vec<u8> {
    let mut body = text(topic);
    body.extend(ID);
    body.extend(message);
    framed(if again { 0x3A } else { 0x32 }, &body)
}

/// 1.5.3: a length of two bytes, then UTF-8. Longer texts are cut.
fn text(of: &str) -> Vec<u8> {
    let bytes = &of.as_bytes()[..of.len().min(usize::from(u16::MAX))];
    [&(bytes.len() as u16).to_be_bytes()[..], bytes].concat()
}

/// 2.2: a packet's kind and length before its body.
fn framed(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut packet = vec![kind];
    let mut left = body.len();
    loop {
        let more = left > 127;
        packet.push((left % 128) as u8 | if more { 0x80 } else { 0 });
        left /= 128;
        if !more {
            break;
        }
    }
    packet.extend(body);
    packet
}

/// Reads a packet: its kind and its body.
fn packet(from: &mut impl Read) -> std::io::Result<(u8, Vec<u8>)> {
    let mut byte = [0];
    from.read_exact(&mut byte)?;
    let kind = byte[0];
    let mut length = 0;
    for shift in [0, 7, 14, 21] {
        from.read_exact(&mut byte)?;
        length |= usize::from(byte[0] & 0x7F) << shift;
        if byte[0] & 0x80 == 0 {
            break;
        }
    }
    if length > LARGEST {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, "its packet is too long"));
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    Ok((kind, body))
}

/// 3.2.2.3: return codes.
fn refusal(code: u8) -> String {
    match code {
        1 => "the broker refuses MQTT 3.1.1".to_owned(),
        2 => "the broker refuses the client's name".to_owned(),
        3 => "the broker is not available".to_owned(),
        4 => "the broker refuses user and password".to_owned(),
        5 => "the broker does not allow this user to connect".to_owned(),
        code => format!("the broker refuses with code {code}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    /// The packets that a broker reads: kinds and bodies.
    type Packets = Vec<(u8, Vec<u8>)>;

    /// Answers one connection: a CONNACK with `code`, and PUBACK with `acknowledged` ids. Returns the packets read.
    fn broker(code: u8, acknowledged: &'static [[u8; 2]]) -> (MqttAddress, thread::JoinHandle<Packets>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let served = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let mut packets = vec![packet(&mut stream).expect("CONNECT")];
            stream.write_all(&[0x20, 2, 0, code]).expect("written");
            if let Ok(publish) = packet(&mut stream) {
                packets.push(publish);
                for id in acknowledged {
                    stream.write_all(&[0x40, 2, id[0], id[1]]).expect("written");
                }
                packets.extend(packet(&mut stream));
            }
            packets
        });
        (format!("mqtt://farm:word@127.0.0.1:{port}/farm/hot").parse().expect("an address"), served)
    }

    #[test]
    fn a_message_is_published_once_it_is_acknowledged() {
        // An acknowledgement of another message is not taken for this one's.
        let (address, served) = broker(0, &[[0, 9], [0, 1]]);
        let message = "x".repeat(300);
        let limit = Duration::from_secs(5);
        publish(&address, &Trust::default(), message.as_bytes(), true, limit).expect("published");
        let packets = served.join().expect("the broker ends");
        let (connect, publish) = (&packets[0], &packets[1]);
        assert_eq!((connect.0, &connect.1[..10]), (0x10, &b"\0\x04MQTT\x04\xC2\0\x3C"[..]));
        assert!(connect.1.ends_with(b"\0\x04farm\0\x04word"));
        assert_eq!((publish.0, &publish.1[..12]), (0x3A, &b"\0\x08farm/hot\0\x01"[..]));
        assert_eq!(&publish.1[12..], message.as_bytes());
        assert_eq!(packets[2], (0xE0, Vec::new()));
    }

    #[test]
    fn a_refusal_and_silence_are_failures() {
        let limit = Duration::from_millis(300);
        let (address, _) = broker(4, &[]);
        let refused = publish(&address, &Trust::default(), b"x", false, limit).expect_err("refused");
        assert!(refused.contains("user and password"), "{refused}");
        let (address, _) = broker(0, &[]);
        let begin = Instant::now();
        publish(&address, &Trust::default(), b"x", false, limit).expect_err("silent");
        assert!(begin.elapsed() < Duration::from_secs(3));
    }
}
