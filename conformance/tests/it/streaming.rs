//! The streaming encryptor: it gives the bytes of the ordinary encryptor, and takes less than 256 KiB of heap at n =
//! 4096.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_conformance::Testable;
use sotto_keys::{DeviceSecret, SecretKey, StreamingEncryptor, StreamingError};
use sotto_ring::Seed;
use sotto_rlwe::{Bfv, Bgv, Ckks, EncodeError, Params, Scheme, SlotValues};
use sotto_wire::{AnyCiphertext, SeededPreamble, SeededWriter, WireError};

/// Most bytes of heap at n = 4096.
const MOST_BYTES: u64 = 256 << 10;

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([5; 32])
}

fn device() -> DeviceSecret {
    DeviceSecret::from_bytes(&[3; 32])
}

fn values<S: Testable>(params: &Params<S>) -> Vec<S::Value> {
    let (rows, columns) = S::slot_shape(params).unwrap();
    // All slots but three; the missing ones become zero.
    (0..rows * columns - 3).map(|_| S::random(params, &mut rng())).collect()
}

/// Encrypts like a device: from its secret to a frame.
fn streamed(
    preamble: &SeededPreamble,
    spec: &sotto_rlwe::ParameterSpec,
    values: SlotValues<'_>,
    sink: &mut impl FnMut(&[u8]),
) -> Result<(), StreamingError> {
    let encryptor = StreamingEncryptor::derive(&device(), spec, 1.0)?;
    let mut rng = rng();
    let seed = Seed::random(&mut rng);
    let mut writer = SeededWriter::new(preamble, &seed, sink);
    encryptor.encrypt(values, seed, &mut rng, |q, limb| writer.limb(q, limb))?;
    writer.finish().unwrap();
    Ok(())
}

fn ordinary<S: Scheme>(params: &Params<S>, values: &[S::Value]) -> Vec<u8> {
    let secret = SecretKey::derive(&device(), params);
    let plaintext = S::encode_slots(params, values, params.top_level()).unwrap();
    AnyCiphertext::Seeded(secret.encrypt(&plaintext, &mut rng()).unwrap()).write()
}

fn same_bytes<S: Testable>(degree: usize, as_slots: fn(&[S::Value]) -> SlotValues<'_>) {
    let params = Params::<S>::default_chain(degree, S::plain_modulus(degree)).unwrap();
    let values = values(&params);
    let expected = ordinary(&params, &values);
    let key = device().key_id(&params.id());
    let preamble = SeededPreamble::new(&params, key, 1.0).unwrap();
    let spec = params.spec().clone();
    assert_eq!(SeededPreamble::from_bytes(preamble.bytes(), &spec, key).unwrap(), preamble);
    assert_eq!(preamble.frame_bytes(), expected.len());
    drop(params);
    let mut frame = Vec::new();
    streamed(&preamble, &spec, as_slots(&values), &mut |bytes| frame.extend_from_slice(bytes)).unwrap();
    assert!(frame == expected, "{} {degree}: the frames differ", S::ID);
    if degree == 4096 {
        // Measured on a new thread, as the pool of this thread's buffers would hide allocations.
        let measured = std::thread::scope(|scope| {
            let run = || {
                let mut bytes = 0;
                let info = allocation_counter::measure(|| {
                    streamed(&preamble, &spec, as_slots(&values), &mut |part| bytes += part.len()).unwrap();
                });
                assert_eq!(bytes, expected.len());
                info
            };
            scope.spawn(run).join().unwrap()
        });
        println!("{} {degree}: {} bytes of heap", S::ID, measured.bytes_max);
        assert!(measured.bytes_max < MOST_BYTES, "{}: {measured:?}", S::ID);
        assert!(measured.bytes_max > 32 << 10, "allocations are counted");
    }
}

#[test]
fn bytes_are_those_of_the_ordinary_encryptor() {
    for degree in [4096, 8192] {
        same_bytes::<Bfv>(degree, |values| SlotValues::Integers(values));
        same_bytes::<Bgv>(degree, |values| SlotValues::Integers(values));
        same_bytes::<Ckks>(degree, |values| SlotValues::Reals(values));
    }
}

#[test]
fn what_does_not_fit_is_refused_before_a_limb_is_made() {
    let params = Params::<Bgv>::default_chain(4096, 40_961).unwrap();
    let encryptor = StreamingEncryptor::derive(&device(), params.spec(), 1.0).unwrap();
    let refused = |values: SlotValues<'_>| {
        let result = encryptor.encrypt(values, Seed([0; 24]), &mut rng(), |_, _| panic!("a limb is made"));
        let Err(StreamingError::Encode(error)) = result else { panic!("it is encrypted") };
        error
    };
    assert_eq!(
        refused(SlotValues::Integers(&[1, 40_961])),
        EncodeError::OutOfRange { index: 1, limit: 40_960.0 }
    );
    assert_eq!(refused(SlotValues::Integers(&[0; 4097])), EncodeError::TooMany { given: 4097, slots: 4096 });
    assert!(matches!(refused(SlotValues::Reals(&[0.5])), EncodeError::NoSlots { .. }));
    let params = Params::<Ckks>::default_chain(4096, 0).unwrap();
    let encryptor = StreamingEncryptor::derive(&device(), params.spec(), 1.0).unwrap();
    for value in [1.5, f64::NAN, f64::INFINITY] {
        let result = encryptor.encrypt(SlotValues::Reals(&[value]), Seed([0; 24]), &mut rng(), |_, _| {});
        let limit = EncodeError::OutOfRange { index: 0, limit: 1.0 };
        assert_eq!(result, Err(StreamingError::Encode(limit)));
    }
}

#[test]
fn a_preamble_of_another_key_or_parameters_is_refused() {
    let params = Params::<Bgv>::default_chain(4096, 40_961).unwrap();
    let other = Params::<Bgv>::default_chain(8192, 786_433).unwrap();
    let key = device().key_id(&params.id());
    let preamble = SeededPreamble::new(&params, key, 1.0).unwrap();
    let read = |bytes: &[u8; 92], spec| SeededPreamble::from_bytes(bytes, spec, key);
    assert!(matches!(read(preamble.bytes(), other.spec()), Err(WireError::Parameters { .. })));
    let foreign = SeededPreamble::new(&params, device().key_id(&other.id()), 1.0).unwrap();
    assert!(matches!(read(foreign.bytes(), params.spec()), Err(WireError::Key { .. })));
    for (at, change) in [(0, 1), (4, 1), (5, 1), (6, 1), (8, 1), (65, 1)] {
        let mut bytes = *preamble.bytes();
        bytes[at] ^= change;
        assert!(read(&bytes, params.spec()).is_err(), "byte {at}");
    }
    // A frame without its limbs is refused.
    let writer = SeededWriter::new(&preamble, &Seed([1; 24]), |_| {});
    assert!(matches!(writer.finish(), Err(WireError::Truncated { .. })));
}
