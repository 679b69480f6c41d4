//! Refusals that sending the same bytes again does not heal.

/// What the type of a problem document of ours begins with; its reason follows.
pub const PROBLEM_TYPE: &str = "urn:sotto:problem:";

/// Reasons for which a cloud will never take an envelope as it is. Whatever else comes is tried again: a registration that is missing
/// may be made, a proxy's answer says nothing about the message.
const FINAL: [&str; 19] = [
    "truncated",
    "trailing-bytes",
    "too-large",
    "not-a-frame",
    "unknown-version",
    "wrong-kind",
    "digest-mismatch",
    "wrong-length",
    "residue-out-of-range",
    "padding-not-zero",
    "invalid-value",
    "parameters-refused",
    "invalid-idempotency-key",
    "idempotency-key-missing",
    "idempotency-key-mismatch",
    "idempotency-key-reused",
    "sequence-taken",
    "mask-repeated",
    "forgotten",
];

/// True if a problem document of this type says that the cloud will never take the envelope.
#[must_use]
pub fn is_final_refusal(problem_type: &str) -> bool {
    problem_type.strip_prefix(PROBLEM_TYPE).is_some_and(|reason| FINAL.contains(&reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reasons_on_the_list_are_final() {
        assert!(is_final_refusal("urn:sotto:problem:sequence-taken"));
        for later in ["", "sequence-taken", "urn:sotto:problem:unknown-device", "urn:other:sequence-taken"] {
            assert!(!is_final_refusal(later), "{later}");
        }
    }
}
