//! A thousand bad uploads of all kinds at the same time: the cloud keeps answering good ones, and closes connections
//! that stall.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use sotto_cloud::config::Settings;
#[cfg(target_os = "linux")]
use sotto_service::peers::LOOPBACK_FACTOR;

use crate::store::contents;
use crate::world::{World, send};

/// Number of connections of each stalled kind.
const SLOW: usize = 300;
const BAD: usize = 390;
/// Number of uploads of the largest size.
const LARGE: usize = 10;
const LARGEST: u64 = 8 << 20;

fn patient(settings: Settings) -> Settings {
    Settings {
        header_seconds: Some(30),
        body_seconds: Some(30),
        largest_upload: Some(LARGEST),
        connections_per_peer: Some(128),
        ..settings
    }
}

fn impatient(settings: Settings) -> Settings {
    Settings { header_seconds: Some(1), body_seconds: Some(1), ..settings }
}

fn connect(world: &World) -> TcpStream {
    let connection = TcpStream::connect(world.url("").trim_start_matches("http://")).unwrap();
    connection.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    connection
}

/// Sends the head of an upload and the first bytes of its body.
fn begin(world: &World, announced: usize, body: &[u8]) -> TcpStream {
    let mut connection = connect(world);
    let head = format!(
        "POST /v1/envelopes HTTP/1.1\r\nhost: x\r\n\
         connection: close\r\nidempotency-key: kitchen.load.0\r\ncontent-length: {announced}\r\n\r\n"
    );
    connection.write_all(&[head.as_bytes(), body].concat()).unwrap();
    connection
}

