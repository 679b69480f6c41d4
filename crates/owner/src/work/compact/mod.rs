//! Sums of compact windows: the cloud adds bodies, and the owner adds masks and decrypts.

mod fleet;
mod open;
mod tasks;

pub(crate) use fleet::UnderOneMask;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;
use std::time::{Duration, Instant};

use sotto_cloud_client::{SumOf, Summed};
use sotto_compact::{Profile, StreamMasks};
use sotto_keys::SecretKey;
use sotto_pack::{ChannelBins, Column, Layout, Places};
use sotto_rlwe::{Bfv, KeyId, ParameterId, ParameterSpec, Params};
use sotto_wire::{CompactForm, CompactSums, SumRequest, TranscriptInputs, Work, sums_request_digest};

use crate::devices;
use crate::error::OwnerError;
use crate::open::Numbers;
use crate::quantities::{Input, Part, Quantity, frame};
use crate::streams::CompactStream;
use crate::work::evidence::WorkRecord;
use crate::work::job::{Computer, Progress, Results};
use crate::work::sum_request::sum_request;
use crate::work::transcript::{Expected, of_work};

// Largest number of windows and of weights in one request.
pub(super) const MOST_ENVELOPES: usize = 1024;

pub(super) const MOST_WEIGHTS: usize = 24_000;

impl CompactStream {
    /// Returns results of zeros: for each quantity a number for each slot of a frame, or for each bin.
    fn empty(&self, layout: &Layout, quantities: &[Quantity]) -> Results {
        let numbers = |quantity: &Quantity| match quantity {
            Quantity::Counts(channel) => self.places.bins_of(*channel).map_or(0, ChannelBins::count),
            _ => frame(layout) as usize,
        };
        quantities.iter().map(|quantity| (Numbers::Whole(vec![0; numbers(quantity)]), 0.0)).collect()
    }
}

/// A compact stream of a device, with its parameters.
#[derive(Clone, Copy)]
pub(crate) struct DeviceStream<'s> {
    pub(crate) device: &'s str,
    pub(crate) stream: &'s CompactStream,
    pub(crate) spec: &'s ParameterSpec,
}

/// A column of a result, and the channel whose slots take its values.
pub(super) type Wanted = (Column, u16);

/// A requested sum.
pub(super) struct Task {
    part: usize,
    /// Number of ticks of its windows.
    ticks: u32,
    /// Positions among the windows of all parts; windows with equal ticks are adjacent.
    windows: Range<usize>,
    places: Range<usize>,
    /// A weight for each place of each window.
    weights: Option<Vec<i32>>,
    /// The factor by which the sum is multiplied in the result.
    factor: i64,
    /// The parts of results that it provides: the quantity's number, the column and the channel.
    read: Vec<(usize, Wanted)>,
    /// A bound on the absolute value of the sum.
    magnitude: f64,
}

/// The key, form and masks that decrypt the sums of a stream's windows with one number of ticks.
pub(super) struct Opener {
    ticks: u32,
    key: SecretKey<Bfv>,
    profile: Profile,
    masks: StreamMasks,
    layout: Layout,
    places: Places,
}

impl Task {
    /// Returns the request for this sum. `first` is the first window of the request.
    fn sum_of(&self, first: usize) -> SumOf {
        SumOf {
            envelopes: ((self.windows.start - first) as u32, self.windows.len() as u32),
            places: (self.places.start as u16, self.places.len() as u16),
            weights: self.weights.clone(),
        }
    }
}

