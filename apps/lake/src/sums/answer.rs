//! A request of an owner to the cloud, as one aggregate function: its result is the frame that the cloud answers with.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{Array as _, ArrayRef, LargeBinaryArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};
use serde::{Deserialize, Serialize};
use sotto_api::streams::WindowsOf;
use sotto_sums::{Answer, Apart, Part, Sum, TAG_BYTES};
use sotto_wire::{MaskName, PartSum, StreamHeader, SumsAnswer, WindowNames};

use super::bodies::Bodies;
use super::shape::Shape;
use super::streams::Stream;
use crate::LakeError;

/// A request about one stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The frame of the stream's header in hexadecimal.
    pub header: String,
    /// The request.
    pub request: WindowsOf,
}

/// `sotto_answer(body, tag)`
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AnswerFunction {
    pub(crate) asked: Arc<Asked>,
    signature: Signature,
}

impl Hash for AnswerFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.asked.header.hash(state);
        self.asked.request.windows.hash(state);
    }
}

/// The name by which plans call it.
pub(crate) const NAME: &str = "sotto_answer";

impl AnswerFunction {
    pub(crate) fn new(asked: Asked) -> Self {
        Self { asked: Arc::new(asked), signature: Signature::any(2, Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for AnswerFunction {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::LargeBinary)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(format!("{}[sums]", args.name), DataType::LargeBinary, true))])
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Answering::new(Arc::clone(&self.asked))?))
    }
}

/// Sums of a request that are not complete.
struct Answering {
    asked: Arc<Asked>,
    stream: Stream,
    /// Runs of numbers, ascending: the first one, how many, and the place of the first one in the request.
    runs: Vec<(u64, u32, u32)>,
    /// For each sum, for each of its parts.
    sums: Vec<Vec<Apart>>,
    /// By place in the request.
    names: BTreeMap<u32, MaskName>,
    shape: Shape,
}

impl std::fmt::Debug for Answering {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} of the windows of a request", self.names.len())
    }
}

impl Answering {
    fn new(asked: Arc<Asked>) -> Result<Self, LakeError> {
        let frame = hex::decode(&asked.header).map_err(|error| LakeError::Plan(error.to_string()))?;
        let header = StreamHeader::read(&frame)?;
        let (mut runs, mut place) = (Vec::with_capacity(asked.request.windows.len()), 0_u32);
        let many = || LakeError::Plan("a request has too many windows".to_owned());
        for (first, count) in &asked.request.windows {
            runs.push((*first, *count, place));
            place = place.checked_add(*count).ok_or_else(many)?;
        }
        runs.sort_unstable();
        if runs.windows(2).any(|pair| pair[0].0.saturating_add(pair[0].1.into()) > pair[1].0) {
            return Err(LakeError::Plan("a request names a window twice".to_owned()));
        }
        let mut parts: Vec<u8> =
            asked.request.sums.iter().flat_map(|sum| sum.parts.iter().copied()).collect();
        parts.sort_unstable();
        parts.dedup();
        let sums = asked.request.sums.iter().map(|sum| vec![Apart::default(); sum.parts.len()]).collect();
        let stream = Stream { header, frame, parts, capacity: u64::MAX };
        Ok(Self { asked, stream, runs, sums, names: BTreeMap::new(), shape: Shape::default() })
    }

    /// Returns the place of a window in the request.
    fn place(&self, number: u64) -> Option<u32> {
        let at = self.runs.partition_point(|(first, ..)| *first <= number).checked_sub(1)?;
        let (first, count, place) = *self.runs.get(at)?;
        let ahead = u32::try_from(number - first).ok().filter(|ahead| *ahead < count)?;
        Some(place + ahead)
    }

    fn update(&mut self, values: &[ArrayRef]) -> Result<(), LakeError> {
        let (Some(bodies), Some(tags)) = (values.first(), values.get(1)) else {
            return Err(LakeError::Sum("an answer takes body and tag".to_owned()));
        };
        let bodies = Bodies::of(bodies, tags)?;
        let mut row = 0;
        while row < bodies.rows() {
            let is_ours = bodies.rolled(row).is_empty() && bodies.header(row) == self.stream.frame;
            let Some(place) = self.place(bodies.number(row)).filter(|_| is_ours) else {
                row += 1;
                continue;
            };
            let goes_on = |next: &usize| {
                bodies.has_header_of(row, *next)
                    && bodies.rolled(*next).is_empty()
                    && bodies.form(*next) == bodies.form(row)
                    && self.place(bodies.number(*next))
                        == u32::try_from(next - row).ok().map(|ahead| place + ahead)
            };
            let end = row + 1 + (row + 1..bodies.rows()).take_while(goes_on).count();
            self.add(&bodies, row..end, place)?;
            row = end;
        }
        Ok(())
    }

