//! The names of the pads of a sum's windows.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use sotto_sums::SALT_BYTES;

use crate::error::WireError;
use crate::lists::{unzigzag, zigzag};
use crate::mask::MaskName;
use crate::reader::{Reader, write_varint};

/// The names of the pads of many windows, in order: the starts of the device, and runs of windows whose numbers follow
/// each other.
///
/// ```
/// use sotto_wire::{MaskName, WindowNames};
///
/// let name = |start, sequence| MaskName { salt: [start; 12], sequence };
/// let names: WindowNames = [name(1, 7), name(1, 8), name(2, 9), name(1, 20)].into_iter().collect();
/// assert_eq!((names.len(), names.starts().len()), (4, 2));
/// assert_eq!(names.iter().nth(2), Some(name(2, 9)));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowNames {
    starts: Vec<[u8; SALT_BYTES]>,
    index: BTreeMap<[u8; SALT_BYTES], u32>,
    runs: Vec<Run>,
    windows: u32,
}

/// Windows of one start whose numbers follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    start: u32,
    first: u64,
    windows: u32,
}

impl Run {
    /// Returns the number behind its last.
    fn next(&self) -> u64 {
        self.first.wrapping_add(self.windows.into())
    }
}

impl WindowNames {
    /// Returns the number of windows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.windows as usize
    }

    /// Returns true if there are no windows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.windows == 0
    }

    /// Returns the salts of the starts, in the order in which windows name them.
    #[must_use]
    pub fn starts(&self) -> &[[u8; SALT_BYTES]] {
        &self.starts
    }

    /// Returns the names, in order.
    pub fn iter(&self) -> impl Iterator<Item = MaskName> + '_ {
        self.runs.iter().flat_map(|run| {
            let salt = self.starts.get(run.start as usize).copied().unwrap_or_default();
            (0..run.windows).map(move |at| MaskName { salt, sequence: run.first.wrapping_add(at.into()) })
        })
    }

    /// Appends a name.
    ///
    /// # Errors
    /// [`WireError::Value`] above 2^32 − 1 names.
    pub fn push(&mut self, name: MaskName) -> Result<(), WireError> {
        let too_many = WireError::Value("a sum names at most 2^32 - 1 windows");
        self.windows = self.windows.checked_add(1).ok_or(too_many)?;
        // Most windows follow one of their own start.
        let start = match self.runs.last() {
            Some(run) if self.starts.get(run.start as usize) == Some(&name.salt) => run.start,
            _ => self.start(name.salt),
        };
        match self.runs.last_mut() {
            Some(run) if run.start == start && run.next() == name.sequence && name.sequence != 0 => {
                run.windows += 1;
            }
            _ => self.runs.push(Run { start, first: name.sequence, windows: 1 }),
        }
        Ok(())
    }

    /// Returns the index of a start; lists it if it is new.
    fn start(&mut self, salt: [u8; SALT_BYTES]) -> u32 {
        // There are at most as many starts as windows.
        let next = self.starts.len() as u32;
        let start = *self.index.entry(salt).or_insert(next);
        if start == next {
            self.starts.push(salt);
        }
        start
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        write_varint(out, self.starts.len() as u64);
        out.extend_from_slice(self.starts.as_flattened());
        write_varint(out, self.runs.len() as u64);
        let mut expected = 0;
        for run in &self.runs {
            write_varint(out, run.start.into());
            write_varint(out, zigzag(run.first.wrapping_sub(expected).cast_signed()));
            write_varint(out, run.windows.into());
            expected = run.next();
        }
    }

    /// Reads the names of at most `limit` windows.
    pub(super) fn read(reader: &mut Reader<'_>, limit: u32) -> Result<Self, WireError> {
        let mut names = Self::default();
        // Grow with the bytes that are read: the counts alone reserve nothing.
        for _ in 0..reader.varint()? {
            let (salt, at) = (reader.array()?, names.starts.len() as u32);
            if names.index.insert(salt, at).is_some() {
                return Err(WireError::Value("the salt of a start is listed once"));
            }
            names.starts.push(salt);
        }
        let (mut used, mut expected) = (0, 0_u64);
        for _ in 0..reader.varint()? {
            let (start, first) = (reader.varint()?, expected.wrapping_add_signed(unzigzag(reader.varint()?)));
            let windows = reader.varint()?;
            let run = names.run(start, first, windows, limit)?;
            match start {
                start if start < used => {}
                start if start == used => used += 1,
                _ => {
                    return Err(WireError::Value(
                        "starts are listed in the order in which windows name them",
                    ));
                }
            }
            names.windows += run.windows;
            expected = run.next();
            names.runs.push(run);
        }
        if used == names.starts.len() as u64 {
            Ok(names)
        } else {
            Err(WireError::Value("a start has no window"))
        }
    }

    /// Checks a run that follows those that were read.
    fn run(&self, start: u64, first: u64, windows: u64, limit: u32) -> Result<Run, WireError> {
        let start = u32::try_from(start).ok().filter(|start| (*start as usize) < self.starts.len());
        let start = start.ok_or(WireError::Value("a window names a start that is not listed"))?;
        let room = u64::from(limit.saturating_sub(self.windows));
        if windows == 0 || windows > room {
            return Err(WireError::Value("the number of windows of a sum is not the one asked for"));
        }
        if first.checked_add(windows - 1).is_none() {
            return Err(WireError::Value("a pad number has 64 bits"));
        }
        if self.runs.last().is_some_and(|run| run.start == start && run.next() == first && first != 0) {
            return Err(WireError::Value("windows whose numbers follow each other are one run"));
        }
        Ok(Run { start, first, windows: windows as u32 })
    }
}

impl FromIterator<MaskName> for WindowNames {
    /// Names beyond the first 2^32 − 1 are left out; [`WindowNames::push`] refuses them.
    fn from_iter<I: IntoIterator<Item = MaskName>>(names: I) -> Self {
        let mut all = Self::default();
        for name in names {
            if all.push(name).is_err() {
                break;
            }
        }
        all
    }
}
