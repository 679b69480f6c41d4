//! Opening of sums with the pads of their windows.

use std::collections::BTreeMap;
use std::ops::Range;

use sotto_keys::DeviceSecret;
use sotto_sums::{Form, OpenError, Opening, SALT_BYTES, StartKeys, StreamKeys, TagKey};
use sotto_wire::{MaskName, StreamHeader, SumsAnswer};

use super::Task;
use super::columns::Opened;
use crate::error::OwnerError;
use crate::lie::Lie;
use crate::quantities::{InputRun, Inputs};

/// The salt of the start, and the ticks, of windows without gaps.
type Alike = ([u8; SALT_BYTES], u32);

/// The keys of a stream of sums.
pub(super) struct Keys<'k> {
    secret: &'k DeviceSecret,
    pub(super) stream: &'k StreamHeader,
    stream_id: &'k [u8; 32],
    of_stream: StreamKeys,
    /// The keys of the device's starts, by salt.
    starts: BTreeMap<[u8; SALT_BYTES], StartKeys>,
    /// The keys of tags, by part.
    tags: BTreeMap<u8, TagKey>,
}

const OTHERS: &str = "the sums are of other windows than were asked for";

/// The reason why sums were not opened.
pub(super) enum NotOpened {
    /// A tag does not fit, or a value is out of its range.
    Refused,
    Other(OwnerError),
}

impl From<OwnerError> for NotOpened {
    fn from(error: OwnerError) -> Self {
        Self::Other(error)
    }
}

impl<'k> Keys<'k> {
    pub(super) fn new(secret: &'k DeviceSecret, stream: &'k StreamHeader) -> Result<Self, OwnerError> {
        let stream_id = stream.stream_id().ok_or_else(|| OwnerError::wrong("the windows are not of sums"))?;
        let of_stream = StreamKeys::derive(secret.expose_secret_bytes(), stream_id);
        Ok(Self { secret, stream, stream_id, of_stream, starts: BTreeMap::new(), tags: BTreeMap::new() })
    }

    /// Returns the values of each task, by part.
    ///
    /// # Errors
    /// [`NotOpened`] unless the answer is the sums of exactly these windows.
    pub(super) fn open(
        &mut self,
        answer: &SumsAnswer<'_>,
        windows: Range<usize>,
        tasks: &[Task],
        inputs: &Inputs<'_>,
    ) -> Result<Vec<Vec<Opened>>, NotOpened> {
        let others = || OwnerError::from(Lie::OtherSums { reason: OTHERS.to_owned() });
        let mut names = inputs.runs(windows.clone()).flat_map(InputRun::each).map(InputRun::name);
        let is_next = |name: MaskName| names.next() == Some(Some(name));
        if answer.names.len() != windows.len() || !answer.names.iter().all(is_next) {
            return Err(others().into());
        }
        if answer.sums.len() != tasks.len() {
            return Err(others().into());
        }
        let mut opened = Vec::with_capacity(tasks.len());
        for (task, sum) in tasks.iter().zip(&answer.sums) {
            let asked = ((task.windows.start - windows.start) as u32, task.windows.len() as u32);
            if sum.windows != asked || !sum.parts().map(|(part, _)| part).eq(task.parts.iter().copied()) {
                return Err(others().into());
            }
            let mut of_task = Vec::with_capacity(task.parts.len());
            for (part, answer) in sum.parts() {
                let form = self.form(part)?;
                let inside = inputs.runs(task.windows.clone());
                let opening = self.opening(&form, part, inside, task.weights.as_deref())?;
                let values = opening.open(self.tag(&form, part), answer).map_err(|error| match error {
                    OpenError::Refused => NotOpened::Refused,
                    OpenError::Weights => OwnerError::wrong(&error.to_string()).into(),
                })?;
                of_task.push(Opened { part, channel: None, values });
            }
            opened.push(of_task);
        }
        Ok(opened)
    }

    /// Returns the key of a part's tags.
    pub(super) fn tag(&mut self, form: &Form<'_>, part: u8) -> &TagKey {
        let key = self.tags.entry(part);
        key.or_insert_with(|| TagKey::new(&self.of_stream, form, part.into()))
    }

    pub(super) fn form(&self, part: u8) -> Result<Form<'k>, OwnerError> {
        self.stream.sums_form(part.into()).map_err(|error| OwnerError::wrong(&error.to_string()))
    }

    /// Adds up the pads of the windows of a sum.
    pub(super) fn opening<'i>(
        &mut self,
        form: &Form<'k>,
        part: u8,
        windows: impl Iterator<Item = InputRun<'i>>,
        weights: Option<&[i64]>,
    ) -> Result<Opening<'k>, OwnerError> {
        let unknown = || OwnerError::wrong("the windows are not of sums");
        let described = self.stream.parts().get(usize::from(part)).ok_or_else(unknown)?;
        let mut opening = Opening::new(form, part.into());
        // Windows without gaps of one start and one length are opened together.
        let mut whole: BTreeMap<Alike, Vec<(u64, i64)>> = BTreeMap::new();
        let mut at = 0;
        for run in windows {
            let begin = at;
            at += run.count as usize;
            let weight = |index: usize| {
                weights.map_or(1, |weights| weights.get(begin + index).copied().unwrap_or_default())
            };
            let name = run.name().ok_or_else(unknown)?;
            let (window, ticks) = (&*run.input.window, run.input.window.sent_ticks());
            // A piece without a tick has no gap, and no value that stands in it once either.
            if ticks > 0 && window.present.iter().all(|count| *count == ticks) {
                let numbers = (0..u64::from(run.count)).map(|index| name.sequence.wrapping_add(index));
                let alike = whole.entry((name.salt, ticks)).or_default();
                alike.extend(numbers.zip((0..).map(weight)));
                continue;
            }
            let present = described.present(window);
            let is_present = |place: usize| present.get(place).copied().unwrap_or_default();
            for (index, name) in run.each().filter_map(InputRun::name).enumerate() {
                opening.add(self.start(&name.salt), name.sequence, ticks, weight(index), is_present);
            }
        }
        for ((salt, ticks), windows) in whole {
            opening.add_whole(self.start(&salt), ticks, &windows);
        }
        Ok(opening)
    }

    fn start(&mut self, salt: &[u8; SALT_BYTES]) -> &StartKeys {
        let (secret, stream) = (self.secret, self.stream_id);
        self.starts
            .entry(*salt)
            .or_insert_with(|| StartKeys::derive(secret.expose_secret_bytes(), stream, salt))
    }
}
