//! Verification: repeats the work behind an answer on the signed messages of the devices, without a secret key, and
//! compares the outputs' digests.

mod folder;
mod repeat;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::Serialize;
use sotto_cloud_client::{Cloud, CloudError};
use sotto_rlwe::{ParameterId, ParameterSpec};
use sotto_wire::Digest;

use super::evidence::Evidence;
use super::lie::Lie;
use super::pins::CloudKeys;
use crate::device::parameter_spec;
use crate::error::OwnerError;
use crate::files::{pretty, random, write_private};
use crate::plant::Plant;
use crate::publish::Verified;
use folder::{Document, Folder};
pub(crate) use repeat::request as sum_request;
use repeat::{Repeated, repeat};

/// A callback that gets the amount of work repeated so far and the total.
///
/// Example: [`Verification`]
pub type OnVerified<'p> = &'p mut dyn FnMut(u64, u64);

/// Bytes of messages held in memory, so that a window used in several jobs is fetched once.
const MOST_HELD: usize = 64 << 20;

/// The result of a verification.
///
/// ```no_run
/// use sotto_owner::{Finding, OnVerified, Plant, Verification};
///
/// let plant = Plant::open("dairy".as_ref())?;
/// let shown: OnVerified<'_> = &mut |repeated, total| eprintln!("{repeated} of {total}");
/// let name = plant.answers()?.pop().expect("an answer"); // the latest
/// let all_of_it: Verification = plant.verify(&name, 1.0, None, shown)?;
/// let findings: &[Finding] = &all_of_it.findings;
/// assert!(findings.is_empty(), "{}", findings[0].lie);
/// # Ok::<(), sotto_owner::OwnerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verification {
    /// The answer's name.
    pub answer: String,
    /// The question.
    pub question: String,
    /// Number of jobs and requests for sums behind the answer.
    pub work: u64,
    /// Number of them that were repeated.
    pub repeated: u64,
    /// Number of windows in the repeated work.
    pub windows: u64,
    /// Bytes of messages fetched.
    pub bytes: u64,
    /// Total time in seconds: fetching, checking, repeating.
    pub seconds: f64,
    /// Time of repeating alone, in microseconds.
    pub repeat_us: u64,
    /// The cloud's reported time for the same work, in microseconds.
    pub cloud_us: u64,
    /// True if the cloud's key is pinned. Then its signatures prove something to others.
    pub pinned: bool,
    /// False statements of the cloud; empty for a good answer.
    pub findings: Vec<Finding>,
    /// Reasons why work could not be repeated, e.g. an unreachable cloud or deleted windows. This work is neither
    /// confirmed nor refuted.
    pub open: Vec<Finding>,
}

/// A false statement of the cloud.
///
/// Example: [`Verification`]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The number of the work, from 0.
    pub work: u64,
    /// The statement and a remedy.
    pub lie: String,
}

/// The inputs of the repetition, which need no secret key.
struct Sources<'p> {
    origin: Origin<'p>,
    held: HashMap<String, Vec<u8>>,
    held_bytes: usize,
    fetched: u64,
}

/// The origin of the inputs.
enum Origin<'p> {
    Plant {
        plant: &'p Plant,
        cloud: &'p Cloud,
        /// Leaves of windows, by the ids of their envelopes.
        leaves: HashMap<String, Digest>,
        parameters: BTreeMap<ParameterId, ParameterSpec>,
        /// A folder in which all inputs are saved.
        save: Option<Folder>,
    },
    Folder {
        folder: Folder,
        /// Verifying keys of devices.
        devices: BTreeMap<String, Vec<String>>,
    },
}

impl Plant {
    /// Repeats the work behind a stored answer: all of it, or a random sample that the cloud cannot foresee. With
    /// `save`, everything needed to verify the same work is written to a new folder, for [`verify_folder`].
    ///
    /// # Errors
    /// [`OwnerError`] if there is no evidence, the sample is not above 0 and at most 1, the cloud is unreachable, or a
    /// log is false. False statements about the work are findings, not errors.
    pub fn verify(
        &self,
        answer: &str,
        sample: f64,
        save: Option<&Path>,
        progress: OnVerified<'_>,
    ) -> Result<Verification, OwnerError> {
        if !(sample > 0.0 && sample <= 1.0) {
            return Err(OwnerError::Question(format!("a sample is above 0 and at most 1, not {sample}")));
        }
        let (kept, evidence, pinned) = (self.answer(answer)?, self.evidence(answer)?, self.cloud_keys()?);
        let (cloud, save) = (self.cloud()?, save.map(Folder::create).transpose()?);
        let mut sources = Sources::new(self, &cloud, &evidence, save.clone())?;
        let question = &kept.answer.question;
        let done = verified((answer, question), &evidence, &pinned, sample, &mut sources, progress)?;
        if done.findings.is_empty() && done.open.is_empty() {
            let sampled = if done.work == 0 { 1.0 } else { done.repeated as f64 / done.work as f64 };
            let mark = Verified { at_ms: Timestamp::now().as_millisecond(), sampled, jobs: done.work };
            // A sample does not replace the mark of a more complete verification.
            if self.verified(answer)?.is_none_or(|earlier| earlier.sampled <= sampled) {
                write_private(&self.verified_path(answer), &pretty(&mark)?)?;
            }
        } else if !done.findings.is_empty() {
            // An earlier mark, perhaps of a sample, is no longer valid.
            let _ = std::fs::remove_file(self.verified_path(answer));
        }
        if let Some(folder) = save {
            let mut document = Document::new(answer, question, &evidence);
            document.cloud_keys = pinned.shown();
            for (name, record) in self.all_records()? {
                let keys = self.verifying_keys(&record)?;
                document.devices.insert(name, keys.iter().map(hex::encode).collect());
            }
            folder.finish(&document)?;
        }
        Ok(done)
    }

