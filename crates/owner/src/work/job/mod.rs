//! Jobs: lower a program for some parts, let the cloud run it, decrypt its outputs.

mod collect;
mod flight;
mod lower;
mod planned;

use std::collections::VecDeque;

use sotto_api::reason;
use sotto_cloud_client::Cloud;
use sotto_keys::SecretKey;
use sotto_rlwe::{ParameterSpec, with_scheme};
use sotto_runtime::{Lowered, Managed, RlweTarget};

use super::budgets;
use super::evidence::Evidence;
use super::keys::EvaluationKeyStore;
use super::spent::Spent;
use super::transcript::of_work;
use crate::cache::Cache;
use crate::declared::{CloudKeys, Plant};
use crate::error::OwnerError;
use crate::language::Measurand;
use crate::open::{Numbers, Readable};
use crate::quantities::{Part, Quantity};
use crate::streams::{HELD_FOR_A_COMPARISON, HELD_FOR_A_WINDOW, expanded_bytes};
use crate::{declared, devices};
use flight::{Flight, Submitted};
use lower::{Left, target};

/// Largest number of windows in a job, whose ciphertexts the cloud holds at the same time.
const MOST_WINDOWS: usize = 256;

/// Number of jobs submitted at the same time.
const IN_FLIGHT: usize = 2;

/// A callback that gets the number of windows just finished and the total so far.
pub(crate) type Progress<'p> = &'p mut dyn FnMut(u64, u64);

/// Results of one part: for each quantity the numbers in the slots of its frame, and a bound on the error of each.
pub(crate) type Results = Vec<(Numbers, f64)>;

/// The device, its key and the quantities, which all jobs of a call have in common.
struct Asking<'a, S: Managed> {
    device: &'a str,
    key: &'a SecretKey<S>,
    quantities: &'a [Quantity],
}

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
    /// Sums of earlier answers. None: all are requested.
    pub(super) cache: Option<Cache>,
    pub(crate) spent: Spent,
}

impl<'p> Computer<'p> {
    pub(crate) fn new(plant: &'p Plant, cloud: &'p Cloud, shared: bool) -> Result<Self, OwnerError> {
        let keys = EvaluationKeyStore::open(plant.path("evaluation-keys.json"), cloud.url());
        let largest_job = cloud.limits()?.largest_job;
        let (pinned, evidence) = (declared::cloud_keys(plant)?, Evidence::default());
        let (cache, spent) = (None, Spent::default());
        Ok(Self { plant, cloud, pinned, evidence, keys, largest_job, shared, cache, spent })
    }

    /// Takes sums of earlier answers, and keeps those that are opened. For questions alone: the requests of alarms follow from
    /// their windows and from nothing else.
    pub(crate) fn caching(self, caches: bool) -> Self {
        let cache = caches.then(|| Cache::of(self.plant));
        Self { cache, ..self }
    }

    /// Returns the bytes of readings that may come down for a question.
    pub(crate) fn most_fetched(&self) -> u64 {
        self.plant.most_fetched()
    }

    /// Returns true if the cloud compares a polynomial or a model with limits, so that its values are not decrypted.
    ///
    /// # Errors
    /// [`OwnerError::Unanswerable`] for answers that are given to others: comparisons leave no room for flooding.
    pub(crate) fn compares_in_cloud(&self, reading: &Measurand) -> Result<bool, OwnerError> {
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
        windows_within(self.largest_job, spec, quantities)
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
        with_scheme!(spec.scheme, S => self.typed::<S>(device, spec, parts, quantities, progress))
    }

