//! Columns that tell rows apart: the place of a device, the device or the tag.

use sotto_owner::{Next, Rank, Row};

/// Returns the place of a device, with a mark if the device next in the order is near.
pub(super) fn place(row: &Row) -> String {
    let Some(Rank { place, next }) = row.rank else { return String::new() };
    let mark = match next {
        None => "",
        Some(Next::Equal) => " =",
        Some(Next::Overlaps) => " ~",
    };
    format!("{place}{mark}")
}

/// Returns the heading of the devices or tags of rows; None if all are over several devices.
pub(crate) fn subject(rows: &[Row]) -> Option<&'static str> {
    let has = |of: fn(&Row) -> bool| rows.iter().any(of);
    let tag = has(|row| row.tag.is_some()).then_some("tag");
    tag.or_else(|| has(|row| row.device.is_some()).then_some("device"))
}
