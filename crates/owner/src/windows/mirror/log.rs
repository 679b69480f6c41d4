//! The log of a stream, in memory.

use std::ops::Range;
use std::sync::Arc;

use sotto_pack::Period;
use sotto_wire::{Digest, HeadFacts, ID_BYTES, LogItem, SignedHeader, StreamHeader, WireError};

use super::codec::Coder;
use super::piece::{First, Form, One, PROVISIONAL, Piece, RECEIPT, REPLACES, Receipt, Run, What};
use super::tree::LogTree;
use crate::error::OwnerError;

/// A gap of at least this many sequence numbers may be a new count: a device that lost its spool while the cloud was away
/// begins one far above.
pub(crate) const NEW_COUNT: u64 = 1 << 32;

/// The log of a stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct StreamLog {
    pub(super) streams: Vec<Arc<StreamHeader>>,
    pub(super) pieces: Vec<Piece>,
    /// The position of the first window of each piece.
    pub(super) positions: Vec<u64>,
    pub(super) size: u64,
    pub(super) tree: LogTree,
    /// Bytes of memory that the pieces take.
    memory: usize,
    /// The end of its file.
    pub(in super::super) coder: Coder,
    /// True if the cloud has windows that this plant's owner deleted.
    pub(crate) brought_back: bool,
}

