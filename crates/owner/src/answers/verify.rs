//! Verification of kept answers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::Timestamp;

use super::answer::Answer;
use super::mark::Verified;
use super::{evidence, kept, publish};
use crate::declared::Plant;
use crate::error::OwnerError;
use crate::files::{pretty, write_private};
use crate::trust::{Claim, Document, Finding, Folder, OnVerified, Sources, Verification, verified};
use crate::work::Evidence;
use crate::{declared, devices, windows};

/// Repeats all work of the cloud behind an answer that was asked for just now.
///
/// # Errors
/// [`OwnerError::NotHeld`] if a statement of the cloud is false, [`OwnerError::NotRepeated`] if a part cannot be repeated.
pub(crate) fn verify_asked(
    plant: &Plant,
    answer: Answer,
    progress: OnVerified<'_>,
) -> Result<Answer, OwnerError> {
    if answer.evidence.work.is_empty() {
        return Ok(answer);
    }
    let cloud = plant.cloud()?;
    let mut sources = Sources::new(plant, &cloud, &answer.evidence, None)?;
    let claim = Claim { answer: "", question: &answer.question, evidence: &answer.evidence };
    let Verification { mut findings, mut open, .. } =
        verified(&claim, &declared::cloud_keys(plant)?, 1.0, &mut sources, progress)?;
    match (findings.pop(), open.pop()) {
        (Some(finding), _) => Err(OwnerError::NotHeld { reason: finding.lie }),
        (None, Some(open)) => Err(OwnerError::NotRepeated { reason: open.lie }),
        (None, None) => {
            let repeated = Some(answer.evidence.work.len() as u64);
            Ok(Answer { repeated, ..answer.recomputed() })
        }
    }
}

/// Compares the windows that an answer counts with the logs of the cloud, as they were last read.
fn compare_windows(
    plant: &Plant,
    counted: u64,
    evidence: &Evidence,
    done: &mut Verification,
) -> Result<(), OwnerError> {
    let named = evidence.windows.values().flat_map(BTreeMap::values).flatten();
    let named: u64 = named.map(|(_, count)| u64::from(*count)).sum();
    if named != counted && !evidence.windows.is_empty() {
        let lie = format!("the answer counts {counted} windows, and its evidence names {named}");
        done.findings.push(Finding { work: done.work, lie });
    }
    for (device, streams) in &evidence.windows {
        for (stream, runs) in streams {
            let log = windows::kept_log(plant, device, stream)?;
            // Windows that were deleted since stay in the log.
            let there: BTreeSet<u64> = log.entries.iter().map(|entry| entry.sequence).collect();
            let numbers =
                runs.iter().flat_map(|(first, count)| *first..first.saturating_add((*count).into()));
            let gone = numbers.filter(|number| !there.contains(number)).count();
            if gone > 0 {
                let lie =
                    format!("{gone} windows of stream {stream} of {device} are not in the log any more");
                done.open.push(Finding { work: done.work, lie });
            }
        }
    }
    Ok(())
}

/// Repeats the work behind a stored answer: all of it, or a random sample that the cloud cannot foresee. With
/// `save`, everything needed to verify the same work is written to a new folder, for [`verify_folder`].
pub(crate) fn verify(
    plant: &Plant,
    answer: &str,
    sample: f64,
    save: Option<&Path>,
    progress: OnVerified<'_>,
) -> Result<Verification, OwnerError> {
    if !(sample > 0.0 && sample <= 1.0) {
        return Err(OwnerError::Question(format!("a sample is above 0 and at most 1, not {sample}")));
    }
    let (kept, evidence, pinned) =
        (kept::answer(plant, answer)?, evidence::evidence(plant, answer)?, declared::cloud_keys(plant)?);
    let (cloud, save) = (plant.cloud()?, save.map(Folder::create).transpose()?);
    let mut sources = Sources::new(plant, &cloud, &evidence, save.clone())?;
    let question = &kept.answer.question;
    let claim = Claim { answer, question, evidence: &evidence };
    let mut done = verified(&claim, &pinned, sample, &mut sources, progress)?;
    compare_windows(plant, kept.answer.windows, &evidence, &mut done)?;
    if done.findings.is_empty() && done.open.is_empty() {
        let sampled = if done.work == 0 { 1.0 } else { done.repeated as f64 / done.work as f64 };
        let mark = Verified { at_ms: Timestamp::now().as_millisecond(), sampled, jobs: done.work };
        // A sample does not replace the mark of a more complete verification.
        if publish::verified(plant, answer)?.is_none_or(|earlier| earlier.sampled <= sampled) {
            write_private(&kept::verified_path(plant, answer), &pretty(&mark)?)?;
        }
        if sampled >= 1.0 {
            kept::take_checked(plant, answer, done.work)?;
        }
    } else if !done.findings.is_empty() {
        // An earlier mark, perhaps of a sample, is no longer valid.
        let _ = std::fs::remove_file(kept::verified_path(plant, answer));
    }
    if let Some(folder) = save {
        let mut document = Document::new(answer, question, &evidence);
        document.cloud_keys = pinned.shown();
        for (name, record) in devices::all_records(plant)? {
            let keys = devices::verifying_keys(plant, &record)?;
            document.devices.insert(name, keys.iter().map(hex::encode).collect());
        }
        folder.finish(&document)?;
    }
    Ok(done)
}
