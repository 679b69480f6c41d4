//! Sums of windows without a lattice: the cloud adds, and the owner takes the pads away and checks the tags.

mod cached;
mod check;
mod columns;
mod cut;
mod each;
mod fault;
mod open;
mod outline;
mod request;
mod tasks;
mod weights;
mod whole;

use std::ops::Range;
use std::sync::Arc;

use sotto_keys::DeviceSecret;
use sotto_pack::{ChannelBins, Layout};
use sotto_wire::StreamHeader;

use crate::cache::StreamCache;
use crate::devices;
use crate::error::OwnerError;
use crate::open::Numbers;
use crate::quantities::{Inputs, Part, Quantity, Rolled, frame};
use crate::streams::bins_of;
use crate::work::job::{Computer, Progress, Results};
use cached::Split;
use columns::{Opened, Source};
use open::{Keys, NotOpened};
pub(super) use outline::outline;

/// A stream of sums of a device.
#[derive(Clone, Copy)]
pub(crate) struct SumsStream<'s> {
    pub(crate) device: &'s str,
    pub(crate) stream: &'s Arc<StreamHeader>,
    /// False if its tags prove nothing: such sums are not kept.
    pub(crate) is_proved: bool,
}

/// Puts the values of a sum into the results.
type Put<'p> = &'p mut dyn FnMut(&Task, &[Opened]) -> Result<(), OwnerError>;

/// A sum to request, or a stretch of windows of which each is requested by itself.
#[derive(Clone, Debug)]
struct Task {
    /// The part of the question whose results it belongs to.
    part: usize,
    /// Positions among the windows of all parts.
    windows: Range<usize>,
    /// The stream's parts, ascending.
    parts: Vec<u8>,
    /// A weight for each window; None for 1.
    weights: Option<Vec<i64>>,
    /// The factor of the sum in the results.
    factor: i128,
    /// The results that it provides.
    read: Vec<Read>,
    /// True for a stretch: its values do not add.
    each: bool,
}

/// Values of a sum that belong to a result.
#[derive(Clone, Debug)]
struct Read {
    /// The number of the quantity.
    quantity: usize,
    source: Source,
    /// A factor for each tick; None for 1.
    ticks: Option<Vec<i64>>,
    /// The position in its part of the first window of a stretch. None: the values of the windows are added.
    window: Option<usize>,
}