/// Returns everything that arrives until the other end closes.
fn answer(mut connection: TcpStream) -> String {
    let mut answer = Vec::new();
    if let Err(error) = connection.read_to_end(&mut answer) {
        // A reset connection is closed too.
        assert!(!matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "it is still open");
    }
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn good_uploads_are_answered_among_a_thousand_bad_ones() {
    let (world, mut device) = World::with_device_in(World::start_with(patient));
    let good: Vec<Vec<u8>> = (0..20).map(|sequence| device.envelope(sequence, &[1])).collect();
    world.keep(&good[0]);
    let before = contents(&world.data());

    let heads: Vec<TcpStream> = (0..SLOW)
        .map(|_| {
            let mut connection = connect(&world);
            connection.write_all(b"POST /v1/envelopes HTTP/1.1\r\nhost: x\r\nidempo").unwrap();
            connection
        })
        .collect();
    let slow: Vec<TcpStream> =
        (0..SLOW).map(|_| begin(&world, good[1].len(), &good[1][..good[1].len() - 1])).collect();
    // Each has one wrong bit. The last byte is held back until all connections exist.
    let mut bad: Vec<(TcpStream, u8)> = (0..BAD)
        .map(|i| {
            let mut body = good[1].clone();
            let at = i * 131 % body.len();
            body[at] ^= 1 << (i % 8);
            let (last, most) = body.split_last().unwrap();
            (begin(&world, body.len(), most), *last)
        })
        .collect();
    let garbage = vec![0x73; LARGEST as usize];

    std::thread::scope(|scope| {
        for _ in 0..LARGE {
            scope.spawn(|| {
                let refused = begin(&world, garbage.len(), &garbage);
                let refused = answer(refused);
                assert!(refused.starts_with("HTTP/1.1 400"), "{refused}");
            });
        }
        for (connection, last) in &mut bad {
            // On a slow machine the cloud may have closed it already.
            let _ = connection.write_all(&[*last]);
        }
        // All other connections are still open.
        for body in &good[1..] {
            world.keep(body);
        }
        send("GET", &world.url("/readyz"), &[], &[]).expect(200);
    });
    for (connection, _) in bad {
        let answer = answer(connection);
        let status = answer.get(9..12).and_then(|status| status.parse::<u16>().ok());
        assert!(status.is_some_and(|status| (400..500).contains(&status)), "{answer}");
    }
    let after = contents(&world.data());
    assert_eq!(after.rows["envelopes"], before.rows["envelopes"] + good.len() as i64 - 1);
    drop((heads, slow));
}

#[test]
fn heads_and_bodies_that_do_not_come_are_cut_off() {
    let (world, mut device) = World::with_device_in(World::start_with(impatient));
    let body = device.envelope(0, &[1]);
    let silent = connect(&world);
    let mut head = connect(&world);
    head.write_all(b"POST /v1/envelopes HTTP/1.1\r\nhost: x\r\n").unwrap();
    let slow = begin(&world, body.len(), &body[..100]);
    let mut kept_open = connect(&world);
    kept_open.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();

    // Each ends well before this test's read timeout.
    assert_eq!(answer(silent), "");
    let head = answer(head);
    assert!(head.is_empty() || head.starts_with("HTTP/1.1 408"), "{head}");
    let slow = answer(slow);
    assert!(slow.starts_with("HTTP/1.1 408") && slow.contains("too-slow"), "{slow}");
    let kept_open = answer(kept_open);
    assert!(kept_open.starts_with("HTTP/1.1 200") && kept_open.contains("alive"), "{kept_open}");
    world.keep(&body);
}

#[test]
fn no_more_connections_are_served_than_there_are_places() {
    let world =
        World::start_with(|settings| Settings { connections: Some(2), header_seconds: Some(1), ..settings });
    let waiting: Vec<TcpStream> = (0..8).map(|_| connect(&world)).collect();
    // The connection waits until those before it are closed.
    send("GET", &world.url("/healthz"), &[], &[]).expect(200);
    drop(waiting);
}

#[test]
fn a_connection_that_never_reads_its_answers_gives_its_place_back() {
    let world = World::start_with(|settings| Settings {
        connections: Some(1),
        header_seconds: Some(600),
        body_seconds: Some(1),
        connection_seconds: Some(5),
        ..settings
    });
    let mut deaf = connect(&world);
    deaf.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    let requests = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n".repeat(1000);
    // Send until no buffer accepts more, because nobody reads the answers, or until the connection is closed.
    while deaf.write_all(&requests).is_ok() {}
    // There is only one place.
    send("GET", &world.url("/healthz"), &[], &[]).expect(200);
    drop(deaf);
}

#[test]
fn what_is_under_way_when_a_connections_time_is_over_is_answered() {
    let (world, mut device) = World::with_device_in(World::start_with(|settings| Settings {
        body_seconds: Some(30),
        connection_seconds: Some(1),
        ..settings
    }));
    let body = device.envelope(0, &[1]);
    let (most, last) = body.split_at(body.len() - 1);
    let mut slow = begin(&world, body.len(), most);
    std::thread::sleep(Duration::from_secs(3));
    slow.write_all(last).unwrap();
    let answer = answer(slow);
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
}

#[test]
fn memory_for_uploads_is_bounded_and_comes_back() {
    let (world, mut device) = World::with_device_in(World::start_with(|settings| Settings {
        uploads_at_once: Some(1),
        body_seconds: Some(20),
        ..settings
    }));
    let body = device.envelope(0, &[1]);
    // One upload without its last bytes holds all of the memory.
    let most = vec![0; crate::world::LARGEST_UPLOAD as usize - 1];
    let start = Instant::now();
    let (holds, refused) = loop {
        // It is refused itself if the upload before it still has the memory.
        let holds = begin(&world, most.len() + 1, &most);
        std::thread::sleep(Duration::from_millis(200));
        let answer = world.upload("k", &body);
        if answer.status == 503 {
            break (holds, answer);
        }
        assert!(start.elapsed() < Duration::from_secs(15), "{answer}");
    };
    refused.refused(503, "too-many-uploads");
    drop(holds);
    let start = Instant::now();
    while world.upload("k", &body).status == 503 {
        assert!(start.elapsed() < Duration::from_secs(15), "the memory does not come back");
    }
}

#[test]
fn a_head_above_16_kib_is_refused() {
    let world = World::start();
    let with_head = |bytes: usize| {
        let start = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-filler: ";
        let filler = "x".repeat(bytes - start.len() - 4);
        let mut connection = connect(&world);
        // The other end may close before it has read everything.
        let _ = connection.write_all(format!("{start}{filler}\r\n\r\n").as_bytes());
        answer(connection)
    };
    let accepted = with_head(15 << 10);
    assert!(accepted.starts_with("HTTP/1.1 200"), "{accepted}");
    // The last read may buffer some bytes beyond the limit.
    for bytes in [33 << 10, 380_000] {
        let refused = with_head(bytes);
        assert!(refused.is_empty() || refused.starts_with("HTTP/1.1 431"), "{bytes}: {refused}");
    }
}

/// Linux answers on all of 127.0.0.0/8, so a second peer is possible on one machine.
#[cfg(target_os = "linux")]
#[test]
fn a_peer_with_all_its_connections_takes_no_place_of_another() {
    let world = World::start_with(|settings| Settings {
        connections: Some(LOOPBACK_FACTOR + 1),
        connections_per_peer: Some(1),
        ..settings
    });
    let mut held: Vec<TcpStream> = (0..LOOPBACK_FACTOR).map(|_| connect(&world)).collect();
    // Closed immediately, not after the 10 s allowed for a head.
    let more = connect(&world);
    more.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    assert_eq!(answer(more), "");
    let address = world.url("").trim_start_matches("http://").parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let other = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
        socket.connect(address).await.unwrap().into_std().unwrap()
    });
    other.set_nonblocking(false).unwrap();
    for mut connection in [other, held.remove(0)] {
        connection.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        connection.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
        let served = answer(connection);
        assert!(served.starts_with("HTTP/1.1 200"), "{served}");
    }
}
