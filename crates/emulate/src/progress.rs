//! The state of a run.

use std::sync::{Arc, OnceLock};

use sotto_partial::{elgamal, paillier};

use crate::error::RunError;
use crate::flow::{Flow, FlowStep};
use crate::value::Value;

/// The public keys that a flow runs under.
///
/// Example: [`Progress`]
#[derive(Clone)]
pub struct PublicKeys {
    /// Paillier's public key.
    pub paillier: Arc<paillier::PublicKey>,
    /// ElGamal's public key, if products are converted.
    pub elgamal: Option<Arc<elgamal::PublicKey>>,
}

/// The number of trips and requests to the recryptor.
///
/// Example: [`Progress`]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Trips that came back with answers.
    pub trips: u64,
    /// Requests answered.
    pub requests: u64,
}

/// A flow with the results so far. After an error it continues where it stopped: answers are kept here, and
/// the recryptor keeps no state between trips.
///
/// ```
/// use sotto_emulate::{Progress, PublicKeys, Recrypt, RecryptError, Request, Response, RunError, Schedule, Tally};
/// # use sotto_decrypt::partial::recryptor::LocalRecryptor;
/// # use sotto_emulate::{Emulation, Products};
/// # use sotto_keys::partial::paillier::{Masking, SecretKey};
/// # let inputs = sotto_program::ParseOptions { undeclared: Some(1000.0), ..Default::default() };
/// # let power = sotto_program::parse("volts*amperes", &inputs)?.program;
/// # let flow = Emulation { key_bits: 512, products: Products::Blinded }.lower(&power)?;
/// # let mut rng = sotto_ring::secure_rng()?;
/// # let secret = SecretKey::insecure_generate(512, Masking::HalfLength, &mut rng)?;
/// # let public = secret.insecure_public_key(sotto_kernels::Target::best())?;
/// # let recryptor = LocalRecryptor::with_public_key(&secret, public, None)?;
/// # let key = recryptor.paillier_key().clone();
/// # let readings = [230, -5].map(|reading| key.encrypt(&key.signed(reading), &mut rng).expect("is small"));
///
/// struct Unreachable;
/// impl Recrypt for Unreachable {
///     fn exchange(&self, _: &[Request]) -> Result<Vec<Response>, RecryptError> {
///         Err(RecryptError::Lost { reason: "no route to host".into() })
///     }
/// }
/// // `flow` is a product, `key` a Paillier public key, `readings` are two ciphertexts under it.
/// let keys = PublicKeys { paillier: key, elgamal: None };
/// let mut progress = Progress::new(&flow, &keys, &readings)?;
/// let stopped = progress.advance(&Unreachable, Schedule::Serial);
/// assert!(matches!(stopped, Err(RunError::Recrypt(_))));
/// progress.advance(&recryptor, Schedule::Serial)?; // goes on where it stopped
/// assert_eq!(progress.tally(), Tally { trips: 1, requests: 1 });
/// assert_eq!(progress.outputs().map(|answers| answers.len()), Some(1));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct Progress<'flow> {
    pub(crate) flow: &'flow Flow,
    pub(crate) keys: PublicKeys,
    pub(crate) values: Vec<OnceLock<Value>>,
    pub(crate) tally: Tally,
}

impl<'flow> Progress<'flow> {
    /// Starts a flow with one ciphertext for each input of the program.
    ///
    /// # Errors
    /// [`RunError`] if keys or ciphertexts do not fit the flow.
    pub fn new(
        flow: &'flow Flow,
        keys: &PublicKeys,
        inputs: &[paillier::Ciphertext],
    ) -> Result<Self, RunError> {
        if inputs.len() != flow.inputs {
            return Err(RunError::Inputs { expected: flow.inputs, found: inputs.len() });
        }
        let group = keys.elgamal.as_ref().map_or(0, |key| key.group().name().bits());
        if keys.paillier.bits() != flow.key_bits || (flow.group_bits != 0 && group != flow.group_bits) {
            return Err(RunError::Keys { paillier: flow.key_bits, elgamal: flow.group_bits });
        }
        if let Some(input) = inputs.iter().position(|input| input.key() != keys.paillier.id()) {
            return Err(RunError::OtherKey { input, found: inputs[input].key() });
        }
        let value = |step: &FlowStep| match step {
            FlowStep::Input(id) => OnceLock::from(Value::Paillier(inputs[id.index()].clone())),
            _ => OnceLock::new(),
        };
        let values = flow.steps.iter().map(value).collect();
        Ok(Self { flow, keys: keys.clone(), values, tally: Tally::default() })
    }

    /// Returns the trips and requests so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Returns the number of computed steps, and of all steps.
    pub fn steps(&self) -> (usize, usize) {
        (self.values.iter().filter(|value| value.get().is_some()).count(), self.values.len())
    }

    /// Returns the answers in the program's order. Returns None until all are computed.
    pub fn outputs(&self) -> Option<Vec<paillier::Ciphertext>> {
        let output = |(_, at): &(String, crate::At)| match self.values[at.index()].get() {
            Some(Value::Paillier(ciphertext)) => Some(ciphertext.clone()),
            _ => None,
        };
        self.flow.outputs.iter().map(output).collect()
    }
}