    /// Repeats all work of an evidence. Returns the first finding, or the first reason why work could not be repeated.
    pub(crate) fn verify_work(
        &self,
        cloud: &Cloud,
        evidence: &Evidence,
    ) -> Result<Option<String>, OwnerError> {
        let mut sources = Sources::new(self, cloud, evidence, None)?;
        let done = verified(("", ""), evidence, &self.cloud_keys()?, 1.0, &mut sources, &mut |_, _| {})?;
        Ok(done.findings.into_iter().chain(done.open).next().map(|finding| finding.lie))
    }
}

/// Verifies the evidence in a folder written by [`Plant::verify`]. Needs neither a plant nor a cloud nor a secret. The
/// caller must trust the folder's writer for the keys of the cloud and of the devices.
///
/// # Errors
/// [`OwnerError`] if the folder has no evidence, or a file cannot be read. False statements about the work are
/// findings, not errors.
pub fn verify_folder(path: &Path, progress: OnVerified<'_>) -> Result<Verification, OwnerError> {
    let folder = Folder(path.to_owned());
    let Document { answer, question, cloud_keys, devices, evidence, .. } = folder.document()?;
    let pinned = CloudKeys::parse(&cloud_keys)?;
    let (held, held_bytes, fetched) = (HashMap::new(), 0, 0);
    let mut sources = Sources { origin: Origin::Folder { folder, devices }, held, held_bytes, fetched };
    verified((&answer, &question), &evidence, &pinned, 1.0, &mut sources, progress)
}

/// Repeats the work: all of it or a sample.
fn verified(
    (answer, question): (&str, &str),
    evidence: &Evidence,
    pinned: &CloudKeys,
    sample: f64,
    sources: &mut Sources<'_>,
    progress: OnVerified<'_>,
) -> Result<Verification, OwnerError> {
    let begin = Instant::now();
    let chosen = drawn(evidence.work.len(), sample)?;
    let (mut findings, mut open, mut all) = (Vec::new(), Vec::new(), Repeated::default());
    let mut cloud_us = 0;
    for (done, at) in chosen.iter().copied().enumerate() {
        progress(done as u64, chosen.len() as u64);
        let record = &evidence.work[at];
        match repeat(record, evidence, sources, pinned) {
            Ok(repeated) => all.add(repeated),
            Err(OwnerError::Lie(lie)) => {
                findings.push(Finding { work: at as u64, lie: lie.to_string() });
            }
            Err(error @ OwnerError::Cloud(CloudError::Interrupted { .. })) => return Err(error),
            // Earlier findings stay, even if the cloud refuses requests afterwards.
            Err(error) => open.push(Finding { work: at as u64, lie: error.to_string() }),
        }
        cloud_us += record.evaluate_us;
    }
    progress(chosen.len() as u64, chosen.len() as u64);
    let (work, repeated) = (evidence.work.len() as u64, (chosen.len() - open.len()) as u64);
    Ok(Verification {
        answer: answer.to_owned(),
        question: question.to_owned(),
        work,
        repeated,
        windows: all.windows,
        bytes: sources.fetched,
        seconds: begin.elapsed().as_secs_f64(),
        repeat_us: micros(all.time),
        cloud_us,
        pinned: !pinned.is_empty(),
        findings,
        open,
    })
}

