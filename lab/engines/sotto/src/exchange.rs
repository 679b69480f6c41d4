//! Round trips between two processes: an edge with the secret key, a cloud with parameters and evaluation keys.

use std::path::Path;

use sotto_decrypt::Decryptor;
use sotto_harness::protocol::{Exchange, Exchanged, Prepare, Values};
use sotto_ring::Scratch;
use sotto_rlwe::{Ciphertext, Evaluator, Params};
use sotto_wire::{AnyCiphertext, EvaluationKeyCounts, read_evaluation_keys, write_evaluation_keys};

use crate::error::EngineError;
use crate::measure::Timer;
use crate::session::{Session, spec};
use crate::spoken::{Spoken, declare, decrypt, read};

/// The shared folder of edge and cloud.
struct Folder<'a>(&'a Path);

impl Folder<'_> {
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), EngineError> {
        Ok(std::fs::write(self.0.join(name), bytes)?)
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, EngineError> {
        Ok(std::fs::read(self.0.join(name))?)
    }
}

impl<S: Spoken> Session<S> {
    /// Carries out a step of the edge.
    pub(crate) fn exchange(&mut self, request: &Exchange) -> Result<Exchanged, EngineError> {
        match request.step.as_str() {
            "encrypt" => self.encrypt_for_cloud(request),
            "decrypt" => self.decrypt_answer(request),
            _ => Err(EngineError::Unsupported),
        }
    }

    fn encrypt_for_cloud(&mut self, request: &Exchange) -> Result<Exchanged, EngineError> {
        let folder = Folder(Path::new(&request.folder));
        folder.write("keys", &write_evaluation_keys(&self.keys))?;
        for (name, values) in ["a", "b"].into_iter().zip(&request.inputs) {
            folder.write(name, &self.encrypted(values, request.seeded)?)?;
        }
        let first =
            request.inputs.first().ok_or_else(|| EngineError::Request("inputs are missing".into()))?;
        let mut size = 0;
        let microseconds = Timer::times(request.repetitions).time(
            self,
            |_| (),
            |session, ()| session.encrypted(first, request.seeded),
            |_, bytes| size = bytes.len() as u64,
        )?;
        Ok(Exchanged { microseconds, bytes: Some(size), output: None })
    }

    fn encrypted(&mut self, values: &Values, seeded: bool) -> Result<Vec<u8>, EngineError> {
        let params = &self.target.params;
        let largest = values.reals().into_iter().fold(1.0, |largest: f64, value| largest.max(value.abs()));
        let encoded = S::encode_slots(params, &read::<S>(values)?, params.top_level())?;
        let plain = declare(encoded, largest);
        Ok(if seeded {
            AnyCiphertext::Seeded(self.secret.encrypt(&plain, &mut self.rng)?).write()
        } else {
            AnyCiphertext::Expanded(self.public.encrypt(&plain, &mut self.rng)?).write()
        })
    }

    fn decrypt_answer(&mut self, request: &Exchange) -> Result<Exchanged, EngineError> {
        let bytes = Folder(Path::new(&request.folder)).read("answer")?;
        let open = |session: &mut Self| {
            let params = &session.target.params;
            let answer = AnyCiphertext::<S>::read(&bytes, params)?.with_claimed_shape().expand();
            Ok::<_, EngineError>(decrypt(&Decryptor::new(&session.secret), &answer, params.plain_modulus())?)
        };
        let output = Some(open(self)?);
        let timer = Timer::times(request.repetitions);
        let microseconds = timer.time(self, |_| (), |session, ()| open(session), |_, _| ())?;
        Ok(Exchanged { microseconds, bytes: None, output })
    }
}

/// Carries out a step of the cloud: reads keys and ciphertexts, computes, writes the answer.
pub(crate) fn cloud<S: Spoken>(parameters: &Prepare, request: &Exchange) -> Result<Exchanged, EngineError> {
    let spec = spec::<S>(parameters)?;
    let params = if parameters.insecure { Params::insecure(spec)? } else { Params::new(spec)? };
    let folder = Folder(Path::new(&request.folder));
    let most = EvaluationKeyCounts { relinearisation: true, galois: 64, transfers: 0 };
    let keys = read_evaluation_keys::<S>(&folder.read("keys")?, &params, most)?;
    let (a, b) = (folder.read("a")?, folder.read("b")?);
    let evaluator = Evaluator::<S>::new(&params);
    let mut scratch = Scratch::new();
    let received = |bytes: &[u8]| {
        Ok::<_, EngineError>(AnyCiphertext::<S>::read(bytes, &params)?.with_claimed_shape().expand())
    };
    let product = request.step == "multiply";
    let compute = |scratch: &mut Scratch| {
        let (mut a, b) = (received(&a)?, received(&b)?);
        let answer: Ciphertext<S> = if product {
            let mut product = evaluator.multiply_with(&a, &b, scratch)?;
            evaluator.relinearise_assign(&mut product, &keys, scratch)?;
            if !S::EXACT {
                evaluator.drop_modulus_assign(&mut product, scratch)?;
            }
            product
        } else {
            evaluator.add_assign(&mut a, &b, scratch)?;
            a
        };
        Ok(AnyCiphertext::Expanded(answer).write())
    };
    let answer = compute(&mut scratch)?;
    folder.write("answer", &answer)?;
    let timer = Timer::times(request.repetitions);
    let microseconds = timer.time(&mut scratch, |_| (), |scratch, ()| compute(scratch), |_, _| ())?;
    Ok(Exchanged { microseconds, bytes: Some(answer.len() as u64), output: None })
}
