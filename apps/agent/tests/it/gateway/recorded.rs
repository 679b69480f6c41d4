//! Requests recorded from senders, with the readings that they state.

use std::io::Write as _;
use std::net::TcpStream;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::farm::{Farm, Gateway, HOUR, PERIOD, answer, recorded};

/// Sends a recorded request.
fn send(gateway: &Gateway, name: &str) -> (u16, String) {
    let text = String::from_utf8(recorded(name)).unwrap();
    let (head, body) = text.split_once("\n\n").unwrap();
    let mut lines = head.lines();
    let first: Vec<&str> = lines.next().unwrap().split(' ').collect();
    let headers: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(": ")).collect();
    let headers: Vec<_> = headers.into_iter().filter(|(name, _)| *name != "Host").collect();
    let body = match headers.contains(&("Content-Encoding", "gzip")) {
        true => gzip(body.as_bytes()),
        false => body.as_bytes().to_vec(),
    };
    match headers.contains(&("Transfer-Encoding", "chunked")) {
        true => send_in_chunks(gateway, first[1], &headers, &body),
        false => gateway.request(first[0], first[1], &headers, &body),
    }
}

/// Posts a body whose length the head does not say.
fn send_in_chunks(gateway: &Gateway, path: &str, headers: &[(&str, &str)], body: &[u8]) -> (u16, String) {
    let mut request = format!("POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n").into_bytes();
    headers.iter().for_each(|(name, value)| request.extend(format!("{name}: {value}\r\n").bytes()));
    request.extend(b"\r\n");
    for chunk in body.chunks(50) {
        request.extend(format!("{:x}\r\n", chunk.len()).bytes());
        request.extend([chunk, b"\r\n"].concat());
    }
    request.extend(b"0\r\n\r\n");
    let mut stream = TcpStream::connect(&gateway.address).unwrap();
    stream.write_all(&request).unwrap();
    answer(stream).expect("an answer")
}

/// Fails unless the spools have these readings alone: device, channel, second of the hour, value.
fn assert_readings(farm: &Farm, expected: &[(&str, &str, i64, f64)]) {
    let expected = expected.iter().map(|(device, channel, second, value)| {
        (((*device).to_owned(), (*channel).to_owned(), HOUR + second * PERIOD), *value)
    });
    assert_eq!(farm.readings().into_iter().collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn telegrafs_requests_give_their_readings() {
    let farm = Farm::new(&[("boiler", &["flow", "back"]), ("oven", &["flow"])]);
    let gateway = farm.start(&[]);
    let (status, created) = send(&gateway, "telegraf-create.http");
    let created: serde_json::Value = serde_json::from_str(&created).unwrap();
    assert_eq!((status, created), (200, serde_json::json!({ "results": [{ "statement_id": 0 }] })));
    assert_eq!(send(&gateway, "telegraf-write.http"), (204, String::new()));
    // Telegraf repeats a request whose answer it did not get.
    assert_eq!(send(&gateway, "telegraf-write.http"), (204, String::new()));
    assert_eq!(send(&gateway, "telegraf-write-2.http"), (204, String::new()));
    assert!(gateway.stop().0.success());
    let expected = [
        ("boiler", "back", 0, 48.25),
        ("boiler", "back", 10, 48.5),
        ("boiler", "flow", 0, 61.5),
        ("boiler", "flow", 10, 61.75),
        ("boiler", "flow", 20, 62.0),
        ("oven", "flow", 10, 180.0),
    ];
    assert_readings(&farm, &expected);
}

#[test]
fn home_assistants_requests_give_their_readings() {
    let farm = Farm::new(&[("tank", &["top", "bottom"]), ("well-pump", &["load"])]);
    let gateway = farm.start(&[]);
    assert_eq!(send(&gateway, "home-assistant-empty.http"), (204, String::new()));
    assert_eq!(send(&gateway, "home-assistant-1.http"), (204, String::new()));
    assert_eq!(send(&gateway, "home-assistant-2.http"), (204, String::new()));
    assert!(gateway.stop().0.success());
    let expected = [
        // 104 °F.
        ("tank", "bottom", 0, 40.0),
        ("tank", "bottom", 60, 1.0),
        ("tank", "top", 0, 58.4),
        ("tank", "top", 60, 58.6),
        ("well-pump", "load", 1, 12.5),
    ];
    assert_readings(&farm, &expected);
}
