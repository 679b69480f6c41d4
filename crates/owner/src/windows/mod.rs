//! Stored windows: the logs of streams, compared with the cloud's earlier statements, and the windows in them.

mod accept;
mod calendar;
mod covered;
mod deleted;
mod earlier;
mod earlier_version;
mod finest;
mod forget;
mod forgotten;
mod group;
mod known;
mod learn;
mod leaves;
mod left_out;
mod list;
mod log;
#[cfg(test)]
pub(crate) mod made;
mod mirror;
mod needed;
mod overlaps;
mod past;
mod preceding;
mod receipts;
mod replaced;
mod retain;
mod rolled;
mod row_time;
mod run;
mod segments;
mod stored;
mod stream_name;
mod time;
mod twice;
mod used;
mod window;

pub use accept::{Accepted, GivenUp};
pub(crate) use accept::{accept, accept_logs, set_back};
pub(crate) use covered::{Covered, elsewhere, grid, ticks_between, ticks_on};
pub(crate) use earlier::{EarlierTime, earlier};
pub(crate) use forget::{logs_to_forget, note_deleted};
pub(crate) use forgotten::forgotten;
pub(crate) use group::{
    Grouping, Groups, InGroup, MOST_GROUPS, cut_ticks, first_reading, groups, last_reading, last_readings,
    pieces,
};
pub(crate) use known::identity;
pub(crate) use learn::learn_orders;
pub(crate) use leaves::ByNumber;
pub(crate) use left_out::left_out;
pub(crate) use list::{list, unit_is};
pub(crate) use log::{kept_log, sync_log};
pub(crate) use mirror::{Entry, StreamLog};
pub(crate) use needed::Needed;
#[cfg(test)]
pub(crate) use overlaps::tests::window as window_of_hours;
pub(crate) use past::LogThen;
pub(crate) use preceding::Preceding;
pub(crate) use replaced::replaced;
pub use retain::{Age, Retention, RollUpLevel, RollUpUnit};
pub(crate) use retain::{ToSum, roll_up_orders, to_roll_up};
pub(crate) use rolled::RollUps;
pub(crate) use row_time::Group;
pub(crate) use segments::{RowTime, Segments};
pub use stored::{mirrored_log, rewritten_log};
pub(crate) use time::Between;
pub use time::moment;
pub(crate) use twice::{mark_twice, twice};
pub(crate) use window::{Aside, DeviceWindows, StoredWindow, number, once, position};
