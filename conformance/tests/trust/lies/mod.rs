//! The lies: for each, the behaviour of a cloud that has its signing key, and what becomes of its answer.

mod http;
mod jobs;
mod logs;
mod past;
mod pieces;
mod sums;

pub(crate) use logs::DELETED;

use serde_json::Value;

use crate::liar::{Lie, Reply, Request, Truth, edited};
use crate::world::World;

/// What becomes of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// `sotto ask` refuses it.
    Refused,
    /// `sotto ask` answers with a note.
    Noted,
    /// Its values are unchecked, and `sotto verify` finds the lie.
    Unchecked,
    /// The answer is the true one all the same.
    Harmless,
    /// Nothing shows it: the closed list in docs/concepts/trust.md.
    NotShown,
}

/// A lie.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) lie: Lie,
    /// True if the owner has read the cloud's logs before.
    pub(crate) seen: bool,
    pub(crate) question: &'static str,
    pub(crate) verdict: Verdict,
    /// Words that the message or the note must contain.
    pub(crate) says: &'static str,
    /// Questions that the owner asks first, in order.
    pub(crate) before: &'static [&'static str],
    /// Commands that the owner runs first, at the true cloud.
    pub(crate) runs: &'static [&'static [&'static str]],
    /// True if windows arrive between these and the question.
    pub(crate) grows: bool,
    /// The time that the owner waits for a job; None: 15 minutes.
    pub(crate) waits: Option<&'static str>,
    /// True if the question is asked as of an answer that the true cloud gave before all of this.
    pub(crate) as_of: bool,
}

impl Case {
    fn new(
        name: &'static str,
        question: &'static str,
        (verdict, says): (Verdict, &'static str),
        lie: Lie,
    ) -> Self {
        Self {
            name,
            lie,
            seen: true,
            question,
            verdict,
            says,
            before: &[],
            runs: &[],
            grows: false,
            waits: None,
            as_of: false,
        }
    }

    fn fresh(self) -> Self {
        Self { seen: false, ..self }
    }

    fn after(self, before: &'static [&'static str]) -> Self {
        Self { before, ..self }
    }

    /// The commands change the world: others come first.
    fn running(self, runs: &'static [&'static [&'static str]]) -> Self {
        Self { runs, grows: true, ..self }
    }

    fn waiting(self, limit: &'static str) -> Self {
        Self { waits: Some(limit), ..self }
    }

    /// Asked as of an answer that was given before more windows arrived.
    fn of_earlier(self) -> Self {
        Self { as_of: true, grows: true, ..self }
    }

    fn grown(self) -> Self {
        Self { grows: true, ..self }
    }
}

/// Returns all lies, by kind.
pub(crate) fn all(world: &World) -> Vec<(&'static str, Vec<Case>)> {
    vec![
        ("sums", sums::all()),
        ("logs", logs::all(world)),
        ("pieces", pieces::all(world)),
        ("as of", past::all()),
        ("jobs", jobs::all()),
        ("HTTP", http::all()),
    ]
}

/// Replaces bytes by others, once.
fn replaced(mut frame: Vec<u8>, old: &[u8], new: &[u8]) -> Vec<u8> {
    let at = frame.windows(old.len()).position(|bytes| bytes == old).expect("the bytes are there");
    frame[at..at + new.len()].copy_from_slice(new);
    edited(frame, |_| {})
}

/// A lie about one request, which gets its path without the query.
fn at(
    wanted: impl Fn(&Request) -> bool + Send + 'static,
    lie: impl Fn(Reply) -> Reply + Send + 'static,
) -> Lie {
    Box::new(move |truth: &Truth, request: Request| {
        let reply = truth.tell(&request);
        if wanted(&request) { lie(reply) } else { reply }
    })
}

/// Changes a document of an answer.
fn document(reply: &Reply, edit: impl FnOnce(&mut Value)) -> Reply {
    let mut value = reply.json();
    edit(&mut value);
    Reply::of_json(&value)
}
