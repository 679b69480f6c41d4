//! The gateway as a process: readings that were answered 204 are in the spools once, through kills, full disks and changed bundles.

mod broker;
mod collected;
mod farm;
mod folder;
mod full;
mod hostile;
mod kills;
mod listeners;
mod many;
mod mqtt;
mod recorded;
