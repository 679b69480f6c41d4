//! The listeners: paths, precisions, answers, who may come in, and how.

use std::io::Write as _;
use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{RootCertStore, SupportedProtocolVersion};
use serde_json::Value;

use super::farm::{Farm, Gateway, HOUR, answer, wait_until};
use super::recorded::gzip;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn every_path_answers_as_senders_expect() {
    let farm = Farm::new(&[("boiler", &["flow"])]);
    let gateway = farm.start(&[]);
    let get = |path: &str| gateway.request("GET", path, &[], b"");
    let post =
        |path: &str, headers: &[(&str, &str)], body: &[u8]| gateway.request("POST", path, headers, body);
    assert_eq!(get("/ping"), (204, String::new()));
    let (status, health) = get("/health");
    assert_eq!((status, json(&health)["status"].as_str()), (200, Some("pass")));
    let (status, databases) = get("/query?q=SHOW%20DATABASES%3B");
    assert_eq!(
        (status, json(&databases)["results"][0]["series"][0]["name"].as_str()),
        (200, Some("databases"))
    );
    assert_eq!(post("/query", &[], b"q=create+database+%22x%22").0, 200);
    let (status, refused) = get("/query?q=SELECT+*+FROM+cpu");
    assert!(status == 400 && json(&refused)["error"].as_str().unwrap().contains("readings are encrypted"));
    assert_eq!((get("/").0, get("/write").0, post("/ping", &[], b"").0), (404, 405, 405));

    let hour = HOUR / 3_600_000;
    for (path, precision, time) in [
        ("/write", "ns", HOUR * 1_000_000),
        ("/write", "u", (HOUR + 1000) * 1000),
        ("/write", "ms", HOUR + 2000),
        ("/write", "s", HOUR / 1000 + 3),
        ("/write", "m", HOUR / 60_000 + 1),
        ("/write", "h", hour + 1),
        ("/api/v2/write", "ns", (HOUR + 4000) * 1_000_000),
        ("/api/v2/write", "us", (HOUR + 5000) * 1000),
        ("/api/v2/write", "ms", HOUR + 6000),
        ("/api/v2/write", "s", HOUR / 1000 + 7),
    ] {
        let path = format!("{path}?db=a&org=b&bucket=c&rp=d&precision={precision}");
        assert_eq!(
            post(&path, &[], format!("boiler flow=1 {time}").as_bytes()),
            (204, String::new()),
            "{path}"
        );
    }
    let zipped = gzip(format!("boiler flow=2 {}\n", HOUR + 8000).as_bytes());
    assert_eq!(post("/write?precision=ms", &[("Content-Encoding", "gzip")], &zipped).0, 204);
    assert_eq!(
        (post("/write", &[], b"").0, post("/api/v2/write", &[("Content-Encoding", "gzip")], b"").0),
        (204, 204)
    );
    assert_eq!(post("/write?precision=d", &[], b"boiler flow=1").0, 400);
    assert_eq!(post("/write", &[("Content-Encoding", "br")], b"boiler flow=1").0, 415);
    assert_eq!(post("/write", &[("Content-Encoding", "gzip")], &zipped[..zipped.len() - 9]).0, 400);

    let lines = format!("boiler flow=3 {}\nboiler\nboiler flow=4 {}\n", HOUR + 9000, HOUR + 10_000);
    let (status, first) = post("/write?precision=ms", &[], lines.as_bytes());
    assert_eq!(status, 400);
    assert!(
        json(&first)["error"].as_str().unwrap().starts_with("partial write: unable to parse line 2"),
        "{first}"
    );
    let (status, second) = post("/api/v2/write?precision=ms", &[], lines.as_bytes());
    assert_eq!((status, &json(&second)["code"], &json(&second)["line"]), (400, &"invalid".into(), &2.into()));
    assert!(!first.contains("flow=3"), "no reading is in an answer");
    assert!(gateway.stop().0.success());
    let times: Vec<i64> = farm.readings().into_keys().map(|(_, _, at)| (at - HOUR) / 1000).collect();
    assert_eq!(times, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 60, 3600]);
}

