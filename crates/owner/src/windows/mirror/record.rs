//! A mirror's file: records of the pieces of a log, in order, each as differences to the one before.
//!
//! ```text
//! 1 ‖ length ‖ frame of a stream's header
//! 2 ‖ marks ‖ stream ‖ number ‖ salt ‖ start ‖ form ‖ pads ‖ receipt ‖ windows ‖ bytes     a run
//! 3 ‖ number ‖ windows                      windows that were deleted, by the cloud's word
//! 4 ‖ number ‖ windows                      windows that this plant's owner deleted
//! 5 ‖ number                                a window that the cloud cannot read
//! 6 ‖ stream ‖ number ‖ bytes ‖ start ‖ end ‖ marks ‖ length ‖ head            another window of sums
//! 7 ‖ … as 6 … ‖ leaf 32 ‖ id 16            a window of slots
//! 8 ‖ bytes ‖ id 16 ‖ length ‖ frame        an envelope of version 1
//! 9 ‖ root 32                               the next whole block of the tree
//! ```
//!
//! Numbers have variable length. A record may continue the piece of the record before: files only grow.

use std::sync::Arc;

use sotto_wire::{Digest, SALT_BYTES, SignedHeader, StreamHeader};

use super::codec::{Bytes, Coder, put, put_difference};
use super::log::StreamLog;
use super::piece::{First, Form, One, PROVISIONAL, Piece, RECEIPT, REPLACES, Receipt, Run, What};
use super::tree::LogTree;

const STREAM: u8 = 1;
const RUN: u8 = 2;
const TAKEN: u8 = 3;
const DELETED: u8 = 4;
const UNREAD: u8 = 5;
const SUMS: u8 = 6;
const SLOTS: u8 = 7;
const OLD: u8 = 8;
const BLOCK: u8 = 9;

// Marks of a run: the facts that differ from those of the run before.
const OTHER_STREAM: u8 = 1;
const OTHER_NUMBER: u8 = 2;
const OTHER_SALT: u8 = 4;
const OTHER_START: u8 = 8;
const OTHER_FORM: u8 = 16;
const OTHER_PADS: u8 = 32;
const OTHER_RECEIPT: u8 = 64;

/// Largest frame of a header in a file, in bytes.
const LARGEST_HEADER: u64 = 64 << 10;

impl Coder {
    /// Notes a piece.
    fn is_piece(&mut self, piece: &Piece) {
        self.windows += piece.count();
        self.next = match piece {
            Piece::Run(run) => {
                let next = run.at(run.count);
                (self.run, self.next_start) = (Some(run.form), next.start);
                next.sequence
            }
            Piece::Gone { first, count, .. } => first.wrapping_add(*count),
            Piece::Unread { sequence } => sequence.wrapping_add(1),
            Piece::One(one) => one.sequence.wrapping_add(1),
        };
    }
}

/// Returns the records of windows that a log has and its file lacks, and notes them as written.
pub(crate) fn write(log: &mut StreamLog) -> Vec<u8> {
    let mut coder = std::mem::take(&mut log.coder);
    let mut out = Vec::new();
    for stream in log.streams.iter().skip(coder.streams) {
        out.push(STREAM);
        let frame = stream.write();
        put(&mut out, frame.len() as u64);
        out.extend_from_slice(&frame);
    }
    coder.streams = log.streams.len();
    for piece in log.parts(coder.windows..log.len()) {
        write_piece(&mut out, &coder, &piece);
        coder.is_piece(&piece);
    }
    for block in log.tree.blocks().iter().skip(coder.blocks) {
        out.push(BLOCK);
        out.extend_from_slice(block);
    }
    coder.blocks = log.tree.blocks().len();
    coder.digest.update(&out);
    coder.bytes += out.len() as u64;
    log.coder = coder;
    out
}

fn write_piece(out: &mut Vec<u8>, coder: &Coder, piece: &Piece) {
    match piece {
        Piece::Run(run) => write_run(out, coder, run),
        Piece::Gone { first, count, here } => {
            out.push(if *here { DELETED } else { TAKEN });
            put_difference(out, *first, coder.next);
            put(out, *count);
        }
        Piece::Unread { sequence } => {
            out.push(UNREAD);
            put_difference(out, *sequence, coder.next);
        }
        Piece::One(one) => write_one(out, coder, one),
    }
}

