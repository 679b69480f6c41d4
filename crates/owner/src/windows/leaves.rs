//! Leaves and ids of windows, which mirrors do not keep: read again from the cloud, and compared with the roots of blocks.

use std::collections::HashMap;

use sotto_cloud_client::Cloud;
use sotto_wire::{Digest, ID_BYTES, LogItem, LogPage};

use super::mirror::{BLOCK, StreamLog};
use super::stream_name::StreamName;
use crate::error::OwnerError;
use crate::lie::Lie;

/// Windows of a request.
const PAGE: u32 = 8192;

/// A window of a log that was read again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub(super) leaf: Digest,
    /// Its id in the cloud; None if it was deleted.
    pub(super) id: Option<[u8; ID_BYTES]>,
}

/// The cloud's log of a stream, from which windows of a mirror are read again.
#[derive(Clone, Copy)]
pub(super) struct Leaves<'l> {
    pub(super) cloud: &'l Cloud,
    pub(super) name: StreamName<'l>,
}

impl Leaves<'_> {
    /// Returns the leaves of a whole block.
    pub(super) fn block(&self, log: &StreamLog, block: u64) -> Result<Vec<Digest>, OwnerError> {
        Ok(self.blocks(log, block, block + 1)?.into_iter().map(|named| named.leaf).collect())
    }

    /// Returns the windows at ascending positions of a mirror.
    pub(super) fn at(&self, log: &StreamLog, positions: &[u64]) -> Result<Vec<Named>, OwnerError> {
        if positions.iter().any(|position| *position >= log.len()) {
            return Err(self.changed(log));
        }
        let (mut all, mut rest) = (Vec::with_capacity(positions.len()), positions);
        while let Some(first) = rest.first() {
            let from = first / BLOCK;
            let most = from + u64::from(PAGE) / BLOCK;
            // Blocks between two windows that are far apart are not read.
            let mut to = from + 1;
            let count = rest.partition_point(|position| {
                let block = position / BLOCK;
                let is_near = block <= to && block < most;
                if is_near {
                    to = to.max(block + 1);
                }
                is_near
            });
            let (these, later) = rest.split_at(count.max(1));
            let blocks = self.blocks(log, from, to)?;
            for position in these {
                let named = blocks.get((position - from * BLOCK) as usize);
                all.push(*named.ok_or_else(|| self.changed(log))?);
            }
            rest = later;
        }
        Ok(all)
    }

    /// Returns the windows of blocks, the last of which may be cut by the end of the mirror.
    fn blocks(&self, log: &StreamLog, from: u64, to: u64) -> Result<Vec<Named>, OwnerError> {
        let (begin, end) = (from * BLOCK, (to * BLOCK).min(log.len()));
        let (mut windows, StreamName { device, stream }) = (Vec::new(), self.name);
        while begin + (windows.len() as u64) < end {
            let (at, left) = (begin + windows.len() as u64, end - begin - windows.len() as u64);
            // At most `PAGE`, which has 32 bits.
            let limit = left.min(PAGE.into()) as u32;
            let page = LogPage::read(&self.cloud.log(device, stream, at, Some(limit))?);
            let page =
                page.map_err(|error| OwnerError::WrongAnswer(format!("a page of the log: {error}")))?;
            if page.items.is_empty() {
                return Err(self.changed(log));
            }
            windows.extend(page.items.iter().flat_map(named));
        }
        windows.truncate((end - begin) as usize);
        for (block, windows) in (from..).zip(windows.chunks(BLOCK as usize)) {
            let leaves: Vec<Digest> = windows.iter().map(|window| window.leaf).collect();
            let same = match log.tree().kept(block) {
                Some(kept) => leaves == kept,
                None => log.tree().is_block(block, &leaves),
            };
            if !same {
                return Err(self.changed(log));
            }
        }
        Ok(windows)
    }

    fn changed(&self, log: &StreamLog) -> OwnerError {
        let StreamName { device, stream } = self.name;
        Lie::ChangedLog { device: device.to_owned(), stream: stream.to_owned(), had: log.len() }.into()
    }
}

fn named(item: &LogItem) -> Vec<Named> {
    let leaves = item.leaves();
    let named =
        leaves.iter().enumerate().map(|(index, leaf)| Named { leaf: *leaf, id: item.id(index, leaf) });
    named.collect()
}

/// The windows of a stream by their numbers, for work that names single ones.
pub(crate) struct ByNumber<'b> {
    cloud: &'b Cloud,
    device: String,
    stream: String,
    log: StreamLog,
    positions: HashMap<u64, u64>,
}

impl<'b> ByNumber<'b> {
    /// Finds windows of a kept log by their numbers.
    pub(crate) fn new(
        log: StreamLog,
        cloud: &'b Cloud,
        (device, stream): (&str, &str),
        numbers: impl IntoIterator<Item = u64>,
    ) -> Self {
        let mut positions: HashMap<u64, u64> = numbers.into_iter().map(|number| (number, u64::MAX)).collect();
        for entry in log.entries() {
            if let Some(position) = positions.get_mut(&entry.sequence()) {
                *position = entry.position;
            }
        }
        Self { cloud, device: device.to_owned(), stream: stream.to_owned(), log, positions }
    }

    /// Returns the leaf and the id of a window.
    pub(crate) fn named(&self, number: u64) -> Result<(Digest, String), OwnerError> {
        let name = StreamName { device: &self.device, stream: &self.stream };
        let leaves = Leaves { cloud: self.cloud, name };
        let missing = || leaves.changed(&self.log);
        let position = self.positions.get(&number).ok_or_else(missing)?;
        let named = leaves.at(&self.log, &[*position])?.pop().ok_or_else(missing)?;
        Ok((named.leaf, named.id.map(hex::encode).unwrap_or_default()))
    }
}
