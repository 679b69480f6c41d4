//! The client: its answers and its errors.

use std::sync::Arc;
use std::time::Duration;

use sotto_decrypt::partial::paillier::Decryptor;
use sotto_http::Trust;
use sotto_partial::encoding::Complement;
use sotto_partial::recrypt::{LARGEST_BATCH, Recrypt, RecryptError, Request, Response};
use sotto_recryptor_client::{Address, ConnectError, RemoteRecryptor};

use crate::world::{KEYS, OTHERS, POOR, TOKEN, World};

fn number(response: &Response) -> i128 {
    let Response::Paillier(ciphertext) = response else { panic!("not under Paillier") };
    let decryptor = Decryptor::new(&KEYS.secret.paillier).unwrap();
    decryptor.decrypt(&KEYS.paillier, ciphertext).unwrap().to_signed(&KEYS.paillier).unwrap()
}

#[test]
fn products_and_conversions_come_back() {
    let world = World::start();
    let client = world.client(TOKEN);
    assert_eq!(client.paillier_key().id(), KEYS.paillier.id());
    assert_eq!(client.elgamal_key().unwrap().id(), KEYS.elgamal.id());
    let encoding = Complement::new(16, 3, 2046).unwrap();
    let asked =
        [Request::Product(KEYS.encrypt(-3), KEYS.encrypt(4)), Request::ToElGamal(KEYS.encrypt(-5), encoding)];
    let answers = client.exchange(&asked).unwrap();
    let Response::ElGamal(converted) = &answers[1] else { panic!("not under ElGamal") };
    let back = client.exchange(&[Request::ToPaillier(converted.clone(), encoding)]).unwrap();
    assert_eq!((number(&answers[0]), number(&back[0])), (-12, -5));
    assert!(client.exchange(&[]).unwrap().is_empty());
    // An empty batch is not sent.
    assert_eq!(world.counted("cloud", "charged"), [2, 1, 1, 1, 4]);
}

#[test]
fn why_nothing_comes_back_is_said() {
    let world = World::start();
    let product = || Request::Product(KEYS.encrypt(3), KEYS.encrypt(4));
    let stranger = RemoteRecryptor::connect(&world.address(), "somebody-elses-token").err();
    assert!(matches!(stranger, Some(ConnectError::Refused { status: 401, .. })), "{stranger:?}");
    let with = |token: &str, keys: &crate::world::Keys| {
        RemoteRecryptor::new(
            &world.address(),
            token,
            Arc::clone(&keys.paillier),
            Some(Arc::clone(&keys.elgamal)),
        )
        .unwrap()
    };
    assert_eq!(
        with("somebody-elses-token", &KEYS).exchange(&[product()]).err(),
        Some(RecryptError::Stranger)
    );
    let poor = world.client(POOR);
    assert_eq!(poor.exchange(&vec![product(); 6]).err(), Some(RecryptError::Quota { asked: 12, left: 10 }));
    let many = vec![product(); LARGEST_BATCH + 1];
    assert!(matches!(poor.exchange(&many).err(), Some(RecryptError::Batch { .. })));
    // A ciphertext under another device's key: refused when the request is written, and again by the recryptor.
    let declined = |client: &RemoteRecryptor, asked: &[Request]| match client.exchange(asked).err() {
        Some(RecryptError::Declined { reason }) => assert!(reason.contains("made for key"), "{reason}"),
        other => panic!("{other:?}"),
    };
    let others = Request::Product(OTHERS.encrypt(3), OTHERS.encrypt(4));
    declined(&world.client(TOKEN), std::slice::from_ref(&others));
    declined(&with(TOKEN, &OTHERS), &[others]);
    let client = world.client(TOKEN).with_patience(Duration::from_millis(100));
    world.kill();
    assert!(matches!(client.exchange(&[product()]).err(), Some(RecryptError::Lost { .. })));
    assert!(matches!(
        RemoteRecryptor::connect(&world.address(), TOKEN).err(),
        Some(ConnectError::Unreachable(_))
    ));
}

#[test]
fn over_tls_a_recryptor_is_known_by_its_authority() {
    let world = World::start();
    world.stop();
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let path = |name: &str| world.folder().join(name);
    std::fs::write(path("server.pem"), cert.pem()).unwrap();
    sotto_service::token::write_private(&path("server.key"), &signing_key.serialize_pem()).unwrap();
    world.resume_with(|command| {
        command.arg("--tls-certificate").arg(path("server.pem")).arg("--tls-key").arg(path("server.key"));
    });
    let address = Address::new(&world.url().replace("http://", "https://")).unwrap();
    let refused = RemoteRecryptor::connect(&address, TOKEN).err().unwrap().to_string();
    assert!(refused.contains("is signed by no authority on the list"), "{refused}");
    // A self-signed certificate is its own authority.
    let address = address.trusting(Trust::pinned(cert.pem().as_bytes()).unwrap());
    let client = RemoteRecryptor::connect(&address, TOKEN).unwrap();
    let answers = client.exchange(&[Request::Product(KEYS.encrypt(-3), KEYS.encrypt(4))]).unwrap();
    assert_eq!(number(&answers[0]), -12);
    let plain = RemoteRecryptor::connect(&world.address(), TOKEN).err().unwrap();
    assert!(
        matches!(plain, ConnectError::Refused { status: 400, .. }) && plain.to_string().contains("https://"),
        "{plain}"
    );
}
