//! False statements of a cloud.

/// A false statement of the cloud. The message names the window or the work, and a remedy.
///
/// ```
/// use sotto_owner::{Lie, OwnerError};
///
/// let lie = Lie::ShortLog { device: "boiler".into(), stream: "exact-5m".into(), given: 6, size: 7 };
/// assert!(lie.to_string().contains("ends after 6 windows"));
/// assert_eq!(OwnerError::from(lie).exit_code(), 7);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lie {
    /// A log has fewer windows than before.
    #[error(
        "older database: the cloud's log of stream {stream} of {device} has {has} windows, and had {had} before. If its operator has put back \
         a backup, accept that with `sotto cloud accept {device}`, or of all devices with `sotto cloud accept --all`; windows that came since the backup \
         are sent again by the device only if it still has them"
    )]
    OlderDatabase {
        /// The device's name.
        device: String,
        /// The stream's name.
        stream: String,
        /// Number of windows before.
        had: u64,
        /// Number of windows now.
        has: u64,
    },
    /// A log does not continue the log of before.
    #[error(
        "changed log: the cloud's log of stream {stream} of {device} does not continue the {had} windows that it had before: windows were \
         exchanged, left out or put in. If its operator has made the database again (`sotto-cloud rebuild`), accept that with `sotto cloud \
         accept {device}`"
    )]
    ChangedLog {
        /// The device's name.
        device: String,
        /// The stream's name.
        stream: String,
        /// Number of windows before.
        had: u64,
    },
    /// A window names a receipt that the cloud gave for another log.
    #[error(
        "other receipt: window {sequence} of stream {stream} of {device} names the cloud's receipt for window {receipt} at position \
         {position} of its log, and the log has another there: the cloud holds back windows that it gave receipts for. If its operator \
         has put back a backup, accept that with `sotto cloud accept {device}`"
    )]
    OtherReceipt {
        /// The device's name.
        device: String,
        /// The stream's name.
        stream: String,
        /// The number of the window that names the receipt.
        sequence: u64,
        /// The number of the window that the receipt is of.
        receipt: u64,
        /// The position in the receipt.
        position: u64,
    },
    /// A log has fewer windows than its head states.
    #[error(
        "dropped windows: the cloud's log of stream {stream} of {device} ends after {given} windows, its head says {size}"
    )]
    ShortLog {
        /// The device's name.
        device: String,
        /// The stream's name.
        stream: String,
        /// Number of windows returned.
        given: u64,
        /// Number of windows in the head.
        size: u64,
    },
    /// The cloud no longer has a window of the log.
    #[error(
        "missing window: the cloud does not have a window any more that it has in its log: {reason}. If an earlier version of sotto deleted it from another \
         computer, read the logs again with `sotto cloud accept {device}`"
    )]
    MissingWindow {
        /// The device's name.
        device: String,
        /// The cloud's explanation.
        reason: String,
    },
    /// A sum is not that of the windows.
    #[error(
        "forged sum: the cloud's sum of {windows} windows of stream {stream} of {device} is another one than that of the windows as \
         the device signed them"
    )]
    ForgedSum {
        /// The device's name.
        device: String,
        /// The stream's name.
        stream: String,
        /// Number of windows in the refused sums.
        windows: u64,
    },
    /// An answer to a request for sums is another one.
    #[error("other sums: the cloud's answer is not the one that was asked for: {reason}")]
    OtherSums {
        /// The difference.
        reason: String,
    },
    /// A window is in the log twice.
    #[error(
        "doubled window: the cloud has window {sequence} of stream {stream} of {device} twice in its log"
    )]
    DoubledWindow {
        /// The device's name.
        device: String,
        /// The stream's name.
        stream: String,
        /// The window's sequence number.
        sequence: u64,
    },
    /// The cloud gives a window a name that another one has, or none.
    #[error(
        "repeated name: the cloud gives window {sequence} of stream {stream} of {device} a name of zeros, or the name of another window"
    )]
    RepeatedName {
        /// The device's name.
        device: String,
        /// The stream's name.
        stream: String,
        /// The window's sequence number.
        sequence: u64,
    },
    /// The cloud returns another window in place of the requested one.
    #[error(
        "exchanged window: in the place of window {sequence} of stream {stream} of {device} the cloud gives another one"
    )]
    ExchangedWindow {
        /// The device's name.
        device: String,
        /// The stream's name.
        stream: String,
        /// The window's sequence number.
        sequence: u64,
    },
    /// The device did not sign this header.
    #[error(
        "changed window: the signature of {device} does not cover the header that the cloud gives for window {sequence} of \
         stream {stream}: its layout, range, times or body were changed"
    )]
    ChangedWindow {
        /// The device's name.
        device: String,
        /// The stream's name.
        stream: String,
        /// The window's sequence number.
        sequence: u64,
    },
    /// A window has no signature.
    #[error(
        "unsigned layout: window {sequence} of stream {stream} of {device} carries no signature of the device"
    )]
    UnsignedWindow {
        /// The device's name.
        device: String,
        /// The stream's name.
        stream: String,
        /// The window's sequence number.
        sequence: u64,
    },
    /// The document is signed with a key that is not pinned.
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
    /// The cloud's own signature is invalid.
    #[error("forged signature: the cloud's signature of {what} does not hold")]
    ForgedSignature {
        /// The document.
        what: &'static str,
    },
    /// The answer has no transcript.
    #[error(
        "no transcript: the cloud gives an answer and does not say how it was made; it may be of an older version"
    )]
    NoTranscript,
    /// The transcript names another plan or other sums.
    #[error("other plan: the transcript of the answer is of another plan than the one that was sent")]
    OtherPlan,
    /// The transcript names other windows.
    #[error(
        "other windows: the transcript of the answer is of {found} windows that are not the {expected} that were asked for: an answer was \
         replayed, or windows were left out, doubled or exchanged"
    )]
    OtherWindows {
        /// Number of windows requested.
        expected: u64,
        /// Number of windows in the transcript.
        found: u64,
    },
    /// The transcript names another key.
    #[error("wrong key: the transcript of the answer is under key {found}, not under {expected}")]
    WrongKey {
        /// The requested key.
        expected: String,
        /// The transcript's key.
        found: String,
    },
    /// The transcript names other evaluation keys.
    #[error("wrong evaluation keys: the answer was not made with the evaluation keys that were sent")]
    WrongEvaluationKeys,
    /// An output is not a whole frame.
    #[error("truncated answer: {reason}")]
    TruncatedAnswer {
        /// The fault of the bytes.
        reason: String,
    },
    /// The outputs differ from those of the transcript.
    #[error("forged answer: an output is not the one that the transcript names")]
    OtherOutput,
    /// Repeating the work gives other bytes.
    #[error(
        "forged answer: repeated here on the same {windows} windows, the work gives another output than the cloud's"
    )]
    ForgedAnswer {
        /// Number of windows in the work.
        windows: u64,
    },
    /// The work cannot be repeated on the cloud's data.
    #[error("impossible work: the cloud says that it ran this work, and here it is refused: {reason}")]
    ImpossibleWork {
        /// The failure when the work was repeated.
        reason: String,
    },
}

impl Lie {
    /// Returns the device's name, if the statement is about one.
    pub(crate) fn device_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::OlderDatabase { device, .. }
            | Self::ForgedSum { device, .. }
            | Self::ChangedLog { device, .. }
            | Self::OtherReceipt { device, .. }
            | Self::ShortLog { device, .. }
            | Self::MissingWindow { device, .. }
            | Self::DoubledWindow { device, .. }
            | Self::RepeatedName { device, .. }
            | Self::ExchangedWindow { device, .. }
            | Self::ChangedWindow { device, .. }
            | Self::UnsignedWindow { device, .. } => Some(device),
            _ => None,
        }
    }
}
