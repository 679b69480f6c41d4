//! Verification of kept answers.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use sotto_cloud_client::CloudError;

use super::answer::Answer;
use super::mark::Verified;
use super::{evidence, kept, open_days, publish};
use crate::declared::Plant;
use crate::error::OwnerError;
use crate::files::{pretty, write_private};
use crate::trust::{
    Claim, Document, Finding, Folder, MOST_DAYS, OnVerified, Sources, Verification, of_the_cloud, verified,
};
use crate::work::Evidence;
use crate::{declared, devices};

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
fn compare_windows(counted: u64, evidence: &Evidence, sources: &Sources<'_>, done: &mut Verification) {
    let named = evidence.windows.values().flat_map(BTreeMap::values).flatten();
    let named: u64 = named.map(|(_, count)| u64::from(*count)).sum();
    if named != counted && !evidence.windows.is_empty() {
        let lie = format!("the answer counts {counted} windows, and its evidence names {named}");
        done.findings.push(Finding { work: done.work, lie });
    }
    for (device, streams) in &evidence.windows {
        for (stream, runs) in streams {
            let gone = sources.lacks(device, stream, runs);
            if gone > 0 {
                let lie =
                    format!("{gone} windows of stream {stream} of {device} are not in the log any more");
                done.open.push(Finding { work: done.work, lie });
                done.is_withheld = true;
            }
        }
    }
}

/// Returns the error of an answer whose work cannot be repeated at all, once that was so on three days.
fn not_begun(plant: &Plant, answer: &str, error: OwnerError) -> OwnerError {
    if !of_the_cloud(&error) || matches!(error, OwnerError::Cloud(CloudError::Interrupted { .. })) {
        return error;
    }
    match open_days::note(plant, answer) {
        Ok(days) if days >= MOST_DAYS => {
            OwnerError::Withheld { answer: answer.to_owned(), days, reason: error.to_string() }
        }
        _ => error,
    }
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
    let sources = Sources::new(plant, &cloud, &evidence, save.clone());
    let mut sources = sources.map_err(|error| not_begun(plant, answer, error))?;
    let question = &kept.answer.question;
    let claim = Claim { answer, question, evidence: &evidence };
    let mut done = verified(&claim, &pinned, sample, &mut sources, progress)?;
    compare_windows(kept.answer.windows, &evidence, &sources, &mut done);
    if done.is_withheld {
        done.open_days = open_days::note(plant, answer)?;
    } else if done.open.is_empty() && done.repeated == done.work {
        open_days::clear(plant, answer)?;
    }
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
