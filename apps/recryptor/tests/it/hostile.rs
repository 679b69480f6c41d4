//! Requests that are refused over HTTP, and not charged.

use sotto_partial::encoding::Complement;
use sotto_partial::number::{from_words, to_bytes, words};
use sotto_partial::recrypt::Request;
use sotto_wire::{BatchId, write_exchange_request, write_exchange_response};

use crate::world::{KEYS, Keys, OTHERS, POOR, TOKEN, World};

const DIGEST: usize = 32;
/// Offset of the number of requests in a batch, and of the first body of a batch of one request.
const COUNT: usize = 16 + 16 + 36;
const BODY: usize = COUNT + 4 + 1;

fn product(keys: &Keys) -> Request {
    Request::Product(keys.encrypt(3), keys.encrypt(-4))
}

fn frame(name: u8, requests: &[Request]) -> Vec<u8> {
    write_exchange_request(BatchId([name; 16]), KEYS.exchange(), requests).unwrap()
}

/// Returns the frame with some bytes replaced, and the matching digest.
fn changed(frame: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut body = frame[..frame.len() - DIGEST].to_vec();
    body[at..at + bytes.len()].copy_from_slice(bytes);
    let digest = blake3::hash(&body);
    [body.as_slice(), digest.as_bytes()].concat()
}

#[test]
fn strangers_get_nothing() {
    let world = World::start();
    let good = frame(1, &[product(&KEYS)]);
    for token in [None, Some("somebody-elses-token"), Some("")] {
        world.post(token, &good).refused(401, "unauthorised");
        for path in ["/v1/keys/paillier", "/v1/keys/elgamal", "/v1/quota"] {
            world.ask(token, path).refused(401, "unauthorised");
        }
    }
    // Without a valid token, even an overlong body is refused unread.
    world.post(None, &vec![0; 2 << 20]).refused(401, "unauthorised");
    assert_eq!(world.ask(None, "/healthz").json()["status"], "alive");
    assert_eq!(world.ask(None, "/readyz").json()["status"], "ready");
    world.ask(None, "/v1/nothing").refused(404, "no-such-resource");
    world.ask(Some(TOKEN), "/v1/exchange").refused(405, "method-not-allowed");
    world.stop();
    assert_eq!(world.counted("", "refused:unauthorised"), [13, 0, 0, 0, 0]);
    assert_eq!(world.counted("cloud", "charged"), [0; 5]);
}

#[test]
fn bytes_that_are_no_batch_are_refused() {
    let world = World::start();
    let post = |body: &[u8]| world.post(Some(TOKEN), body);
    let good = frame(1, &[product(&KEYS)]);
    post(b"").refused(400, "truncated");
    post(&[0x55; 300]).refused(400, "not-a-frame");
    post(&good[..good.len() - 1]).refused(400, "truncated");
    post(&[good.as_slice(), &[0]].concat()).refused(400, "trailing-bytes");
    let mut damaged = good.clone();
    damaged[300] ^= 1;
    post(&damaged).refused(400, "digest-mismatch");
    let response = write_exchange_response(BatchId([1; 16]), KEYS.exchange(), &[]).unwrap();
    post(&response).refused(400, "wrong-kind");
    post(&changed(&good, COUNT, &[0])).refused(422, "wrong-length");
    post(&frame(1, &[])).refused(422, "empty-batch");
    post(&changed(&good, COUNT, &[0, 1, 1])).refused(413, "too-large");
    post(&changed(&good, COUNT + 4, &[9])).refused(422, "invalid-value");
    post(&vec![0; (1 << 20) + 1]).refused(413, "too-large");
    world.stop();
    assert_eq!(world.counted("cloud", "refused:truncated")[0], 2);
    assert_eq!(world.counted("cloud", "refused:too-large")[0], 2);
    assert_eq!(world.counted("cloud", "charged"), [0; 5]);
}

