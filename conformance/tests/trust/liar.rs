//! A lying cloud: a proxy of the true cloud that holds its signing key and changes requests and answers.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};
use sotto_keys::SigningIdentity;
use sotto_wire::{Frontier, LogEntry, LogPage, SignedHeader, StreamHead, Transcript, TranscriptParts};

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path with its query.
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// An answer. With the status 0 the connection ends without one.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// The true cloud and its signing key: the means of a lying cloud.
pub(crate) struct Truth {
    url: String,
    signing: SigningIdentity,
}

/// Answers a request with the help of the true cloud.
pub(crate) type Lie = Box<dyn FnMut(&Truth, Request) -> Reply + Send>;

/// Starts a lying cloud and returns its URL. It serves until the process ends.
pub(crate) fn start(url: &str, signing_key: &[u8; 32], lie: Lie) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let truth = Truth::new(url, signing_key);
    let shared = Arc::new(Mutex::new((truth, lie)));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let shared = Arc::clone(&shared);
            thread::spawn(move || serve(stream, &shared));
        }
    });
    format!("http://{address}")
}

/// Answers one request.
fn serve(stream: TcpStream, shared: &Mutex<(Truth, Lie)>) {
    let Some((mut stream, request)) = read(stream) else { return };
    let reply = {
        let (truth, lie) = &mut *shared.lock().unwrap();
        lie(truth, request)
    };
    if reply.status == 0 {
        return;
    }
    let mut head = format!(
        "HTTP/1.1 {} X\r\nConnection: close\r\nContent-Length: {}\r\n",
        reply.status,
        reply.body.len()
    );
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&reply.body));
}

fn read(stream: TcpStream) -> Option<(TcpStream, Request)> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
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
    Some((reader.into_inner(), Request { method, path, headers, body }))
}

impl Request {
    pub(crate) fn is(&self, method: &str, path: &str) -> bool {
        self.method == method && self.path.split('?').next() == Some(path)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Returns the value of a key of the query.
    fn query(&self, key: &str) -> Option<&str> {
        let (_, query) = self.path.split_once('?')?;
        query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='))
    }
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub(crate) fn of_json(value: &Value) -> Self {
        let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        Self { status: 200, headers, body: value.to_string().into_bytes() }
    }
}

/// Returns a page of a log as a document: its head, and of each window its number, leaf, id, signed header and bytes.
pub(crate) fn page(frame: &[u8]) -> Value {
    let page = LogPage::read(frame).unwrap();
    let window = |entry: LogEntry| {
        let mut window =
            json!({ "sequence": entry.sequence, "leaf": hex::encode(entry.leaf), "bytes": entry.bytes });
        if let Some(id) = entry.id {
            window["id"] = json!(hex::encode(id));
        }
        if let Some(signed) = entry.signed {
            window["signed"] = json!(hex::encode(signed.write()));
        }
        window
    };
    let windows: Vec<Value> = page.entries().unwrap().into_iter().map(window).collect();
    json!({ "head": hex::encode(page.head), "windows": windows })
}

/// Returns the frame of such a document. The number and the leaf of a window with a signed header are those of the header.
pub(crate) fn framed(page: &Value) -> Vec<u8> {
    let bytes = |text: &Value| text.as_str().map(|text| hex::decode(text).unwrap());
    let entry = |window: &Value| LogEntry {
        sequence: window["sequence"].as_u64().unwrap(),
        leaf: bytes(&window["leaf"]).unwrap().try_into().unwrap(),
        id: bytes(&window["id"]).map(|id| id.try_into().unwrap()),
        bytes: window["bytes"].as_u64().unwrap(),
        signed: bytes(&window["signed"]).map(|frame| SignedHeader::read(&frame, 1 << 20).unwrap()),
    };
    let windows = page["windows"].as_array().unwrap().iter().map(entry);
    LogPage::of(bytes(&page["head"]).unwrap(), windows).write()
}

impl Reply {
    fn of_frame(body: Vec<u8>) -> Self {
        let headers = vec![("Content-Type".to_owned(), "application/octet-stream".to_owned())];
        Self { status: 200, headers, body }
    }

