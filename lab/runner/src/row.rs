//! The output of a run: rows and gaps, one JSON line each.

use serde::{Deserialize, Serialize};

/// The time of one operation on one engine, with everything that a comparison needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The definition's name.
    pub definition: String,
    /// The name of the parameter set; empty if the definition has only one.
    #[serde(default)]
    pub parameters: String,
    /// True for a quick run.
    #[serde(default)]
    pub quick: bool,
    /// The engine's name.
    pub engine: String,
    /// The library's version.
    pub version: String,
    /// The engine's description of its build.
    #[serde(default)]
    pub flags: String,
    /// Number of threads.
    #[serde(default)]
    pub threads: u32,
    /// The scheme's name.
    pub scheme: String,
    /// The ring's degree.
    pub n: usize,
    /// Data primes.
    pub limbs: usize,
    /// Special primes.
    pub special_limbs: usize,
    /// log2 of the data modulus.
    pub log2_q: f64,
    /// log2 of the whole modulus, special primes included; None if the engine hides them.
    pub log2_qp: Option<f64>,
    /// The profile that `security_bits` refers to.
    pub security_profile: String,
    /// 256, 192 or 128 bits by the profile; None below 128, or if the engine hides its primes and states nothing.
    pub security_bits: Option<u32>,
    /// The operation, by its name in the protocol.
    pub operation: String,
    /// The codec of `serialise` and `parse`.
    pub codec: Option<String>,
    /// The object of `serialise` and `parse`.
    pub object: Option<String>,
    /// For tasks with a re-encryption agent: `serial` or `parallel` requests.
    #[serde(default)]
    pub mode: Option<String>,
    /// For tasks with a re-encryption agent: the added milliseconds of a trip.
    #[serde(default)]
    pub latency_ms: Option<u32>,
    /// The operation or codec that was measured instead, because the engine lacks this one.
    pub instead: Option<String>,
    /// The shortest time, microseconds; None in older rows and in sums of rows.
    #[serde(default)]
    pub least_us: Option<f64>,
    /// Median, microseconds.
    pub median_us: f64,
    /// Mean, microseconds.
    pub mean_us: f64,
    /// Standard deviation of the sample, microseconds.
    pub sd_us: f64,
    /// The number of counted repetitions.
    pub count: usize,
    /// The size of the result in bytes, for `serialise`, `parse`, and windows and their sums.
    pub bytes: Option<u64>,
    /// True if the results were right, by the engine's check before the timing and by the definition's.
    pub verified: bool,
}

/// Identifies a row, except for the engine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowKey {
    /// The definition's name.
    pub definition: String,
    /// The name of the parameter set; empty for the only one.
    pub parameters: String,
    /// The scheme's name.
    pub scheme: String,
    /// The ring's degree.
    pub n: usize,
    /// The operation, its object and codec.
    pub operation: String,
}

impl Row {
    /// Returns the facts that rows of all engines share.
    pub fn key(&self) -> RowKey {
        RowKey {
            definition: self.definition.clone(),
            parameters: self.parameters.clone(),
            scheme: self.scheme.clone(),
            n: self.n,
            operation: self.label(),
        }
    }

    /// Returns true if the whole modulus is known, and too large for 128 bits.
    pub fn is_insecure(&self) -> bool {
        self.security_bits.is_none() && self.log2_qp.is_some()
    }

    /// Returns the operation with object and codec, for people.
    pub fn label(&self) -> String {
        label(
            [Some(&self.operation), self.object.as_ref(), self.codec.as_ref(), self.mode.as_ref()],
            self.latency_ms,
        )
    }
}

/// Joins the parts of a label.
pub(crate) fn label(parts: [Option<&String>; 4], latency_ms: Option<u32>) -> String {
    let latency = latency_ms.map(|latency| format!("{latency} ms"));
    let parts = parts.into_iter().chain([latency.as_ref()]).flatten();
    parts.map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// A missing measurement and the reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// The definition's name.
    pub definition: String,
    /// The engine's name.
    pub engine: String,
    /// The scheme; None if the whole engine is missing.
    pub scheme: Option<String>,
    /// The ring's degree; None if all sizes are missing.
    pub n: Option<usize>,
    /// The parameter set, if the gap is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<String>,
    /// The operation; None if all operations are missing.
    pub operation: Option<String>,
    /// Why it is missing, for people.
    pub reason: String,
    /// The log of a failed installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
}

impl Gap {
    /// Describes the gap, except for the engine.
    pub fn about(&self) -> String {
        let parameters = self.parameters.clone().filter(|name| !name.is_empty());
        let n = self.n.map(|n| format!("n = {n}"));
        let parts = [parameters, self.scheme.clone(), n, self.operation.clone()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
impl Row {
    /// Returns a row for tests.
    pub(crate) fn example(engine: &str, operation: &str, n: usize, median: f64) -> Self {
        Self {
            definition: "operations".into(),
            parameters: String::new(),
            quick: false,
            engine: engine.into(),
            version: "1".into(),
            flags: String::new(),
            threads: 1,
            scheme: "bfv".into(),
            n,
            limbs: 2,
            special_limbs: 1,
            log2_q: 70.0,
            log2_qp: Some(106.0),
            security_profile: "guidelines-2024".into(),
            security_bits: Some(128),
            operation: operation.into(),
            codec: None,
            object: None,
            mode: None,
            latency_ms: None,
            instead: None,
            least_us: None,
            median_us: median,
            mean_us: median,
            sd_us: 0.0,
            count: 3,
            bytes: None,
            verified: true,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_row_has_the_fields_that_its_readers_know() {
        let row = Row { security_bits: None, ..Row::example("seal", "add", 4096, 12.5) };
        let value = serde_json::to_value(&row).unwrap();
        for field in [
            "definition",
            "engine",
            "version",
            "scheme",
            "n",
            "limbs",
            "special_limbs",
            "log2_q",
            "security_bits",
            "operation",
            "median_us",
            "mean_us",
            "sd_us",
            "count",
            "bytes",
            "verified",
        ] {
            assert!(value.get(field).is_some(), "{field}: null, but there");
        }
        let line = serde_json::to_string(&row).unwrap();
        assert!(!line.contains('\n'));
        assert_eq!(serde_json::from_str::<Row>(&line).unwrap(), row);
    }

    #[test]
    fn rows_of_different_objects_and_codecs_are_different_rows() {
        let plain = Row::example("seal", "serialise", 4096, 1.0);
        let packed = Row { codec: Some("packed".into()), object: Some("ciphertext".into()), ..plain.clone() };
        assert_ne!(plain.key(), packed.key());
        assert_eq!(packed.label(), "serialise ciphertext packed");
    }
}
