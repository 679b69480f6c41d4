//! Verification: repeats the work behind an answer on the signed messages of the devices, without a secret key, and
//! compares the outputs' digests.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;
use sotto_cloud_client::{Cloud, CloudError};

use super::folder::{Document, Folder};
use super::repeat::{Repeated, repeat};
use super::sources::Sources;
use crate::declared;
use crate::declared::{CloudKeys, Plant};
use crate::error::OwnerError;
use crate::files::random;
use crate::work::Evidence;

/// Number of different days after which it is a finding that work cannot be repeated.
pub(crate) const MOST_DAYS: u64 = 3;

/// A callback that gets the amount of work repeated so far and the total.
///
/// Example: [`Verification`]
pub type OnVerified<'p> = &'p mut dyn FnMut(u64, u64);

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
    /// The question's text.
    pub question: String,
    /// Number of jobs behind the answer.
    pub work: u64,
    /// Number of windows in sums with tags, which were checked when the answer was opened: nothing of them is repeated.
    pub tagged: u64,
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
    /// Number of different days on which this answer could not be repeated though the owner deleted nothing of it, this one
    /// included; 0 if it could. Three days are a finding.
    pub open_days: u64,
    /// True if the cloud is the reason why work could not be repeated, and not the owner, who deleted windows.
    #[serde(skip)]
    pub(crate) is_withheld: bool,
}

impl Verification {
    /// Returns true if the work could not be repeated on three days.
    #[must_use]
    pub fn is_withheld(&self) -> bool {
        self.open_days >= MOST_DAYS
    }
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
    let mut sources = Sources::of_folder(folder, devices);
    let claim = Claim { answer: &answer, question: &question, evidence: &evidence };
    verified(&claim, &pinned, 1.0, &mut sources, progress)
}

/// An answer with the work behind it.
#[derive(Clone, Copy)]
pub(crate) struct Claim<'c> {
    /// The answer's name.
    pub(crate) answer: &'c str,
    pub(crate) question: &'c str,
    pub(crate) evidence: &'c Evidence,
}

/// Repeats the work behind an answer: all of it or a sample.
pub(crate) fn verified(
    claim: &Claim<'_>,
    pinned: &CloudKeys,
    sample: f64,
    sources: &mut Sources<'_>,
    progress: OnVerified<'_>,
) -> Result<Verification, OwnerError> {
    let Claim { answer, question, evidence } = *claim;
    let begin = Instant::now();
    let chosen = drawn(evidence.work.len(), sample)?;
    let (mut findings, mut open, mut all) = (Vec::new(), Vec::new(), Repeated::default());
    let (mut cloud_us, mut is_withheld) = (0, false);
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
            Err(error) => {
                is_withheld |= of_the_cloud(&error);
                open.push(Finding { work: at as u64, lie: error.to_string() });
            }
        }
        cloud_us += record.evaluate_us;
    }
    progress(chosen.len() as u64, chosen.len() as u64);
    let (work, repeated) = (evidence.work.len() as u64, (chosen.len() - open.len()) as u64);
    Ok(Verification {
        answer: answer.to_owned(),
        question: question.to_owned(),
        work,
        tagged: evidence.tagged,
        repeated,
        windows: all.windows,
        bytes: sources.fetched,
        seconds: begin.elapsed().as_secs_f64(),
        repeat_us: micros(all.time),
        cloud_us,
        pinned: !pinned.is_empty(),
        findings,
        open,
        open_days: 0,
        is_withheld,
    })
}

/// Returns true if the cloud is the reason why work cannot be repeated.
pub(crate) fn of_the_cloud(error: &OwnerError) -> bool {
    matches!(error, OwnerError::Cloud(_) | OwnerError::Gone { .. })
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

/// Repeats all work of an evidence. Returns the first finding, or the first reason why work could not be repeated.
pub(crate) fn verify_work(
    plant: &Plant,
    cloud: &Cloud,
    evidence: &Evidence,
) -> Result<Option<String>, OwnerError> {
    let mut sources = Sources::new(plant, cloud, evidence, None)?;
    let claim = Claim { answer: "", question: "", evidence };
    let done = verified(&claim, &declared::cloud_keys(plant)?, 1.0, &mut sources, &mut |_, _| {})?;
    Ok(done.findings.into_iter().chain(done.open).next().map(|finding| finding.lie))
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
