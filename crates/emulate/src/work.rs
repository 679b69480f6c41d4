//! The work of one step.

use sotto_partial::recrypt::{RecryptError, Request, Response};
use sotto_partial::{elgamal, paillier};
use sotto_ring::secure_rng;

use crate::blind::{Blinded, unblind};
use crate::error::RunError;
use crate::flow::{At, FlowStep};
use crate::progress::Progress;
use crate::value::Value;

impl Progress<'_> {
    fn value(&self, at: At) -> Result<&Value, RunError> {
        self.values.get(at.index()).and_then(|value| value.get()).ok_or(RunError::Broken { at })
    }

    fn additive(&self, at: At) -> Result<&paillier::Ciphertext, RunError> {
        match self.value(at)? {
            Value::Paillier(ciphertext) => Ok(ciphertext),
            _ => Err(RunError::Broken { at }),
        }
    }

    fn multiplicative(&self, at: At) -> Result<&elgamal::Ciphertext, RunError> {
        match self.value(at)? {
            Value::ElGamal(ciphertext) => Ok(ciphertext),
            _ => Err(RunError::Broken { at }),
        }
    }

    fn blinded(&self, at: At) -> Result<&Blinded, RunError> {
        match self.value(at)? {
            Value::Blinded(blinded) => Ok(blinded),
            _ => Err(RunError::Broken { at }),
        }
    }

    /// Computes a step that does not ask the recryptor.
    pub(crate) fn compute(&self, at: At) -> Result<Value, RunError> {
        let key = &*self.keys.paillier;
        let failed = |reason| RunError::Step { at, reason };
        let rng = || secure_rng().map_err(|_| RunError::Randomness);
        let sum = match self.flow.steps[at.index()] {
            FlowStep::Add(a, b) => key.add(self.additive(a)?, self.additive(b)?),
            FlowStep::Subtract(a, b) => key.subtract(self.additive(a)?, self.additive(b)?),
            FlowStep::AddPlain(a, k) => key.add_plain(self.additive(a)?, &key.signed(k)),
            FlowStep::Scale(a, k) => key.multiply_plain(self.additive(a)?, k),
            FlowStep::Public(k) => key.encrypt(&key.signed(k), &mut rng()?),
            FlowStep::Unblind { product, factors: [a, b], blinded: [x, y] } => unblind(
                key,
                self.additive(product)?,
                [self.additive(a)?, self.additive(b)?],
                [self.blinded(x)?, self.blinded(y)?],
            ),
            FlowStep::Blind(a, bits) => {
                let blinded = Blinded::new(key, self.additive(a)?, bits, &mut rng()?).map_err(failed)?;
                return Ok(Value::Blinded(blinded));
            }
            FlowStep::Multiply(a, b) => {
                let key = self.keys.elgamal.as_deref().ok_or(RunError::Broken { at })?;
                let product = key.multiply(self.multiplicative(a)?, self.multiplicative(b)?);
                return Ok(Value::ElGamal(product.map_err(failed)?));
            }
            FlowStep::Input(_) | FlowStep::Product(..) | FlowStep::ToElGamal(_) | FlowStep::ToPaillier(_) => {
                return Err(RunError::Broken { at });
            }
        };
        sum.map(Value::Paillier).map_err(failed)
    }

    /// Returns the request of a step.
    pub(crate) fn request(&self, at: At) -> Result<Request, RunError> {
        let code = self.flow.code.ok_or(RunError::Broken { at });
        match self.flow.steps[at.index()] {
            FlowStep::Product(x, y) => {
                let (x, y) = (&self.blinded(x)?.ciphertext, &self.blinded(y)?.ciphertext);
                Ok(Request::Product(x.clone(), y.clone()))
            }
            FlowStep::ToElGamal(a) => Ok(Request::ToElGamal(self.additive(a)?.clone(), code?)),
            FlowStep::ToPaillier(a) => Ok(Request::ToPaillier(self.multiplicative(a)?.clone(), code?)),
            _ => Err(RunError::Broken { at }),
        }
    }

    /// Returns the answer as a value if it has the expected kind and key.
    pub(crate) fn accept(&self, at: At, response: Response) -> Result<Value, RecryptError> {
        let elgamal = self.keys.elgamal.as_ref().map(|key| key.id());
        match (self.flow.steps[at.index()], response) {
            (FlowStep::Product(..) | FlowStep::ToPaillier(_), Response::Paillier(answer))
                if answer.key() == self.keys.paillier.id() =>
            {
                Ok(Value::Paillier(answer))
            }
            (FlowStep::ToElGamal(_), Response::ElGamal(answer)) if Some(answer.key()) == elgamal => {
                Ok(Value::ElGamal(answer))
            }
            _ => Err(RecryptError::Answers),
        }
    }
}
