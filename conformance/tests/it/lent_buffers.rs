//! Operations in the caller's buffers, with contents of earlier work, give the same bits as the allocating ones.

use sotto_conformance::{Fixture, Testable};
use sotto_ring::Scratch;
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, Multiplier, Scheme};

fn same<S: Scheme>(what: &str, found: &Ciphertext<S>, expected: &Ciphertext<S>) {
    assert_eq!(found.components(), expected.components(), "{} {what}", S::ID);
    assert_eq!(found.level(), expected.level(), "{} {what}", S::ID);
    assert_eq!(found.components().len(), expected.components().len(), "{} {what}", S::ID);
}

fn lent<S: Testable>(degree: usize) {
    let mut f = Fixture::<S>::default_chain(degree, 5);
    let x = f.values();
    let (a, b) = (f.encrypt(&x, true), f.encrypt(&x, false));
    let (e, scratch) = (&f.evaluator, &mut Scratch::new());
    let multiplier = Multiplier::new(&f.params, &f.encode(&x, f.params.top_level()), f.params.top_level());
    let three = e.multiply(&a, &b).unwrap();
    // Twice: the second time the buffers are dirty and have other lengths.
    for _ in 0..2 {
        same("add", &e.add_with(&a, &b, scratch).unwrap(), &e.add(&a, &b).unwrap());
        same("add to itself", &e.add_with(&a, &a, scratch).unwrap(), &e.add(&a, &a).unwrap());
        let product = e.multiply_plain_with(&a, &multiplier, scratch).unwrap();
        same("multiply plain", &product, &e.multiply_plain(&a, &multiplier).unwrap());
        e.recycle(product, scratch);
        let product = e.multiply_with(&a, &b, scratch).unwrap();
        same("multiply", &product, &three);
        e.recycle(product, scratch);
        let rotated = e.rotate_with(&a, 1, &f.keys, scratch).unwrap();
        same("rotate", &rotated, &e.rotate(&a, 1, &f.keys).unwrap());
        e.recycle(rotated, scratch);
        let lowered = e.lower_with(&a, 0, scratch).unwrap();
        same("lower", &lowered, &e.lower(&a, 0).unwrap());
        e.recycle(lowered, scratch);
    }
    if S::ID != sotto_rlwe::SchemeId::Ckks {
        // Two components and three.
        same("add of two lengths", &e.add_with(&a, &three, scratch).unwrap(), &e.add(&a, &three).unwrap());
    }
    let before = a.clone();
    let mut sum = a.clone();
    let low = e.lower(&b, 0).unwrap();
    assert!(e.add_assign(&mut sum, &low, scratch).is_err(), "levels differ");
    same("a refused sum", &sum, &before);
}

#[test]
fn bfv() {
    lent::<Bfv>(4096);
}

#[test]
fn bgv() {
    lent::<Bgv>(8192);
}

#[test]
fn ckks() {
    lent::<Ckks>(8192);
}
