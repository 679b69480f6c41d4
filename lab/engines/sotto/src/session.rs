//! A session: one scheme with parameters and keys.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_decrypt::Decryptor;
use sotto_harness::protocol::{Prepare, Prepared, Program, Values, Verified};
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_program::SlotShape;
use sotto_ring::primes;
use sotto_rlwe::{
    Ciphertext, EvaluationKeys, Evaluator, Origin, ParameterSpec, Params, PublicKey, SecurityLevel,
    SecurityProfile, Shape, largest_modulus_bits,
};
use sotto_runtime::{Encoding, Lowered, RlweTarget, run};

use crate::error::EngineError;
use crate::packing::Packing;
use crate::spoken::{Spoken, declare, decrypt, plain, read};
use crate::translate::translate;

/// Parameters and keys, ready for programs.
pub struct Session<S: Spoken> {
    pub(crate) target: RlweTarget<S>,
    pub(crate) secret: SecretKey<S>,
    pub(crate) public: PublicKey<S>,
    pub(crate) keys: EvaluationKeys<S>,
    pub(crate) evaluator: Evaluator<S>,
    pub(crate) rng: ChaCha20Rng,
    pub(crate) packing: Packing,
    /// The two values to measure with if a plaintext holds one value; random if empty.
    pub(crate) values: Vec<u32>,
}

impl<S: Spoken> Session<S> {
    /// Makes parameters and keys. All randomness comes from the seed, so that a failure repeats.
    ///
    /// # Errors
    /// `Request` if a field is missing or impossible, `Parameters` if the parameters are refused.
    pub fn prepare(request: &Prepare, seed: [u8; 32]) -> Result<Self, EngineError> {
        let spec = spec::<S>(request)?;
        let params = if request.insecure { Params::insecure(spec)? } else { Params::new(spec)? };
        let mut rng = ChaCha20Rng::from_seed(seed);
        let secret = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
        let public = secret.public_key(&mut rng);
        let keys = if params.can_switch_keys() {
            let mut steps = request.rotations.clone();
            steps.extend(request.swap_rows.then_some(0));
            secret.evaluation_keys(true, &steps, &mut rng)?
        } else {
            EvaluationKeys::empty(&params, secret.id())
        };
        let evaluator = Evaluator::new(&params);
        // The protocol asks for answers modulo t.
        let target = RlweTarget {
            params,
            encoding: Encoding::Slots,
            origin: Origin::PublicKey,
            kept: None,
            may_wrap: true,
        };
        let packing = Packing::of(request);
        let values = request.values.clone();
        if !values.is_empty() && (packing != Packing::Scalar || values.len() != 2) {
            return Err(EngineError::Request("two values, where a plaintext holds one".to_owned()));
        }
        Ok(Self { target, secret, public, keys, evaluator, rng, packing, values })
    }

    /// Returns the primes in use.
    pub fn primes(&self) -> Prepared {
        let params = &self.target.params;
        let (data, special) = (params.spec().data.clone(), params.spec().special.clone());
        Prepared {
            log2_q: params.data_bits(params.top_level()),
            limbs: data.len(),
            special_limbs: special.len(),
            log2_qp: None,
            security: stated_security(params),
            data,
            special,
        }
    }

    /// Returns the shape of the slots; an error if the plain modulus has none.
    ///
    /// # Errors
    /// `Request` if the plain modulus has no slots.
    pub fn slot_shape(&self) -> Result<SlotShape, EngineError> {
        let none =
            || EngineError::Request("this plain modulus has no slots: take t with t mod 2n = 1".into());
        self.target.slot_shape().ok_or_else(none)
    }

    /// Returns the rows and columns of the values in a plaintext.
    pub(crate) fn rows_and_columns(&self) -> Result<(usize, usize), EngineError> {
        if self.packing == Packing::Scalar {
            return Ok((1, 1));
        }
        let shape = self.slot_shape()?;
        Ok((shape.rows as usize, shape.columns as usize))
    }

    /// Plans a program, or refuses it before any computation.
    ///
    /// # Errors
    /// `Request`, `Program` or `Lower` if the program cannot be translated or lowered.
    pub fn plan(&self, program: &Program) -> Result<Lowered<S>, EngineError> {
        let translated = translate(program, self.slot_shape()?.columns as usize)?;
        let mut lowered = self.target.lower_with_shapes(&translated.program)?;
        translated.restore_swaps(&mut lowered.plan);
        Ok(lowered)
    }

