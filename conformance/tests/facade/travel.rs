//! Vectors and keys as bytes: read again unchanged, and refused if a dishonest cloud changes the answer.

use sotto::{Bfv, Ckks, Context, DeviceSecret, Error, Public};

#[test]
fn keys_and_vectors_are_read_as_they_were_written() {
    let context = Context::<Bfv>::for_depth(1).unwrap();
    let (secret, public) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    let bytes = public.to_bytes();
    let read = Public::<Bfv>::from_bytes(&bytes).unwrap();
    assert_eq!(read.to_bytes(), bytes);
    assert_eq!((read.id(), read.context().slots()), (secret.id(), context.slots()));
    assert!(matches!(Public::<Ckks>::from_bytes(&bytes), Err(Error::Parameters(_))));
    let data = secret.encrypt_to_bytes(&[5, 6, 7]).unwrap();
    let vector = read.read(&data).unwrap();
    assert_eq!(vector.len(), 3);
    let again = vector.to_bytes().unwrap();
    assert_eq!(read.read(&again).unwrap().to_bytes().unwrap(), again);
    assert!(data.len() < again.len() * 6 / 10, "{} {}", data.len(), again.len());
    for cut in [0, 1, 20, data.len() / 2, data.len() - 1] {
        assert!(matches!(read.read(&data[..cut]), Err(Error::Bytes(_))), "{cut}");
    }
    let mut flipped = data;
    flipped[30] ^= 1;
    assert!(matches!(read.read(&flipped), Err(Error::Bytes(_))));
}

#[test]
fn an_answer_that_was_not_planned_is_refused() {
    let context = Context::<Ckks>::for_depth(2).unwrap();
    let plan = context.plan(&[4], |x| x[0].square()?.sum()).unwrap();
    let (secret, public) = context.keys_for(&plan, &mut sotto::secure_rng().unwrap()).unwrap();
    let x = public.read(&secret.encrypt_to_bytes(&[1.0, 2.0, 3.0, 4.0]).unwrap()).unwrap();
    let honest = x.square().unwrap().sum().unwrap().to_bytes().unwrap();
    let answer = secret.decrypt_answer(&honest, &plan).unwrap();
    assert!((answer.value() - 30.0).abs() <= answer.bound());
    let others = [
        x.square().unwrap(),
        x.sum().unwrap(),
        x.square().unwrap().square().unwrap().sum().unwrap(),
        (x.square().unwrap().sum().unwrap() * 2.0).unwrap(),
        x.square().unwrap().sum().unwrap().with_magnitude(1e-6),
    ];
    for (index, other) in others.iter().enumerate() {
        let refused = secret.decrypt_answer(&other.to_bytes().unwrap(), &plan);
        assert!(matches!(refused, Err(Error::Unplanned(_))), "{index}: {refused:?}");
    }
    // The plan is one for inputs of the secret key, which are less noisy.
    let noisier = public.encrypt(&[1.0, 2.0, 3.0, 4.0]).unwrap().square().unwrap().sum().unwrap();
    let refused = secret.decrypt_answer(&noisier.to_bytes().unwrap(), &plan);
    assert!(matches!(refused, Err(Error::Unplanned(_))), "{refused:?}");
    let here = secret.decrypt(&noisier).unwrap();
    assert!((here.value() - 30.0).abs() <= here.bound());
    // Keys that the plan does not list are not there.
    assert!(x.pow(4).is_ok() && secret.encrypt(&[1.0; 5000]).unwrap().sum().is_err());
}

#[test]
fn keys_of_a_stored_secret_compute() {
    let context = Context::<Bfv>::for_depth(1).unwrap();
    let mut rng = sotto::secure_rng().unwrap();
    let (secret, public) = context.keys(&mut rng).unwrap();
    let stored = *secret.device_secret().expose_secret_bytes();
    let (again, other) = context.keys_of(DeviceSecret::from_bytes(&stored), &mut rng).unwrap();
    assert_eq!((again.id(), other.id()), (secret.id(), secret.id()));
    assert_ne!(other.to_bytes(), public.to_bytes(), "public keys are fresh");
    // Vectors, keys and answers of both go together.
    let x = other.read(&secret.encrypt_to_bytes(&[3, 4, 12]).unwrap()).unwrap();
    let plan = context.plan(&[3], |x| x[0].square()?.sum()).unwrap();
    let bytes = x.square().unwrap().sum().unwrap().to_bytes().unwrap();
    assert_eq!(again.decrypt_answer(&bytes, &plan).unwrap().value(), 169);
    let sum = (&public.encrypt(&[1, 2]).unwrap() + &again.encrypt(&[5, 6]).unwrap()).unwrap();
    assert_eq!(secret.decrypt(&sum.sum().unwrap()).unwrap().value(), 14);
}

#[test]
fn fresh_vectors_are_written_with_seeds() {
    let context = Context::<Ckks>::for_depth(1).unwrap();
    let (secret, public) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    let x = secret.encrypt(&[1.0, 2.0, 3.0]).unwrap();
    // Another unit leaves the ciphertext as it is.
    let doubled = (&x * 2.0).unwrap();
    let sum = (&x + &x).unwrap().to_bytes().unwrap();
    for fresh in [&x, &doubled] {
        assert!(fresh.to_bytes().unwrap().len() < sum.len() * 6 / 10);
    }
    let there = public.read(&doubled.to_bytes().unwrap()).unwrap();
    let answer = (&there + &there).unwrap().to_bytes().unwrap();
    let plan = context.plan(&[3], |x| {
        let doubled = (&x[0] * 2.0)?;
        &doubled + &doubled
    });
    let found = secret.decrypt_answer(&answer, &plan.unwrap()).unwrap();
    for (value, exact) in found.values().iter().zip([4.0, 8.0, 12.0]) {
        assert!((value - exact).abs() <= found.bound());
    }
}