fn write_run(out: &mut Vec<u8>, coder: &Coder, run: &Run) {
    let Run { form, first, count, bytes } = run;
    let before = coder.run.as_ref();
    let same = |of: &dyn Fn(&Form) -> bool| before.is_some_and(of);
    let mark = |set: bool, mark: u8| if set { mark } else { 0 };
    let shape = |form: &Form| (form.generated, form.ticks, form.step);
    let marks = mark(!same(&|before| before.stream == form.stream), OTHER_STREAM)
        | mark(first.sequence != coder.next, OTHER_NUMBER)
        | mark(!same(&|before| before.salt == form.salt), OTHER_SALT)
        | mark(first.start != coder.next_start, OTHER_START)
        | mark(!same(&|before| shape(before) == shape(form)), OTHER_FORM)
        | mark(!same(&|before| before.back == form.back), OTHER_PADS)
        | mark(!same(&|before| before.receipt == form.receipt), OTHER_RECEIPT);
    out.extend_from_slice(&[RUN, marks]);
    if marks & OTHER_STREAM != 0 {
        put(out, form.stream.into());
    }
    if marks & OTHER_NUMBER != 0 {
        put_difference(out, first.sequence, coder.next);
    }
    if marks & OTHER_SALT != 0 {
        out.extend_from_slice(&form.salt);
    }
    if marks & OTHER_START != 0 {
        put_difference(out, first.start.cast_unsigned(), coder.next_start.cast_unsigned());
    }
    if marks & OTHER_FORM != 0 {
        put(out, u64::from(form.ticks) << 1 | u64::from(form.generated));
    }
    if marks & OTHER_PADS != 0 {
        put(out, form.back);
    }
    if marks & OTHER_RECEIPT != 0 {
        // A window of itself is no receipt's: 0 stands for none.
        put(out, form.receipt.map_or(0, |receipt| receipt.back));
        put_difference(out, form.receipt.map_or(0, |receipt| receipt.ahead), 0);
        out.push(form.receipt.is_some().into());
    }
    put(out, *count);
    put(out, *bytes);
}

fn write_one(out: &mut Vec<u8>, coder: &Coder, one: &One) {
    let One { sequence, bytes, started, ended, what } = one;
    let head = |out: &mut Vec<u8>, kind: u8, stream: u32, marks: u8, head: &[u8]| {
        out.push(kind);
        put(out, stream.into());
        put_difference(out, *sequence, coder.next);
        put(out, *bytes);
        put_difference(out, started.cast_unsigned(), coder.next_start.cast_unsigned());
        put_difference(out, ended.cast_unsigned(), started.cast_unsigned());
        out.push(marks);
        put(out, head.len() as u64);
        out.extend_from_slice(head);
    };
    match what {
        What::Sums { stream, head: bytes, marks } => head(out, SUMS, *stream, *marks, bytes),
        What::Slots { stream, head: bytes, marks, leaf, id } => {
            head(out, SLOTS, *stream, *marks, bytes);
            out.extend_from_slice(leaf);
            out.extend_from_slice(id);
        }
        What::Old { signed, id } => {
            out.push(OLD);
            put(out, *bytes);
            out.extend_from_slice(id);
            let frame = signed.write();
            put(out, frame.len() as u64);
            out.extend_from_slice(&frame);
        }
    }
}

/// Reads a file, and the leaves behind its last whole block. Returns None if the bytes are not records.
pub(crate) fn read(bytes: &[u8], tail: Vec<Digest>) -> Option<StreamLog> {
    read_with(bytes, |_| tail)
}

