//! The list of refusals that are final: sending the same bytes again cannot succeed.

/// Prefix of the type of our problem documents; the reason follows.
pub const PROBLEM_TYPE: &str = "urn:sotto:problem:";

/// Reasons for which a cloud will never accept an envelope. A device tries again after any other answer: a missing
/// registration may still be made, and a proxy's answer says nothing about the message.
const FINAL: [&str; 22] = [
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
    "places-not-read",
    "parameters-refused",
    "invalid-idempotency-key",
    "idempotency-key-missing",
    "idempotency-key-mismatch",
    "idempotency-key-reused",
    "sequence-taken",
    "tick-taken",
    "mask-repeated",
    "forgotten",
    "rolled-up",
];

/// Returns true if a problem document of this type means that the cloud will never accept the envelope.
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
