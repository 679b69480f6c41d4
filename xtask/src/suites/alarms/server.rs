//! Servers for alarms: a webhook that fails at first, and a recorder between owner and cloud.

use anyhow::{Context as _, Result};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

/// A request as it was received.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// Milliseconds since 1970.
    pub(super) at: u128,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Returns everything that the receiver learns but the digits of names that are drawn at random: method, path, and
    /// the body's length.
    pub(super) fn shape(&self) -> String {
        let mut path = String::new();
        let is_id = |word: &str| word.len() >= 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        for word in self.path.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
            let bare = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            path += &if is_id(bare) { word.replace(bare, "#") } else { word.to_owned() };
        }
        format!("{} {path} {}", self.method, self.body.len())
    }
}

/// Requests that a server has received.
pub(super) type Received = Arc<Mutex<Vec<Request>>>;

/// Returns the requests so far.
pub(super) fn taken(received: &Received) -> Vec<Request> {
    received.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?.as_millis();
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut headers, mut length) = (Vec::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        let (name, value) = (name.to_lowercase(), value.trim().to_owned());
        if name == "content-length" {
            length = value.parse().ok()?;
        }
        headers.push((name, value));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { at, method, path, headers, body })
}

fn serve(port: u16, answer: impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static) -> Result<(u16, Received)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    let port = listener.local_addr()?.port();
    let (received, answer) = (Received::default(), Arc::new(answer));
    let kept = Arc::clone(&received);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (received, answer) = (Arc::clone(&received), Arc::clone(&answer));
            thread::spawn(move || {
                let _ = stream.set_read_timeout(Some(Duration::from_secs(60)));
                let mut reader = BufReader::new(stream);
                let Some(request) = read(&mut reader) else { return };
                received.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
                let _ = reader.get_mut().write_all(&answer(&request));
            });
        }
    });
    Ok((port, kept))
}

/// Starts a webhook that answers its first `failures` requests with 503. Returns its address, and its requests.
pub(super) fn webhook(failures: usize) -> Result<(String, Received)> {
    let left = Mutex::new(failures);
    let (port, received) = serve(0, move |_| {
        let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
        let status = if *left > 0 { "503 Service Unavailable" } else { "204 No Content" };
        *left = left.saturating_sub(1);
        format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").into_bytes()
    })?;
    Ok((format!("http://127.0.0.1:{port}/hot"), received))
}

/// Starts a proxy of the cloud that records requests. Returns its address, and its requests.
pub(super) fn recorder(cloud: &str) -> Result<(String, Received)> {
    let cloud = cloud.strip_prefix("http://").context("the cloud has no TLS here")?.to_owned();
    let (port, received) = serve(0, move |request| forward(&cloud, request).unwrap_or_default())?;
    Ok((format!("http://127.0.0.1:{port}"), received))
}

/// Sends a request to the cloud; returns its whole answer.
fn forward(cloud: &str, request: &Request) -> Option<Vec<u8>> {
    let mut stream = TcpStream::connect(cloud).ok()?;
    let mut head = format!("{} {} HTTP/1.1\r\n", request.method, request.path);
    for (name, value) in request.headers.iter().filter(|(name, _)| name != "connection") {
        head += &format!("{name}: {value}\r\n");
    }
    head += "connection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&request.body)).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    Some(answer)
}
