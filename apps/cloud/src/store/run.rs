//! Windows of sums as rows: what a sum reads.

use sotto_sums::Form;
use sotto_wire::{MaskName, StreamHeader};

use super::StoreError;
use super::error::damaged;

/// Some windows whose numbers and pads follow each other, with equal lengths and counts.
#[derive(Clone, Debug)]
pub(crate) struct Run<'c> {
    /// The pads of the first window.
    name: MaskName,
    pub(crate) ticks: u32,
    /// For each part of the stream.
    pub(crate) parts: Vec<Rows<'c>>,
}

/// A part of the windows of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'c> {
    /// The counts of each window, 2 bytes each.
    pub(crate) counts: &'c [u8],
    /// A body and a tag for each window.
    rows: &'c [u8],
    /// Bytes of a row.
    bytes: usize,
}

impl<'c> Rows<'c> {
    pub(super) fn new(counts: &'c [u8], rows: &'c [u8], bytes: usize) -> Self {
        Self { counts, rows, bytes }
    }

    /// Returns the rows of `count` windows from the one at index `from` on.
    pub(crate) fn some(&self, from: usize, count: usize) -> &'c [u8] {
        self.rows.get(from * self.bytes..(from + count) * self.bytes).unwrap_or_default()
    }
}

impl<'c> Run<'c> {
    pub(super) fn new(name: MaskName, ticks: u32, parts: Vec<Rows<'c>>) -> Self {
        Self { name, ticks, parts }
    }

    /// Returns the pads of the window at an index.
    pub(crate) fn name(&self, at: usize) -> MaskName {
        self.name.ahead(at as u64)
    }
}

/// Returns the forms of a stream's parts.
pub(crate) fn forms(header: &StreamHeader) -> Result<Vec<Form<'_>>, StoreError> {
    (0..header.parts().len()).map(|part| header.sums_form(part).map_err(damaged)).collect()
}
