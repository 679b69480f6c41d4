//! Connections, messages and acknowledgements of both versions.

use std::io::Write;
use std::time::{Duration, Instant};

use sotto_mqtt::{Connection, Login, MqttError, Options, Version};

use super::broker::{Packet, accept, message, read, start};

#[test]
fn a_message_is_published_once_it_is_acknowledged() {
    let (options, served) = start(|mut stream| {
        let mut packets = vec![accept(&mut stream, false), read(&mut stream).expect("PUBLISH")];
        // An acknowledgement of another message is not taken for this one's; of a wrong id the client has nothing open.
        stream.write_all(&[0x40, 2, 0, 1]).expect("written");
        packets.extend(read(&mut stream));
        packets
    });
    let login = Login { user: "farm".to_owned(), password: Some("word".to_owned().into()) };
    let mut connection = Connection::open(&Options { login: Some(login), ..options }).expect("accepted");
    let payload = "x".repeat(300);
    connection.publish("farm/hot", payload.as_bytes(), true).expect("published");
    connection.close();
    let packets = served.join().expect("the broker ends");
    let (connect, publish) = (&packets[0], &packets[1]);
    assert_eq!((connect.0, &connect.1[..10]), (0x10, &b"\0\x04MQTT\x04\xC2\0\x1E"[..]));
    assert!(connect.1.ends_with(b"\0\x04farm\0\x04word"));
    assert_eq!((publish.0, &publish.1[..12]), (0x3A, &b"\0\x08farm/hot\0\x01"[..]));
    assert_eq!(&publish.1[12..], payload.as_bytes());
    assert_eq!(packets[2], (0xE0, Vec::new()));
}

#[test]
fn refusals_are_told() {
    for (version, answer, says) in [
        (Version::V3, &[0x20, 2, 0, 4][..], "user and password"),
        (Version::V3, &[0x20, 2, 0, 5], "does not allow"),
        (Version::V5, &[0x20, 3, 0, 0x86, 0], "user and password"),
        (Version::V5, &[0x20, 3, 0, 0x84, 0], "MQTT 5"),
    ] {
        let (options, _) = start(move |mut stream| {
            read(&mut stream);
            stream.write_all(answer).expect("written");
            // The client reads the answer before the end of the stream.
            read(&mut stream);
        });
        let refused = Connection::open(&Options { version, ..options }).expect_err("refused");
        assert!(
            matches!(refused, MqttError::Refused { .. }) && refused.to_string().contains(says),
            "{refused}"
        );
    }
}

#[test]
fn silence_has_a_limit() {
    let (options, _) = start(|mut stream| while read(&mut stream).is_some() {});
    let begin = Instant::now();
    let silent =
        Connection::open(&Options { limit: Duration::from_millis(200), ..options }).expect_err("silent");
    assert!(matches!(silent, MqttError::Silent { .. }), "{silent}");
    assert!(begin.elapsed() < Duration::from_secs(5));
}

#[test]
fn messages_are_acknowledged_when_their_reader_says_so() {
    for version in [Version::V3, Version::V5] {
        let is_v5 = version == Version::V5;
        let (options, served) = start(move |mut stream| {
            accept(&mut stream, is_v5);
            let subscribe = read(&mut stream).expect("SUBSCRIBE");
            let (high, low) = (subscribe.1[0], subscribe.1[1]);
            let answer: &[u8] = if is_v5 { &[0x90, 4, high, low, 0, 1] } else { &[0x90, 3, high, low, 1] };
            stream.write_all(answer).expect("written");
            stream.write_all(&message("a/b", 7, b"21.5", is_v5, 0)).expect("written");
            stream.write_all(&message("a/c", 8, b"x", is_v5, 1)).expect("written");
            stream.set_read_timeout(Some(Duration::from_millis(300))).expect("set");
            let early: Option<Packet> = read(&mut stream);
            stream.write_all(&message("a/d", 9, b"go", is_v5, 0)).expect("written");
            stream.set_read_timeout(Some(Duration::from_secs(5))).expect("set");
            (subscribe, early, read(&mut stream), read(&mut stream))
        });
        let mut connection =
            Connection::open(&Options { version, session: true, ..options }).expect("accepted");
        connection.subscribe(&["a/+".to_owned()]).expect("granted");
        let wait = Duration::from_secs(5);
        let mut next = || connection.next(wait).expect("connected").expect("a message");
        let (first, second, third) = (next(), next(), next());
        assert_eq!((&*first.topic, &*first.payload, first.retained), ("a/b", &b"21.5"[..], false));
        assert!(second.retained && third.topic == "a/d");
        assert!(!format!("{first:?}").contains("21.5"));
        connection.acknowledge(&second).expect("connected");
        connection.acknowledge(&first).expect("connected");
        let (subscribe, early, one, other) = served.join().expect("the broker ends");
        assert_eq!(subscribe.0, 0x82);
        assert!(early.is_none(), "{early:?}");
        assert_eq!(
            (one.map(|packet| packet.1), other.map(|packet| packet.1)),
            (Some(vec![0, 8]), Some(vec![0, 7]))
        );
    }
}

#[test]
fn a_filter_that_is_not_granted_is_named() {
    let (options, _) = start(|mut stream| {
        accept(&mut stream, false);
        let subscribe = read(&mut stream).expect("SUBSCRIBE");
        stream.write_all(&[0x90, 4, subscribe.1[0], subscribe.1[1], 1, 0x80]).expect("written");
        read(&mut stream);
    });
    let mut connection = Connection::open(&options).expect("accepted");
    let refused = connection.subscribe(&["a".to_owned(), "b/#".to_owned()]).expect_err("refused");
    assert!(refused.to_string().ends_with("b/#"), "{refused}");
}

#[test]
fn a_silent_broker_is_asked_for_an_answer() {
    let (options, served) = start(|mut stream| {
        accept(&mut stream, false);
        let first = read(&mut stream);
        // No answer to the question: the client gives up.
        (first, read(&mut stream))
    });
    let options =
        Options { keep_alive: Duration::from_secs(1), limit: Duration::from_millis(500), ..options };
    let mut connection = Connection::open(&options).expect("accepted");
    let ended = connection.next(Duration::from_secs(20)).expect_err("silent");
    assert!(matches!(ended, MqttError::Silent { .. }), "{ended}");
    drop(connection);
    let (asked, rest) = served.join().expect("the broker ends");
    assert_eq!((asked, rest), (Some((0xC0, Vec::new())), None));
}