#[test]
fn an_address_that_other_machines_reach_needs_tls_and_a_token() {
    let farm = Farm::new(&[("boiler", &["flow"])]);
    let refused = |words: &[&str]| {
        let output = farm.agent("run", words).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let why = refused(&["--listen", "0.0.0.0:0"]);
    assert!(why.contains("--tls-cert") && why.contains("--token-file") && why.contains("127.0.0.1"), "{why}");
    let why = refused(&["--listen", "udp://0.0.0.0:0"]);
    assert!(why.contains("neither TLS nor a token"), "{why}");
    std::fs::write(farm.path("token"), "0123456789abcdef0123\n").unwrap();
    let token = farm.path("token");
    let token = token.to_str().unwrap();
    let chmod =
        |mode| std::fs::set_permissions(token, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    chmod(0o644);
    let why = refused(&["--listen", "127.0.0.1:0", "--token-file", token]);
    assert!(why.contains("chmod 600"), "{why}");
    chmod(0o600);
    let why = refused(&["--listen", "0.0.0.0:0", "--token-file", token]);
    assert!(
        why.contains("--tls-cert FILE and --tls-key FILE") && !why.contains("--token-file FILE"),
        "{why}"
    );

    let gateway = farm.start(&["--token-file", token]);
    let write = |headers: &[(&str, &str)], query: &str| {
        gateway.request("POST", &format!("/write?{query}"), headers, b"boiler flow=1").0
    };
    assert_eq!(
        (write(&[], ""), write(&[("Authorization", "Token wrong")], ""), write(&[], "u=x&p=wrong")),
        (401, 401, 401)
    );
    assert_eq!(write(&[("Authorization", "Token 0123456789abcdef0123")], ""), 204);
    assert_eq!(write(&[], "u=x&p=0123456789abcdef0123"), 204);
    assert_eq!(gateway.request("GET", "/ping", &[], b"").0, 204);
}

#[test]
fn tls_is_spoken_under_the_named_certificate() {
    let farm = Farm::new(&[("boiler", &["flow"])]);
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let kept = |name: &str, text: &str| {
        let path = farm.path(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let token = kept("token", "0123456789abcdef0123\n");
    let (certificate, key) = (kept("cert.pem", &cert.pem()), kept("key.pem", &signing_key.serialize_pem()));
    let gateway = farm.start(&["--tls-cert", &certificate, "--tls-key", &key, "--token-file", &token]);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let ask = |roots: RootCertStore, version: &'static SupportedProtocolVersion| {
        let config = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider));
        let config = config.with_protocol_versions(&[version]).unwrap();
        let config = config.with_root_certificates(roots).with_no_client_auth();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let connection = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
        let stream = TcpStream::connect(&gateway.address).unwrap();
        let mut stream = rustls::StreamOwned::new(connection, stream);
        let lines = format!("boiler flow=1 {HOUR}");
        let request = format!(
            "POST /write?precision=ms HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Token \
             0123456789abcdef0123\r\nContent-Length: {}\r\n\r\n{lines}",
            lines.len()
        );
        stream.write_all(request.as_bytes()).map(|()| answer(stream).unwrap().0)
    };
    let mut trusted = RootCertStore::empty();
    trusted.add(cert.der().clone()).unwrap();
    assert_eq!(ask(trusted.clone(), &rustls::version::TLS13).unwrap(), 204);
    assert_eq!(ask(trusted, &rustls::version::TLS12).unwrap(), 204);
    let other = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let mut others = RootCertStore::empty();
    others.add(other.cert.der().clone()).unwrap();
    assert!(ask(others, &rustls::version::TLS13).is_err(), "another certificate is not believed");
    // Without TLS nothing is answered.
    assert_eq!(gateway.try_request("GET", "/ping", &[], b""), None);
    assert!(gateway.stop().0.success());
    assert_eq!(farm.readings().len(), 1);
}

#[test]
fn a_socket_of_the_file_system_takes_the_same() {
    let farm = Farm::new(&[("boiler", &["flow"])]);
    let socket = farm.path("sotto.sock");
    let place = format!("unix:{}", socket.display());
    let gateway = Gateway::of(farm.agent("run", &["--listen", &place]));
    let send = || {
        let mut stream = UnixStream::connect(&socket).unwrap();
        let body = format!("boiler flow=5 {HOUR}");
        let head = format!(
            "POST /write?precision=ms HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        answer(stream).unwrap().0
    };
    assert_eq!(send(), 204);
    // A socket that a killed process left is taken over.
    gateway.kill();
    let gateway = Gateway::of(farm.agent("run", &["--listen", &place]));
    assert_eq!(send(), 204);
    assert!(gateway.stop().0.success());
    assert!(!socket.exists());
    assert_eq!(farm.readings().into_values().collect::<Vec<_>>(), [5.0]);
}

#[test]
fn datagrams_are_taken() {
    let farm = Farm::new(&[("boiler", &["flow"])]);
    // The port of a socket that is closed again: a test finds out no other.
    let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let gateway = farm.start(&["--listen", &format!("udp://127.0.0.1:{port}")]);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    for second in 0..3 {
        let line = format!("boiler flow={second} {}", (HOUR + second * 1000) * 1_000_000);
        socket.send_to(line.as_bytes(), ("127.0.0.1", port)).unwrap();
    }
    wait_until("the datagrams", || {
        std::thread::sleep(Duration::from_millis(100));
        let status = farm.agent("status", &["--json"]).output().unwrap();
        json(&String::from_utf8(status.stdout).unwrap())["devices"][0]["senders"]["udp"] == 3
    });
    assert!(gateway.stop().0.success());
    assert_eq!(farm.readings().into_values().collect::<Vec<_>>(), [0.0, 1.0, 2.0]);
}

#[test]
fn a_check_tells_who_takes_what_and_takes_nothing() {
    let farm = Farm::new(&[("boiler", &["flow"]), ("oven", &["flow"])]);
    let check = Gateway::of(farm.agent("check", &["--listen", "127.0.0.1:0", "--for", "2s"]));
    let lines = b"heat,host=cellar,device=boiler flow=61.5,noise=3\nheat,host=cellar,device=boiler flow=\"broken\"\nrain,host=roof tips=1\n";
    let (status, body) = check.request("POST", "/write", &[], lines);
    assert_eq!(status, 503, "the sender keeps its readings");
    assert!(body.contains("sotto-agent run"), "{body}");
    let mut child = check;
    let mut out = String::new();
    std::io::Read::read_to_string(&mut child.child.stdout.take().unwrap(), &mut out).unwrap();
    for line in [
        "3 points came",
        "boiler.flow of heat from cellar: 1 reading; 1 value that the channel cannot read",
        "oven: nothing came for it",
        "nobody takes heat.noise from cellar (1)",
        "nobody takes rain.tips from roof (1)",
    ] {
        assert!(out.lines().any(|found| found == line), "{line}\n{out}");
    }
    assert!(!out.contains("61.5") && !out.contains("broken"), "no reading is shown");
    assert!(!farm.path("gateway").exists());
}
