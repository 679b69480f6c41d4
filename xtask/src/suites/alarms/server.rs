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

    /// Returns everything that the receiver learns but the digits of names that are drawn at random: method, path, the bytes
    /// of a document or of a plan, and the length of other frames, which have random keys.
    pub(super) fn shape(&self) -> String {
        let body = match std::str::from_utf8(&self.body) {
            Ok(text) => without_names(text),
            Err(_) if self.path == "/v1/plans" => {
                self.body.iter().map(|byte| format!("{byte:02x} ")).collect()
            }
            Err(_) => String::new(),
        };
        format!("{} {} {} {body}", self.method, without_names(&self.path), self.body.len())
    }
}

/// Replaces the hexadecimal digits of names, which are drawn at random.
fn without_names(text: &str) -> String {
    let mut all = String::with_capacity(text.len());
    let is_name = |word: &str| word.len() >= 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let bare = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        all += &if is_name(bare) { word.replace(bare, "#") } else { word.to_owned() };
    }
    all
}

/// A fault of the cloud, which no value decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Fault {
    #[default]
    None,
    /// Sums are refused.
    RefusedSums,
    /// Other sums than those that were asked for, whose tags do not fit.
    OtherSums,
    /// Logs are refused.
    RefusedLogs,
    /// Connections end without an answer.
    Away,
    /// Jobs run for ever.
    NoEnd,
    /// Outputs of jobs are not those of their transcripts.
    OtherOutputs,
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

/// Starts a proxy of the cloud that records requests, and has the fault that is set. Returns its address, and its requests.
pub(super) fn recorder(cloud: &str, fault: Arc<Mutex<Fault>>) -> Result<(String, Received)> {
    let cloud = cloud.strip_prefix("http://").context("the cloud has no TLS here")?.to_owned();
    let answer = move |request: &Request| {
        let fault = *fault.lock().unwrap_or_else(PoisonError::into_inner);
        faulty(&cloud, request, fault).unwrap_or_default()
    };
    let (port, received) = serve(0, answer)?;
    Ok((format!("http://127.0.0.1:{port}"), received))
}

/// Answers with a fault.
fn faulty(cloud: &str, request: &Request, fault: Fault) -> Option<Vec<u8>> {
    let is_sums = request.path.ends_with("/sums");
    let is_output = request.path.contains("/outputs/");
    let is_state = request.method == "GET" && request.path.starts_with("/v1/jobs/") && !is_output;
    match fault {
        Fault::RefusedSums if is_sums => Some(answer("500 Internal Server Error", "{}")),
        Fault::RefusedLogs if request.path.starts_with("/v1/log") => {
            Some(answer("500 Internal Server Error", "{}"))
        }
        Fault::OtherSums if is_sums => {
            let mut asked = request.json();
            for sum in asked["sums"].as_array_mut()? {
                let windows = sum["windows"][1].as_u64()?;
                sum["weights"] = (0..windows).map(|_| 2).collect();
            }
            let headers = request.headers.iter().filter(|(name, _)| name != "content-length").cloned();
            let body = asked.to_string().into_bytes();
            let length = ("content-length".to_owned(), body.len().to_string());
            let headers = headers.chain([length]).collect();
            forward(cloud, &Request { body, headers, ..request.clone() })
        }
        Fault::Away => None,
        Fault::NoEnd if is_state => Some(answer("200 OK", r#"{"state": "running"}"#)),
        Fault::OtherOutputs if is_output => {
            let mut whole = forward(cloud, request)?;
            let middle = whole.len() / 2;
            *whole.get_mut(middle)? ^= 1;
            Some(whole)
        }
        _ => forward(cloud, request),
    }
}

/// Returns an answer with a JSON document.
fn answer(status: &str, body: &str) -> Vec<u8> {
    let head = "Connection: close\r\nContent-Type: application/json\r\nContent-Length:";
    format!("HTTP/1.1 {status}\r\n{head} {}\r\n\r\n{body}", body.len()).into_bytes()
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