/// Reads a file. `tail` gives the leaves behind the last whole block, by their number.
pub(crate) fn read_with(bytes: &[u8], tail: impl FnOnce(u64) -> Vec<Digest>) -> Option<StreamLog> {
    let (mut log, mut coder, mut blocks) = (StreamLog::default(), Coder::default(), Vec::new());
    let mut reader = Bytes(bytes);
    while !reader.is_empty() {
        let piece = match reader.byte()? {
            STREAM => {
                log.streams.push(Arc::new(StreamHeader::read_stored(reader.part()?).ok()?));
                continue;
            }
            BLOCK => {
                blocks.push(reader.digest()?);
                continue;
            }
            RUN => Piece::Run(read_run(&mut reader, &coder, &log.streams)?),
            kind @ (TAKEN | DELETED) => {
                let first = reader.difference(coder.next)?;
                let count = reader.number().filter(|count| *count > 0)?;
                Piece::Gone { first, count, here: kind == DELETED }
            }
            UNREAD => Piece::Unread { sequence: reader.difference(coder.next)? },
            kind @ (SUMS | SLOTS) => {
                Piece::One(Box::new(read_one(&mut reader, &coder, &log.streams, kind == SLOTS)?))
            }
            OLD => Piece::One(Box::new(read_old(&mut reader)?)),
            _ => return None,
        };
        coder.windows.checked_add(piece.count())?;
        coder.is_piece(&piece);
        log.join(piece);
    }
    (coder.streams, coder.blocks) = (log.streams.len(), blocks.len());
    coder.digest.update(bytes);
    coder.bytes = bytes.len() as u64;
    let behind = log.len().checked_sub(blocks.len() as u64 * super::tree::BLOCK)?;
    log.tree = LogTree::of(blocks, tail(behind))?;
    log.coder = coder;
    (log.tree.size() == log.len()).then_some(log)
}

fn read_run(reader: &mut Bytes<'_>, coder: &Coder, streams: &[Arc<StreamHeader>]) -> Option<Run> {
    let marks = reader.byte()?;
    let is = |mark: u8| marks & mark != 0;
    // The first run states everything.
    let before = coder.run;
    let stream = if is(OTHER_STREAM) { u32::try_from(reader.number()?).ok()? } else { before?.stream };
    let header = streams.get(stream as usize)?;
    let sequence = if is(OTHER_NUMBER) { reader.difference(coder.next)? } else { coder.next };
    let salt: [u8; SALT_BYTES] = if is(OTHER_SALT) { reader.array()? } else { before?.salt };
    let start = coder.next_start;
    let start = if is(OTHER_START) { reader.difference(start.cast_unsigned())?.cast_signed() } else { start };
    let (ticks, generated) = if is(OTHER_FORM) {
        let form = reader.number()?;
        (u32::try_from(form >> 1).ok()?, form & 1 == 1)
    } else {
        (before?.ticks, before?.generated)
    };
    let back = if is(OTHER_PADS) { reader.number()? } else { before?.back };
    let receipt = if is(OTHER_RECEIPT) {
        let (back, ahead, is_some) = (reader.number()?, reader.difference(0)?, reader.byte()?);
        (is_some == 1).then_some(Receipt { back, ahead })
    } else {
        before?.receipt
    };
    let (count, bytes) = (reader.number().filter(|count| *count > 0)?, reader.number()?);
    let step = header.period().after(ticks.into());
    let form = Form { stream, generated, ticks, step, salt, back, receipt };
    Some(Run { form, first: First { sequence, start }, count, bytes })
}

fn read_one(
    reader: &mut Bytes<'_>,
    coder: &Coder,
    streams: &[Arc<StreamHeader>],
    is_slots: bool,
) -> Option<One> {
    let stream = u32::try_from(reader.number()?).ok().filter(|stream| (*stream as usize) < streams.len())?;
    let (sequence, bytes) = (reader.difference(coder.next)?, reader.number()?);
    let started = reader.difference(coder.next_start.cast_unsigned())?.cast_signed();
    let ended = reader.difference(started.cast_unsigned())?.cast_signed();
    let marks = reader.byte().filter(|marks| marks & !(REPLACES | PROVISIONAL | RECEIPT) == 0)?;
    let head = reader.part()?.into();
    let what = if is_slots {
        What::Slots { stream, head, marks, leaf: reader.digest()?, id: reader.array()? }
    } else {
        What::Sums { stream, head, marks }
    };
    Some(One { sequence, bytes, started, ended, what })
}

fn read_old(reader: &mut Bytes<'_>) -> Option<One> {
    let (bytes, id) = (reader.number()?, reader.array()?);
    let signed = Box::new(SignedHeader::read(reader.part()?, LARGEST_HEADER).ok()?);
    if signed.window_head().is_some() {
        return None;
    }
    let header = signed.header();
    let (sequence, started, ended) = (header.sequence, header.started_at, header.ended_at);
    Some(One { sequence, bytes, started, ended, what: What::Old { signed, id } })
}
