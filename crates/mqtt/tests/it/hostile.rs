//! Brokers that lie: lengths, kinds, versions, and bytes of any form. Nothing panics, and memory is bounded.

use std::io::Write;
use std::time::Duration;

use proptest::prelude::*;
use sotto_mqtt::{Connection, MqttError, Options, Version};

use super::broker::{accept, framed, message, read, start};

/// Returns the end of a connection to which a broker sends these bytes.
fn after(version: Version, bytes: Vec<u8>) -> Result<usize, MqttError> {
    let is_v5 = version == Version::V5;
    let (options, served) = start(move |mut stream| {
        accept(&mut stream, is_v5);
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        while read(&mut stream).is_some() {}
    });
    let mut connection = Connection::open(&Options { version, ..options })?;
    let mut messages = 0;
    let ended = loop {
        match connection.next(Duration::from_secs(5)) {
            Ok(Some(_)) => messages += 1,
            Ok(None) => break Ok(messages),
            Err(MqttError::Away { .. }) => break Ok(messages),
            Err(error) => break Err(error),
        }
    };
    drop(connection);
    served.join().expect("the broker ends");
    ended
}

#[test]
fn packets_that_a_broker_may_not_send_end_the_connection() {
    for version in [Version::V3, Version::V5] {
        for packet in [
            // A length of 256 MiB, without its bytes.
            vec![0x30, 0xFF, 0xFF, 0xFF, 0x7F],
            // A length of five bytes.
            vec![0x30, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
            // Kinds of a client, and none.
            framed(0x10, b"\0\x04MQTT\x04\x02\0\x1E\0\0"),
            framed(0x82, &[0, 1, 0, 1, b'a', 0]),
            framed(0x00, &[]),
            // A topic that is longer than its packet, and one that is no UTF-8.
            framed(0x32, &[0xFF, 0xFF, b'a']),
            framed(0x32, &[0, 1, 0xFF, 0, 1, 0]),
            // QoS 3 and QoS 2.
            framed(0x36, b"\0\x01a\0\x01x"),
            message("a", 1, b"x", version == Version::V5, 0x06),
        ] {
            let ended = after(version, packet.clone());
            assert!(matches!(ended, Err(MqttError::NotMqtt { .. })), "{version:?} {packet:?}: {ended:?}");
        }
    }
}

#[test]
fn a_hundred_thousand_messages_pass_through_one_buffer() {
    let bytes: Vec<u8> = (0..100_000_u32).flat_map(|_| framed(0x30, b"\0\x01a1")).collect();
    assert_eq!(after(Version::V3, bytes), Ok(100_000));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_bytes_make_the_client_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), is_v5: bool) {
        let _ = after(if is_v5 { Version::V5 } else { Version::V3 }, bytes);
    }

    #[test]
    fn no_properties_make_the_client_panic(
        kind in prop::sample::select(vec![0x20_u8, 0x30, 0x32, 0x40, 0x90, 0xE0]),
        body in prop::collection::vec(prop::sample::select(vec![0_u8, 1, 2, 3, 17, 33, 39, 35, 31, 38, 255]), 0..20),
    ) {
        let _ = after(Version::V5, framed(kind, &body));
    }
}
