//! The cached sums of one stream.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};

use sotto_keys::DeviceSecret;

use super::file::{self, Contents};
use super::folder;
use super::name::{Windows, first_of};
use super::record::{Record, Values};
use crate::error::OwnerError;
use crate::files::{make_folder, remove_left_over};
use crate::quantities::Inputs;

/// Bytes of a file beside those of its present sums, above which it is written anew.
const SLACK: u64 = 1 << 20;

/// Segments of a file, above which it is written anew.
const MOST_SEGMENTS: usize = 256;

/// The cached sums of a stream, and those that its file lacks.
pub(crate) struct StreamCache {
    path: PathBuf,
    stream: [u8; 32],
    /// Oldest first; None for those that another one took the place of.
    sums: Vec<Option<Held>>,
    /// Their positions, by part and first window.
    by_first: HashMap<(u8, [u8; 8]), Vec<usize>>,
    /// Positions of those that the file lacks.
    new: Vec<usize>,
    /// Bytes of the records that are held.
    held: u64,
    file: Contents,
    was_used: bool,
}

struct Held {
    record: Record,
    was_used: bool,
}

/// The windows of a sum of one part, or of a stretch whose values come window by window: all that the values depend on.
#[derive(Clone, Copy)]
pub(crate) struct Sum<'s> {
    pub(crate) part: u8,
    /// The channel of a stretch; None for a sum.
    pub(crate) channel: Option<u16>,
    pub(crate) inputs: &'s Inputs<'s>,
    /// Their positions among those of the inputs.
    pub(crate) windows: &'s Range<usize>,
    /// A weight for each window; None for 1.
    pub(crate) weights: Option<&'s [i64]>,
}

impl Sum<'_> {
    fn begin(&self, stream: &[u8; 32]) -> Windows {
        Windows::new(stream, (self.part, self.channel), self.weights.is_some())
    }

    /// Adds some of the windows, by their indexes, to a name.
    fn name(&self, indexes: Range<usize>, named: &mut Windows) {
        let first = self.windows.start;
        match self.weights {
            None => {
                let windows = first + indexes.start..first + indexes.end;
                self.inputs.runs(windows).for_each(|run| named.push(run, None));
            }
            Some(weights) => {
                for index in indexes {
                    let weight = weights.get(index).copied().unwrap_or_default();
                    named.push(self.inputs.at(first + index), Some(weight));
                }
            }
        }
    }
}

impl StreamCache {
    /// Reads the sums of a stream. A file that does not open holds none.
    pub(super) fn read(path: &Path, stream: [u8; 32], secret: &DeviceSecret) -> Self {
        // A segment that is being appended would look damaged.
        let lock = path.parent().and_then(Path::parent).and_then(|folder| folder::lock(folder).ok());
        let mut contents = file::read(path, &stream, secret, 2 * super::MOST_BYTES);
        drop(lock);
        let records = std::mem::take(&mut contents.records);
        let mut read = Self {
            path: path.to_owned(),
            stream,
            sums: Vec::with_capacity(records.len()),
            by_first: HashMap::with_capacity(records.len()),
            new: Vec::new(),
            held: 0,
            file: contents,
            was_used: false,
        };
        records.into_iter().for_each(|record| read.hold(record));
        read
    }

    pub(super) fn stream(&self) -> [u8; 32] {
        self.stream
    }

    /// Returns the values of the first windows of a list, by their number, ascending: all windows, or fewer if there are no
    /// weights.
    pub(crate) fn find(&mut self, sum: Sum<'_>) -> Vec<(usize, Vec<i64>)> {
        let (mut named, mut found) = (sum.begin(&self.stream), Vec::new());
        if sum.windows.is_empty() {
            return found;
        }
        sum.name(0..1, &mut named);
        let Some(candidates) = self.by_first.get(&(sum.part, first_of(&named.name()))) else { return found };
        let mut of_count: BTreeMap<usize, Vec<(usize, &Record)>> = BTreeMap::new();
        for at in candidates {
            let Some(Held { record, .. }) = &self.sums[*at] else { continue };
            let count = record.count as usize;
            let is_all = count == sum.windows.len();
            if is_all || count < sum.windows.len() && sum.weights.is_none() {
                of_count.entry(count).or_default().push((*at, record));
            }
        }
        let (mut used, mut at): (Vec<usize>, _) = (Vec::new(), 1);
        for (count, records) in of_count {
            sum.name(at..count, &mut named);
            at = count;
            let name = named.name();
            if let Some((at, record)) = records.into_iter().find(|(_, record)| record.name == name) {
                used.push(at);
                found.push((count, record.values.read()));
            }
        }
        for at in used {
            if let Some(held) = &mut self.sums[at] {
                held.was_used = true;
                self.was_used = true;
            }
        }
        found
    }

