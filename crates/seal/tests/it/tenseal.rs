//! Bytes of TenSEAL's `serialize()` are recognised by every reader, and the refusal names the way out.

use sotto_rlwe::{Ckks, KeyId};
use sotto_seal::*;

const CONTEXT: &[u8] = include_bytes!("../../../../conformance/vectors/seal/tenseal.context");
const VECTOR: &[u8] = include_bytes!("../../../../conformance/vectors/seal/tenseal.vector");
/// Bytes before SEAL's parameters in the context: the key and the length of the first field.
const BEFORE: usize = 2;

fn refusal(bytes: &[u8]) -> SealError {
    inspect(bytes, None, 1 << 20).unwrap_err()
}

/// Returns the context that TenSEAL serialised, from the parameters inside.
fn chain() -> Chain<Ckks> {
    let length = usize::from(CONTEXT[BEFORE - 1]);
    let parameters = SealParameters::read(&CONTEXT[BEFORE..BEFORE + length]).unwrap();
    assert_eq!((parameters.degree, parameters.primes.len()), (2048, 2));
    Chain::insecure(&parameters, Some(20)).unwrap()
}

#[test]
fn every_reader_recognises_what_serialize_wrote() {
    let (chain, id) = (chain(), KeyId([7; 16]));
    let claim = Claim::Values { magnitude: 1.0, error: 0.1 };
    for (bytes, object) in [(CONTEXT, TensealObject::Context), (VECTOR, TensealObject::Values)] {
        let expected = SealError::Tenseal(object);
        assert_eq!(refusal(bytes), expected);
        assert_eq!(SealParameters::read(bytes).err().as_ref(), Some(&expected));
        assert_eq!(read_ciphertext(bytes, &chain, id, claim).err().as_ref(), Some(&expected));
        assert_eq!(read_public_key(bytes, &chain, id).err().as_ref(), Some(&expected));
        assert_eq!(read_plaintext(bytes, &chain).err().as_ref(), Some(&expected));
        assert_eq!(read_galois_keys(bytes, &chain, 1).err().as_ref(), Some(&expected));
        assert_eq!(read_unprotected_secret_key(bytes, &chain).err().as_ref(), Some(&expected));
    }
}

#[test]
fn the_refusal_names_the_way_out() {
    let said = refusal(CONTEXT).to_string();
    for words in ["serialize()", "context_from(", "parms().save(", "secret_key().data.save("] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let said = refusal(VECTOR).to_string();
    for words in ["serialize()", "ckks_vector_from(", "bfv_vector_from", ".ciphertext()[0].save("] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn a_cut_message_is_recognised_from_the_first_bytes_of_its_object_on() {
    for (bytes, before) in [(CONTEXT, BEFORE), (VECTOR, 3 + 4)] {
        assert_eq!(bytes[before..before + 3], [0x5e, 0xa1, 0x10]);
        for end in 0..before + 40 {
            let found = matches!(inspect(&bytes[..end], None, 1 << 20), Err(SealError::Tenseal(_)));
            assert_eq!(found, end >= before + 3, "{end} bytes");
        }
    }
}

#[test]
fn other_messages_are_not_taken_for_it() {
    let object = [0x5e, 0xa1, 0x10, 4, 3];
    let field = |key: u8| [&[key, object.len() as u8], object.as_slice()].concat();
    let number_first = [&[0x08, 0x80, 0x01], field(0x12).as_slice()].concat();
    assert_eq!(refusal(&number_first), SealError::Tenseal(TensealObject::Values));
    let fixed_first = [&[0x09, 0, 0, 0, 0, 0, 0, 0, 0, 0x15, 0, 0, 0, 0], field(0x1a).as_slice()].concat();
    assert_eq!(refusal(&fixed_first), SealError::Tenseal(TensealObject::Values));
    let late = [[0x08, 1].repeat(8), field(0x12)].concat();
    let endless = [vec![0x08], vec![0xff; 10], field(0x12)].concat();
    let group = [vec![0x0b], field(0x12)].concat();
    let text = b"\x0a\x05\x5e\xa1 SEAL".to_vec();
    let length = [&[0x0a], [0xff; 9].as_slice(), &[1], b"no object"].concat();
    for bytes in [late, endless, group, text, length, Vec::new(), vec![0x0a], vec![0x0a, 0xff]] {
        let refused = refusal(&bytes);
        assert!(!matches!(refused, SealError::Tenseal(_)), "{bytes:?}: {refused}");
    }
}
