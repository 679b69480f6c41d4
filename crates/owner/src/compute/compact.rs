//! Sums of compact windows: the cloud adds bodies, the owner adds masks and opens both together.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;
use std::time::{Duration, Instant};

use sotto_cloud_client::SumOf;
use sotto_compact::{Mask, MaskKey, MaskSum, Profile, Sum, Weights, mask_key};
use sotto_decrypt::{DecryptError, MaskProduct, open_compact, open_compact_places};
use sotto_keys::SecretKey;
use sotto_pack::{Column, Layout, Places};
use sotto_rlwe::{Bfv, ParameterSpec, Params};
use sotto_wire::{CompactForm, CompactSum, CompactSums, MaskName};

use super::job::{Computer, Progress, Results};
use super::program::Part;
use super::quantity::{Input, Quantity, frame};
use crate::error::OwnerError;
use crate::open::Numbers;

/// Windows and weights of one request.
const MOST_ENVELOPES: usize = 1024;
const MOST_WEIGHTS: usize = 40_000;
/// Most bits of the parts into which weights are cut.
const WEIGHT_BITS: u32 = 17;

/// A stream of compact windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompactStream {
    pub(crate) stream: String,
    pub(crate) places: Places,
}

/// A column of a result: where its values come from, and the channel in whose slots they are put.
type Wanted = (Column, u16);

/// A sum that the cloud is asked for.
struct Task {
    part: usize,
    /// Windows of all parts.
    windows: Range<usize>,
    places: Range<usize>,
    /// For each window, a weight for each place.
    weights: Option<Vec<i32>>,
    /// A result is so many times the sum.
    factor: i64,
    /// What is read of it: a quantity's number, the column, the channel.
    read: Vec<(usize, Wanted)>,
    /// A bound on the magnitude of its values.
    magnitude: f64,
}

/// What sums of one stream are opened with.
struct Opener {
    key: SecretKey<Bfv>,
    profile: Profile,
    masks: MaskKey,
    layout: Layout,
    places: Places,
}

impl Computer<'_> {
    /// The results of all parts, whose windows are one device's and one stream's and have one layout.
    pub(crate) fn compact_results(
        &mut self,
        (device, stream): (&str, &CompactStream),
        spec: &ParameterSpec,
        parts: &[Part],
        quantities: &[Quantity],
        progress: Progress<'_>,
    ) -> Result<Vec<Results>, OwnerError> {
        let Some(layout) = parts.iter().find_map(|part| Some(&part.inputs.first()?.window.layout)) else {
            return Ok(Vec::new());
        };
        let opener = Opener::new(self, (device, stream), spec, layout)?;
        let cannot = || OwnerError::CannotCarry { device: device.to_owned() };
        let inputs: Vec<&Input> = parts.iter().flat_map(|part| &part.inputs).collect();
        let (mut tasks, mut first) = (Vec::new(), 0);
        for (number, part) in parts.iter().enumerate() {
            let windows = first..first + part.inputs.len();
            first = windows.end;
            opener.tasks(number, windows, &inputs, quantities, &mut tasks).ok_or_else(cannot)?;
        }
        // A request takes neighbouring windows.
        tasks.sort_by_key(|task| task.windows.start);
        let empty = Numbers::Whole(vec![0; frame(layout) as usize]);
        let mut results = vec![vec![(empty, 0.0); quantities.len()]; parts.len()];
        let (mut left, mut told) = (&tasks[..], 0);
        while !left.is_empty() {
            let (now, later) = left.split_at(request(left));
            let opened = self.request(&opener, now, &inputs)?;
            for (task, values) in now.iter().zip(&opened) {
                opener.put(task, values, &mut results[task.part])?;
            }
            let done = later.first().map_or(inputs.len(), |task| task.windows.start).max(told);
            progress((done - told) as u64, done as u64);
            (told, left) = (done, later);
        }
        Ok(results)
    }

    /// Asks for some sums, and opens them.
    fn request(
        &mut self,
        opener: &Opener,
        tasks: &[Task],
        inputs: &[&Input],
    ) -> Result<Vec<Vec<i64>>, OwnerError> {
        let first = tasks.iter().map(|task| task.windows.start).min().unwrap_or_default();
        let end = tasks.iter().map(|task| task.windows.end).max().unwrap_or_default();
        let windows = &inputs[first..end];
        let names: Vec<&str> = windows.iter().map(|input| input.id.as_str()).collect();
        let sums: Vec<SumOf> = tasks
            .iter()
            .map(|task| SumOf {
                envelopes: ((task.windows.start - first) as u32, task.windows.len() as u32),
                places: (task.places.start as u16, task.places.len() as u16),
                weights: task.weights.clone(),
            })
            .collect();
        let begin = Instant::now();
        let (frame, evaluate_us) = self.cloud.sums(&names, &sums)?;
        let spent = &mut self.spent;
        let evaluate = Duration::from_micros(evaluate_us);
        spent.record("download", begin.elapsed().saturating_sub(evaluate));
        spent.record("evaluate", evaluate);
        spent.evaluate_us += evaluate_us;
        spent.bytes_down += frame.len() as u64;
        spent.jobs += 1;
        spent.schemes.insert("BFV".to_owned());
        let additions: u64 = tasks.iter().map(|task| task.windows.len() as u64 - 1).sum();
        *spent.steps.entry("add".to_owned()).or_default() += additions;
        let begin = Instant::now();
        let bodies: usize = sums.iter().map(|sum| opener.form().bytes(sum.places.1)).sum();
        let limit = CompactSums::frame_bytes(windows.len(), sums.len(), bodies);
        let wrong = |error: sotto_wire::WireError| OwnerError::WrongAnswer(error.to_string());
        let answer = CompactSums::read(&frame, limit as u64).map_err(wrong)?;
        let opened = opener.open(&answer, first, tasks, windows.len());
        self.spent.record("decrypt", begin.elapsed());
        opened
    }
}

