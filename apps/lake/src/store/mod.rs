//! A store of a cloud, read beside the cloud: its catalogue, and its segments.

mod bucket;
mod catalogue;
mod files;
mod filter;
mod handles;
mod place;
mod plan;
mod planned;
mod superseded;

pub use catalogue::Catalogue;
pub use files::Files;
pub(crate) use files::name_of;
pub(crate) use filter::Filter;
pub use place::Place;
pub(crate) use plan::plan;
pub(crate) use planned::{Header, Loose, Planned, Rolled, Unit};
