//! A path to the recryptor on which answers are lost, or belong to other requests.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use sotto_decrypt::partial::paillier::Decryptor;
use sotto_partial::encoding::Complement;
use sotto_partial::recrypt::{Recrypt as _, RecryptError, Request, Response};
use sotto_recryptor_client::{Address, RemoteRecryptor};
use sotto_wire::{BatchId, batch_id, write_exchange_response};

use crate::world::{KEYS, TOKEN, World, post};

/// Decides the fate of an answer: returns the bytes to deliver, or none. Gets the number of the attempt, the request's
/// body and the answer.
type Way = fn(usize, &[u8], Vec<u8>) -> Option<Vec<u8>>;

/// Starts a proxy at its own address: it forwards requests to the recryptor, one connection at a time, and returns the
/// answers. It ends with the test.
fn between(world: &World, way: Way) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let recryptor = world.url();
    std::thread::spawn(move || {
        for (attempt, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let body = request(&mut stream);
            let answer = post(&recryptor, Some(TOKEN), &body);
            if let Some(bytes) = way(attempt, &body, answer.bytes) {
                let head = format!(
                    "HTTP/1.1 {} x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                    answer.status,
                    bytes.len()
                );
                // The client may be gone.
                let _ = stream.write_all(&[head.as_bytes(), &bytes].concat());
            }
        }
    });
    format!("http://{address}")
}

/// Reads the body of one request.
fn request(stream: &mut TcpStream) -> Vec<u8> {
    let (mut bytes, mut some) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut some).unwrap();
        assert!(count > 0, "a request ends before its body does");
        bytes.extend_from_slice(&some[..count]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        let length: usize = length.trim().parse().unwrap();
        if bytes.len() >= end + 4 + length {
            return bytes.split_off(end + 4);
        }
    }
}

fn client(url: &str) -> RemoteRecryptor {
    let (paillier, elgamal) = (Arc::clone(&KEYS.paillier), Some(Arc::clone(&KEYS.elgamal)));
    RemoteRecryptor::new(&Address::new(url).unwrap(), TOKEN, paillier, elgamal)
        .unwrap()
        .with_patience(Duration::from_secs(20))
}

fn product() -> Request {
    Request::Product(KEYS.encrypt(-3), KEYS.encrypt(4))
}

#[test]
fn a_trip_whose_answer_is_lost_is_made_again_and_charged_once() {
    let world = World::start();
    // The first two answers are lost.
    let url = between(&world, |attempt, _, answer| match attempt {
        0 | 1 => None,
        _ => Some(answer),
    });
    let answers = client(&url).exchange(&[product()]).unwrap();
    let Response::Paillier(answer) = &answers[0] else { panic!("not under Paillier") };
    let decryptor = Decryptor::new(&KEYS.secret.paillier).unwrap();
    let number = decryptor.decrypt(&KEYS.paillier, answer).unwrap().to_signed(&KEYS.paillier);
    assert_eq!(number, Some(-12));
    assert_eq!(world.counted("cloud", "charged"), [1, 1, 0, 0, 2]);
    assert_eq!(world.counted("cloud", "asked-again"), [2, 2, 0, 0, 4]);
}

#[test]
fn answers_of_other_requests_are_not_taken() {
    let world = World::start();
    fn name(body: &[u8]) -> BatchId {
        batch_id(body, 1 << 20).unwrap()
    }
    fn written(name: BatchId, answers: &[Response]) -> Option<Vec<u8>> {
        Some(write_exchange_response(name, KEYS.exchange(), answers).unwrap())
    }
    fn paillier() -> Response {
        Response::Paillier(KEYS.encrypt(1))
    }
    let ways: [Way; 6] = [
        |_, _, _| written(BatchId([0; 16]), &[paillier()]),
        |_, body, _| written(name(body), &[]),
        |_, body, _| written(name(body), &[paillier(), paillier()]),
        |_, _, _| Some(b"none of ours".to_vec()),
        |_, body, _| Some(body.to_vec()),
        |_, _, mut answer| {
            answer[200] ^= 1;
            Some(answer)
        },
    ];
    for (number, way) in ways.into_iter().enumerate() {
        let found = client(&between(&world, way)).exchange(&[product()]).err();
        assert_eq!(found, Some(RecryptError::Answers), "way {number}");
    }
    // A Paillier ciphertext where an ElGamal one is expected.
    let encoding = Complement::new(16, 3, 2046).unwrap();
    let url = between(&world, |_, body, _| written(name(body), &[paillier()]));
    let found = client(&url).exchange(&[Request::ToElGamal(KEYS.encrypt(2), encoding)]).err();
    assert_eq!(found, Some(RecryptError::Answers));
}

#[test]
fn patience_is_kept_where_an_answer_does_not_come() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // Accepts connections and never answers.
    std::thread::spawn(move || listener.incoming().collect::<Vec<_>>());
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let client = client(&url).with_patience(Duration::from_millis(300));
        tell.send(client.exchange(&[product()]).err()).unwrap();
    });
    // Without the limit the client would wait two minutes.
    let found = told.recv_timeout(Duration::from_secs(60)).expect("it gives up");
    assert!(matches!(found, Some(RecryptError::Lost { .. })), "{found:?}");
}