impl Opener {
    fn new(
        computer: &Computer<'_>,
        (device, stream): (&str, &CompactStream),
        spec: &ParameterSpec,
        layout: &Layout,
    ) -> Result<Self, OwnerError> {
        let refused = |error: String| OwnerError::NoParameters(error);
        let params = Params::<Bfv>::new(spec.clone()).map_err(|error| refused(error.to_string()))?;
        let places = stream.places.clone();
        let profile = Profile::new(&params, places.count(layout), places.width)
            .map_err(|error| refused(error.to_string()))?;
        let key = SecretKey::<Bfv>::derive(&computer.plant.secret(device)?, &params);
        let masks = mask_key(key.id(), &stream.stream);
        Ok(Self { key, profile, masks, layout: layout.clone(), places })
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

    fn ticks(&self) -> usize {
        self.layout.ticks() as usize
    }

    fn magnitude(&self, column: Column) -> f64 {
        let top = self.layout.magnitude();
        match column {
            Column::Reading(_) => top,
            Column::Square(_) | Column::Product(..) => top * top,
        }
    }

    /// The most windows of values of this magnitude that a sum may have.
    fn capacity(&self, magnitude: f64) -> u64 {
        let plain = ((self.profile.form().plain() as f64 - 1.0) / 2.0 / magnitude).floor();
        self.profile.most_windows().min(plain as u64)
    }

    /// True if a sum of values of this magnitude may have these weights.
    fn bears(&self, weights: Weights, magnitude: f64) -> bool {
        let plain = (self.profile.form().plain() as f64 - 1.0) / 2.0;
        // Products of masks are cut one by one, which takes less than a millionth of a bit.
        self.profile.room(weights) > 1e-6 && weights.total() * magnitude <= plain
    }

    /// The sums that the quantities of a part take; None where the windows do not carry them.
    fn tasks(
        &self,
        part: usize,
        windows: Range<usize>,
        inputs: &[&Input],
        quantities: &[Quantity],
        tasks: &mut Vec<Task>,
    ) -> Option<()> {
        let (mut plain, mut weighted) = (Vec::new(), Vec::new());
        for (number, quantity) in quantities.iter().enumerate() {
            match quantity {
                Quantity::Sum | Quantity::Square | Quantity::Product(..) => {
                    plain.extend(self.columns(quantity)?.into_iter().map(|wanted| (number, wanted)));
                }
                Quantity::Joint(x, y) | Quantity::JointSquare(x, y) => {
                    let wanted = self.columns(quantity)?.into_iter().map(|wanted| (number, wanted));
                    if inputs[windows.clone()].iter().all(|input| input.together(*x, *y) == Some(true)) {
                        plain.extend(wanted);
                    } else {
                        let mask = |input: &Input| {
                            let both = input.both(*x, *y).unwrap_or_default();
                            (0..self.layout.ticks()).map(|tick| i64::from(both.contains(tick))).collect()
                        };
                        let weights = by_window(inputs, &windows, mask);
                        weighted.extend(wanted.map(|wanted| (wanted, weights.clone())));
                    }
                }
                Quantity::Weighted(weights) => {
                    let of = |input: &Input| {
                        let at = |tick: u32| weights.weights.get(input.offset.checked_add(tick)? as usize);
                        let ticks = 0..self.layout.ticks();
                        ticks.map(|tick| at(tick).copied().unwrap_or_default()).collect()
                    };
                    let wanted = (number, (Column::Reading(weights.channel), weights.channel));
                    self.places.first(&self.layout, wanted.1.0)?;
                    weighted.push((wanted, by_window(inputs, &windows, of)));
                }
                Quantity::Polynomial(..) | Quantity::Linear(_) => return None,
            }
        }
        self.plain_tasks(part, &windows, &plain, tasks)?;
        for (wanted, weights) in weighted {
            self.weighted_tasks(part, &windows, wanted, &weights, tasks)?;
        }
        Some(())
    }

    /// The columns of a quantity; None where they are not sent.
    fn columns(&self, quantity: &Quantity) -> Option<Vec<Wanted>> {
        let channels = 0..self.layout.channels().len() as u16;
        let columns: Vec<Wanted> = match quantity {
            Quantity::Sum => channels.map(|channel| (Column::Reading(channel), channel)).collect(),
            Quantity::Square => channels.map(|channel| (Column::Square(channel), channel)).collect(),
            Quantity::Product(x, y) => vec![(Column::Product(*x, *y), *x)],
            Quantity::Joint(x, y) => [*x, *y].map(|channel| (Column::Reading(channel), channel)).to_vec(),
            Quantity::JointSquare(x, y) => {
                [*x, *y].map(|channel| (Column::Square(channel), channel)).to_vec()
            }
            _ => return None,
        };
        let sent = |(column, _): &Wanted| self.places.first(&self.layout, *column).is_some();
        columns.iter().all(sent).then_some(columns)
    }

    /// One sum of all columns that are wanted, for as many windows as it bears.
    fn plain_tasks(
        &self,
        part: usize,
        windows: &Range<usize>,
        read: &[(usize, Wanted)],
        tasks: &mut Vec<Task>,
    ) -> Option<()> {
        let firsts = || read.iter().filter_map(|(_, (column, _))| self.places.first(&self.layout, *column));
        let (Some(first), Some(last)) = (firsts().min(), firsts().max()) else { return Some(()) };
        let magnitude = read.iter().map(|(_, (column, _))| self.magnitude(*column)).fold(1.0, f64::max);
        let most = usize::try_from(self.capacity(magnitude)).unwrap_or(usize::MAX).min(MOST_ENVELOPES);
        if most == 0 {
            return None;
        }
        for start in windows.clone().step_by(most) {
            let windows = start..windows.end.min(start + most);
            tasks.push(Task {
                part,
                magnitude: windows.len() as f64 * magnitude,
                windows,
                places: first..last + self.ticks(),
                weights: None,
                factor: 1,
                read: read.to_vec(),
            });
        }
        Some(())
    }

    /// Sums of one column with a weight for each window and tick. Weights are cut into parts of few bits, so that sums stay within what
    /// the form bears.
    fn weighted_tasks(
        &self,
        part: usize,
        windows: &Range<usize>,
        read: (usize, Wanted),
        weights: &[Vec<i64>],
        tasks: &mut Vec<Task>,
    ) -> Option<()> {
        let (_, (column, _)) = read;
        let first = self.places.first(&self.layout, column)?;
        let (magnitude, ticks) = (self.magnitude(column), self.ticks());
        let largest = weights.iter().flatten().map(|weight| weight.unsigned_abs()).max().unwrap_or_default();
        let most = |bits: u32| (1i64 << bits) - 1;
        let windows_of = |bits| (0..8).fold(Weights::default(), |all, _| all.and(most(bits)));
        // Eight windows a sum, where that can be.
        let eight = (1..=WEIGHT_BITS).rev().find(|bits| self.bears(windows_of(*bits), magnitude));
        let bits = eight.unwrap_or(1);
        if largest >> WEIGHT_BITS != 0 || !self.bears(Weights::default().and(most(bits)), magnitude) {
            return None;
        }
        for shift in (0..u64::BITS - largest.leading_zeros()).step_by(bits as usize) {
            let digit = |weight: i64| {
                let digit = (weight.unsigned_abs() >> shift) & ((1 << bits) - 1);
                weight.signum() * digit as i64
            };
            let (mut start, mut total, mut digits) = (windows.start, Weights::default(), Vec::new());
            let mut push = |windows: Range<usize>, total: Weights, digits: Vec<i32>| {
                if total.total() > 0.0 {
                    tasks.push(Task {
                        part,
                        windows,
                        places: first..first + ticks,
                        weights: Some(digits),
                        factor: 1 << shift,
                        read: vec![read],
                        magnitude: total.total() * magnitude,
                    });
                }
            };
            for (at, weights) in windows.clone().zip(weights) {
                let of: Vec<i32> = weights.iter().map(|weight| digit(*weight) as i32).collect();
                let size = of.iter().map(|digit| i64::from(digit.unsigned_abs())).max().unwrap_or_default();
                let full = !self.bears(total.and(size), magnitude) || digits.len() + ticks > MOST_WEIGHTS;
                if full && at > start {
                    push(start..at, total, std::mem::take(&mut digits));
                    (start, total) = (at, Weights::default());
                }
                total = total.and(size);
                digits.extend(of);
            }
            push(start..windows.end, total, digits);
        }
        Some(())
    }

    /// The values at the places of each task.
    fn open(
        &self,
        answer: &CompactSums,
        first: usize,
        tasks: &[Task],
        windows: usize,
    ) -> Result<Vec<Vec<i64>>, OwnerError> {
        let fits =
            answer.form == self.form() && answer.masks.len() == windows && answer.sums.len() == tasks.len();
        if !fits {
            return Err(OwnerError::WrongAnswer(
                "the sums are of other windows than were asked for".to_owned(),
            ));
        }
        let mut products = BTreeMap::new();
        let mut values = Vec::with_capacity(tasks.len());
        for (task, sum) in tasks.iter().zip(&answer.sums) {
            let masks = &answer.masks[task.windows.start - first..task.windows.end - first];
            values.push(self.open_one(task, sum, masks, &mut products)?);
        }
        Ok(values)
    }

    fn open_one(
        &self,
        task: &Task,
        sum: &CompactSum,
        names: &[MaskName],
        products: &mut BTreeMap<([u8; 12], u64), MaskProduct>,
    ) -> Result<Vec<i64>, OwnerError> {
        let wrong = |error: DecryptError| OwnerError::WrongAnswer(error.to_string());
        let form = *self.profile.form();
        let (first, count) = (usize::from(sum.first), usize::from(sum.places));
        if task.places != (first..first + count) {
            return Err(OwnerError::WrongAnswer("a sum is of other places than were asked for".to_owned()));
        }
        let mask = |name: &MaskName| -> Mask { self.masks.mask(&name.salt, name.sequence) };
        let summed = |weights| {
            Sum::from_bytes(&form, task.places.clone(), &sum.body, weights)
                .map_err(|error| OwnerError::WrongAnswer(error.to_string()))
        };
        let values = match &task.weights {
            None => {
                let mut masks = MaskSum::new(&form);
                names.iter().for_each(|name| masks.add(&mask(name), 1));
                open_compact(&self.key, &self.profile, &summed(masks.weights())?, &masks).map_err(wrong)?
            }
            Some(weights) => {
                for name in names {
                    if let Entry::Vacant(free) = products.entry((name.salt, name.sequence)) {
                        let product = MaskProduct::new(&self.key, &self.profile, &mask(name));
                        free.insert(product.map_err(wrong)?);
                    }
                }
                let weights: Vec<Vec<i64>> = weights
                    .chunks(count)
                    .map(|each| each.iter().map(|weight| i64::from(*weight)).collect())
                    .collect();
                let of = |name: &MaskName| products.get(&(name.salt, name.sequence));
                let windows: Vec<(&MaskProduct, &[i64])> = names
                    .iter()
                    .zip(&weights)
                    .filter_map(|(name, weights)| Some((of(name)?, &weights[..])))
                    .collect();
                let total = windows
                    .iter()
                    .fold(Weights::default(), |all, (_, weights)| all.and(sotto_compact::largest(weights)));
                open_compact_places(&self.key, &self.profile, &summed(total)?, &windows).map_err(wrong)?
            }
        };
        values.into_exact(task.magnitude).map_err(|error| OwnerError::WrongAnswer(error.to_string()))
    }

    /// Adds a task's values to the results of its part.
    fn put(&self, task: &Task, values: &[i64], results: &mut Results) -> Result<(), OwnerError> {
        let wrong = || OwnerError::WrongAnswer("a sum is too large".to_owned());
        for (quantity, (column, channel)) in &task.read {
            let Some(first) = self.places.first(&self.layout, *column) else { continue };
            let (Numbers::Whole(slots), _) = &mut results[*quantity] else { continue };
            for tick in 0..self.layout.ticks() {
                let at = first + tick as usize - task.places.start;
                let (Some(value), Some(slot)) = (values.get(at), self.layout.slot(*channel, tick)) else {
                    continue;
                };
                let value = value.checked_mul(task.factor).ok_or_else(wrong)?;
                slots[slot] = slots[slot].checked_add(value).ok_or_else(wrong)?;
            }
        }
        Ok(())
    }
}

fn by_window(inputs: &[&Input], windows: &Range<usize>, of: impl Fn(&Input) -> Vec<i64>) -> Vec<Vec<i64>> {
    inputs[windows.clone()].iter().map(|input| of(input)).collect()
}

/// Tasks of the next request: at least one, and no more than it takes.
fn request(tasks: &[Task]) -> usize {
    let first = tasks.first().map_or(0, |task| task.windows.start);
    let mut weights = 0;
    let fits = |task: &&Task| {
        weights += task.weights.as_ref().map_or(0, Vec::len);
        task.windows.end - first <= MOST_ENVELOPES && weights <= MOST_WEIGHTS
    };
    tasks.iter().take(MOST_ENVELOPES).take_while(fits).count().max(1)
}
