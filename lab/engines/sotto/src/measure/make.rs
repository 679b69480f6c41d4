//! Measured operations that make keys, plaintexts and ciphertexts, or that decrypt and decode.

use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_rlwe::{Ciphertext, PublicKey};

use super::fixture::{Fixture, require};
use super::timer::Timer;
use crate::error::EngineError;
use crate::session::Session;
use crate::spoken::{Said as _, Spoken};

/// Times an operation that makes an object; checks the first object.
fn timed<S: Spoken, O>(
    session: &mut Session<S>,
    timer: Timer,
    mut run: impl FnMut(&mut Session<S>) -> Result<O, EngineError>,
    check: impl FnOnce(&mut Session<S>, O) -> Result<(), EngineError>,
) -> Result<Vec<f64>, EngineError> {
    if timer.checks() {
        let first = run(session)?;
        check(session, first)?;
    }
    timer.time(session, |_| (), |session, ()| run(session), |_, _| ())
}

/// Times an operation that is not the evaluator's.
pub(super) fn make<S: Spoken>(
    session: &mut Session<S>,
    fixture: &Fixture<S>,
    operation: &str,
    timer: Timer,
) -> Result<Vec<f64>, EngineError> {
    let Fixture { slots: [slots, _], clear: [x, y], plain: [plain, _], ciphertext: [a, b], .. } = fixture;
    let params = session.target.params.clone();
    let top = params.top_level();
    let fresh = |session: &mut Session<S>, c: Ciphertext<S>| require(session, &c, x);
    match operation {
        "keygen" => timed(session, timer, keygen, |session, (secret, public)| {
            let encrypted = public.encrypt(plain, &mut session.rng)?;
            let found = session.packing.values(&Decryptor::new(&secret), &encrypted)?;
            x.require(&found, session.slot_error(encrypted.shape()))
        }),
        "relin_keys" => timed(
            session,
            timer,
            |session| Ok(session.secret.evaluation_keys(true, &[], &mut session.rng)?),
            |session, keys| {
                let product = session.evaluator.relinearise(&session.evaluator.multiply(a, b)?, &keys)?;
                require(session, &product, &x.times(y))
            },
        ),
        "galois_keys" => timed(
            session,
            timer,
            |session| {
                Ok(session.secret.evaluation_keys(false, &params.power_of_two_steps(), &mut session.rng)?)
            },
            |session, keys| require(session, &session.evaluator.rotate(a, 1, &keys)?, &x.rotated()),
        ),
        "encode" => timed(
            session,
            timer,
            |session| Ok(session.packing.encode(&params, slots, top)?),
            |session, plain| {
                let encrypted = session.public.encrypt(&plain, &mut session.rng)?;
                require(session, &encrypted, x)
            },
        ),
        "decode" => {
            let opened = Decryptor::new(&session.secret).decrypt(a)?;
            timed(
                session,
                timer,
                |session| Ok(session.packing.decode(&params, &opened)?),
                |session, found| {
                    x.require(
                        &S::Value::written(&found, params.plain_modulus()),
                        session.slot_error(a.shape()),
                    )
                },
            )
        }
        "encrypt_public" => {
            timed(session, timer, |session| Ok(session.public.encrypt(plain, &mut session.rng)?), fresh)
        }
        "encode_encrypt_public" => timed(
            session,
            timer,
            |session| {
                let plain = session.packing.encode(&params, slots, top)?;
                Ok(session.public.encrypt(&plain, &mut session.rng)?)
            },
            fresh,
        ),
        "encrypt_secret" => timed(
            session,
            timer,
            |session| Ok(session.secret.encrypt(plain, &mut session.rng)?),
            |session, seeded| fresh(session, seeded.expand()),
        ),
        "encode_encrypt_secret" => timed(
            session,
            timer,
            |session| {
                let plain = session.packing.encode(&params, slots, top)?;
                Ok(session.secret.encrypt(&plain, &mut session.rng)?)
            },
            |session, seeded| fresh(session, seeded.expand()),
        ),
        "decrypt" => timed(
            session,
            timer,
            |session| Ok(Decryptor::new(&session.secret).decrypt(a)?),
            |session, opened| {
                let found = session.packing.decode(&params, &opened)?;
                x.require(&S::Value::written(&found, params.plain_modulus()), session.slot_error(a.shape()))
            },
        ),
        "decrypt_decode" => timed(
            session,
            timer,
            |session| {
                let opened = Decryptor::new(&session.secret).decrypt(a)?;
                Ok(session.packing.decode(&params, &opened)?)
            },
            |session, found| {
                x.require(&S::Value::written(&found, params.plain_modulus()), session.slot_error(a.shape()))
            },
        ),
        _ => Err(EngineError::Unsupported),
    }
}

fn keygen<S: Spoken>(session: &mut Session<S>) -> Result<(SecretKey<S>, PublicKey<S>), EngineError> {
    let secret = SecretKey::derive(&DeviceSecret::generate(&mut session.rng), &session.target.params);
    let public = secret.public_key(&mut session.rng);
    Ok((secret, public))
}
