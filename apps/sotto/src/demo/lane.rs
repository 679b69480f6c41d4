//! A lane: one scheme with the parameters chosen for its questions, and the owner's keys in it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use anyhow::Context;
use sotto_cloud_client::Cloud;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_pack::{Encoding as Packing, WindowDescription};
use sotto_program::KeysNeeded;
use sotto_ring::secure_rng;
use sotto_rlwe::{Bfv, Bgv, Ckks, Origin, SchemeId};
use sotto_runtime::{Asked, Encoding, RlweTarget, choose as choose_parameters};
use sotto_wire::AnyCiphertext;

use super::plan::Input;
use super::question::{Question, tick_weights};
use crate::phases::Phases;
use crate::values::Shown;

/// Bits of a quantised reading: a step of a four-thousandth of the range.
const BITS: u32 = 12;
/// The largest error of a CKKS slot. Publishing at most doubles it, and answers span 1.9 or more: a thousandth of their range.
const LARGEST_ERROR: f64 = 0.0009;

/// A scheme as the demo uses it.
pub(super) trait Lane {
    fn scheme(&self) -> SchemeId;
    /// The stream's name.
    fn stream(&self) -> &'static str;
    fn questions(&self) -> &'static [Question];
    fn packing(&self) -> Packing;
    /// Parameters for people.
    fn describe(&self) -> String;
    fn parameters_frame(&self) -> Vec<u8>;
    /// Derives the device's key; gives parameter and key id in hex, the evaluation keys' frame and the public key's.
    /// Ciphertexts of `sources`, enrolled before, can be brought under this key.
    fn enrol(
        &mut self,
        device: &str,
        secret: &DeviceSecret,
        sources: &[String],
        phases: &mut Phases,
    ) -> anyhow::Result<Enrolled>;
    /// Asks one question of stored windows.
    fn ask(&self, request: &Request<'_>, phases: &mut Phases) -> anyhow::Result<Asking>;
}

/// What enrolling a device in a lane makes.
pub(super) struct Enrolled {
    pub(super) parameter_id: String,
    pub(super) key_id: String,
    pub(super) evaluation_keys: Vec<u8>,
    pub(super) public_key: Vec<u8>,
}

/// A question about one window, or one of each device.
pub(super) struct Request<'r> {
    pub(super) question: Question,
    /// The device whose key the answer is under.
    pub(super) device: &'r str,
    pub(super) origin: Origin,
    pub(super) cloud: &'r Cloud,
    pub(super) envelopes: &'r [&'r str],
    /// What stands in each of them.
    pub(super) window: &'r WindowDescription,
    /// Readings of each channel asked about.
    pub(super) count: u32,
}

/// What came back: slots, a bound on each slot's error, and what was done.
pub(super) struct Asking {
    pub(super) slots: Vec<f64>,
    pub(super) slot_error: f64,
    pub(super) steps: BTreeMap<&'static str, u64>,
}

struct Typed<S: Shown> {
    stream: &'static str,
    questions: &'static [Question],
    packing: Packing,
    magnitude: f64,
    block: u32,
    target: RlweTarget<S>,
    needed: KeysNeeded,
    keys: BTreeMap<String, SecretKey<S>>,
}

/// BFV, BGV and CKKS, each with the smallest parameters that its questions allow.
pub(super) fn choose(input: &Input) -> anyhow::Result<Vec<Box<dyn Lane>>> {
    let integer = Packing::Integer { bits: BITS };
    Ok(vec![
        Box::new(Typed::<Bfv>::choose("bfv", &Question::EXACT, integer, input)?),
        Box::new(Typed::<Bgv>::choose("bgv", &Question::EXACT, integer, input)?),
        Box::new(Typed::<Ckks>::choose("ckks", &Question::REAL, Packing::Real, input)?),
    ])
}