    /// Adds windows that follow each other in the request.
    fn add(&mut self, bodies: &Bodies<'_>, range: Range<usize>, place: u32) -> Result<(), LakeError> {
        for (at, row) in (place..).zip(range.clone()) {
            self.names.insert(at, MaskName { salt: bodies.salt(row)?, sequence: bodies.pad(row) });
        }
        let count = range.len() as u32;
        let rows = self.shape.rows(bodies, range, (0, &self.stream))?;
        for (wanted, sums) in self.asked.request.sums.iter().zip(&mut self.sums) {
            let (first, end) = (wanted.windows.0, wanted.windows.0.saturating_add(wanted.windows.1));
            let (from, to) = (first.max(place), end.min(place + count));
            if from >= to {
                continue;
            }
            for (part, kept) in wanted.parts.iter().zip(sums) {
                let at = self.stream.parts.iter().position(|known| known == part).unwrap_or_default();
                let Some((counts, bytes)) = rows.parts.get(at) else { continue };
                let form = self.stream.header.sums_form(usize::from(*part))?;
                let row = form.body_bytes(rows.ticks) + TAG_BYTES;
                let bytes = bytes.get((from - place) as usize * row..(to - place) as usize * row);
                let bytes = bytes.unwrap_or_default();
                let mut sum = Sum::of(&form, std::mem::take(kept))?;
                match &wanted.weights {
                    None => sum.add_rows(rows.ticks, bytes, counts)?,
                    Some(weights) => {
                        let weights = weights.get((from - first) as usize..).unwrap_or_default();
                        for (bytes, weight) in bytes.chunks(row).zip(weights) {
                            let part = Part::read(&form, rows.ticks, bytes);
                            let part = part.map_err(|error| LakeError::Sum(error.to_string()))?;
                            sum.add(&part, counts, *weight)?;
                        }
                    }
                }
                *kept = sum.apart();
            }
        }
        Ok(())
    }

    /// Returns names, and each part of each sum with its ticks.
    fn write(&mut self) -> Result<Vec<u8>, LakeError> {
        let mut out = (self.names.len() as u32).to_le_bytes().to_vec();
        for (place, name) in &self.names {
            out.extend(place.to_le_bytes());
            out.extend(name.salt);
            out.extend(name.sequence.to_le_bytes());
        }
        for (wanted, sums) in self.asked.request.sums.iter().zip(&mut self.sums) {
            for (part, kept) in wanted.parts.iter().zip(sums) {
                let form = self.stream.header.sums_form(usize::from(*part))?;
                let sum = Sum::of(&form, std::mem::take(kept))?;
                let bytes = sum.to_bytes();
                out.extend(sum.ticks().to_le_bytes());
                out.extend((bytes.len() as u32).to_le_bytes());
                out.extend(bytes);
            }
        }
        Ok(out)
    }

    fn merge(&mut self, mut bytes: &[u8]) -> Result<(), LakeError> {
        let names = u32::from_le_bytes(take(&mut bytes)?);
        for _ in 0..names {
            let (place, salt) = (u32::from_le_bytes(take(&mut bytes)?), take(&mut bytes)?);
            let name = MaskName { salt, sequence: u64::from_le_bytes(take(&mut bytes)?) };
            if self.names.insert(place, name).is_some() {
                return Err(LakeError::Sum("two workers have one window".to_owned()));
            }
        }
        for (wanted, sums) in self.asked.request.sums.iter().zip(&mut self.sums) {
            for (part, kept) in wanted.parts.iter().zip(sums) {
                let (ticks, length) =
                    (u32::from_le_bytes(take(&mut bytes)?), u32::from_le_bytes(take(&mut bytes)?));
                let (of_part, rest) = bytes.split_at_checked(length as usize).ok_or_else(torn)?;
                bytes = rest;
                let form = self.stream.header.sums_form(usize::from(*part))?;
                let added = Answer::read(&form, ticks, of_part).map_err(|_| torn())?;
                let mut sum = Sum::of(&form, std::mem::take(kept))?;
                sum.add_sum(&added, 1)?;
                *kept = sum.apart();
            }
        }
        if bytes.is_empty() { Ok(()) } else { Err(torn()) }
    }

    fn frame(&mut self) -> Result<Vec<u8>, LakeError> {
        let mut names = WindowNames::default();
        let asked: u64 = self.asked.request.windows.iter().map(|(_, count)| u64::from(*count)).sum();
        for (at, place) in (0..).zip(self.names.keys()) {
            if *place != at {
                break;
            }
            names.push(self.names[place])?;
        }
        if names.len() as u64 != asked {
            let reason =
                format!("{} of {asked} windows of a request are here with their bodies", self.names.len());
            return Err(LakeError::Sum(reason));
        }
        let header = &self.stream.header;
        let mut all = Vec::with_capacity(self.sums.len());
        for (wanted, sums) in self.asked.request.sums.iter().zip(&mut self.sums) {
            let mut parts = Vec::with_capacity(sums.len());
            for (part, kept) in wanted.parts.iter().zip(sums) {
                let form = header.sums_form(usize::from(*part))?;
                parts.push((*part, Sum::of(&form, std::mem::take(kept))?));
            }
            let parts: Vec<(u8, &Sum<'_>)> = parts.iter().map(|(part, sum)| (*part, sum)).collect();
            all.push(PartSum::of(wanted.windows, &parts));
        }
        Ok(SumsAnswer { names, sums: all }.write(header)?)
    }
}

fn torn() -> LakeError {
    LakeError::Sum("sums that are not complete are damaged".to_owned())
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], LakeError> {
    let (taken, rest) = bytes.split_first_chunk().ok_or_else(torn)?;
    *bytes = rest;
    Ok(*taken)
}

impl Accumulator for Answering {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        Ok(self.update(values)?)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::LargeBinary(Some(self.frame()?)))
    }

    fn size(&self) -> usize {
        let sums: usize = self.sums.iter().flatten().map(Apart::bytes).sum();
        sums + self.names.len() * 2 * size_of::<(u32, MaskName)>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::LargeBinary(Some(self.write()?))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let states = states.first().and_then(|states| states.as_any().downcast_ref::<LargeBinaryArray>());
        let states = states.ok_or_else(torn)?;
        for state in states.iter().flatten() {
            self.merge(state)?;
        }
        Ok(())
    }
}