impl<'p> Sources<'p> {
    /// Reads the stored logs. If they lack windows of the work because they were accepted anew, reads them from the
    /// cloud.
    fn new(
        plant: &'p Plant,
        cloud: &'p Cloud,
        evidence: &Evidence,
        save: Option<Folder>,
    ) -> Result<Self, OwnerError> {
        let (mut leaves, mut parameters) = (HashMap::new(), BTreeMap::new());
        let records = plant.all_records()?;
        let streams =
            || records.values().flat_map(|record| record.streams().into_iter().map(move |s| (record, s)));
        for profile in records.values().flat_map(|record| &record.bundles).flat_map(|bundle| &bundle.streams)
        {
            let spec = parameter_spec(&profile.parameters)?;
            parameters.insert(spec.id(), spec);
        }
        for (record, stream) in streams() {
            let log = plant.kept_log(&record.device, stream)?;
            leaves.extend(log.entries.into_iter().map(|entry| (entry.id, entry.leaf)));
        }
        let mut inputs = evidence.work.iter().flat_map(|work| &work.inputs);
        if inputs.any(|id| !leaves.contains_key(id)) {
            for (record, stream) in streams() {
                let log = plant.sync_log(cloud, record, stream)?;
                leaves.extend(log.entries.into_iter().map(|entry| (entry.id, entry.leaf)));
            }
        }
        let (held, held_bytes, fetched) = (HashMap::new(), 0, 0);
        let origin = Origin::Plant { plant, cloud, leaves, parameters, save };
        Ok(Self { origin, held, held_bytes, fetched })
    }

    /// Returns everything that a device signed for an envelope.
    fn message(&mut self, id: &str) -> Result<Vec<u8>, OwnerError> {
        if let Some(message) = self.held.get(id) {
            return Ok(message.clone());
        }
        let message = match &self.origin {
            Origin::Plant { cloud, save, .. } => {
                let message = cloud.message(id)?;
                save.as_ref().map_or(Ok(()), |save| save.write("messages", id, &message))?;
                message
            }
            Origin::Folder { folder, .. } => {
                let missing = || Lie::ImpossibleWork { reason: format!("there is no message {id}") };
                folder.read("messages", id)?.ok_or_else(missing)?
            }
        };
        self.fetched += message.len() as u64;
        if self.held_bytes + message.len() <= MOST_HELD {
            self.held_bytes += message.len();
            self.held.insert(id.to_owned(), message.clone());
        }
        Ok(message)
    }

    fn leaf(&self, id: &str) -> Result<Digest, OwnerError> {
        let missing = || {
            OwnerError::Unanswerable(format!(
                "window {id} was deleted since: its part of the answer cannot be repeated any more"
            ))
        };
        match &self.origin {
            Origin::Plant { leaves, .. } => leaves.get(id).copied().ok_or_else(missing),
            Origin::Folder { folder, devices } => folder.leaf(id, devices),
        }
    }

    fn spec(&self, id: ParameterId) -> Result<ParameterSpec, OwnerError> {
        match &self.origin {
            Origin::Plant { parameters, save, .. } => {
                let spec = parameters.get(&id).cloned().ok_or(Lie::OtherPlan)?;
                let frame = sotto_wire::write_parameters(&spec);
                save.as_ref().map_or(Ok(()), |save| save.write("parameters", &id.to_string(), &frame))?;
                Ok(spec)
            }
            Origin::Folder { folder, .. } => folder.parameters(id),
        }
    }

    /// Returns the frame of evaluation keys that the owner uploaded.
    fn evaluation_keys(&self, digest: &Digest) -> Result<Option<Vec<u8>>, OwnerError> {
        let name = hex::encode(digest);
        match &self.origin {
            Origin::Plant { plant, save, .. } => {
                let frame = plant.sent_evaluation_keys(digest)?;
                if let (Some(save), Some(frame)) = (save, &frame) {
                    save.write("keys", &name, frame)?;
                }
                Ok(frame)
            }
            Origin::Folder { folder, .. } => folder.read("keys", &name),
        }
    }
}

/// Draws a random sample of `count` numbers, in ascending order. The sample has at least one number if `count` is not
/// 0.
fn drawn(count: usize, sample: f64) -> Result<Vec<usize>, OwnerError> {
    let take = ((count as f64 * sample).ceil() as usize).min(count);
    let mut all: Vec<usize> = (0..count).collect();
    for at in 0..take {
        // The modulus is far below 2^64, so no number is favoured by more than 2^-40.
        let other = at + (u64::from_le_bytes(random::<8>()?) % (count - at) as u64) as usize;
        all.swap(at, other);
    }
    all.truncate(take);
    all.sort_unstable();
    Ok(all)
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_a_part_without_repetition() {
        assert_eq!(drawn(0, 1.0).unwrap(), Vec::<usize>::new());
        assert_eq!(drawn(7, 1.0).unwrap(), (0..7).collect::<Vec<_>>());
        assert_eq!(drawn(100, 0.05).unwrap().len(), 5);
        assert_eq!(drawn(3, 0.05).unwrap().len(), 1);
        let mut seen = [false; 20];
        for _ in 0..500 {
            let some = drawn(20, 0.1).unwrap();
            assert!(some.len() == 2 && some[0] < some[1]);
            some.iter().for_each(|at| seen[*at] = true);
        }
        assert_eq!(seen, [true; 20], "each may be drawn");
    }
}
