//! A frame written limb by limb must have the limbs that its preamble declares.

use sotto_ring::{Modulus, SEED_BYTES, Seed};
use sotto_rlwe::{Bfv, KeyId, ParameterSpec, Params, SchemeId};
use sotto_wire::*;

/// n = 16, two data primes of 40 bits, one special.
fn insecure_n16() -> Params<Bfv> {
    let primes: Vec<u64> = sotto_ring::primes::below(1 << 40, 16).take(3).collect();
    let (special, data) = (primes[..1].to_vec(), primes[1..].to_vec());
    let spec = ParameterSpec { scheme: SchemeId::Bfv, degree: 16, special, data, digit_primes: 1, plain: 97 };
    Params::insecure(spec).unwrap()
}

/// Writes a frame of these limbs and returns its bytes with the writer's result.
fn written(limbs: &[Modulus]) -> (Vec<u8>, Result<(), WireError>) {
    let params = insecure_n16();
    let preamble = SeededPreamble::new(&params, KeyId([7; 16]), 1.0).unwrap();
    let mut frame = Vec::new();
    let mut writer =
        SeededWriter::new(&preamble, &Seed([5; SEED_BYTES]), |bytes| frame.extend_from_slice(bytes));
    for modulus in limbs {
        writer.limb(modulus, &[1; 16]);
    }
    let finished = writer.finish();
    (frame, finished)
}

#[test]
fn other_limbs_than_the_preamble_says_are_an_error() {
    let params = insecure_n16();
    let data: Vec<Modulus> = params.spec().data.iter().map(|q| Modulus::new(*q).unwrap()).collect();
    let (frame, finished) = written(&data);
    assert_eq!(finished, Ok(()));
    AnyCiphertext::<Bfv>::read(&frame, &params).unwrap();

    // 16 residues of 40 bits are 80 bytes.
    let missing = written(&data[..1]).1;
    assert!(matches!(missing, Err(WireError::Truncated { expected, found }) if expected == found + 80));
    let extra = [data[0], data[1], data[1]];
    assert_eq!(written(&extra).1, Err(WireError::Trailing { extra: 80 }));
    let wider = [data[0], Modulus::new((1 << 45) - 55).unwrap()];
    assert_eq!(written(&wider).1, Err(WireError::Trailing { extra: 10 }));
}
