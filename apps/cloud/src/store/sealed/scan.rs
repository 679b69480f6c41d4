//! Windows in segments as rows of sums.

use std::sync::Arc;

use sotto_sums::{Form, TAG_BYTES};
use sotto_wire::{MaskName, StreamHeader};

use super::super::StoreError;
use super::super::error::damaged;
use super::super::run::{Rows, Run, forms};
use super::runs::SealedRun;
use sotto_segment::{Block, Kind};

/// Makes rows of the windows of a stream's runs.
pub(in super::super) struct Scanner<'h> {
    header: &'h StreamHeader,
    forms: Vec<Form<'h>>,
    /// The run that was read last, and its block with bodies.
    current: Option<(SealedRun, Arc<Block>)>,
    /// The ticks of the window that was read last, and for each part its counts, the bytes of a row, and these rows.
    ticks: u32,
    parts: Vec<(Vec<u8>, usize, Vec<u8>)>,
}

impl<'h> Scanner<'h> {
    pub(in super::super) fn new(header: &'h StreamHeader) -> Result<Self, StoreError> {
        let parts = vec![Default::default(); header.parts().len()];
        Ok(Self { header, forms: forms(header)?, current: None, ticks: 0, parts })
    }

    /// Goes on with another run.
    pub(in super::super) fn begin(&mut self, run: SealedRun, block: Arc<Block>) {
        self.current = Some((run, block));
    }

    /// Returns the run that has a number, if it is the one that was read last.
    pub(in super::super) fn has(&self, number: u64) -> bool {
        self.current.as_ref().is_some_and(|(run, _)| (run.number..run.end()).contains(&number))
    }

    /// Returns true if the present run has heads alone.
    pub(in super::super) fn is_of_heads(&self) -> bool {
        self.current.as_ref().is_some_and(|(run, _)| run.kind == Kind::Head)
    }

    /// Reads windows of the present run from a number on, at most `most`: as many as have equal lengths and counts. Returns
    /// their number; 0 if the first one has no body.
    pub(in super::super) fn read(&mut self, number: u64, most: u32) -> Result<u32, StoreError> {
        let Some((run, block)) = &self.current else { return Ok(0) };
        let wrong = || StoreError::Damaged("a row of a segment is no window of its stream".to_owned());
        let (from, most) = (run.row_of(number), u64::from(most).min(run.end() - number) as usize);
        if from + most > block.rows() {
            return Err(wrong());
        }
        if block.kind(from) != Kind::Whole {
            return Ok(0);
        }
        let form = block.form(from);
        let is_equal = |row: &usize| block.kind(*row) == Kind::Whole && block.form(*row) == form;
        let windows = (from..from + most).take_while(is_equal).count();
        let block = Arc::clone(block);
        self.describe(&block.head(from, self.header))?;
        let mut offset = 0;
        for (_, bytes, rows) in &mut self.parts {
            for row in from..from + windows {
                rows.extend_from_slice(block.parts(row).get(offset..offset + *bytes).ok_or_else(wrong)?);
            }
            offset += *bytes;
        }
        Ok(windows as u32)
    }

    /// Takes ticks, counts and lengths from the head of a window. Its rows are empty then.
    fn describe(&mut self, head: &[u8]) -> Result<(), StoreError> {
        let window = sotto_wire::window_description(head, self.header).map_err(damaged)?;
        self.ticks = window.sent_ticks();
        let of_stream = self.header.parts().iter().zip(&self.forms);
        for ((counts, bytes, rows), (part, form)) in self.parts.iter_mut().zip(of_stream) {
            *bytes = form.body_bytes(self.ticks) + TAG_BYTES;
            counts.clear();
            counts.extend(part.counts(&window).into_iter().flat_map(u16::to_le_bytes));
            rows.clear();
        }
        Ok(())
    }

    /// Reads the parts that stay of a window of a roll-up, which is in the present run: those whose values do not add. Other parts,
    /// and all if none stays, are empty.
    pub(in super::super) fn read_values(&mut self, number: u64) -> Result<(), StoreError> {
        let wrong = || StoreError::Damaged("a row of a segment is no window of its stream".to_owned());
        let Some((run, block)) = &self.current else { return Err(wrong()) };
        let row = run.row_of(number);
        if row >= block.rows() {
            return Err(wrong());
        }
        let block = Arc::clone(block);
        let mut values = block.values(row, self.header).map_err(|_| wrong())?;
        self.describe(&block.head(row, self.header))?;
        for ((_, bytes, rows), part) in self.parts.iter_mut().zip(self.header.parts()) {
            if !part.adds() && !values.is_empty() {
                let (of_part, after) = values.split_at_checked(*bytes).ok_or_else(wrong)?;
                rows.extend_from_slice(of_part);
                values = after;
            }
        }
        Ok(())
    }

    /// Returns the windows that were read, of which the first has this number.
    pub(in super::super) fn run(&self, number: u64) -> Run<'_> {
        let (salt, sequence) = match &self.current {
            Some((run, block)) => block.pads(run.row_of(number)),
            None => ([0; 12], 0),
        };
        let parts = self.parts.iter().map(|(counts, bytes, rows)| Rows::new(counts, rows, *bytes));
        Run::new(MaskName { salt, sequence }, self.ticks, parts.collect())
    }
}