    fn typed<S: Managed<Value: Readable>>(
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
        let flooded = self.shared && !S::EXACT;
        let mut budget = flooded.then(|| budgets::flooding_budget(self.plant, key.id())).transpose()?;
        let asking = Asking { device, key: &key, quantities };
        if flooded {
            planned::check(self.largest_job, spec, &target, parts, quantities)?;
        }
        let mut left = Left::new(parts, self.granted(spec, quantities));
        let mut flights: VecDeque<Flight<'_, S>> = VecDeque::new();
        let (mut results, mut wrong, mut done) = (Vec::with_capacity(parts.len()), None, 0);
        loop {
            // The next job waits in the cloud while the previous one is computed.
            while flights.len() < IN_FLIGHT && !left.is_empty() {
                flights.push_back(self.launch(&asking, &mut left, &target)?);
            }
            let Some(landed) = flights.pop_front() else { break };
            match self.collect(&asking, &landed, budget.as_mut()) {
                // The next job is submitted all the same: an answer's content must not decide about it.
                Err(error @ OwnerError::WrongAnswer(_)) => drop(wrong.get_or_insert(error)),
                Err(error @ OwnerError::NoEnd { .. }) => {
                    self.cancel(std::iter::once(&landed).chain(&flights));
                    return Err(error);
                }
                collected => results.extend(collected?),
            }
            done += landed.windows();
            progress(landed.windows(), done);
        }
        wrong.map_or(Ok(results), Err)
    }

    /// Cancels jobs for which the owner does not wait any longer.
    fn cancel<'f, 'w: 'f, S: Managed>(&self, flights: impl Iterator<Item = &'f Flight<'w, S>>) {
        for job in flights.filter_map(|flight| flight.job.as_ref()) {
            // Without an effect on the answer: a cloud of an earlier version has no such route.
            if let Err(error) = self.cloud.cancel(&job.job) {
                tracing::debug!(job = job.job, %error, "not cancelled");
            }
        }
    }

    /// Lowers the next job and submits it, unless its results are zero for any windows.
    fn launch<'w, S: Managed>(
        &mut self,
        asking: &Asking<'_, S>,
        left: &mut Left<'w>,
        target: &RlweTarget<S>,
    ) -> Result<Flight<'w, S>, OwnerError> {
        let prepared = left.next(target, asking.quantities).map_err(|error| {
            tracing::debug!(asking.device, %error, "windows cannot carry the question");
            OwnerError::CannotCarry { device: asking.device.to_owned() }
        })?;
        let (parts, packed, magnitude) = (prepared.parts, prepared.packed, prepared.magnitude);
        let job = prepared.lowered.map(|lowered| self.submit(asking, parts, lowered)).transpose()?;
        Ok(Flight { job, parts, packed, magnitude })
    }

    /// Uploads the keys if needed, uploads the plan, and submits the job.
    fn submit<S: Managed>(
        &mut self,
        asking: &Asking<'_, S>,
        parts: &[Part],
        lowered: Lowered<S>,
    ) -> Result<Submitted<S>, OwnerError> {
        let wrong = |error: sotto_wire::WireError| OwnerError::WrongAnswer(error.to_string());
        let (key, refused) = (asking.key, |error| of_work(asking.device, error));
        let (plant, cloud, keys) = (self.plant, self.cloud, &mut self.keys);
        if let Some(time) = keys.ensure(plant, cloud, key, &lowered.keys, false)? {
            self.spent.record("key generation", time);
        }
        let frame = sotto_wire::write_plan(&lowered.plan).map_err(wrong)?;
        let plan = cloud.put_plan(&frame)?;
        let inputs: Vec<&str> =
            parts.iter().flat_map(|part| &part.inputs).map(|input| input.id.as_str()).collect();
        let job = match cloud.submit(&plan, &inputs) {
            Err(error) if error.refusal() == Some(reason::MISSING_KEY) => {
                keys.ensure(plant, cloud, key, &lowered.keys, true)?;
                cloud.submit(&plan, &inputs).map_err(refused)?
            }
            submitted => submitted.map_err(refused)?,
        };
        Ok(Submitted { job, plan: frame, lowered })
    }
}

/// Returns the number of windows whose ciphertexts fit into the bytes of a job.
fn windows_within(largest_job: u64, spec: &ParameterSpec, quantities: &[Quantity]) -> usize {
    let each = HELD_FOR_A_WINDOW * expanded_bytes(spec) * quantities.len() as u64;
    let compared = quantities.iter().any(|quantity| matches!(quantity, Quantity::Beyond(_)));
    let held = if compared { HELD_FOR_A_COMPARISON * expanded_bytes(spec) } else { 0 };
    let windows = largest_job.saturating_sub(held) / each.max(1);
    usize::try_from(windows).unwrap_or(MOST_WINDOWS).clamp(1, MOST_WINDOWS)
}
