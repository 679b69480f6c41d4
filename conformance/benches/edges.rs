//! Times of the steps between a reading and its bytes, in both directions: `cargo bench -p sotto-conformance --bench
//! edges [-- FILTER …]`. Every filter must occur in a row's name, which begins with scheme and degree. Prints the
//! fastest and the median of many runs, in microseconds. `SECONDS_A_ROW` sets the seconds of a row, 0.3 by default.

use std::hint::black_box;
use std::time::{Duration, Instant};

use sotto_conformance::{Fixture, Testable};
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_rlwe::{Bfv, Bgv, Ckks};
use sotto_wire::AnyCiphertext;

struct Rows {
    name: String,
    filters: Vec<String>,
    least: Duration,
}

impl Rows {
    fn time(&self, what: &str, mut run: impl FnMut()) {
        let row = format!("{} {what}", self.name);
        if !self.filters.iter().all(|filter| row.contains(filter.as_str())) {
            return;
        }
        let mut times = Vec::new();
        let start = Instant::now();
        while times.len() < 10 || (start.elapsed() < self.least && times.len() < 100_000) {
            let begin = Instant::now();
            run();
            times.push(begin.elapsed().as_secs_f64() * 1e6);
        }
        times.sort_by(f64::total_cmp);
        println!("{row:<40} {:>10.1} {:>10.1}", times[0], times[times.len() / 2]);
    }
}

fn edges<S: Testable>(degree: usize, filters: &[String]) {
    let here = [S::ID.to_string(), degree.to_string()];
    let names = ["BFV", "BGV", "CKKS", "4096", "8192", "16384", "32768"];
    if filters.iter().any(|filter| names.contains(&filter.as_str()) && !here.contains(filter)) {
        return;
    }
    let seconds = std::env::var("SECONDS_A_ROW").ok().and_then(|s| s.parse().ok()).unwrap_or(0.3);
    let least = Duration::from_secs_f64(seconds);
    let rows = Rows { name: format!("{} {degree}", S::ID), filters: filters.to_vec(), least };
    let mut f = Fixture::<S>::default_chain(degree, 1);
    let values = f.values();
    let (p, top) = (f.params.clone(), f.params.top_level());
    let plain = S::encode_slots(&p, &values, top).expect("encodes");
    let ciphertext = f.encrypt(&values, false);
    let decryptor = Decryptor::new(&f.secret);
    let opened = decryptor.decrypt(&ciphertext).expect("decrypts");
    rows.time("encode", || drop(black_box(S::encode_slots(&p, &values, top))));
    rows.time("decode", || drop(black_box(S::decode_slots(&p, &opened))));
    rows.time("encrypt, secret key", || drop(black_box(f.secret.encrypt(&plain, &mut f.rng))));
    rows.time("encrypt, public key", || drop(black_box(f.public.encrypt(&plain, &mut f.rng))));
    rows.time("decrypt", || drop(black_box(decryptor.decrypt(&ciphertext))));
    rows.time("decrypt and decode", || drop(black_box(decryptor.slots(&ciphertext))));
    rows.time("secret and public key", || {
        let device = DeviceSecret::generate(&mut f.rng);
        drop(black_box(SecretKey::<S>::derive(&device, &p).public_key(&mut f.rng)));
    });
    rows.time("public key", || drop(black_box(f.secret.public_key(&mut f.rng))));
    rows.time("relinearisation key", || drop(black_box(f.secret.relinearisation_key(&mut f.rng))));
    let steps: Vec<i32> = (0..degree.ilog2() - 1).flat_map(|i| [1 << i, -(1 << i)]).collect();
    if filters.iter().any(|filter| filter.contains("Galois")) {
        rows.time("Galois keys, powers of two", || {
            drop(black_box(f.secret.evaluation_keys(false, &steps, &mut f.rng)));
        });
    }
    let seeded = AnyCiphertext::Seeded(f.secret.encrypt(&plain, &mut f.rng).expect("encrypts"));
    let expanded = AnyCiphertext::Expanded(ciphertext);
    for (what, ciphertext) in [("seeded", seeded), ("written out", expanded)] {
        let bytes = ciphertext.write();
        rows.time(&format!("serialise, {what}"), || drop(black_box(ciphertext.write())));
        rows.time(&format!("parse, {what}"), || drop(black_box(AnyCiphertext::read(&bytes, &p))));
    }
}

fn main() {
    let filters: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    for degree in [4096, 8192, 16384, 32768] {
        edges::<Bfv>(degree, &filters);
        edges::<Bgv>(degree, &filters);
        edges::<Ckks>(degree, &filters);
    }
}
