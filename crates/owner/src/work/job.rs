//! Jobs: lower a program for some parts, let the cloud run it, decrypt its outputs.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use sotto_api::reason;
use sotto_cloud_client::Cloud;
use sotto_decrypt::FloodingBudget;
use sotto_keys::SecretKey;
use sotto_pack::Layout;
use sotto_program::LowerError;
use sotto_rlwe::{Bfv, Bgv, Ckks, Origin, ParameterSpec, Params, SchemeId};
use sotto_runtime::{Encoding, Lowered, RlweTarget};
use sotto_wire::{Digest, TranscriptInputs, Work};

use super::evidence::{Evidence, WorkRecord};
use super::keys::EvaluationKeyStore;
use super::spent::Spent;
use super::transcript::{Expected, of_work};
use super::{budgets, keys};
use crate::declared::{CloudKeys, Plant};
use crate::error::OwnerError;
use crate::language::Reading;
use crate::open::{Contents, Numbers, Readable, Release};
use crate::quantities::{Packed, Part, Quantity, frame, frames, kept, program, stride};
use crate::streams::{HELD_FOR_A_COMPARISON, HELD_FOR_A_WINDOW, expanded_bytes};
use crate::{declared, devices, open};

/// Largest number of windows in a job, whose ciphertexts the cloud holds at the same time.
const MOST_WINDOWS: usize = 256;

/// The largest error that flooding may add to values, which are at most 1.
const LARGEST_FLOODED: f64 = 1.0;

/// Number of jobs submitted at the same time.
const IN_FLIGHT: usize = 2;

/// A callback that gets the number of windows just finished and the total so far.
pub(crate) type Progress<'p> = &'p mut dyn FnMut(u64, u64);

/// Results of one part: for each quantity the numbers in the slots of its frame, and a bound on the error of each.
pub(crate) type Results = Vec<(Numbers, f64)>;

/// Runs jobs for one plant.
pub(crate) struct Computer<'p> {
    pub(super) plant: &'p Plant,
    pub(super) cloud: &'p Cloud,
    pub(super) pinned: CloudKeys,
    /// The work so far, so that a verifier can repeat it.
    pub(crate) evidence: Evidence,
    keys: EvaluationKeyStore,
    /// Bytes of ciphertexts that the cloud allows a job to hold.
    largest_job: u64,
    /// True if answers are given to others: reals are flooded at decryption.
    shared: bool,
    pub(crate) spent: Spent,
}

impl<'p> Computer<'p> {
    pub(crate) fn new(plant: &'p Plant, cloud: &'p Cloud, shared: bool) -> Result<Self, OwnerError> {
        let keys = EvaluationKeyStore::open(plant.path("evaluation-keys.json"), cloud.url());
        let largest_job = cloud.limits()?.largest_job;
        let (pinned, evidence) = (declared::cloud_keys(plant)?, Evidence::default());
        Ok(Self { plant, cloud, pinned, evidence, keys, largest_job, shared, spent: Spent::default() })
    }

    /// Returns true if the cloud compares a polynomial or a model with limits, so that its values are not decrypted.
    ///
    /// # Errors
    /// [`OwnerError::Unanswerable`] for answers that are given to others: comparisons leave no room for flooding.
    pub(crate) fn compares_in_cloud(&self, reading: &Reading) -> Result<bool, OwnerError> {
        let in_cloud = declared::compares_in_cloud(self.plant, reading);
        if in_cloud && self.shared {
            return Err(OwnerError::Unanswerable(format!(
                "{reading} is compared in the cloud (compare = \"cloud\"), which leaves no room for flooding: ask without `shared`, or let the owner compare"
            )));
        }
        Ok(in_cloud)
    }

    /// Returns the number of windows that a job may have. The cloud holds their ciphertexts at the same time.
    pub(crate) fn granted(&self, spec: &ParameterSpec, quantities: &[Quantity]) -> usize {
        let each = HELD_FOR_A_WINDOW * expanded_bytes(spec) * quantities.len() as u64;
        let compared = quantities.iter().any(|quantity| matches!(quantity, Quantity::Beyond(_)));
        let held = if compared { HELD_FOR_A_COMPARISON * expanded_bytes(spec) } else { 0 };
        let windows = self.largest_job.saturating_sub(held) / each.max(1);
        usize::try_from(windows).unwrap_or(MOST_WINDOWS).clamp(1, MOST_WINDOWS)
    }

