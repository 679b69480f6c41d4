//! The cloud, tested over HTTP as its devices and its owner use it, with real ciphertexts and checks of its store.

#![allow(clippy::unwrap_used)]

mod answers;
mod conforms;
mod copies;
mod device;
mod enrolments;
mod expansion;
mod flood;
mod forget;
#[cfg(target_os = "linux")]
mod full;
mod generations;
mod groups;
#[cfg(target_os = "linux")]
mod handles;
mod jobs;
mod kills;
mod lake;
mod listing;
#[cfg(target_os = "linux")]
mod memory;
mod nodes;
mod objects;
mod owner;
mod places;
mod position;
mod process;
mod quotas;
mod reference;
mod refusals;
mod restart;
mod roll_up;
mod segments;
mod store;
mod strangers;
mod streams;
mod submissions;
mod tls;
mod transfers;
mod uploads;
mod windows;
mod world;
