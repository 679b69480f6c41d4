//! Bytes with a valid digest that claim another shape than the plan's are refused, naming the difference. A claimed
//! noise bound below the plan's is replaced by the plan's.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_rlwe::{
    Bgv, Ciphertext, Ckks, Evaluator, Expected, KeyId, Log2, Noise, ParameterSpec, Params, Reduction, Scheme,
    SchemeId, Selection, Shape, Unexpected,
};
use sotto_wire::{AnyCiphertext, read_reduced, write_reduced};

/// n = 16, three data primes, one special: no security, few bytes.
fn insecure_n16<S: Scheme>() -> Params<S> {
    let (bits, plain) = if S::ID == SchemeId::Ckks { (41, 40) } else { (40, 97) };
    let large = sotto_ring::primes::below(1 << bits, 16).take(2);
    let others = sotto_ring::primes::below(1 << 40, 16).skip(2).take(2);
    let primes: Vec<u64> = large.chain(others).collect();
    let (special, data) = (primes[..1].to_vec(), primes[1..].to_vec());
    Params::insecure(ParameterSpec { scheme: S::ID, degree: 16, special, data, digit_primes: 1, plain })
        .unwrap()
}

fn fresh<S: Scheme>(value: S::Value) -> Ciphertext<S> {
    let params = insecure_n16::<S>();
    let key = SecretKey::derive(&DeviceSecret::from_bytes(&[8; 32]), &params);
    let plain = S::encode_scalar(&params, value, params.top_level()).unwrap();
    key.encrypt(&plain, &mut ChaCha20Rng::from_seed([3; 32])).unwrap().expand()
}

/// The expected shape and key, as the ciphertext's maker knows them.
fn expected<S: Scheme>(ciphertext: &Ciphertext<S>) -> Expected<S> {
    let (parameters, key, shape) = (ciphertext.params().id(), ciphertext.key(), *ciphertext.shape());
    Expected { parameters, key, shape, reduction: None }
}

/// Returns the ciphertext's bytes with another shape or key in the header; residues and digest are valid.
fn sent<S: Scheme>(ciphertext: &Ciphertext<S>, key: KeyId, shape: Shape<S>) -> Vec<u8> {
    let components = ciphertext.components().to_vec();
    AnyCiphertext::Expanded(Ciphertext::from_parts(ciphertext.params(), key, shape, components)).write()
}

fn noise(message: f64, error: f64) -> Noise {
    Noise { message: Log2(message), error: Log2(error) }
}

/// Reads the ciphertext with this claimed noise.
fn claiming<S: Scheme>(ciphertext: &Ciphertext<S>, noise: Noise) -> Result<Ciphertext<S>, Unexpected> {
    let shape = Shape { noise, ..*ciphertext.shape() };
    let bytes = sent(ciphertext, ciphertext.key(), shape);
    AnyCiphertext::read(&bytes, ciphertext.params()).unwrap().expect(&expected(ciphertext))
}

#[test]
fn a_claimed_bound_is_replaced_by_the_plans_or_refused() {
    let ciphertext = fresh::<Ckks>(0.5);
    let Noise { message, error } = ciphertext.shape().noise;
    for claimed in [error.0, 0.0, -1000.0] {
        let arrived = claiming(&ciphertext, noise(-1000.0, claimed)).unwrap();
        assert_eq!(arrived.shape(), ciphertext.shape(), "the plan's shape, whatever is claimed");
    }
    let refused = claiming(&ciphertext, noise(message.0, error.0 + 0.01)).unwrap_err();
    assert_eq!(refused, Unexpected::Noise { expected: error.0, found: error.0 + 0.01 });
}

#[test]
fn what_differs_is_named() {
    let ciphertext = fresh::<Bgv>(3);
    let (params, wanted) = (ciphertext.params(), expected(&ciphertext));
    let shape = wanted.shape;
    let against = |wanted: &Expected<Bgv>, bytes: &[u8]| {
        AnyCiphertext::read(bytes, params).unwrap().expect(wanted).unwrap_err()
    };
    let honest = AnyCiphertext::Expanded(ciphertext.clone()).write();
    assert_eq!(
        AnyCiphertext::read(&honest, params).unwrap().expect(&wanted).unwrap().components(),
        ciphertext.components()
    );

    let other = KeyId([7; 16]);
    let refused = against(&wanted, &sent(&ciphertext, other, shape));
    assert_eq!(refused, Unexpected::Key { expected: ciphertext.key(), found: other });
    let refused = against(&wanted, &sent(&ciphertext, ciphertext.key(), Shape { scaling: 5, ..shape }));
    assert_eq!(refused, Unexpected::Scaling { expected: "1".to_owned(), found: "5".to_owned() });

    let evaluator = Evaluator::new(params);
    let lower = AnyCiphertext::Expanded(evaluator.lower(&ciphertext, 1).unwrap()).write();
    assert_eq!(against(&wanted, &lower), Unexpected::Level { expected: 2, found: 1 });
    let square = AnyCiphertext::Expanded(evaluator.square(&ciphertext).unwrap()).write();
    assert_eq!(against(&wanted, &square), Unexpected::Components { expected: 2, found: 3 });

    let parameters = insecure_n16::<Ckks>().id();
    let refused = against(&Expected { parameters, ..wanted }, &honest);
    assert_eq!(refused, Unexpected::Parameters { expected: parameters, found: params.id() });
    let reduction = Some(Reduction { width: 21, selection: Selection::ALL });
    let refused = against(&Expected { reduction, ..wanted }, &honest);
    assert_eq!(refused, Unexpected::Form { expected: reduction, found: None });
}

#[test]
fn a_reduced_answer_has_the_form_of_the_plan() {
    let ciphertext = fresh::<Bgv>(3);
    let params = ciphertext.params();
    let lower = Evaluator::new(params).lower(&ciphertext, 1).unwrap();
    let form = |width| Reduction { width, selection: Selection::new(8, 3) };
    let frame = write_reduced(&lower.reduce(form(21)).unwrap());
    let shape = lower.shape().reduced(params, form(21)).unwrap();
    let wanted = Expected { shape, reduction: Some(form(21)), ..expected(&lower) };
    let read = |wanted: &Expected<Bgv>| read_reduced(&frame, params).unwrap().expect(wanted);
    assert_eq!(*read(&wanted).unwrap().shape(), shape);
    for reduction in [None, Some(form(20)), Some(Reduction { width: 21, selection: Selection::new(8, 2) })] {
        let refused = read(&Expected { reduction, ..wanted }).unwrap_err();
        assert_eq!(refused, Unexpected::Form { expected: reduction, found: Some(form(21)) });
    }
    let fewer = Noise { error: Log2(shape.noise.error.0 - 0.01), ..shape.noise };
    let refused = read(&Expected { shape: Shape { noise: fewer, ..shape }, ..wanted }).unwrap_err();
    assert!(matches!(refused, Unexpected::Noise { .. }), "{refused}");
}
