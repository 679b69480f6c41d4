//! Outputs of jobs: fetched, compared with the request, decrypted.

use std::ops::ControlFlow;

use sotto_cloud_client::{CloudError, JobDone, JobProgress};
use sotto_decrypt::FloodingBudget;
use sotto_runtime::{Lowered, Managed, Planned};
use sotto_wire::Digest;

use super::flight::{Flight, Submitted};
use super::{Asking, Computer, Results};
use crate::error::OwnerError;
use crate::open;
use crate::open::{Bounds, Numbers, Readable, Release};
use crate::work::evidence::WorkRecord;
use crate::work::keys;

/// The largest error that flooding may add to values, which are at most 1.
const LARGEST_FLOODED: f64 = 1.0;

impl Computer<'_> {
    /// Waits for a job, compares its transcript with the request, and decrypts its outputs.
    pub(super) fn collect<S: Managed<Value: Readable>>(
        &mut self,
        asking: &Asking<'_, S>,
        flight: &Flight<'_, S>,
        budget: Option<&mut FloodingBudget>,
    ) -> Result<Vec<Results>, OwnerError> {
        let opened = match &flight.job {
            Some(job) => {
                let frames = self.checked_outputs(asking, flight, job)?;
                self.decrypt(asking, flight, &job.lowered, &frames, budget)?
            }
            None => Vec::new(),
        };
        flight.results(&opened, asking.key.params().degree())
    }

    /// Waits for a job and returns the frames of its outputs, which are those of the requested work.
    fn checked_outputs<S: Managed<Value: Readable>>(
        &mut self,
        asking: &Asking<'_, S>,
        flight: &Flight<'_, S>,
        job: &Submitted<S>,
    ) -> Result<Vec<Vec<u8>>, OwnerError> {
        let expected = job.expected(asking.key, flight.inputs())?;
        let limit = self.plant.settings().cloud.job_limit();
        let going_on = |progress: &JobProgress| match progress.waited < limit {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        let done = self.cloud.wait(&job.job, going_on).map_err(|error| match error {
            CloudError::Cancelled { job } => OwnerError::NoEnd { job, seconds: limit.as_secs() },
            other => other.into(),
        })?;
        self.account(&done, &job.lowered);
        let frames = self.download(job)?;
        let own_keys = |digest: &Digest| keys::has_evaluation_keys(self.plant, digest);
        expected.check(&done.transcript, frames.iter().map(Vec::as_slice), &self.pinned, own_keys)?;
        let plan = hex::encode(expected.request);
        self.evidence.plans.entry(plan).or_insert_with(|| hex::encode(&job.plan));
        self.evidence.work.push(WorkRecord {
            transcript: hex::encode(&done.transcript),
            inputs: flight.inputs().map(|input| hex::encode(input.identity)).collect(),
            evaluate_us: done.evaluate_us,
        });
        Ok(frames)
    }

    /// Adds the cloud's work on a job to the cost.
    fn account<S: Managed>(&mut self, done: &JobDone, lowered: &Lowered<S>) {
        let spent = &mut self.spent;
        spent.jobs += 1;
        spent.schemes.insert(S::ID.to_string());
        spent.evaluate_us += done.evaluate_us;
        spent.phases.entry("evaluate").or_default().push(done.evaluate_us as f64);
        for (step, count) in lowered.plan.counts() {
            *spent.steps.entry(step.to_owned()).or_default() += count;
        }
    }

    fn download<S: Managed>(&mut self, job: &Submitted<S>) -> Result<Vec<Vec<u8>>, OwnerError> {
        let (cloud, spent) = (self.cloud, &mut self.spent);
        let mut frames = Vec::with_capacity(job.lowered.outputs.len());
        for index in 0..job.lowered.outputs.len() {
            let frame = spent.time("download", || cloud.output(&job.job, index))?;
            spent.bytes_down += frame.len() as u64;
            frames.push(frame);
        }
        Ok(frames)
    }

    /// Decrypts checked outputs. Returns the numbers of each, and a bound on their error.
    fn decrypt<S: Managed<Value: Readable>>(
        &mut self,
        asking: &Asking<'_, S>,
        flight: &Flight<'_, S>,
        lowered: &Lowered<S>,
        frames: &[Vec<u8>],
        mut budget: Option<&mut FloodingBudget>,
    ) -> Result<Vec<(Numbers, f64)>, OwnerError> {
        let Asking { key, quantities, .. } = *asking;
        let degree = key.params().degree();
        let contents = flight.contents(degree);
        let bounds = Bounds { magnitude: flight.magnitude, contents };
        let mut opened = Vec::with_capacity(frames.len());
        for (index, (frame, planned)) in frames.iter().zip(&lowered.outputs).enumerate() {
            let answer = open::read(frame, key, planned)?;
            let slots = flight.packed.read(index, flight.parts, quantities, contents, degree);
            let release = match &mut budget {
                None => Release::Rounded,
                Some(budget) => {
                    asking.can_flood(budget, slots.len(), planned)?;
                    Release::Flooded { budget, slots: &slots }
                }
            };
            let spend = |phase, time| self.spent.record(phase, time);
            opened.push(open::slots(key, &answer, planned, bounds, release, spend)?);
            if let Some(budget) = &budget {
                self.spent.flooded.get_or_insert_default().count(budget);
            }
        }
        Ok(opened)
    }
}

impl<S: Managed<Value: Readable>> Asking<'_, S> {
    /// Refuses to spend budget on values that would drown in the flooding noise.
    fn can_flood(
        &self,
        budget: &FloodingBudget,
        slots: usize,
        planned: &Planned<S>,
    ) -> Result<(), OwnerError> {
        let error = planned.shape.slot_error(self.key.params());
        if budget.published_error(slots, error) > LARGEST_FLOODED {
            return Err(OwnerError::CannotCarry { device: self.device.to_owned() });
        }
        Ok(())
    }
}
