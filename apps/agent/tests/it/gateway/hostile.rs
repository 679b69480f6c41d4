//! Strangers at an open port: their bytes cost little, and others are served.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use super::farm::{Farm, Gateway, HOUR, answer};
use super::recorded::gzip;

/// Returns the resident bytes of a process.
fn resident(gateway: &Gateway) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", gateway.child.id())).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() << 10
}

#[test]
fn malformed_lines_cost_no_good_one() {
    let farm = Farm::new(&[("boiler", &["flow"])]);
    let gateway = farm.start(&[]);
    let junk = [
        "boiler",
        "boiler flow=",
        "boiler flow=x",
        "boiler flow=\"open",
        ",a=b flow=1",
        "boiler flow=1 soon",
        "=,\\",
        "boiler,a flow=1",
    ];
    let mut lines = String::new();
    for at in 0..100_000_usize {
        lines += &format!("{}{at}\n", junk[at % junk.len()].replace("flow=\"open", "flow=\"o"));
        if at % 20_000 == 0 {
            lines += &format!("boiler flow={} {}\n", at / 20_000, HOUR + (at as i64 / 20_000) * 1000);
        }
    }
    let (status, body) = gateway.request("POST", "/write?precision=ms", &[], lines.as_bytes());
    assert_eq!(status, 400);
    assert!(body.contains("line 1:") && body.len() < 400, "{body}");
    assert!(gateway.stop().0.success());
    let found: Vec<f64> = farm.readings().into_values().collect();
    for value in [0.0, 1.0, 2.0, 3.0, 4.0] {
        assert!(found.contains(&value), "{found:?}");
    }
}

#[test]
fn long_heads_and_bodies_are_refused_and_others_are_served() {
    let farm = Farm::new(&[("boiler", &["flow"])]);
    let gateway = farm.start(&[]);
    let connect = || {
        let stream = TcpStream::connect(&gateway.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    };
    // Connections that begin a request and wait.
    let waiting: Vec<TcpStream> = (0..50)
        .map(|_| {
            let mut stream = connect();
            stream.write_all(b"POST /write HTTP/1.1\r\nHost: x\r\n").unwrap();
            stream
        })
        .collect();
    // A head without end.
    let mut endless = connect();
    endless.write_all(b"GET /ping HTTP/1.1\r\n").unwrap();
    let header = [&b"X: "[..], &[b'a'; 1000], b"\r\n"].concat();
    let mut sent = 0;
    while sent < 10_000 && endless.write_all(&header).is_ok() {
        sent += 1;
    }
    assert!(sent < 10_000 || matches!(answer(endless), None | Some((431, _))), "the head is bounded");
    let many: Vec<(String, &str)> = (0..200).map(|at| (format!("X-{at}"), "a")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, value)| (&**name, *value)).collect();
    assert!(matches!(gateway.try_request("GET", "/ping", &many, b""), None | Some((431, _))));
    // A body that announces too much, and one that is too long without saying so.
    let mut announced = connect();
    announced
        .write_all(
            b"POST /write HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 99999999999\r\n\r\n",
        )
        .unwrap();
    assert_eq!(answer(announced).unwrap().0, 413);
    let mut chunked = connect();
    chunked
        .write_all(
            b"POST /write HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n",
        )
        .unwrap();
    let chunk = [&b"10000\r\n"[..], &vec![b'a'; 0x10000], b"\r\n"].concat();
    let mut chunks = 0;
    while chunks < 1000 && chunked.write_all(&chunk).is_ok() {
        chunks += 1;
    }
    assert!(chunks < 1000, "8 MiB are the most");
    // A small request that inflates to a thousand times its size.
    let bomb = gzip(&vec![b'#'; 200 << 20]);
    assert!(bomb.len() < 1 << 20);
    let (status, body) = gateway.request("POST", "/write", &[("Content-Encoding", "gzip")], &bomb);
    assert_eq!(status, 413, "{body}");
    for head in [
        "\r\n\r\n",
        "GET\r\n\r\n",
        "\u{16}\u{3}\u{1}",
        "GET /ping HTTP/9.9\r\n\r\n",
        "POST /write HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    ] {
        let mut stream = connect();
        stream.write_all(head.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answered = Vec::new();
        let _ = stream.read_to_end(&mut answered);
        assert!(!answered.starts_with(b"HTTP/1.1 2"), "{head:?}");
    }
    assert_eq!(gateway.write(&format!("boiler flow=7 {HOUR}")), 204);
    let most = resident(&gateway);
    assert!(most < 64 << 20, "{most} bytes were resident");
    drop(waiting);
    let (ended, said) = gateway.stop();
    assert!(ended.success() && !said.contains("panicked"), "{said}");
    assert_eq!(farm.readings().into_values().collect::<Vec<_>>(), [7.0]);
}
