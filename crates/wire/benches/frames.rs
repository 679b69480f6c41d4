//! Times writing and reading a ciphertext beside what no frame can do without: a copy of its bytes and their digest.
//!
//! `cargo bench -p sotto-wire --bench frames` prints the least of many rounds for each ring degree, on one thread, with
//! everything in the cache that fits there. A part of 1 would be a copy and a digest alone; packing, the comparison of
//! each residue with its prime and the memory of the result are on top.
#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;
use std::time::Instant;

use sotto_keys::{DeviceSecret, SecretKey};
use sotto_rlwe::{Bfv, Params, Scheme};
use sotto_wire::AnyCiphertext;

const SECONDS: f64 = 0.5;

fn main() {
    println!("{:>6} {:>9} {:>9} {:>9} {:>9} {:>9}  parts", "n", "bytes", "write", "read", "copy", "digest");
    for degree in [4096, 8192, 16384, 32768] {
        let plain_modulus = if degree < 16384 { 65_537 } else { 786_433 };
        let params = Params::<Bfv>::default_chain(degree, plain_modulus).unwrap();
        let mut rng = sotto_ring::secure_rng().unwrap();
        let key = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
        let plaintext = Bfv::encode_slots(&params, &[215, 198], params.top_level()).unwrap();
        let ciphertext = AnyCiphertext::Expanded(key.encrypt(&plaintext, &mut rng).unwrap().expand());
        let bytes = ciphertext.write();
        let mut copied = vec![0; bytes.len()];
        let write = least(|| ciphertext.write());
        let read = least(|| AnyCiphertext::read(&bytes, &params).unwrap());
        let copy = least(|| black_box(&mut copied).copy_from_slice(black_box(&bytes)));
        let digest = least(|| blake3::hash(black_box(&bytes)));
        let [write_part, read_part] = [write, read].map(|time| (copy + digest) / time);
        let length = bytes.len();
        println!(
            "{degree:>6} {length:>9} {write:>7.1}µs {read:>7.1}µs {copy:>7.1}µs {digest:>7.1}µs  write {write_part:.2}, read {read_part:.2}"
        );
    }
}

/// Returns the least microseconds of a run. What a run returns is dropped untimed.
fn least<T>(mut run: impl FnMut() -> T) -> f64 {
    let (started, mut least) = (Instant::now(), f64::INFINITY);
    while started.elapsed().as_secs_f64() < SECONDS {
        let begin = Instant::now();
        let result = black_box(run());
        least = least.min(begin.elapsed().as_secs_f64() * 1e6);
        drop(result);
    }
    least
}
