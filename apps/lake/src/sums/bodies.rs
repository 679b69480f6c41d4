//! The columns that a sum takes, row by row.

use std::any::type_name;

use datafusion::arrow::array::{
    Array, ArrayRef, BinaryViewArray, Int32Array, Int64Array, StructArray, UInt8Array,
};
use sotto_pack::WindowDescription;
use sotto_wire::{StreamHeader, WindowFields, window_description};

use crate::LakeError;
use crate::windows::body;

/// The columns of `body` and `tag`.
pub(super) struct Bodies<'b> {
    all: &'b StructArray,
    headers: &'b BinaryViewArray,
    numbers: &'b Int64Array,
    salts: &'b BinaryViewArray,
    pads: &'b Int64Array,
    starts: &'b Int64Array,
    ticks: &'b Int32Array,
    flags: &'b UInt8Array,
    lists: &'b BinaryViewArray,
    replaced: &'b BinaryViewArray,
    rolled: &'b BinaryViewArray,
    places: &'b BinaryViewArray,
    tags: &'b BinaryViewArray,
}

fn typed<T: Array + 'static>(array: &dyn Array) -> Result<&T, LakeError> {
    let found = array.as_any().downcast_ref::<T>();
    found
        .ok_or_else(|| LakeError::Sum(format!("a column is {}, not {}", array.data_type(), type_name::<T>())))
}

impl<'b> Bodies<'b> {
    pub(super) fn of(bodies: &'b ArrayRef, tags: &'b ArrayRef) -> Result<Self, LakeError> {
        let all: &StructArray = typed(bodies)?;
        if all.num_columns() != body::PLACES + 1 {
            return Err(LakeError::Sum("the first argument is the column body".to_owned()));
        }
        Ok(Self {
            all,
            headers: typed(all.column(body::HEADER))?,
            numbers: typed(all.column(body::NUMBER))?,
            salts: typed(all.column(body::SALT))?,
            pads: typed(all.column(body::PAD))?,
            starts: typed(all.column(body::START))?,
            ticks: typed(all.column(body::TICKS))?,
            flags: typed(all.column(body::FLAGS))?,
            lists: typed(all.column(body::LISTS))?,
            replaced: typed(all.column(body::REPLACED))?,
            rolled: typed(all.column(body::ROLLED))?,
            places: typed(all.column(body::PLACES))?,
            tags: typed(tags)?,
        })
    }

    pub(super) fn rows(&self) -> usize {
        self.all.len()
    }

    /// Returns true for a row without a window, as of an outer join.
    pub(super) fn is_null(&self, row: usize) -> bool {
        self.all.is_null(row) || self.tags.is_null(row)
    }

    pub(super) fn header(&self, row: usize) -> &'b [u8] {
        self.headers.value(row)
    }

    /// Returns true if two rows name the same bytes as their header; false says nothing.
    pub(super) fn has_header_of(&self, row: usize, other: usize) -> bool {
        let views = self.headers.views();
        views.get(row).zip(views.get(other)).is_some_and(|(one, other)| one == other)
    }

    pub(super) fn number(&self, row: usize) -> u64 {
        self.numbers.value(row).cast_unsigned()
    }

    pub(super) fn salt(&self, row: usize) -> Result<[u8; 12], LakeError> {
        let salt = self.salts.value(row).try_into();
        salt.map_err(|_| LakeError::Sum("a salt has 12 bytes".to_owned()))
    }

    pub(super) fn pad(&self, row: usize) -> u64 {
        self.pads.value(row).cast_unsigned()
    }

    /// Returns the facts that must be equal in windows whose counts are.
    pub(super) fn form(&self, row: usize) -> (i32, u8, &'b [u8]) {
        (self.ticks.value(row), self.flags.value(row), self.lists.value(row))
    }

    pub(super) fn replaced(&self, row: usize) -> &'b [u8] {
        self.replaced.value(row)
    }

    pub(super) fn rolled(&self, row: usize) -> &'b [u8] {
        self.rolled.value(row)
    }

    pub(super) fn places(&self, row: usize) -> &'b [u8] {
        self.places.value(row)
    }

    pub(super) fn tags(&self, row: usize) -> &'b [u8] {
        self.tags.value(row)
    }

    /// Returns the description in the head of a window.
    pub(super) fn description(
        &self,
        row: usize,
        header: &StreamHeader,
    ) -> Result<WindowDescription, LakeError> {
        let (ticks, flags, lists) = self.form(row);
        let fields = WindowFields {
            salt: self.salt(row)?,
            sequence: self.number(row),
            start: self.starts.value(row),
            flags,
            ticks: ticks.cast_unsigned(),
            lists: lists.to_vec(),
            place: None,
            signature: [0; 64],
        };
        Ok(window_description(&fields.head(header), header)?)
    }
}
