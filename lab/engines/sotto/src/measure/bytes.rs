//! Objects to bytes and back: our frames, which pack each residue in as many bits as its prime has.

use sotto_harness::protocol::{Measure, Measured};
use sotto_rlwe::EvaluationKeys;
use sotto_wire::{
    AnyCiphertext, EvaluationKeyCounts, read_evaluation_keys, read_public_key, write_evaluation_keys,
    write_public_key,
};

use super::fixture::{Fixture, require};
use super::timer::Timer;
use crate::error::EngineError;
use crate::session::Session;
use crate::spoken::Spoken;

/// Times writing or parsing an object; a parsed key is checked by using it.
pub(super) fn bytes<S: Spoken>(
    session: &mut Session<S>,
    fixture: &Fixture<S>,
    request: &Measure,
) -> Result<Measured, EngineError> {
    if request.codec.as_deref().is_some_and(|codec| codec != "packed") {
        return Err(EngineError::Unsupported);
    }
    let params = session.target.params.clone();
    let Fixture { clear: [x, y], plain: [plain, _], ciphertext: [a, b], .. } = fixture;
    let subject = Subject { timer: Timer::of(request), parse: request.operation == "parse" };
    match request.object.as_deref().unwrap_or("ciphertext") {
        object @ ("ciphertext" | "seeded") => {
            let written = if object == "seeded" {
                AnyCiphertext::Seeded(session.secret.encrypt(plain, &mut session.rng)?)
            } else {
                AnyCiphertext::Expanded(a.clone())
            };
            subject.time(
                || written.write(),
                |bytes| Ok(AnyCiphertext::read(bytes, &params)?.with_claimed_shape()),
                |read| require(session, &read.expand(), x),
            )
        }
        "public_key" => {
            let key = session.public.clone();
            subject.time(
                || write_public_key(&key),
                |bytes| Ok(read_public_key(bytes, &params)?),
                |read| {
                    let encrypted = read.encrypt(plain, &mut session.rng)?;
                    require(session, &encrypted, x)
                },
            )
        }
        object @ ("relin_keys" | "galois_keys") => {
            let products = object == "relin_keys";
            let steps = if products { Vec::new() } else { params.power_of_two_steps() };
            let keys = session.secret.evaluation_keys(products, &steps, &mut session.rng)?;
            let most = EvaluationKeyCounts::of(&keys);
            subject.time(
                || write_evaluation_keys(&keys),
                |bytes| Ok(read_evaluation_keys(bytes, &params, most)?),
                |read: EvaluationKeys<S>| {
                    let e = &session.evaluator;
                    if products {
                        require(session, &e.relinearise(&e.multiply(a, b)?, &read)?, &x.times(y))
                    } else {
                        require(session, &e.rotate(a, 1, &read)?, &x.rotated())
                    }
                },
            )
        }
        _ => Err(EngineError::Unsupported),
    }
}

struct Subject {
    timer: Timer,
    parse: bool,
}

impl Subject {
    fn time<O>(
        &self,
        mut write: impl FnMut() -> Vec<u8>,
        mut read: impl FnMut(&[u8]) -> Result<O, EngineError>,
        check: impl FnOnce(O) -> Result<(), EngineError>,
    ) -> Result<Measured, EngineError> {
        let bytes = write();
        if self.timer.checks() {
            check(read(&bytes)?)?;
        }
        let microseconds = if self.parse {
            self.timer.time(&mut (), |()| (), |(), ()| read(&bytes), |(), _| ())?
        } else {
            self.timer.time(&mut (), |()| (), |(), ()| Ok(write()), |(), _| ())?
        };
        Ok(Measured { microseconds, bytes: Some(bytes.len() as u64), verified: true })
    }
}