    /// Returns the results of all parts. Their windows must be of one device, one layout and these parameters.
    pub(crate) fn results(
        &mut self,
        device: &str,
        spec: &ParameterSpec,
        parts: &[Part],
        quantities: &[Quantity],
        progress: Progress<'_>,
    ) -> Result<Vec<Results>, OwnerError> {
        match spec.scheme {
            SchemeId::Bfv => self.typed::<Bfv>(device, spec, parts, quantities, progress),
            SchemeId::Bgv => self.typed::<Bgv>(device, spec, parts, quantities, progress),
            SchemeId::Ckks => self.typed::<Ckks>(device, spec, parts, quantities, progress),
        }
    }

    fn typed<S: Readable>(
        &mut self,
        device: &str,
        spec: &ParameterSpec,
        parts: &[Part],
        quantities: &[Quantity],
        progress: Progress<'_>,
    ) -> Result<Vec<Results>, OwnerError> {
        let target = target::<S>(spec, parts)?;
        let secret = devices::secret(self.plant, device)?;
        let key = SecretKey::<S>::derive(&secret, &target.params);
        let flooded = self.shared && S::ID == SchemeId::Ckks;
        let mut budget = flooded.then(|| budgets::flooding_budget(self.plant, key.id())).transpose()?;
        let mut results = Vec::with_capacity(parts.len());
        let mut flight: VecDeque<Flight<'_, S>> = VecDeque::new();
        let mut left = parts;
        let mut done = 0;
        let (mut most, mut wrong) = (usize::MAX, None);
        let granted = self.granted(spec, quantities);
        while !left.is_empty() || !flight.is_empty() {
            // The next job waits in the cloud while the previous one is computed.
            while flight.len() < IN_FLIGHT && !left.is_empty() {
                let take = jobs_parts((left, spec.degree), quantities.len(), granted).min(most);
                let (now, later) = left.split_at(take);
                match lower(&target, now, quantities) {
                    Ok((packed, lowered)) => {
                        let job = match &lowered {
                            Some(lowered) => Some(self.submit(&key, now, lowered)?),
                            None => None,
                        };
                        let magnitude = largest(now, quantities);
                        flight.push_back(Flight { job: job.zip(lowered), parts: now, packed, magnitude });
                        left = later;
                    }
                    // Fewer results in one ciphertext have less noise.
                    Err(_) if take > 1 => most = take / 2,
                    Err(error) => return Err(cannot(&error, device)),
                }
            }
            if let Some(landed) = flight.pop_front() {
                let windows: u64 = landed.parts.iter().map(|part| part.inputs.len() as u64).sum();
                match self.collect((&key, device), &landed, quantities, budget.as_mut()) {
                    // The next job is submitted all the same: an answer's content must not decide about it.
                    Err(error @ OwnerError::WrongAnswer(_)) => drop(wrong.get_or_insert(error)),
                    collected => results.extend(collected?),
                }
                done += windows;
                progress(windows, done);
            }
        }
        wrong.map_or(Ok(results), Err)
    }

    /// Uploads the keys if needed, uploads the plan, and submits the job.
    fn submit<S: Readable>(
        &mut self,
        key: &SecretKey<S>,
        parts: &[Part],
        lowered: &Lowered<S>,
    ) -> Result<Submitted, OwnerError> {
        let wrong = |error: sotto_wire::WireError| OwnerError::WrongAnswer(error.to_string());
        let (cloud, needed) = (self.cloud, &lowered.keys);
        let (keys, spent) = (&mut self.keys, &mut self.spent);
        let both = (self.plant, cloud);
        if let Some(time) = keys.ensure(both, key, needed, false)? {
            spent.record("key generation", time);
        }
        let frame = sotto_wire::write_plan(&lowered.plan).map_err(wrong)?;
        let plan = cloud.put_plan(&frame)?;
        let inputs: Vec<&str> =
            parts.iter().flat_map(|part| &part.inputs).map(|input| input.id.as_str()).collect();
        let job = match cloud.submit(&plan, &inputs) {
            Err(error) if error.refusal() == Some(reason::MISSING_KEY) => {
                keys.ensure(both, key, needed, true)?;
                cloud.submit(&plan, &inputs).map_err(of_work)?
            }
            submitted => submitted.map_err(of_work)?,
        };
        Ok(Submitted { job, plan: frame })
    }

