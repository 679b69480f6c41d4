//! Every operation of every scheme: `cargo bench -p sotto-conformance`. Prints the fastest and the median of many runs,
//! in microseconds, for the degrees on the command line (by default all); the lab compares with other libraries.

use std::hint::black_box;
use std::time::{Duration, Instant};

use sotto_conformance::{Fixture, Testable};
use sotto_decrypt::Decryptor;
use sotto_ring::Scratch;
use sotto_rlwe::{Addend, Bfv, Bgv, Ckks, Multiplier, SchemeId};

fn time(what: &str, mut run: impl FnMut()) {
    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < 10 || (start.elapsed() < Duration::from_millis(300) && times.len() < 1000) {
        let begin = Instant::now();
        run();
        times.push(begin.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    println!("{what:<28} {:>10.1} {:>10.1}", times[0], times[times.len() / 2]);
}

fn operations<S: Testable>(degree: usize) {
    println!("\n{} n = {degree} {:>25} {:>10}", S::ID, "fastest", "median");
    let mut f = Fixture::<S>::default_chain(degree, 1);
    let values = f.values();
    let (p, top) = (f.params.clone(), f.params.top_level());
    let plain = S::encode_slots(&p, &values, top).expect("encodes");
    let mut scratch = Scratch::new();
    let a = f.encrypt(&values, false);
    let b = f.encrypt(&values, true);
    let e = &f.evaluator;
    let decryptor = Decryptor::new(&f.secret);
    time("encode", || drop(black_box(S::encode_slots(&p, &values, top))));
    let opened = decryptor.decrypt(&a).expect("decrypts");
    time("decode", || drop(black_box(S::decode_slots(&p, &opened))));
    time("encrypt, secret key", || drop(black_box(f.secret.encrypt(&plain, &mut f.rng))));
    time("encrypt, public key", || drop(black_box(f.public.encrypt(&plain, &mut f.rng))));
    time("decrypt", || drop(black_box(decryptor.decrypt(&a))));
    let mut sum = a.clone();
    time("add in place", || drop(black_box(e.add_assign(&mut sum, &b, &mut scratch))));
    time("add", || {
        let c = e.add_with(&a, &b, &mut scratch).expect("adds");
        e.recycle(c, &mut scratch);
    });
    time("prepare to add", || drop(black_box(Addend::new(&p, &plain, top, a.shape().scaling))));
    let addend = Addend::new(&p, &plain, top, a.shape().scaling);
    time("add plain", || {
        let c = e.add_plain_with(&a, &addend, &mut scratch).expect("adds");
        e.recycle(c, &mut scratch);
    });
    let multiplier = Multiplier::new(&p, &plain, top);
    time("multiply plain", || {
        let c = e.multiply_plain_with(&a, &multiplier, &mut scratch).expect("multiplies");
        e.recycle(c, &mut scratch);
    });
    time("multiply", || {
        let c = e.multiply_with(&a, &b, &mut scratch).expect("multiplies");
        e.recycle(c, &mut scratch);
    });
    let product = e.multiply(&a, &b).expect("multiplies");
    time("multiply, relinearise", || {
        let mut c = e.multiply_with(&a, &b, &mut scratch).expect("multiplies");
        e.relinearise_assign(&mut c, &f.keys, &mut scratch).expect("relinearises");
        e.recycle(c, &mut scratch);
    });
    time("rotate", || {
        let c = e.rotate_with(&a, 1, &f.keys, &mut scratch).expect("rotates");
        e.recycle(c, &mut scratch);
    });
    let hoisted = e.hoist(&a, &mut scratch).expect("decomposes");
    time("rotate, hoisted", || {
        let c = e.rotate_hoisted(&hoisted, 1, &f.keys, &mut scratch).expect("rotates");
        e.recycle(c, &mut scratch);
    });
    let high = if S::ID == SchemeId::Ckks { &product } else { &a };
    time("drop a prime", || {
        let mut c = e.copy_with(high, &mut scratch);
        e.drop_modulus_assign(&mut c, &mut scratch).expect("drops");
        e.recycle(c, &mut scratch);
    });
    time("lower by a level", || {
        let c = e.lower_with(&a, top - 1, &mut scratch).expect("lowers");
        e.recycle(c, &mut scratch);
    });
    time("public key", || drop(black_box(f.secret.public_key(&mut f.rng))));
    time("relinearisation key", || drop(black_box(f.secret.relinearisation_key(&mut f.rng))));
}

fn main() {
    let degrees: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    for degree in if degrees.is_empty() { vec![4096, 8192, 16384, 32768] } else { degrees } {
        operations::<Bfv>(degree);
        operations::<Bgv>(degree);
        operations::<Ckks>(degree);
    }
}
