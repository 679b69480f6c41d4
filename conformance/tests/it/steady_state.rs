//! After a few rounds of the same work the evaluator allocates no memory.

use allocation_counter::AllocationInfo;
use sotto_conformance::{Fixture, Testable};
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::Scratch;
use sotto_rlwe::{Bfv, Bgv, Ckks, EvaluationKeys, Multiplier};

/// Rounds until every buffer of the pool has grown to its size.
const WARM_UP: usize = 12;

/// Releases the thread's pool before each round: otherwise a buffer that is never recycled would stay unnoticed.
fn measured(mut work: impl FnMut()) -> AllocationInfo {
    let mut work = || {
        sotto_ring::release();
        work();
    };
    (0..WARM_UP).for_each(|_| work());
    allocation_counter::measure(&mut work)
}

fn steady<S: Testable>() {
    let mut f = Fixture::<S>::default_chain(8192, 8);
    let x = f.values();
    let (a, b) = (f.encrypt(&x, true), f.encrypt(&x, false));
    let other = SecretKey::derive(&DeviceSecret::from_bytes(&[9; 32]), &f.params);
    let mut transfer = EvaluationKeys::empty(&f.params, other.id());
    transfer.transfers.insert(f.secret.id(), other.transfer_key(&f.secret, &mut f.rng).unwrap());
    let (e, keys) = (&f.evaluator, &f.keys);
    let scratch = &mut Scratch::new();
    let hoisted = e.hoist(&a, &mut Scratch::new()).unwrap();
    let tensor = e.multiply(&a, &b).unwrap();
    let none = |what: &str, info: AllocationInfo| {
        assert_eq!(info.count_total, 0, "{} {what}: {info:?}", S::ID);
    };
    assert!(measured(|| drop(e.multiply(&a, &b).unwrap())).count_total > 0, "allocations are counted");
    none("multiply_with", measured(|| e.recycle(e.multiply_with(&a, &b, scratch).unwrap(), scratch)));
    none("multiply_with itself", measured(|| e.recycle(e.multiply_with(&a, &a, scratch).unwrap(), scratch)));
    none("rotate_with", measured(|| e.recycle(e.rotate_with(&a, 1, keys, scratch).unwrap(), scratch)));
    none("swap_rows_with", measured(|| e.recycle(e.swap_rows_with(&a, keys, scratch).unwrap(), scratch)));
    none(
        "rotate_hoisted",
        measured(|| e.recycle(e.rotate_hoisted(&hoisted, -1, keys, scratch).unwrap(), scratch)),
    );
    none(
        "switch_key_with",
        measured(|| e.recycle(e.switch_key_with(&a, &transfer, scratch).unwrap(), scratch)),
    );
    none(
        "copy, add_assign, subtract_assign, negate_assign, multiply_scalar_assign",
        measured(|| {
            let mut sum = e.copy_with(&a, scratch);
            e.add_assign(&mut sum, &b, scratch).unwrap();
            e.subtract_assign(&mut sum, &a, scratch).unwrap();
            e.negate_assign(&mut sum).unwrap();
            e.multiply_scalar_assign(&mut sum, 3).unwrap();
            e.recycle(sum, scratch);
        }),
    );
    let plain = f.encode(&x, f.params.top_level());
    let multiplier = Multiplier::new(&f.params, &plain, f.params.top_level());
    none(
        "multiply_plain_assign, add_multiplied_plain_assign",
        measured(|| {
            let mut sum = e.copy_with(&a, scratch);
            e.multiply_plain_assign(&mut sum, &multiplier).unwrap();
            e.add_multiplied_plain_assign(&mut sum, &b, &multiplier, scratch).unwrap();
            e.recycle(sum, scratch);
        }),
    );
    none(
        "relinearise_assign and drop_modulus_assign",
        measured(|| {
            let mut product = e.copy_with(&tensor, scratch);
            e.relinearise_assign(&mut product, keys, scratch).unwrap();
            e.drop_modulus_assign(&mut product, scratch).unwrap();
            e.recycle(product, scratch);
        }),
    );
    let hoist = measured(|| e.hoist(&a, scratch).unwrap().recycle(scratch));
    assert!(hoist.count_total <= 1, "{} hoist: the list of digits: {hoist:?}", S::ID);
    let lower = measured(|| e.recycle(e.lower_with(&a, 1, scratch).unwrap(), scratch));
    if S::RESCALES {
        // The constant is a plaintext of one coefficient; it depends on both levels, and no table of all pairs is kept.
        assert!(lower.bytes_total <= 64, "{} lower_with: {lower:?}", S::ID);
    } else {
        none("lower_with", lower);
    }
}

#[test]
fn bfv_allocates_nothing() {
    steady::<Bfv>();
}

#[test]
fn bgv_allocates_nothing() {
    steady::<Bgv>();
}

#[test]
fn ckks_allocates_nothing() {
    steady::<Ckks>();
}
