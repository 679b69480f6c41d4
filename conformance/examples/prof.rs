use sotto_conformance::{Fixture, Testable};
use sotto_ring::Scratch;
use sotto_rlwe::{Bfv, Bgv, Ckks};
fn run<S: Testable>(n: usize, what: &str) {
    let mut f = Fixture::<S>::default_chain(n, 1);
    let v = f.values();
    let (a, b) = (f.encrypt(&v, false), f.encrypt(&v, true));
    let mut s = Scratch::new();
    let e = &f.evaluator;
    let d = sotto_decrypt::Decryptor::new(&f.secret);
    let h = e.hoist(&a, &mut s).unwrap();
    let start = std::time::Instant::now();
    let mut k = 0;
    while start.elapsed().as_secs() < 4 {
        for _ in 0..20 {
            k += 1;
            match what {
                "rotate" => {
                    let c = e.rotate_with(&a, 1, &f.keys, &mut s).unwrap();
                    e.recycle(c, &mut s)
                }
                "hoisted" => {
                    let c = e.rotate_hoisted(&h, 1, &f.keys, &mut s).unwrap();
                    e.recycle(c, &mut s)
                }
                "multiply" => {
                    let c = e.multiply_with(&a, &b, &mut s).unwrap();
                    e.recycle(c, &mut s)
                }
                "decrypt" => drop(d.slots(&a).unwrap()),
                "drop" => {
                    let mut c = e.copy_with(&a, &mut s);
                    e.drop_modulus_assign(&mut c, &mut s).unwrap();
                    e.recycle(c, &mut s)
                }
                _ => panic!(),
            }
        }
    }
    println!("{:.1} us", start.elapsed().as_secs_f64() * 1e6 / k as f64);
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let n = a[2].parse().unwrap();
    match a[1].as_str() {
        "bfv" => run::<Bfv>(n, &a[3]),
        "bgv" => run::<Bgv>(n, &a[3]),
        _ => run::<Ckks>(n, &a[3]),
    }
}