    /// Returns the statements that the transcript of a job must make.
    fn expected<S: Readable>(
        &self,
        key: &SecretKey<S>,
        parts: &[Part],
        submitted: &Submitted,
        lowered: &Lowered<S>,
    ) -> Result<Expected, OwnerError> {
        let leaves = parts.iter().flat_map(|part| &part.inputs).map(|input| input.leaf);
        let request = sotto_wire::frame_digest(&submitted.plan);
        Ok(Expected {
            work: Work::Job,
            parameters: key.params().id(),
            key: Some(key.id()),
            request: request.map_err(|error| OwnerError::WrongAnswer(error.to_string()))?,
            needs_keys: !lowered.keys.is_empty(),
            inputs: TranscriptInputs::of(leaves),
        })
    }

    /// Waits for a job, compares its transcript with the request, and decrypts its outputs.
    fn collect<S: Readable>(
        &mut self,
        (key, device): (&SecretKey<S>, &str),
        flight: &Flight<'_, S>,
        quantities: &[Quantity],
        mut budget: Option<&mut FloodingBudget>,
    ) -> Result<Vec<Results>, OwnerError> {
        let Flight { job, parts, packed, magnitude } = flight;
        let mut results = vec![Results::new(); parts.len()];
        let mut opened = Vec::new();
        if let Some((submitted, lowered)) = job {
            let expected = self.expected(key, parts, submitted, lowered)?;
            let (cloud, spent) = (self.cloud, &mut self.spent);
            let done = cloud.wait(&submitted.job, |_| ControlFlow::Continue(()))?;
            spent.jobs += 1;
            spent.schemes.insert(S::ID.to_string());
            spent.evaluate_us += done.evaluate_us;
            spent.phases.entry("evaluate").or_default().push(done.evaluate_us as f64);
            for (step, count) in lowered.plan.counts() {
                *spent.steps.entry(step.to_owned()).or_default() += count;
            }
            let mut frames = Vec::with_capacity(lowered.outputs.len());
            for index in 0..lowered.outputs.len() {
                let frame = spent.time("download", || cloud.output(&submitted.job, index))?;
                spent.bytes_down += frame.len() as u64;
                frames.push(frame);
            }
            // Checked before anything is decrypted.
            let own_keys = |digest: &Digest| keys::has_evaluation_keys(self.plant, digest);
            expected.check(&done.transcript, frames.iter().map(Vec::as_slice), &self.pinned, own_keys)?;
            let plan = hex::encode(expected.request);
            self.evidence.plans.entry(plan).or_insert_with(|| hex::encode(&submitted.plan));
            self.evidence.work.push(WorkRecord {
                transcript: hex::encode(&done.transcript),
                inputs: parts.iter().flat_map(|part| &part.inputs).map(|input| input.id.clone()).collect(),
                sums: None,
                evaluate_us: done.evaluate_us,
            });
            for (index, (bytes, planned)) in frames.iter().zip(&lowered.outputs).enumerate() {
                let answer = open::read(bytes, key, planned)?;
                let spend = |phase, time| self.spent.record(phase, time);
                let kept = kept(layout_of(parts), key.params().degree());
                let results = packed.frames;
                let degree = key.params().degree();
                let contents = match kept {
                    Some(_) if packed.in_slots() => Contents::Slots(degree / 2),
                    Some(kept) => Contents::Parts { values: kept.values(), results },
                    None => Contents::Slots(results * frame(layout_of(parts)) as usize),
                };
                let slots = packed.read(index, (parts, quantities), (contents, degree));
                let release = match &mut budget {
                    None => Release::Rounded,
                    Some(budget) => {
                        let error = planned.shape.slot_error(key.params());
                        // Spend no budget on values that would drown in the flooding noise.
                        if budget.published_error(slots.len(), error) > LARGEST_FLOODED {
                            return Err(OwnerError::CannotCarry { device: device.to_owned() });
                        }
                        Release::Flooded { budget, slots: &slots }
                    }
                };
                opened.push(open::slots(key, &answer, (planned, *magnitude), contents, release, spend)?);
                if let Some(budget) = &budget {
                    self.spent.flooded.get_or_insert_default().count(budget);
                }
            }
        }
        let degree = key.params().degree();
        let row =
            if packed.in_slots() { degree / 2 } else { stride(layout_of(parts), degree) * packed.frames };
        let zeros = (S::zeros(row), 0.0);
        for outputs in &packed.outputs {
            for (output, results) in outputs.iter().zip(results.chunks_mut(packed.frames)) {
                let (numbers, error) = output.and_then(|at| opened.get(at)).unwrap_or(&zeros);
                for (place, result) in results.iter_mut().enumerate() {
                    let place = packed.place(place);
                    result.push((cut(numbers, place, (&parts[0], degree))?, *error));
                }
            }
        }
        Ok(results)
    }
}

