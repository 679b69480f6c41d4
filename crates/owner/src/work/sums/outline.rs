//! The sums that an answer would request: their number and the bytes that would come down.

use sotto_sums::TAG_BYTES;
use sotto_wire::{MaskName, StreamHeader};

use super::{Task, each, request, tasks};
use crate::error::OwnerError;
use crate::quantities::{InputRun, Inputs, Part, Quantity};
use crate::work::outline::{Fetched, Outline};

/// Bytes of an answer beside its sums and the names of its windows: the head of the frame, the stream, three counts.
const FRAME_BYTES: u64 = 96;
/// Bytes of a sum beside its parts, and of each part beside its values.
const SUM_BYTES: u64 = 13;
const PART_BYTES: u64 = 1;
/// Largest size of the name of a run of windows, and of a start of the device.
const RUN_BYTES: u64 = 20;
const START_BYTES: u64 = 12;

/// Returns the sums for these parts of a question. Returns None if the windows do not hold the quantities.
pub(in crate::work) fn outline(
    stream: &StreamHeader,
    parts: &[Part],
    quantities: &[Quantity],
) -> Result<Option<Outline>, OwnerError> {
    let Some((inputs, tasks)) = tasks::tasks(stream, parts, quantities) else { return Ok(None) };
    let tasks = each::all_alone(tasks, &inputs);
    let mut outline = Outline { of: vec![Fetched::default(); quantities.len()], ..Outline::default() };
    for task in &tasks {
        let is_single = task.windows.len() == 1;
        outline.sums += 1;
        outline.single += u64::from(is_single);
        outline.weighted |= task.weights.iter().flatten().any(|weight| !matches!(weight, 0 | 1));
        outline.bytes += sum_bytes(stream, task, &inputs)?;
        let mut read: Vec<usize> = task.read.iter().map(|read| read.quantity).collect();
        read.sort_unstable();
        read.dedup();
        for quantity in read {
            outline.of[quantity].sums += 1;
            outline.of[quantity].single += u64::from(is_single);
        }
    }
    let mut left = &tasks[..];
    while !left.is_empty() {
        let (now, later) = left.split_at(request::batch(stream, left)?);
        let first = now.iter().map(|task| task.windows.start).min().unwrap_or_default();
        let end = now.iter().map(|task| task.windows.end).max().unwrap_or_default();
        outline.requests += 1;
        outline.bytes += FRAME_BYTES + names_bytes(inputs.runs(first..end));
        left = later;
    }
    Ok(Some(outline))
}

/// Returns the most bytes of a sum: each of its counts adds at most one for each window.
fn sum_bytes(stream: &StreamHeader, task: &Task, inputs: &Inputs<'_>) -> Result<u64, OwnerError> {
    let ticks = inputs.runs(task.windows.clone()).map(|run| run.input.window.sent_ticks()).max();
    let ticks = ticks.unwrap_or_default();
    let weights =
        task.weights.as_ref().map(|weights| weights.iter().map(|weight| weight.unsigned_abs()).sum());
    let most: u64 = weights.unwrap_or(task.windows.len() as u64);
    // A count of either sign, seven bits a byte.
    let count_bytes = (u64::from(u64::BITS - most.leading_zeros()) + 1).div_ceil(7) as usize;
    let mut bytes = SUM_BYTES;
    for part in &task.parts {
        let form = stream.sums_form((*part).into()).map_err(|error| OwnerError::wrong(&error.to_string()))?;
        let of_part = form.body_bytes(ticks) + form.counts(ticks) * count_bytes + TAG_BYTES;
        bytes += PART_BYTES + of_part as u64;
    }
    Ok(bytes)
}

/// Returns the most bytes of the names of windows: runs of numbers that a device drew at one start.
fn names_bytes<'i>(windows: impl Iterator<Item = InputRun<'i>>) -> u64 {
    let (mut bytes, mut next): (u64, Option<MaskName>) = (0, None);
    for run in windows {
        let Some(name) = run.name() else { continue };
        let is_same = next.is_some_and(|next| next.salt == name.salt);
        bytes += u64::from(!is_same) * START_BYTES + u64::from(next != Some(name)) * RUN_BYTES;
        next = Some(name.ahead(run.count.into()));
    }
    bytes
}