impl Computer<'_> {
    /// Returns the results of all parts. Their windows must be of one device, one stream and one layout.
    pub(crate) fn compact_results(
        &mut self,
        source: DeviceStream<'_>,
        parts: &[Part],
        quantities: &[Quantity],
        progress: Progress<'_>,
    ) -> Result<Vec<Results>, OwnerError> {
        let Some(layout) = parts.iter().find_map(|part| Some(&part.inputs.first()?.window.layout)) else {
            return Ok(Vec::new());
        };
        let cannot = || OwnerError::CannotCarry { device: source.device.to_owned() };
        let mut windows: Vec<(u32, usize, &Input)> = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            let ticks = |input: &Input| Places::ticks(&input.window);
            windows.extend(part.inputs.iter().map(|input| (ticks(input), number, input)));
        }
        // Windows with equal ticks have one form, and a request takes neighbouring windows.
        windows.sort_by_key(|(ticks, part, _)| (*ticks, *part));
        let inputs: Vec<&Input> = windows.iter().map(|(_, _, input)| *input).collect();
        let (mut openers, mut tasks, mut first) = (BTreeMap::new(), Vec::new(), 0);
        for alike in windows.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (ticks, part, _) = alike[0];
            let opener = match openers.entry(ticks) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(free) => free.insert(Opener::new(self, source, layout, ticks)?),
            };
            let windows = first..first + alike.len();
            first = windows.end;
            let begin = tasks.len();
            opener.tasks(part, windows, &inputs, quantities, &mut tasks).ok_or_else(cannot)?;
            tasks[begin..].sort_by_key(|task| task.windows.start);
        }
        let mut results = vec![source.stream.empty(layout, quantities); parts.len()];
        let (mut left, mut told, mut wrong) = (&tasks[..], 0, None);
        while !left.is_empty() {
            let (now, later) = left.split_at(request(left));
            if let Some(opener) = now.first().and_then(|task| openers.get(&task.ticks)) {
                let opened = self.request(opener, now, &inputs).and_then(|opened| {
                    let mut put = now.iter().zip(&opened);
                    put.try_for_each(|(task, values)| opener.put(task, values, &mut results[task.part]))
                });
                match opened {
                    // The next request is made all the same: an answer's content must not decide about it.
                    Err(error @ OwnerError::WrongAnswer(_)) => drop(wrong.get_or_insert(error)),
                    opened => opened?,
                }
            }
            let done = later.first().map_or(inputs.len(), |task| task.windows.start).max(told);
            progress((done - told) as u64, done as u64);
            (told, left) = (done, later);
        }
        wrong.map_or(Ok(results), Err)
    }

    /// Requests some sums and decrypts them.
    fn request(
        &mut self,
        opener: &Opener,
        tasks: &[Task],
        inputs: &[&Input],
    ) -> Result<Vec<Vec<i64>>, OwnerError> {
        let first = tasks.iter().map(|task| task.windows.start).min().unwrap_or_default();
        let end = tasks.iter().map(|task| task.windows.end).max().unwrap_or_default();
        let windows = &inputs[first..end];
        let sums: Vec<SumOf> = tasks.iter().map(|task| task.sum_of(first)).collect();
        let frame = self.sums(windows, &sums, opener.profile.params().id(), Some(opener.key.id()))?;
        let begin = Instant::now();
        let bodies: usize = sums.iter().map(|sum| opener.form().bytes(sum.places.1)).sum();
        let limit = CompactSums::frame_bytes(windows.len(), sums.len(), bodies);
        let wrong = |error: sotto_wire::WireError| OwnerError::WrongAnswer(error.to_string());
        let answer = CompactSums::read(&frame, limit as u64).map_err(wrong)?;
        let opened = opener.open(&answer, first, tasks, windows.len());
        self.spent.record("decrypt", begin.elapsed());
        opened
    }

    /// Requests sums of windows and returns their frame, after comparing the transcript with the request.
    fn sums(
        &mut self,
        windows: &[&Input],
        sums: &[SumOf],
        parameters: ParameterId,
        key: Option<KeyId>,
    ) -> Result<Vec<u8>, OwnerError> {
        let begin = Instant::now();
        let names: Vec<&str> = windows.iter().map(|input| input.id.as_str()).collect();
        let Summed { frame, evaluate_us, transcript, .. } = self.cloud.sums(&names, sums).map_err(of_work)?;
        let requested: Vec<SumRequest<'_>> = sums.iter().map(sum_request).collect();
        let expected = Expected {
            work: Work::Sums,
            parameters,
            key,
            request: sums_request_digest(&requested),
            needs_keys: false,
            inputs: TranscriptInputs::of(windows.iter().map(|input| input.leaf)),
        };
        expected.check(&transcript, [frame.as_slice()], &self.pinned, |_| false)?;
        self.evidence.work.push(WorkRecord {
            transcript: hex::encode(&transcript),
            inputs: names.into_iter().map(str::to_owned).collect(),
            sums: Some(sums.to_vec()),
            evaluate_us,
        });
        let spent = &mut self.spent;
        let evaluate = Duration::from_micros(evaluate_us);
        spent.record("download", begin.elapsed().saturating_sub(evaluate));
        spent.record("evaluate", evaluate);
        spent.evaluate_us += evaluate_us;
        spent.bytes_down += frame.len() as u64;
        spent.jobs += 1;
        spent.schemes.insert("BFV".to_owned());
        let additions: u64 = sums.iter().map(|sum| u64::from(sum.envelopes.1) - 1).sum();
        *spent.steps.entry("add".to_owned()).or_default() += additions;
        Ok(frame)
    }
}

impl Opener {
    fn new(
        computer: &Computer<'_>,
        source: DeviceStream<'_>,
        layout: &Layout,
        ticks: u32,
    ) -> Result<Self, OwnerError> {
        let DeviceStream { device, stream, spec } = source;
        let refused = |error: String| OwnerError::NoParameters(error);
        let params = Params::<Bfv>::new(spec.clone()).map_err(|error| refused(error.to_string()))?;
        let places = stream.places.clone();
        let profile = Profile::new(&params, places.count(layout, ticks), places.width)
            .map_err(|error| refused(error.to_string()))?;
        let key = SecretKey::<Bfv>::derive(&devices::secret(computer.plant, device)?, &params);
        let fleet = stream.fleet.as_ref().map(|fleet| &fleet.0);
        let masks = StreamMasks::new(key.id(), &stream.stream, params.id(), fleet);
        Ok(Self { ticks, key, profile, masks, layout: layout.clone(), places })
    }

    fn form(&self) -> CompactForm {
        let form = self.profile.form();
        CompactForm {
            parameters: self.profile.params().id(),
            key: self.key.id(),
            places: form.places() as u16,
            width: form.width() as u8,
        }
    }
}

/// Returns the number of tasks in the next request: at least one, within the limits of a request.
pub(super) fn request(tasks: &[Task]) -> usize {
    let Some((first, ticks)) = tasks.first().map(|task| (task.windows.start, task.ticks)) else { return 0 };
    let mut weights = 0;
    let fits = |task: &&Task| {
        weights += task.weights.as_ref().map_or(0, Vec::len);
        task.ticks == ticks && task.windows.end - first <= MOST_ENVELOPES && weights <= MOST_WEIGHTS
    };
    tasks.iter().take(MOST_ENVELOPES).take_while(fits).count().max(1)
}
