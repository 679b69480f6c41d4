//! Packed residues against `spec/`, seen through the frame of a ciphertext.

use sotto_conformance::vectors::{self, PackingCase};
use sotto_ring::{Eval, Poly};
use sotto_rlwe::{Bfv, Ciphertext, KeyId, Log2, Noise, ParameterSpec, Params, SchemeId, Shape};
use sotto_wire::{AnyCiphertext, DIGEST_BYTES};

#[test]
fn residues_are_packed_as_the_specification_says() {
    for case in vectors::cases::<PackingCase>("packing") {
        let spec = ParameterSpec {
            scheme: SchemeId::Bfv,
            degree: case.degree,
            special: Vec::new(),
            data: case.primes.clone(),
            digit_primes: 1,
            plain: 2,
        };
        let params = Params::<Bfv>::insecure(spec).unwrap();
        let level = params.top_level();
        let mut poly = Poly::<Eval>::zero(params.ring(), params.limbs(level));
        for (i, limb) in case.residues.iter().enumerate() {
            poly.limb_mut(i).copy_from_slice(limb);
        }
        let noise = Noise { message: Log2(0.0), error: Log2(0.0) };
        let shape = Shape::bounded(level, 2, (), noise);
        let ciphertext = Ciphertext::from_parts(&params, KeyId([0; 16]), shape, vec![poly.clone(), poly]);
        let frame = AnyCiphertext::Expanded(ciphertext).write();
        let packed = hex::decode(&case.bytes).unwrap();
        let end = frame.len() - DIGEST_BYTES;
        assert_eq!(frame[end - packed.len()..end], packed, "n = {}", case.degree);
        assert!(AnyCiphertext::<Bfv>::read(&frame, &params).is_ok());
    }
}