impl Computer<'_> {
    /// Returns the results of all parts. Their windows must be of this stream.
    pub(crate) fn sums_results(
        &mut self,
        source: SumsStream<'_>,
        parts: &[Part],
        quantities: &[Quantity],
        progress: Progress<'_>,
    ) -> Result<Vec<Results>, OwnerError> {
        let Some(layout) = parts.iter().find_map(|part| Some(&part.inputs.first()?.window.layout)) else {
            return Ok(Vec::new());
        };
        let (inputs, tasks) = tasks::tasks(source.stream, parts, quantities)
            .ok_or_else(|| OwnerError::CannotCarry { device: source.device.to_owned() })?;
        // Mostly the cloud has the bodies of all windows.
        let is_rolled = inputs.runs(0..inputs.len()).any(|run| run.rolled().is_some());
        let again = is_rolled.then(|| (tasks.clone(), inputs.clone()));
        if let Some((tasks, inputs)) = &again
            && let Some(apart) = whole::apart(source.stream, tasks, inputs)
        {
            return Err(self.rolled_up(source.device, apart, inputs));
        }
        let secret: DeviceSecret = devices::secret(self.plant, source.device)?;
        let mut results: Vec<Results> =
            parts.iter().map(|part| empty(source.stream, layout, part, quantities)).collect();
        let cache = self.cache.as_mut().filter(|_| source.is_proved);
        let mut of_stream = cache.map(|cache| cache.take(source.device, source.stream, &secret));
        let mut split = Split::of(source.stream, tasks, inputs, of_stream.as_mut());
        if let Some((tasks, inputs)) =
            again.filter(|_| whole::apart(source.stream, &split.left, &split.inputs).is_some())
        {
            // The cache has a sum of some of the windows of which the cloud keeps one sum now.
            split = Split::of(source.stream, tasks, inputs, None);
        }
        let mut put = |task: &Task, opened: &[Opened]| match task.each {
            true => each::put(source.stream, task, opened, &mut results[task.part]),
            false => columns::put(source.stream, layout, task, opened, &mut results[task.part]),
        };
        let done = self.left_sums(source, &secret, &mut split, of_stream.as_mut(), &mut put, progress);
        // Sums that were opened stay, whatever became of the others.
        if let (Some(cache), Some(of_stream)) = (&mut self.cache, of_stream) {
            cache.put_back(of_stream, &secret);
        }
        done.map(|()| results)
    }

    /// Returns the refusal of a question that needs some of the windows of which the cloud keeps one sum.
    fn rolled_up(&self, device: &str, rolled: Rolled, inputs: &Inputs<'_>) -> OwnerError {
        let of_sum = || inputs.runs(0..inputs.len()).filter(|run| run.rolled() == Some(rolled));
        let starts = || of_sum().flat_map(|run| [run.start(0), run.start(run.count - 1)]);
        let day = |at: Option<i64>| match (at, self.plant.settings().clock()) {
            (Some(at), Ok(clock)) => clock.local(at).date().to_string(),
            _ => String::new(),
        };
        let (device, from, to) = (self.plant.shown_device(device), day(starts().min()), day(starts().max()));
        OwnerError::Unanswerable(format!(
            "the cloud keeps one sum of the windows of {device} that start from {from} to {to} (`sotto retain`): means, sums and deviations of that \
             time are answered for whole groups of it, as `by month` for months; single windows and parts of it are gone. If \
             windows of that time came later, run `sotto retain` again"
        ))
    }

    /// Puts the sums that are cached into the results, requests the others, opens them and puts them there.
    fn left_sums(
        &mut self,
        source: SumsStream<'_>,
        secret: &DeviceSecret,
        split: &mut Split<'_>,
        mut cache: Option<&mut StreamCache>,
        put: Put<'_>,
        progress: Progress<'_>,
    ) -> Result<(), OwnerError> {
        let had = split.cached_windows();
        if had > 0 {
            progress(had, had);
        }
        let (mut too_large, mut wrong, mut refused) = (None, None, Vec::new());
        for (task, opened) in &split.found {
            too_large = too_large.or(put(task, opened).err());
        }
        self.spent.note_cached(split.cached_sums());
        let Split { left: tasks, inputs, wholes, .. } = split;
        let mut keys = Keys::new(secret, source.stream)?;
        let (mut left, mut told) = (&tasks[..], 0);
        while !left.is_empty() {
            let (now, later) = left.split_at(request::batch(source.stream, left)?);
            match self.requested(source.stream, &mut keys, now, inputs) {
                Ok(opened) => {
                    for (at, opened) in (tasks.len() - left.len()..).zip(opened) {
                        let done = wholes.take(at, opened).and_then(|whole| {
                            // A stretch has other windows to come.
                            let Some(opened) = whole else { return Ok(()) };
                            if let Some(cache) = &mut cache {
                                wholes.keep(at, &opened, source.stream, cache);
                            }
                            put(wholes.task(at), &opened)
                        });
                        too_large = too_large.or(done.err());
                    }
                }
                // The next request is made all the same: an answer's content must not decide about it.
                Err(NotOpened::Refused) => refused.extend_from_slice(now),
                Err(NotOpened::Other(error @ OwnerError::Lie(_))) => {
                    wrong.get_or_insert(error);
                }
                Err(NotOpened::Other(error)) => return Err(error),
            }
            let done = later.first().map_or(inputs.len(), |task| task.windows.start).max(told);
            progress((done - told) as u64, had + done as u64);
            (told, left) = (done, later);
        }
        if !refused.is_empty() {
            return Err(self.fault(source, &mut keys, &refused, inputs));
        }
        self.evidence.tagged += had;
        wrong.or(too_large).map_or(Ok(()), Err)
    }
}

/// Returns a bound on the bytes of the sums that give these results, each of one window.
pub(super) fn most_bytes(
    stream: &StreamHeader,
    parts: &[Part],
    quantities: &[Quantity],
) -> Result<u64, OwnerError> {
    // Windows that do not hold the quantities are left out.
    let Some((inputs, tasks)) = tasks::tasks(stream, parts, quantities) else { return Ok(0) };
    let tasks = each::all_alone(tasks, &inputs);
    let sums: u64 =
        tasks.iter().map(|task| request::most_bytes(stream, task, &inputs)).sum::<Result<_, _>>()?;
    let (mut left, mut requests) = (&tasks[..], 0);
    while !left.is_empty() {
        left = &left[request::batch(stream, left)?..];
        requests += request::OVERHEAD as u64;
    }
    Ok(sums + requests)
}

/// Returns results of zeros: for each quantity a number for each slot of a frame, for each bin, or for each window.
fn empty(stream: &StreamHeader, layout: &Layout, part: &Part, quantities: &[Quantity]) -> Results {
    let numbers = |quantity: &Quantity| match quantity {
        Quantity::Held(..) => part.windows(),
        Quantity::Counts(channel) => bins_of(stream.parts(), *channel).as_ref().map_or(0, ChannelBins::count),
        _ => frame(layout) as usize,
    };
    quantities.iter().map(|quantity| (Numbers::Sums(vec![0; numbers(quantity)]), 0.0)).collect()
}

/// Returns the windows of all parts with the positions of those of each.
fn inputs_of(parts: &[Part]) -> (Inputs<'_>, Vec<Range<usize>>) {
    let inputs = Inputs::of(parts.iter().flat_map(|part| &part.inputs));
    let mut first = 0;
    let of_part = |part: &Part| {
        let begin = first;
        first += part.windows();
        begin..first
    };
    let ranges = parts.iter().map(of_part).collect();
    (inputs, ranges)
}

#[cfg(test)]
mod tests;
