// A stand-in for a cloud: a server on this machine that gives prepared answers, for this crate's tests and examples.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use sotto_cloud_client::Cloud;

const TOKEN: &str = "the-owner-of-this-test";

/// Answers each connection with the next of these answers and records the request's first line. An empty answer breaks
/// the connection.
pub(crate) fn serve(answers: Vec<String>) -> (Cloud, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&requests);
    thread::spawn(move || {
        for answer in answers {
            let mut connection = listener.accept().expect("a connection").0;
            seen.lock().expect("no panic").push(request(&connection));
            // The client may close the connection early.
            let _ = connection.write_all(answer.as_bytes());
        }
    });
    (Cloud::new(&url, TOKEN).expect("a client"), requests)
}

/// Reads a whole request and returns its first line.
fn request(connection: &TcpStream) -> String {
    let mut reader = BufReader::new(connection);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).expect("a request");
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a header");
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        if line.trim().is_empty() {
            break;
        }
    }
    reader.take(length).read_to_end(&mut Vec::new()).expect("a body");
    first.trim().to_owned()
}

/// Returns an answer with this status and these header lines.
pub(crate) fn answer(status: u16, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
}

/// Returns an answer with status 200.
pub(crate) fn ok(body: &str) -> String {
    answer(200, "", body)
}
