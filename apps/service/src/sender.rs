//! Marks of a response, for the log: its sender is known; the reason of a refusal.

/// The sender has proved who it is, by a token or a signature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known;

/// The reason of a refusal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal(pub(crate) &'static str);
