//! Answers: asked, kept, verified, published, forgotten.

mod answer;
mod ask;
mod assurance;
mod by_window;
mod cause;
mod checked;
mod empty;
mod evidence;
mod forget;
mod joint;
mod kept;
mod mark;
mod notes;
mod publish;
mod remarks;
mod rows;
mod status;
mod verify;

pub use answer::{Answer, Complete, Logs, Row, VERSION};
pub(crate) use ask::ask;
pub use assurance::Assurance;
pub(crate) use by_window::by_window;
pub use empty::{Cause, Empty};
pub(crate) use evidence::evidence;
pub use forget::Forgotten;
pub(crate) use forget::{forget, remove_device};
pub use kept::KeptAnswer;
pub(crate) use kept::{answer, answers, expire_answers, keep, last_cost, latest_answer, latest_answers};
pub use mark::Verified;
pub(crate) use notes::on_faulty;
pub use publish::{Giving, Published};
pub(crate) use publish::{publish, verified};
pub use remarks::left_out_in_words;
pub(crate) use status::status;
pub use status::{ChannelStatus, DeviceStatus, Trouble};
pub(crate) use verify::{verify, verify_asked};
