//! Options of windows.

use sotto_pack::Period;
use std::sync::Arc;

use super::present::Present;
use crate::spool::kept::Kept;

/// How windows are filled and closed.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// True if each stream gives only one window.
    pub once: bool,
    /// True if the readings are also kept in the clear.
    pub keep_clear: bool,
    /// The period in milliseconds at which the agent polls the source; `None` if the source sets the pace.
    pub own_period: Option<Period>,
    /// True to accept times more than a day ahead of this machine's clock; otherwise such rows are left out.
    pub future: bool,
    /// Maximum number of slots of all open windows; `None` for some 50 MB.
    pub most_slots: Option<usize>,
    /// The milliseconds after the clock's ticks at which sensors report; `None`: the first rows tell.
    pub phase: Option<u32>,
    /// The times of the first rows.
    pub first_times: Vec<i64>,
    /// The readings of windows that were sent. `None`: those of joined streams are not kept.
    pub kept: Option<Arc<Kept>>,
    /// True if the windows of the source come in the place of those that were sent.
    pub correct: bool,
    /// True if a correction may lack readings that were sent.
    pub allow_missing: bool,
    /// Maximum number of readings of joined streams that wait for their window; `None` for some 16 MB.
    pub most_reports: Option<usize>,
    /// True to show no progress: many devices share a terminal.
    pub quiet: bool,
    /// The present time.
    pub now: Present,
    /// Milliseconds between pieces of open windows. Only for sources whose rows arrive over time.
    pub fresh: Option<u32>,
}