#[test]
fn numbers_that_are_no_ciphertexts_are_refused() {
    let world = World::start();
    let post = |body: &[u8]| world.post(Some(TOKEN), body);
    let good = frame(1, &[product(&KEYS)]);
    let n = to_bytes(&words(KEYS.paillier.modulus()), 512);
    // Not coprime to n: n itself, and its prime p, which the caller cannot know.
    post(&changed(&good, BODY, &[0; 512])).refused(422, "value-out-of-range");
    post(&changed(&good, BODY, &n)).refused(422, "not-coprime");
    post(&changed(&good, BODY + 512, &n)).refused(422, "not-coprime");
    let (p, _) = KEYS.secret.paillier.expose_secret_primes();
    post(&changed(&good, BODY, &to_bytes(&words(p), 512))).refused(422, "not-coprime");
    post(&changed(&good, BODY, &[0xff; 512])).refused(422, "value-out-of-range");

    let encoding = Complement::new(16, 3, 2046).unwrap();
    let mut rng = sotto_ring::secure_rng().unwrap();
    let seven = KEYS.elgamal.encrypt(&from_words(&[7]), &mut rng).unwrap();
    let good = frame(2, &[Request::ToPaillier(seven, encoding)]);
    let prime = to_bytes(&words(KEYS.group().prime()), 256);
    let mut minus_one = prime.clone();
    *minus_one.last_mut().unwrap() -= 1;
    let first = BODY + 2;
    post(&changed(&good, first, &[0; 256])).refused(422, "value-out-of-range");
    post(&changed(&good, first, &prime)).refused(422, "value-out-of-range");
    post(&changed(&good, first, &to_bytes(&[1], 256))).refused(422, "outside-group");
    post(&changed(&good, first, &minus_one)).refused(422, "outside-group");
    post(&changed(&good, first + 256, &minus_one)).refused(422, "outside-group");
    post(&changed(&good, BODY, &[16, 200])).refused(422, "invalid-value");

    let others = write_exchange_request(BatchId([3; 16]), OTHERS.exchange(), &[product(&OTHERS)]).unwrap();
    post(&others).refused(422, "wrong-key");
    world.stop();
    assert_eq!(world.counted("cloud", "refused:not-coprime")[0], 3);
    assert_eq!(world.counted("cloud", "refused:outside-group")[0], 3);
    assert_eq!(world.counted("cloud", "refused:wrong-key")[0], 1);
    assert_eq!(world.counted("cloud", "charged"), [0; 5]);
}

#[test]
fn no_more_than_the_quota_and_no_name_twice() {
    let world = World::start();
    let post = |body: &[u8]| world.post(Some(POOR), body);
    let four = frame(1, &vec![product(&KEYS); 4]);
    assert_eq!(post(&four).status, 200);
    post(&frame(2, &vec![product(&KEYS); 2])).refused(429, "over-quota");
    // The same batch is answered again and not charged; other requests under its name are refused.
    assert_eq!(post(&four).status, 200);
    post(&frame(1, &[product(&KEYS)])).refused(409, "batch-name-taken");
    assert_eq!(world.ask(Some(POOR), "/v1/quota").json()["left"], 2);
    // Neither a restart nor a kill resets the quota.
    for end in [World::stop, World::kill] {
        end(&world);
        world.resume();
        post(&frame(2, &vec![product(&KEYS); 2])).refused(429, "over-quota");
    }
    assert_eq!(post(&frame(3, &[product(&KEYS)])).status, 200);
    post(&frame(4, &[product(&KEYS)])).refused(429, "over-quota");
    // Another caller has its own quota and its own batch names.
    assert_eq!(world.post(Some(TOKEN), &frame(1, &[product(&KEYS)])).status, 200);
    world.stop();
    assert_eq!(world.counted("poor", "charged"), [2, 5, 0, 0, 10]);
    assert_eq!(world.counted("poor", "asked-again"), [1, 4, 0, 0, 8]);
    assert_eq!(world.counted("cloud", "charged"), [1, 1, 0, 0, 2]);
}

#[test]
fn the_quota_is_asked_before_numbers_are_looked_at() {
    let world = World::start();
    let post = |body: &[u8]| world.post(Some(POOR), body);
    let bad = |name: u8, count: usize| {
        changed(&frame(name, &vec![product(&KEYS); count]), BODY + count - 1, &[0; 512])
    };
    // Six products of zeros: over the quota, before their values are checked.
    post(&bad(1, 6)).refused(429, "over-quota");
    // Good numbers with a bad one among them, as often as the quota allows.
    post(&bad(1, 3)).refused(422, "value-out-of-range");
    post(&bad(2, 2)).refused(422, "value-out-of-range");
    post(&bad(3, 1)).refused(429, "refused-too-often");
    post(&frame(4, &[product(&KEYS)])).refused(429, "refused-too-often");
    assert_eq!(world.ask(Some(POOR), "/v1/quota").json()["left"], 10);
    world.stop();
    assert_eq!(world.counted("poor", "looked-at"), [2, 5, 0, 0, 10]);
    assert_eq!(world.counted("poor", "charged"), [0; 5]);
}
