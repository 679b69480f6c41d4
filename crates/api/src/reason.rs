//! Reasons of problem documents: short stable names, for programs.
//!
//! ```
//! use sotto_api::reason;
//!
//! assert_eq!(reason::UNKNOWN_JOB, "unknown-job");
//! assert!(reason::ALL.contains(&reason::QUEUE_FULL));
//! ```

macro_rules! reasons {
    ($($(#[doc = $doc:tt])* $name:ident = $text:literal;)*) => {
        $($(#[doc = $doc])* pub const $name: &str = $text;)*

        /// All reasons.
        pub const ALL: &[&str] = &[$($name),*];
    };
}

// Never given again: `unknown-fleet` and `wrong-fleet`, of an earlier version.
reasons! {
    /// The device's question was answered before.
    ASKED_BEFORE = "asked-before";
    /// A batch was sent too often under its name.
    ASKED_TOO_OFTEN = "asked-too-often";
    /// A parameter of the address cannot be read.
    BAD_REQUEST = "bad-request";
    /// A signature is another key's.
    BAD_SIGNATURE = "bad-signature";
    /// The batch's name was used for other requests.
    BATCH_NAME_TAKEN = "batch-name-taken";
    /// The window was a piece of one that was still open; the whole window has taken its place.
    BODY_DROPPED = "body-dropped";
    /// The clocks of device and cloud are more than a day apart.
    CLOCK_APART = "clock-apart";
    /// A write lacks the condition that it has to carry.
    CONDITION_MISSING = "condition-missing";
    /// The device has as many bytes as it may have.
    DEVICE_QUOTA = "device-quota";
    /// The device has sent as many envelopes a minute as it may.
    DEVICE_RATE = "device-rate";
    /// The owner has revoked the device.
    DEVICE_REVOKED = "device-revoked";
    /// A frame's bytes do not have its digest.
    DIGEST_MISMATCH = "digest-mismatch";
    /// The batch asks for nothing.
    EMPTY_BATCH = "empty-batch";
    /// The owner has deleted the windows of this time.
    FORGOTTEN = "forgotten";
    /// The idempotency key does not belong to the envelope.
    IDEMPOTENCY_KEY_MISMATCH = "idempotency-key-mismatch";
    /// The request has no idempotency key, or several.
    IDEMPOTENCY_KEY_MISSING = "idempotency-key-missing";
    /// The idempotency key was used with another body.
    IDEMPOTENCY_KEY_REUSED = "idempotency-key-reused";
    /// A fault of the service itself.
    INTERNAL = "internal";
    /// A constant of the plan cannot be used.
    INVALID_CONSTANT = "invalid-constant";
    /// The idempotency key has a wrong length, or characters that are not visible ASCII.
    INVALID_IDEMPOTENCY_KEY = "invalid-idempotency-key";
    /// The body is not the JSON that the route takes.
    INVALID_JSON = "invalid-json";
    /// The text is not a name.
    INVALID_NAME = "invalid-name";
    /// An output of the plan cannot be made.
    INVALID_OUTPUT = "invalid-output";
    /// The plan contradicts itself.
    INVALID_PLAN = "invalid-plan";
    /// A step of the plan cannot be run.
    INVALID_STEP = "invalid-step";
    /// A value is out of its range.
    INVALID_VALUE = "invalid-value";
    /// The job holds more bytes at once than it may.
    JOB_TOO_LARGE = "job-too-large";
    /// Another window has the same mask.
    MASK_REPEATED = "mask-repeated";
    /// The path does not take this method.
    METHOD_NOT_ALLOWED = "method-not-allowed";
    /// An evaluation key that the plan needs was not uploaded.
    MISSING_KEY = "missing-key";
    /// The recryptor has no ElGamal key.
    NO_ELGAMAL_KEY = "no-elgamal-key";
    /// No registration of the device had a record.
    NO_RECORD = "no-record";
    /// The parameters have no special prime.
    NO_SPECIAL_PRIME = "no-special-prime";
    /// Nothing has this path.
    NO_SUCH_RESOURCE = "no-such-resource";
    /// The result would be too noisy.
    NOISE = "noise";
    /// The bytes do not begin as a frame does.
    NOT_A_FRAME = "not-a-frame";
    /// The device is unknown or revoked, or its signature is another key's.
    NOT_ADMITTED = "not-admitted";
    /// A number has a factor in common with the modulus.
    NOT_COPRIME = "not-coprime";
    /// The store or ledger does not answer.
    NOT_READY = "not-ready";
    /// The plan has the layout of an older version.
    OUTDATED_PLAN = "outdated-plan";
    /// A number is not in its group.
    OUTSIDE_GROUP = "outside-group";
    /// The caller's quota for the day is used up.
    OVER_QUOTA = "over-quota";
    /// Bits that have to be zero are not.
    PADDING_NOT_ZERO = "padding-not-zero";
    /// The parameters are invalid, or have less than 128 bits of security.
    PARAMETERS_REFUSED = "parameters-refused";
    /// The window is one of places, of an earlier version.
    PLACES_NOT_READ = "places-not-read";
    /// The queue of jobs is full.
    QUEUE_FULL = "queue-full";
    /// The caller's quota for the day is used up by refused numbers.
    REFUSED_TOO_OFTEN = "refused-too-often";
    /// A residue is not below its modulus.
    RESIDUE_OUT_OF_RANGE = "residue-out-of-range";
    /// The window corrects one of which the cloud keeps a sum, by the owner's order.
    ROLLED_UP = "rolled-up";
    /// The stream has another window with this sequence number.
    SEQUENCE_TAKEN = "sequence-taken";
    /// No space is left for the store or ledger.
    STORAGE_FULL = "storage-full";
    /// Stored bytes are missing or damaged.
    STORED_BYTES_DAMAGED = "stored-bytes-damaged";
    /// Another window of the stream has a reading of the channel at a tick.
    TICK_TAKEN = "tick-taken";
    /// The port speaks TLS.
    TLS_REQUIRED = "tls-required";
    /// The body has more bytes than it may have.
    TOO_LARGE = "too-large";
    /// The registration has more keys than it may have.
    TOO_MANY_KEYS = "too-many-keys";
    /// The registration has more streams than it may have.
    TOO_MANY_STREAMS = "too-many-streams";
    /// The memory for uploads is used up.
    TOO_MANY_UPLOADS = "too-many-uploads";
    /// The body did not arrive in time.
    TOO_SLOW = "too-slow";
    /// Bytes follow the end of a frame.
    TRAILING_BYTES = "trailing-bytes";
    /// Nothing hides the content of a ciphertext.
    TRANSPARENT = "transparent";
    /// The body ended early.
    TRUNCATED = "truncated";
    /// The request has no token, or another one.
    UNAUTHORISED = "unauthorised";
    /// No device of this name is registered.
    UNKNOWN_DEVICE = "unknown-device";
    /// No envelope has this id.
    UNKNOWN_ENVELOPE = "unknown-envelope";
    /// No job has this id.
    UNKNOWN_JOB = "unknown-job";
    /// The cloud has no such key.
    UNKNOWN_KEY = "unknown-key";
    /// The job has no such output, or is not done.
    UNKNOWN_OUTPUT = "unknown-output";
    /// The parameters were not uploaded.
    UNKNOWN_PARAMETERS = "unknown-parameters";
    /// No plan has this id.
    UNKNOWN_PLAN = "unknown-plan";
    /// The stream is not registered.
    UNKNOWN_STREAM = "unknown-stream";
    /// The frame has a version that the service cannot read.
    UNKNOWN_VERSION = "unknown-version";
    /// A number is out of its range.
    VALUE_OUT_OF_RANGE = "value-out-of-range";
    /// The object store that has these windows does not answer.
    WINDOWS_AWAY = "windows-away";
    /// The object was written since the state that the write's condition names.
    WRITTEN_SINCE = "written-since";
    /// The inputs are not those that the plan takes.
    WRONG_INPUTS = "wrong-inputs";
    /// A ciphertext is under another key.
    WRONG_KEY = "wrong-key";
    /// The frame is of another kind.
    WRONG_KIND = "wrong-kind";
    /// A part of the frame has a wrong length.
    WRONG_LENGTH = "wrong-length";
    /// A ciphertext has other parameters.
    WRONG_PARAMETERS = "wrong-parameters";
    /// The header of a stream names another device or key.
    WRONG_STREAM = "wrong-stream";
    /// There is no such sum.
    WRONG_SUM = "wrong-sum";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sotto_wire::{WireError, is_final_refusal};

    use super::*;
    use crate::PROBLEM_TYPE;

    #[test]
    fn reasons_are_distinct_and_in_order_of_their_names() {
        let distinct: BTreeSet<&str> = ALL.iter().copied().collect();
        assert_eq!(distinct.len(), ALL.len());
    }

    #[test]
    fn frames_are_refused_for_these_reasons() {
        let of_frames = [
            (WireError::Magic, NOT_A_FRAME),
            (WireError::Version(9), UNKNOWN_VERSION),
            (WireError::Digest, DIGEST_MISMATCH),
            (WireError::Padding, PADDING_NOT_ZERO),
            (WireError::Signature, BAD_SIGNATURE),
            (WireError::TooLarge { limit: 1, found: 2 }, TOO_LARGE),
            (WireError::Residue { limb: 0 }, RESIDUE_OUT_OF_RANGE),
            (WireError::Value(""), INVALID_VALUE),
            (WireError::Places, PLACES_NOT_READ),
        ];
        for (error, reason) in of_frames {
            assert_eq!(error.name(), reason);
        }
    }

    #[test]
    fn the_final_reasons_are_declared() {
        assert_eq!(PROBLEM_TYPE, sotto_wire::PROBLEM_TYPE);
        let is_final = |reason: &&&str| is_final_refusal(&format!("{PROBLEM_TYPE}{reason}"));
        assert_eq!(ALL.iter().filter(is_final).count(), 22, "as many as sotto-wire lists");
    }
}