impl StreamLog {
    /// Returns the number of windows.
    pub(crate) fn len(&self) -> u64 {
        self.size
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// Returns the Merkle tree of the log.
    pub(crate) fn tree(&self) -> &LogTree {
        &self.tree
    }

    /// Returns the bytes of memory that the windows take.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    /// Returns the index of the piece with a position; that behind the last piece for one behind the log.
    pub(super) fn piece_at(&self, position: u64) -> usize {
        if position >= self.size {
            return self.pieces.len();
        }
        self.positions.partition_point(|first| *first <= position).saturating_sub(1)
    }

    /// Returns the numbers of the windows as ranges without gaps between them, ascending: first and last.
    pub(crate) fn numbers(&self) -> Vec<(u64, u64)> {
        let mut all: Vec<(u64, u64)> = self
            .pieces()
            .map(|(first, count)| (first.sequence(), first.sequence().saturating_add(count - 1)))
            .collect();
        all.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (first, last) in all {
            match joined.last_mut() {
                Some((_, end)) if end.checked_add(1).is_none_or(|next| first <= next) => {
                    *end = last.max(*end);
                }
                _ => joined.push((first, last)),
            }
        }
        joined
    }

    /// Returns the missing sequence numbers before and between the windows, as inclusive ranges.
    pub(crate) fn gaps(&self) -> Vec<(u64, u64)> {
        let numbers = self.numbers();
        // Devices count from 0.
        let beginning = numbers.first().and_then(|(first, _)| first.checked_sub(1)).map(|last| (0, last));
        let between = numbers.windows(2).map(|pair| (pair[0].1 + 1, pair[1].0 - 1));
        beginning.into_iter().chain(between).collect()
    }

    /// Cuts the log to its first windows, which are all if there are fewer. `leaves` gives those of a block.
    pub(crate) fn truncate(
        &mut self,
        size: u64,
        leaves: impl FnOnce(u64) -> Result<Vec<Digest>, OwnerError>,
    ) -> Result<(), OwnerError> {
        let Some(tree) = self.tree.first(size, leaves)? else { return Ok(()) };
        let kept = self.parts(0..size);
        (self.pieces, self.positions, self.size, self.memory) = (Vec::new(), Vec::new(), 0, 0);
        kept.into_iter().for_each(|piece| self.join(piece));
        self.tree = tree;
        Ok(())
    }

    /// Returns the root of the first windows; None if there are fewer. `leaves` gives those of a block.
    pub(crate) fn root_of(
        &self,
        size: u64,
        leaves: impl FnOnce(u64) -> Result<Vec<Digest>, OwnerError>,
    ) -> Result<Option<Digest>, OwnerError> {
        self.tree.root_of(size, leaves)
    }

    /// Returns the pieces between two positions.
    pub(super) fn parts(&self, between: Range<u64>) -> Vec<Piece> {
        if between.is_empty() {
            return Vec::new();
        }
        let first = self.piece_at(between.start);
        let pieces = self.pieces[first..].iter().zip(&self.positions[first..]);
        pieces
            .take_while(|(_, position)| **position < between.end)
            .map(|(piece, position)| {
                let from = between.start.saturating_sub(*position);
                let to = (between.end - position).min(piece.count());
                if (from, to) == (0, piece.count()) { piece.clone() } else { piece.part(from, to - from) }
            })
            .collect()
    }

    /// Adds windows behind the last ones.
    pub(super) fn join(&mut self, piece: Piece) {
        let count = piece.count();
        let left = match self.pieces.last_mut() {
            Some(last) => last.join(piece),
            None => Some(piece),
        };
        if let Some(piece) = left {
            self.memory += piece.memory();
            self.pieces.push(piece);
            self.positions.push(self.size);
        }
        self.size += count;
    }

    /// Marks windows as deleted by this plant's owner, at ascending positions.
    pub(crate) fn mark_deleted(&mut self, positions: &[u64]) {
        let mut marked = Self::default();
        let mut at = 0;
        for position in positions.iter().copied().filter(|position| *position < self.size) {
            self.parts(at..position).into_iter().for_each(|piece| marked.join(piece));
            if let Some(entry) = self.entry_at(position) {
                marked.join(Piece::Gone { first: entry.sequence(), count: 1, here: true });
            }
            at = position + 1;
        }
        self.parts(at..self.size).into_iter().for_each(|piece| marked.join(piece));
        (self.pieces, self.positions, self.memory) = (marked.pieces, marked.positions, marked.memory);
    }

    /// Appends the windows of an item whose signature was checked. Those at indexes for which `is_deleted` holds count as
    /// deleted by this plant's owner.
    ///
    /// # Errors
    /// [`WireError`] if a window is not one of its stream, which no item that was read has.
    pub(crate) fn push(
        &mut self,
        item: &LogItem,
        leaves: &[Digest],
        is_deleted: impl Fn(&Digest) -> bool,
    ) -> Result<(), WireError> {
        for (index, leaf) in leaves.iter().enumerate() {
            let here = is_deleted(leaf);
            let sequence = item.logged().get(index).map_or(item.sequence(), |logged| logged.sequence());
            self.brought_back |= here && !matches!(item, LogItem::Gone { .. });
            match item {
                _ if here => self.join(Piece::Gone { first: sequence, count: 1, here }),
                LogItem::Gone { .. } => self.join(Piece::Gone { first: sequence, count: 1, here }),
                LogItem::Unread { .. } => self.join(Piece::Unread { sequence }),
                LogItem::Old { bytes, signed, .. } => {
                    self.push_old(signed, item.id(index, leaf).unwrap_or_default(), *bytes);
                }
                LogItem::Alone { .. } | LogItem::Group { .. } => {
                    let Some(logged) = item.logged().get(index) else { continue };
                    let id = item.id(index, leaf).unwrap_or_default();
                    let bytes = logged.bytes(item.windows());
                    self.push_window(logged.stream(), logged.head(), (leaf, id), bytes)?;
                }
            }
            self.tree.push(*leaf);
        }
        Ok(())
    }

    /// Appends an entry of an earlier version's file. `here`: this plant's owner deleted it.
    pub(crate) fn push_signed(
        &mut self,
        sequence: u64,
        leaf: &Digest,
        id: Option<[u8; ID_BYTES]>,
        bytes: u64,
        signed: Option<&SignedHeader>,
        here: bool,
    ) -> Result<(), WireError> {
        match (signed, id) {
            _ if here => self.join(Piece::Gone { first: sequence, count: 1, here }),
            (None, None) => self.join(Piece::Gone { first: sequence, count: 1, here: false }),
            (None, Some(_)) => self.join(Piece::Unread { sequence }),
            (Some(signed), id) => match signed.window_head() {
                None => self.push_old(signed, id.unwrap_or_default(), bytes),
                Some((stream, head)) => {
                    self.push_window(stream, head, (leaf, id.unwrap_or_default()), bytes)?;
                }
            },
        }
        self.tree.push(*leaf);
        Ok(())
    }

    fn push_old(&mut self, signed: &SignedHeader, id: [u8; ID_BYTES], bytes: u64) {
        let header = signed.header();
        let (sequence, started, ended) = (header.sequence, header.started_at, header.ended_at);
        let what = What::Old { signed: Box::new(signed.clone()), id };
        self.join(Piece::One(Box::new(One { sequence, bytes, started, ended, what })));
    }

    fn push_window(
        &mut self,
        header: &Arc<StreamHeader>,
        head: &[u8],
        (leaf, id): (&Digest, [u8; ID_BYTES]),
        bytes: u64,
    ) -> Result<(), WireError> {
        let facts = HeadFacts::of(head, header)?;
        let stream = self.stream(header);
        if facts.is_plain && header.is_of_sums() {
            self.join(Piece::Run(run(stream, header.period(), &facts, bytes)));
            return Ok(());
        }
        let mark = |set: bool, mark: u8| if set { mark } else { 0 };
        let marks = mark(facts.replaces, REPLACES)
            | mark(facts.provisional, PROVISIONAL)
            | mark(facts.receipt.is_some(), RECEIPT);
        let (head, leaf) = (head.into(), *leaf);
        let what = if header.is_of_sums() {
            What::Sums { stream, head, marks }
        } else {
            What::Slots { stream, head, marks, leaf, id }
        };
        let (started, ended) = facts.times;
        self.join(Piece::One(Box::new(One { sequence: facts.sequence, bytes, started, ended, what })));
        Ok(())
    }

    /// Returns the index of a stream's header. Lists it if it is new.
    fn stream(&mut self, header: &Arc<StreamHeader>) -> u32 {
        let known =
            self.streams.iter().rposition(|known| Arc::ptr_eq(known, header) || known.id() == header.id());
        let index = known.unwrap_or_else(|| {
            self.streams.push(Arc::clone(header));
            self.streams.len() - 1
        });
        // A header takes hundreds of bytes: memory ends before 2^32 of them.
        index as u32
    }
}

/// Returns the run of one window.
fn run(stream: u32, period: Period, facts: &HeadFacts, bytes: u64) -> Run {
    let HeadFacts { sequence, mask, start, ticks, generated, receipt, .. } = *facts;
    let receipt = receipt.map(|receipt| Receipt {
        back: sequence.wrapping_sub(receipt.sequence),
        ahead: receipt.position.wrapping_sub(receipt.sequence),
    });
    let (back, step) = (sequence.wrapping_sub(mask.sequence), period.after(ticks.into()));
    let form = Form { stream, generated, ticks, step, salt: mask.salt, back, receipt };
    Run { form, first: First { sequence, start }, count: 1, bytes }
}