/// A submitted job.
struct Submitted {
    job: String,
    /// The frame of its plan.
    plan: Vec<u8>,
}

/// A job that the cloud is working on.
struct Flight<'w, S: Readable> {
    /// None if every result is zero for any windows.
    job: Option<(Submitted, Lowered<S>)>,
    parts: &'w [Part],
    packed: Packed,
    /// A bound on the absolute value of every whole-number result.
    magnitude: f64,
}

/// Returns the slots of the frame at a place.
fn cut(numbers: &Numbers, place: usize, (part, degree): (&Part, usize)) -> Result<Numbers, OwnerError> {
    let layout = &part.inputs[0].window.layout;
    let first = place * stride(layout, degree);
    let slots = first..first + frame(layout) as usize;
    let short = || OwnerError::WrongAnswer("it has fewer slots than the plan gives".to_owned());
    Ok(match numbers {
        Numbers::Whole(numbers) => Numbers::Whole(numbers.get(slots).ok_or_else(short)?.to_vec()),
        Numbers::Real(numbers) => Numbers::Real(numbers.get(slots).ok_or_else(short)?.to_vec()),
    })
}

fn target<S: Readable>(spec: &ParameterSpec, parts: &[Part]) -> Result<RlweTarget<S>, OwnerError> {
    let first = parts.first().map(|part| &part.inputs[0]);
    let kept = first.and_then(|input| kept(&input.window.layout, spec.degree));
    let origin = first.map_or(Origin::SecretKey, |input| input.origin);
    let params =
        Params::<S>::new(spec.clone()).map_err(|error| OwnerError::NoParameters(error.to_string()))?;
    Ok(RlweTarget { params, encoding: Encoding::Slots, origin, kept, may_wrap: true })
}

/// Returns a bound on the absolute value of the whole numbers computed from these parts.
fn largest(parts: &[Part], quantities: &[Quantity]) -> f64 {
    let layout = layout_of(parts);
    let windows = parts.iter().map(|part| part.inputs.len()).max().unwrap_or_default();
    windows as f64 * quantities.iter().map(|quantity| quantity.magnitude(layout)).fold(0.0, f64::max)
}

fn layout_of(parts: &[Part]) -> &Layout {
    &parts[0].inputs[0].window.layout
}

fn lower<S: Readable>(
    target: &RlweTarget<S>,
    parts: &[Part],
    quantities: &[Quantity],
) -> Result<(Packed, Option<Lowered<S>>), LowerError> {
    let layout = (layout_of(parts), target.params.degree());
    let packed = program(layout, parts, quantities, parts.len() > 1)?;
    let lower = |program| target.lower_reduced(program, &packed.merged);
    let lowered = packed.program.as_ref().map(lower).transpose()?;
    Ok((packed, lowered))
}

fn cannot(error: &LowerError, device: &str) -> OwnerError {
    tracing::debug!(device, %error, "windows cannot carry the question");
    OwnerError::CannotCarry { device: device.to_owned() }
}

/// Returns the number of parts in the next job: at least one, within the limits of a plan and the cloud's memory.
fn jobs_parts((parts, degree): (&[Part], usize), quantities: usize, granted: usize) -> usize {
    let layout = layout_of(parts);
    // Each result of compact windows is a separate output until results are merged.
    let frames = if kept(layout, degree).is_some() { 1 } else { frames(layout, degree, true) };
    let most_outputs = (sotto_program::limits::OUTPUTS / quantities.max(1)).max(1) * frames;
    let mut windows = 0;
    let fits = |part: &&Part| {
        windows += part.inputs.len();
        windows <= granted
    };
    parts.iter().take(most_outputs).take_while(fits).count().max(1)
}