    /// Returns the bound on the error of an answer's slots; 0 for exact schemes.
    pub fn slot_error(&self, shape: &Shape<S>) -> f64 {
        if S::EXACT { 0.0 } else { shape.slot_error(&self.target.params) }
    }

    /// Encrypts inputs, runs a plan on them, decrypts. Returns the slots, and for CKKS the plan's error bounds.
    ///
    /// # Errors
    /// `Request` if the number of inputs is wrong; `Encode`, `Eval`, `Run` or `Decrypt` if a step is refused.
    pub fn run(
        &mut self,
        lowered: &Lowered<S>,
        program: &Program,
        inputs: &[Values],
    ) -> Result<Verified, EngineError> {
        let encrypted = self.encrypt_all(program, inputs)?;
        let answers = run(&lowered.plan, &self.evaluator, encrypted, &self.keys)?;
        let params = &self.target.params;
        let decryptor = Decryptor::new(&self.secret);
        let outputs = answers
            .iter()
            .map(|answer| decrypt(&decryptor, answer, params.plain_modulus()))
            .collect::<Result<_, _>>()?;
        let stated = lowered.outputs.iter().filter(|_| !S::EXACT);
        let bounds = stated.map(|output| output.slot_error).collect();
        Ok(Verified { outputs, bounds })
    }

    /// Encrypts each input with the public key.
    pub(crate) fn encrypt_all(
        &mut self,
        program: &Program,
        inputs: &[Values],
    ) -> Result<Vec<Ciphertext<S>>, EngineError> {
        if inputs.len() != program.magnitudes.len() {
            return Err(EngineError::Request("the request needs one input for each magnitude".to_owned()));
        }
        let declared = inputs.iter().zip(&program.magnitudes);
        declared.map(|(values, magnitude)| self.encrypt(values, *magnitude)).collect()
    }

    fn encrypt(&mut self, values: &Values, magnitude: f64) -> Result<Ciphertext<S>, EngineError> {
        let params = &self.target.params;
        let plaintext = S::encode_slots(params, &read::<S>(values)?, params.top_level())?;
        Ok(self.public.encrypt(&declare(plaintext, magnitude), &mut self.rng)?)
    }
}

/// Returns the highest security level whose limit the whole modulus keeps, in any published table. None if it keeps
/// none.
fn stated_security<S: Spoken>(params: &Params<S>) -> Option<u32> {
    let bits = params.data_bits(params.top_level()) + params.special_bits();
    let reached = |level: &SecurityLevel| {
        SecurityProfile::ALL.into_iter().any(|profile| {
            let largest = largest_modulus_bits(profile, *level, params.degree());
            largest.is_some_and(|largest| bits <= f64::from(largest))
        })
    };
    SecurityLevel::ALL.into_iter().rev().find(reached).map(SecurityLevel::bits)
}

pub(crate) fn spec<S: Spoken>(request: &Prepare) -> Result<ParameterSpec, EngineError> {
    let missing = || EngineError::Request("plain_modulus, or scale_bits for CKKS, is missing".to_owned());
    let plain = plain::<S>(request).ok_or_else(missing)?;
    let (special, data) = if request.data.is_empty() {
        let chosen = chosen(request.degree, &[&request.special_bits[..], &request.data_bits].concat())?;
        (chosen[..request.special_bits.len()].to_vec(), chosen[request.special_bits.len()..].to_vec())
    } else {
        (request.special.clone(), request.data.clone())
    };
    let digit_primes = special.len().max(1);
    Ok(ParameterSpec { scheme: S::ID, degree: request.degree, digit_primes, special, data, plain })
}

/// Chooses for each bit length the largest prime that is not taken yet.
fn chosen(degree: usize, bits: &[u32]) -> Result<Vec<u64>, EngineError> {
    let mut taken: Vec<u64> = Vec::with_capacity(bits.len());
    for bits in bits {
        let none = || EngineError::Request(format!("no prime of {bits} bits is left"));
        if !(4..=61).contains(bits) {
            return Err(none());
        }
        let next = primes::below(1 << bits, degree).find(|prime| !taken.contains(prime)).ok_or_else(none)?;
        taken.push(next);
    }
    Ok(taken)
}
