//! Statements of a cloud that do not hold.

/// A statement of the cloud that does not hold, by its name. Errors say which window or which work, and the way out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lie {
    /// A log has fewer windows than the cloud said before.
    #[error(
        "older database: the cloud's log of stream {stream} of {device} has {has} windows, and had {had} before. If its operator has put back \
         a backup, accept that with `sotto cloud accept {device}`; windows that came since the backup are sent again by the device only if it \
         still has them"
    )]
    OlderDatabase {
        /// The device.
        device: String,
        /// Its stream.
        stream: String,
        /// Windows that the log had.
        had: u64,
        /// Windows that it has.
        has: u64,
    },
    /// A log does not continue the one that the cloud showed before.
    #[error(
        "changed log: the cloud's log of stream {stream} of {device} does not continue the {had} windows that it had before: windows were \
         exchanged, left out or put in. If its operator has made the database again (`sotto-cloud rebuild`), accept that with `sotto cloud \
         accept {device}`"
    )]
    ChangedLog {
        /// The device.
        device: String,
        /// Its stream.
        stream: String,
        /// Windows that the log had.
        had: u64,
    },
    /// A log is shorter than its head says.
    #[error(
        "dropped windows: the cloud's log of stream {stream} of {device} ends after {given} windows, its head says {size}"
    )]
    ShortLog {
        /// The device.
        device: String,
        /// Its stream.
        stream: String,
        /// Windows that it gave.
        given: u64,
        /// Windows that its head says.
        size: u64,
    },
    /// A window of the log is not there any more.
    #[error(
        "missing window: the cloud does not have a window any more that it has in its log: {reason}. If the owner deleted it from another \
         computer, read the logs again with `sotto cloud accept DEVICE`"
    )]
    MissingWindow {
        /// What the cloud says.
        reason: String,
    },
    /// A window is in the log twice.
    #[error(
        "doubled window: the cloud has window {sequence} of stream {stream} of {device} twice in its log"
    )]
    DoubledWindow {
        /// The device.
        device: String,
        /// Its stream.
        stream: String,
        /// The window's number.
        sequence: u64,
    },
    /// Another window stands in a window's place.
    #[error(
        "exchanged window: in the place of window {sequence} of stream {stream} of {device} the cloud gives another one"
    )]
    ExchangedWindow {
        /// The device.
        device: String,
        /// Its stream.
        stream: String,
        /// The window's number.
        sequence: u64,
    },
    /// The device did not sign this header.
    #[error(
        "changed window: the signature of {device} does not cover what the cloud says of window {sequence} of stream {stream}: its layout, \
         range, times or body were changed"
    )]
    ChangedWindow {
        /// The device.
        device: String,
        /// Its stream.
        stream: String,
        /// The window's number.
        sequence: u64,
    },
    /// A window without a signature.
    #[error(
        "unsigned layout: window {sequence} of stream {stream} of {device} carries no signature of the device"
    )]
    UnsignedWindow {
        /// The device.
        device: String,
        /// Its stream.
        stream: String,
        /// The window's number.
        sequence: u64,
    },
    /// Signed by a key that is not the cloud's.
    #[error(
        "other cloud: {what} is signed with key {found}, which is not pinned. If the cloud has a new key, its operator tells it (`sotto-cloud \
         key`): pin it with `sotto cloud pin KEY`"
    )]
    OtherCloud {
        /// The document.
        what: &'static str,
        /// The key, in hexadecimal.
        found: String,
    },
    /// The cloud's own signature does not hold.
    #[error("forged signature: the cloud's signature of {what} does not hold")]
    ForgedSignature {
        /// The document.
        what: &'static str,
    },
    /// An answer without a transcript.
    #[error(
        "no transcript: the cloud gives an answer and does not say how it was made; it may be of an older version"
    )]
    NoTranscript,
    /// The transcript is of another plan or other sums.
    #[error("other plan: the transcript of the answer is of another plan than the one that was sent")]
    OtherPlan,
    /// The transcript is of other windows.
    #[error(
        "other windows: the transcript of the answer is of {found} windows that are not the {expected} that were asked for: an answer was \
         replayed, or windows were left out, doubled or exchanged"
    )]
    OtherWindows {
        /// Windows that were asked for.
        expected: u64,
        /// Windows of the transcript.
        found: u64,
    },
    /// The transcript is under another key.
    #[error("wrong key: the transcript of the answer is under key {found}, not under {expected}")]
    WrongKey {
        /// The key that was asked for.
        expected: String,
        /// The key of the transcript.
        found: String,
    },
    /// The transcript is of other evaluation keys.
    #[error("wrong evaluation keys: the answer was not made with the evaluation keys that were sent")]
    WrongEvaluationKeys,
    /// An output is no whole frame.
    #[error("truncated answer: {reason}")]
    TruncatedAnswer {
        /// The fault of the bytes.
        reason: String,
    },
    /// The outputs are not those of the transcript.
    #[error("forged answer: an output is not the one that the transcript names")]
    OtherOutput,
    /// Repeating the work gives other bytes.
    #[error(
        "forged answer: repeated here on the same {windows} windows, the work gives another output than the cloud's"
    )]
    ForgedAnswer {
        /// Windows of the work.
        windows: u64,
    },
    /// The work cannot be repeated on what the cloud gives.
    #[error("impossible work: the cloud says that it ran this work, and here it is refused: {reason}")]
    ImpossibleWork {
        /// Why it is refused.
        reason: String,
    },
}
