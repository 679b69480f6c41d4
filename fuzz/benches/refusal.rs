//! The time to refuse a body of the largest size, beside the time to read a valid one of that size.
//!
//! `cargo bench --package sotto-fuzz --bench refusal` prints the shortest of several rounds, valid and invalid in turn.
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use sotto_conformance::golden;
use sotto_fuzz::resealed;
use sotto_keys::SigningIdentity;
use sotto_program::{PlainConstant, Plan};
use sotto_ring::secure_rng;
use sotto_rlwe::{Bfv, Params, Scheme};
use sotto_wire::*;

const ROUNDS: usize = 9;

/// Returns true if the bytes are accepted.
type Accepts = Box<dyn Fn(&[u8]) -> bool>;

struct Body {
    what: &'static str,
    bytes: Vec<u8>,
    accepts: Accepts,
}

/// The default limit of an upload is 8 MiB; a written-out ciphertext at n = 32768 comes near it.
fn envelope() -> Body {
    let params = Params::<Bfv>::default_chain(32_768, 786_433).unwrap();
    let secret = golden::secret(&params);
    let plain = Bfv::encode_slots(&params, &[1, 2, 3], params.top_level()).unwrap();
    let ciphertext = secret.encrypt(&plain, &mut secure_rng().unwrap()).unwrap().expand();
    let identity = SigningIdentity::from_bytes(&golden::SIGNING_KEY);
    let header = EnvelopeHeader { parameters: params.id(), key: secret.id(), ..golden::envelope_header() };
    let body = AnyCiphertext::Expanded(ciphertext).write();
    let bytes = Envelope::sign(header, body, |message| identity.sign(message)).unwrap().write();
    let key = identity.verifying_key();
    let accepts = move |bytes: &[u8]| {
        let read = Envelope::read(bytes, LARGEST_ENVELOPE).ok();
        let signed = read.filter(|envelope| envelope.verify(&key).is_ok());
        signed.is_some_and(|envelope| AnyCiphertext::read(&envelope.body().frame(), &params).is_ok())
    };
    Body { what: "envelope", bytes, accepts: Box::new(accepts) }
}

/// Keys of 64 rotations at n = 8192.
fn evaluation_keys() -> Body {
    let params = Params::<Bfv>::default_chain(8192, 786_433).unwrap();
    let steps: Vec<i32> = (1..=64).collect();
    let keys = golden::secret(&params).evaluation_keys(false, &steps, &mut secure_rng().unwrap()).unwrap();
    let most = EvaluationKeyCounts { relinearisation: true, galois: 64, transfers: 64 };
    let accepts = move |bytes: &[u8]| read_evaluation_keys(bytes, &params, most).is_ok();
    Body { what: "evaluation keys", bytes: write_evaluation_keys(&keys), accepts: Box::new(accepts) }
}

/// A plan with the most coefficients, whose largest just fits three bytes.
fn plan() -> Body {
    let constant = |last| {
        let mut coefficients: Vec<i64> = (0..131_072).map(|i| i - 65_536).collect();
        coefficients[131_071] = last;
        PlainConstant { coefficients, level: 1, power: 1 }
    };
    let constants = (0..120).map(|i| constant(70_000 + i)).collect();
    let plan = Plan { constants, ..golden::plan() };
    let bytes = write_plan(&plan).unwrap();
    Body { what: "plan", bytes, accepts: Box::new(|bytes| read_plan(bytes).is_ok()) }
}

/// Returns the shortest time of each input, measured in turn.
fn least(body: &Body, all: &[(&'static str, Vec<u8>)]) -> Vec<Duration> {
    let mut least = vec![Duration::MAX; all.len()];
    for _ in 0..ROUNDS {
        for ((_, bytes), least) in all.iter().zip(&mut least) {
            let start = Instant::now();
            std::hint::black_box((body.accepts)(bytes));
            *least = (*least).min(start.elapsed());
        }
    }
    least
}

fn main() {
    println!("{:16} {:>9}  {:28} {:>9} {:>6}", "body", "bytes", "", "ms", "ratio");
    for body in [envelope(), evaluation_keys(), plan()] {
        let end = body.bytes.len();
        let changed = |at: usize| {
            let mut bytes = body.bytes.clone();
            bytes[at] ^= 0xff;
            bytes
        };
        // The last residues, which precede an envelope's signature and two digests; in a plan, its predictions.
        let last = end - if body.what == "envelope" { 128 } else { 32 };
        let mut late = body.bytes.clone();
        late[last - 17..last].fill(0xff);
        let all = [
            ("good", body.bytes.clone()),
            ("no frame at all", vec![0x73; end]),
            ("a wrong digest", changed(end - 1)),
            ("a late fault, right digests", resealed(&late).unwrap()),
            ("cut short", body.bytes[..end - 1].to_vec()),
        ];
        assert!((body.accepts)(&all[0].1) && all[1..].iter().all(|(_, bad)| !(body.accepts)(bad)));
        let times = least(&body, &all);
        for ((what, _), time) in all.iter().zip(&times) {
            let ratio = time.as_secs_f64() / times[0].as_secs_f64();
            println!("{:16} {end:>9}  {what:28} {:>9.3} {ratio:>6.3}", body.what, time.as_secs_f64() * 1e3);
        }
    }
}
