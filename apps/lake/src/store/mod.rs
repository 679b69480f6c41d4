//! A store of a cloud, read beside the cloud: its catalogue, its segments, and its other files.

mod bucket;
mod catalogue;
mod ciphertexts;
mod files;
mod filter;
mod handles;
mod objects;
mod place;
mod plan;
mod planned;
mod setting;
mod superseded;

pub use catalogue::{Catalogue, VERSION};
pub(crate) use ciphertexts::{Ciphertexts, Row};
pub use files::Files;
pub(crate) use files::name_of;
pub(crate) use filter::Filter;
pub(crate) use objects::Object;
pub use place::Place;
pub(crate) use plan::plan;
pub(crate) use planned::{Header, Loose, Planned, Rolled, Unit};
pub(crate) use setting::Setting;
