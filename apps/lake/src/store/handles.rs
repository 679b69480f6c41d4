//! File handles of the process.

/// Segments that stay open where nothing limits handles.
const MOST: usize = 4096;
/// Segments that stay open at least.
const LEAST: usize = 16;

/// Raises the limit on file handles to the highest allowed. Returns how many segments may stay open: half of it.
pub(super) fn segments() -> usize {
    raised().map_or(MOST, |limit| usize::try_from(limit / 2).unwrap_or(MOST)).clamp(LEAST, MOST)
}

#[cfg(unix)]
fn raised() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let highest = Rlimit { current: limit.maximum, ..limit };
    // Some systems refuse a number above a limit of their own.
    if setrlimit(Resource::Nofile, highest).is_ok() { limit.maximum } else { limit.current }
}

#[cfg(not(unix))]
fn raised() -> Option<u64> {
    None
}