    /// Changes a page of a log.
    pub(crate) fn with_page(&self, edit: impl FnOnce(&mut Value)) -> Self {
        let mut page = page(&self.body);
        edit(&mut page);
        Self::of_frame(framed(&page))
    }
}

impl Truth {
    pub(crate) fn new(url: &str, signing_key: &[u8; 32]) -> Self {
        Self { url: url.to_owned(), signing: SigningIdentity::from_bytes(signing_key) }
    }

    /// Returns the cloud's signature of a receipt.
    pub(crate) fn signature(&self, receipt: &sotto_wire::Receipt<'_>) -> [u8; 64] {
        receipt.sign(|message| self.signing.sign(message)).unwrap()
    }

    /// Returns the same signing key before the cloud at another URL.
    pub(crate) fn at(&self, url: &str) -> Self {
        let signing = SigningIdentity::from_bytes(self.signing.expose_secret_bytes());
        Self { url: url.to_owned(), signing }
    }

    /// Returns the true cloud's answer.
    pub(crate) fn tell(&self, request: &Request) -> Reply {
        let agent: ureq::Agent =
            ureq::Agent::config_builder().http_status_as_error(false).proxy(None).build().into();
        let mut builder = ureq::http::Request::builder()
            .method(request.method.as_str())
            .uri(format!("{}{}", self.url, request.path));
        for (name, value) in &request.headers {
            if !["host", "content-length", "connection", "accept-encoding"].contains(&name.as_str()) {
                builder = builder.header(name, value);
            }
        }
        let mut response = agent.run(builder.body(request.body.clone()).unwrap()).unwrap();
        let kept = ["content-type", "link", "sotto-evaluate-us", "sotto-transcript"];
        let headers = response.headers().iter().filter(|(name, _)| kept.contains(&name.as_str()));
        let headers =
            headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
        let body = response.body_mut().with_config().limit(1 << 30).read_to_vec().unwrap();
        Reply { status: response.status().as_u16(), headers, body }
    }

    /// Returns a log with other windows, under a head with a valid signature.
    pub(crate) fn log(&self, request: &Request, edit: impl FnOnce(&mut Vec<Value>)) -> Reply {
        let from: usize = request.query("from").and_then(|from| from.parse().ok()).unwrap_or_default();
        let (device, stream) = (request.query("device").unwrap(), request.query("stream").unwrap());
        let all = Request { path: format!("/v1/log?device={device}&stream={stream}"), ..request.clone() };
        let mut windows = page(&self.tell(&all).body)["windows"].as_array().cloned().unwrap_or_default();
        edit(&mut windows);
        let leaf = |window: &Value| -> [u8; 32] {
            hex::decode(window["leaf"].as_str().unwrap()).unwrap().try_into().unwrap()
        };
        let tree = Frontier::of(windows.iter().map(leaf));
        let head = StreamHead::sign(
            device,
            stream,
            tree.size(),
            tree.root(),
            0,
            self.signing.verifying_key(),
            |message| self.signing.sign(message),
        );
        let head = hex::encode(head.unwrap().write().unwrap());
        let page = json!({ "head": head, "windows": windows.get(from..).unwrap_or_default() });
        Reply::of_frame(framed(&page))
    }

    /// Returns a transcript with other contents and a valid signature.
    pub(crate) fn transcript(&self, frame: &[u8], edit: impl FnOnce(&mut TranscriptParts)) -> Vec<u8> {
        let mut parts = Transcript::read(frame).unwrap().parts().clone();
        edit(&mut parts);
        Transcript::sign(parts, |message| self.signing.sign(message)).unwrap().write().unwrap()
    }

    /// Returns the answer about a job with another transcript, validly signed.
    pub(crate) fn job(&self, request: &Request, edit: impl FnOnce(&mut TranscriptParts)) -> Reply {
        let mut state = self.tell(request).json();
        if let Some(frame) = state["transcript"].as_str() {
            let frame = self.transcript(&hex::decode(frame).unwrap(), edit);
            state["transcript"] = json!(hex::encode(frame));
        }
        Reply::of_json(&state)
    }
}

/// Returns a frame with other bytes and a correct digest.
pub(crate) fn edited(mut frame: Vec<u8>, edit: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let end = frame.len() - 32;
    edit(&mut frame[..end]);
    let digest = blake3::hash(&frame[..end]);
    frame[end..].copy_from_slice(digest.as_bytes());
    frame
}
