//! A minimal HTTP client and proxy for these cases.

use anyhow::{Context as _, Result};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Sends a request; returns status and body.
pub(super) fn request(
    url: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Result<(u16, String)> {
    let host = url.strip_prefix("http://").context("not http")?;
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
    head += &format!("Content-Length: {}\r\n", body.len());
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    stream.write_all(body)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).context("no status")?;
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body).to_owned();
    Ok((status, body))
}

/// A proxy that answers every request with one fixed response.
pub(super) struct Proxy {
    pub(super) url: String,
    asked: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
}

impl Proxy {
    pub(super) fn start(answer: &'static str) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let url = format!("http://{}", listener.local_addr()?);
        let (asked, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, end) = (Arc::clone(&asked), Arc::clone(&over));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if end.load(Ordering::SeqCst) {
                    break;
                }
                count.fetch_add(1, Ordering::SeqCst);
                // A client that disconnects is ignored.
                let _ = stream.and_then(|stream| refuse(stream, answer));
            }
        });
        Ok(Self { url, asked, over })
    }

    /// Returns the number of requests so far.
    pub(super) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Wakes the thread.
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
    }
}

/// Reads the whole request, as proxies do, then answers.
fn refuse(mut stream: TcpStream, answer: &str) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let (mut bytes, mut buffer) = (Vec::new(), [0; 1 << 16]);
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some(end) = text.find("\r\n\r\n") {
            let head = text[..end].to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length = length.and_then(|length| length.trim().parse::<usize>().ok()).unwrap_or(0);
            // The head is ASCII: positions in the text equal positions in the bytes.
            if bytes.len() >= end + 4 + length {
                break;
            }
        }
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            read => bytes.extend_from_slice(&buffer[..read]),
        }
    }
    stream.write_all(answer.as_bytes())
}