    /// Adds the values of a sum, whose tag fitted. `bits` are those of the part's widest place; `begun` is the number of
    /// windows of the shorter sum that it began with, 0 for none; `is_newest` is true if it may grow.
    pub(crate) fn add(&mut self, sum: Sum<'_>, values: &[i64], bits: u8, begun: usize, is_newest: bool) {
        if sum.windows.is_empty() {
            return;
        }
        let mut named = sum.begin(&self.stream);
        sum.name(0..1, &mut named);
        let first = first_of(&named.name());
        sum.name(1..sum.windows.len(), &mut named);
        let Some(values) = Values::of(values, bits) else { return };
        let (Ok(count), Ok(begun)) = (u32::try_from(sum.windows.len()), u32::try_from(begun)) else { return };
        let (part, name) = (sum.part, named.name());
        let is_there = self.with_first(part, first).any(|held| held.record.name == name);
        if is_there {
            return;
        }
        // The one before the one that it begins with. That one stays, as another question's sum may begin with it, and so does a
        // sum with a meaning of its own, as the first day of a month.
        let earlier = self.with_first(part, first).map(|held| &held.record);
        let earlier = earlier.filter(|earlier| earlier.is_newest && earlier.count < begun);
        let replaces = earlier.map(|earlier| earlier.count).max().unwrap_or(0);
        self.new.push(self.sums.len());
        self.hold(Record { part, is_newest, count, replaces, first, name, values });
        self.was_used = true;
    }

    fn with_first(&self, part: u8, first: [u8; 8]) -> impl Iterator<Item = &Held> {
        let of_first = self.by_first.get(&(part, first)).into_iter().flatten();
        of_first.filter_map(|at| self.sums[*at].as_ref())
    }

    /// Holds a sum, in the place of the one that it replaces.
    fn hold(&mut self, record: Record) {
        let of_first = self.by_first.entry((record.part, record.first)).or_default();
        if record.replaces > 0 {
            for at in &*of_first {
                let old = &mut self.sums[*at];
                let is_replaced = old
                    .as_ref()
                    .is_some_and(|old| old.record.is_newest && old.record.count == record.replaces);
                if is_replaced && let Some(old) = old.take() {
                    self.held -= old.record.size() as u64;
                }
            }
            of_first.retain(|at| self.sums[*at].is_some());
        }
        self.held += record.size() as u64;
        of_first.push(self.sums.len());
        self.sums.push(Some(Held { record, was_used: false }));
    }

    /// Writes the sums that the file lacks. The folder has at most `most` bytes then.
    pub(super) fn write(
        &mut self,
        folder: &Path,
        secret: &DeviceSecret,
        most: u64,
    ) -> Result<(), OwnerError> {
        if !self.was_used {
            return Ok(());
        }
        self.was_used = false;
        if self.new.is_empty() {
            // Files that nobody uses are the first to go.
            folder::touch(&self.path);
            return Ok(());
        }
        if let Some(of_device) = self.path.parent() {
            make_folder(of_device, true)?;
        }
        let _lock = folder::lock(folder)?;
        let has_room = self.held <= most;
        let is_small = self.file.bytes <= 2 * self.held + SLACK && self.file.segments < MOST_SEGMENTS;
        // Another process may have made or removed it since.
        let is_ours = std::fs::metadata(&self.path).map_or(0, |file| file.len()) >= self.file.bytes;
        if has_room && is_small && is_ours && !self.file.is_damaged {
            let new = self.new.iter().filter_map(|at| self.sums[*at].as_ref());
            let (bytes, segments) =
                file::append(&self.path, new.map(|held| &held.record), &self.stream, secret)?;
            self.file.bytes += bytes;
            self.file.segments += segments;
        } else {
            if !has_room {
                self.drop_oldest(most / 2);
            }
            if let Some(of_device) = self.path.parent() {
                remove_left_over(of_device)?;
            }
            let records = self.sums.iter().flatten().map(|held| &held.record);
            let (bytes, segments) = file::replace(&self.path, records, &self.stream, secret)?;
            self.file = Contents { bytes, segments, ..Contents::default() };
        }
        self.new.clear();
        folder::evict(folder, &self.path, most);
        Ok(())
    }

    /// Drops sums until the others take at most so many bytes: first those that were not used now, oldest first.
    fn drop_oldest(&mut self, most: u64) {
        for spares_used in [true, false] {
            for held in &mut self.sums {
                if self.held <= most {
                    break;
                }
                if held.as_ref().is_some_and(|held| !(spares_used && held.was_used))
                    && let Some(dropped) = held.take()
                {
                    self.held -= dropped.record.size() as u64;
                }
            }
        }
        let sums = &self.sums;
        self.by_first.retain(|_, of_first| {
            of_first.retain(|at| sums[*at].is_some());
            !of_first.is_empty()
        });
    }
}