impl<S: Shown> Typed<S> {
    fn choose(
        stream: &'static str,
        questions: &'static [Question],
        packing: Packing,
        input: &Input,
    ) -> anyhow::Result<Self> {
        let magnitude = match packing {
            Packing::Integer { bits } => f64::from((1u32 << (bits - 1)) - 1),
            Packing::Resolution | Packing::Real => 1.0,
        };
        let weights = tick_weights(input.ticks);
        let programs = questions
            .iter()
            .map(|q| q.program(input.block(), magnitude, input.ticks, &weights))
            .collect::<anyhow::Result<Vec<_>>>()?;
        // The public key's noise is the larger one: one choice serves both devices.
        let asked = Asked {
            encoding: Encoding::Slots,
            origin: Origin::PublicKey,
            plain_modulus: None,
            columns: input.block() as usize,
            degree: None,
            largest_error: LARGEST_ERROR,
        };
        let choice = choose_parameters::<S>(&programs, &asked)?;
        let needed = choice.lowered.iter().fold(KeysNeeded::default(), |all, l| all.and(&l.plan.keys));
        let block = input.block();
        Ok(Self {
            stream,
            questions,
            packing,
            magnitude,
            block,
            target: choice.target,
            needed,
            keys: BTreeMap::new(),
        })
    }
}

impl<S: Shown> Lane for Typed<S> {
    fn scheme(&self) -> SchemeId {
        S::ID
    }

    fn stream(&self) -> &'static str {
        self.stream
    }

    fn questions(&self) -> &'static [Question] {
        self.questions
    }

    fn packing(&self) -> Packing {
        self.packing
    }

    fn describe(&self) -> String {
        let params = &self.target.params;
        let bits = params.spec().modulus_bits();
        let plain = if S::EXACT { format!(", t = {}", params.plain_modulus()) } else { String::new() };
        format!("{}: n = {}, log2 Q = {bits:.0}{plain}", S::ID, params.degree())
    }

    fn parameters_frame(&self) -> Vec<u8> {
        sotto_wire::write_parameters(self.target.params.spec())
    }

    fn enrol(
        &mut self,
        device: &str,
        secret: &DeviceSecret,
        sources: &[String],
        phases: &mut Phases,
    ) -> anyhow::Result<Enrolled> {
        let mut rng = secure_rng()?;
        let params = &self.target.params;
        let (key, keys, public) = phases.time("key generation", || {
            let key = SecretKey::<S>::derive(secret, params);
            let mut steps = self.needed.rotations.clone();
            steps.extend(self.needed.swap_rows.then_some(0));
            let mut keys = key.evaluation_keys(self.needed.relinearisation, &steps, &mut rng)?;
            let sources = if self.needed.transfers.is_empty() { &[] } else { sources };
            for source in sources {
                let from = self.keys.get(source).context("a source was not enrolled")?;
                keys.transfers.insert(from.id(), key.transfer_key(from, &mut rng)?);
            }
            let public = key.public_key(&mut rng);
            anyhow::Ok((key, keys, public))
        })?;
        let enrolled = Enrolled {
            parameter_id: params.id().to_string(),
            key_id: key.id().to_string(),
            evaluation_keys: sotto_wire::write_evaluation_keys(&keys),
            public_key: sotto_wire::write_public_key(&public),
        };
        self.keys.insert(device.to_owned(), key);
        Ok(enrolled)
    }

    fn ask(&self, request: &Request<'_>, phases: &mut Phases) -> anyhow::Result<Asking> {
        let weights = super::question::slot_weights(&request.window.layout);
        let program = request.question.program(self.block, self.magnitude, request.count, &weights)?;
        let target = RlweTarget { origin: request.origin, ..self.target.clone() };
        let lowered = target.lower_with_shapes(&program)?;
        let plan = request.cloud.put_plan(&sotto_wire::write_plan(&lowered.plan)?)?;
        let job = request.cloud.submit(&plan, request.envelopes)?;
        let done = request.cloud.wait(&job, |_| ControlFlow::Continue(()))?;
        phases.record("evaluate", done.evaluate_us as f64);
        let frame = phases.time("download", || request.cloud.output(&job, 0))?;
        let params = &self.target.params;
        let answer = AnyCiphertext::read(&frame, params)?.expand();
        let key = self.keys.get(request.device).context("the device was not enrolled")?;
        let (slots, slot_error) = crate::values::open_slots::<S>(key, &answer, &lowered.outputs[0], phases)?;
        Ok(Asking { slots, slot_error, steps: lowered.plan.counts() })
    }
}
