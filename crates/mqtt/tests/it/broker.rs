//! A broker of packets: a thread that answers one connection. Packets are written here byte by byte, after the OASIS
//! standards, so that the client is not tested with its own library.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sotto_mqtt::{Broker, Options};

/// A packet that the broker has read: the first byte and the body.
pub(crate) type Packet = (u8, Vec<u8>);

/// Starts a broker that serves one connection by `serve`; returns options that lead to it.
pub(crate) fn start<T: Send + 'static>(
    serve: impl FnOnce(TcpStream) -> T + Send + 'static,
) -> (Options, JoinHandle<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let served = thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a client");
        serve(stream)
    });
    let broker = Broker { host: "127.0.0.1".to_owned(), port, tls: false };
    (Options { limit: Duration::from_secs(5), ..Options::new(broker, "tester") }, served)
}

/// Reads a packet; `None` at the end of the stream.
pub(crate) fn read(from: &mut impl Read) -> Option<Packet> {
    let mut byte = [0];
    from.read_exact(&mut byte).ok()?;
    let kind = byte[0];
    let mut length = 0;
    for shift in [0, 7, 14, 21] {
        from.read_exact(&mut byte).ok()?;
        length |= usize::from(byte[0] & 0x7F) << shift;
        if byte[0] & 0x80 == 0 {
            break;
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    Some((kind, body))
}

/// 2.2: a packet's kind and length before its body.
pub(crate) fn framed(kind: u8, body: &[u8]) -> Vec<u8> {
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

/// 3.3: PUBLISH with QoS 1; of version 5 with no properties.
pub(crate) fn message(topic: &str, id: u16, payload: &[u8], is_v5: bool, flags: u8) -> Vec<u8> {
    let mut body = (topic.len() as u16).to_be_bytes().to_vec();
    body.extend(topic.as_bytes());
    body.extend(id.to_be_bytes());
    if is_v5 {
        body.push(0);
    }
    body.extend(payload);
    framed(0x32 | flags, &body)
}

/// 3.2: CONNACK that accepts.
pub(crate) fn accept(stream: &mut TcpStream, is_v5: bool) -> Packet {
    let connect = read(stream).expect("CONNECT");
    let packet: &[u8] = if is_v5 { &[0x20, 3, 0, 0, 0] } else { &[0x20, 2, 0, 0] };
    stream.write_all(packet).expect("written");
    connect
}
