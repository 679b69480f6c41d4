//! Comparisons of encrypted readings with a limit: what every engine is asked, and by which methods.

use serde::Deserialize;
use sotto_harness::protocol::METHODS;

/// Readings and a limit, the same for every engine of a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// The name in rows of results.
    pub name: String,
    /// The smallest and the largest reading.
    pub range: [f64; 2],
    /// True if readings are whole numbers.
    #[serde(default)]
    pub whole: bool,
    /// Readings above it give 1, others 0.
    pub limit: f64,
    /// For reals: the smallest distance from the limit that must be told.
    #[serde(default)]
    pub gap: f64,
    /// The largest distance of an answer from 0 or 1 that decides.
    pub tolerance: f64,
    /// The number of readings; an engine may compare fewer of them.
    pub readings: usize,
    /// The methods, in the order of measurement.
    pub methods: Vec<Method>,
}

/// One engine's way to compare.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// The engine's name.
    pub engine: String,
    /// The method, by its name in the protocol.
    pub method: String,
    /// The scheme, for methods that the engine has in several.
    pub scheme: Option<String>,
    /// True if keys and one evaluation take minutes: left out of a quick run.
    #[serde(default)]
    pub slow: bool,
}

impl Method {
    /// Returns method and scheme, for people.
    pub fn label(&self) -> String {
        let parts = [Some(&self.method), self.scheme.as_ref()];
        parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}

/// Refuses contradictory comparisons with the reason. `engines` are those of the definition.
pub(super) fn check(comparisons: &[Comparison], engines: &[String]) -> Result<(), String> {
    for (position, one) in comparisons.iter().enumerate() {
        let name = &one.name;
        if comparisons[..position].iter().any(|before| before.name == *name) {
            return Err(format!("two comparisons have the name `{name}`"));
        }
        let [least, largest] = one.range;
        if !(least < largest && (least..=largest).contains(&one.limit)) {
            return Err(format!("{name}: the limit {} is outside of {least} … {largest}", one.limit));
        }
        let is_whole = |value: &f64| value.fract() == 0.0;
        if one.whole && !([least, largest, one.limit].iter().all(is_whole) && one.gap == 0.0) {
            return Err(format!("{name}: whole readings have a whole range and limit, and no gap"));
        }
        if !one.whole && one.gap <= 0.0 {
            return Err(format!("{name}: reals need a gap"));
        }
        if !(one.tolerance > 0.0 && one.tolerance < 0.5) {
            return Err(format!("{name}: tolerance = {} must be between 0 and 1/2", one.tolerance));
        }
        if one.readings == 0 || one.methods.is_empty() {
            return Err(format!("{name} has no readings or no methods"));
        }
        for (position, method) in one.methods.iter().enumerate() {
            if !METHODS.contains(&method.method.as_str()) {
                return Err(format!("the method `{}` is none of {}", method.method, METHODS.join(", ")));
            }
            if !engines.contains(&method.engine) {
                return Err(format!("{name}: the engine {} is not among `engines`", method.engine));
            }
            if one.methods[..position].contains(method) {
                return Err(format!("{name}: {} {} is listed twice", method.engine, method.label()));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::definition::Definition;

    const GOOD: &str = include_str!("../../../definitions/comparisons.toml");

    #[test]
    fn contradictory_comparisons_are_refused_with_the_reason() {
        Definition::parse("comparisons", GOOD).unwrap();
        for (from, to, reason) in [
            ("limit = 144\n", "limit = 300\n", "outside of 0 … 255"),
            ("limit = 144\n", "limit = 144.5\n", "a whole range and limit"),
            ("gap = 0.00390625\n", "", "reals need a gap"),
            ("tolerance = 0.0625\n", "tolerance = 0.5\n", "between 0 and 1/2"),
            ("method = \"integer\"", "method = \"guess\"", "the method `guess` is none of"),
            ("engine = \"tfhe-rs\"", "engine = \"seal\"", "not among `engines`"),
            ("name = \"12 bits\"", "name = \"8 bits\"", "two comparisons"),
            ("readings = 65536\n", "readings = 0\n", "no readings"),
        ] {
            assert!(GOOD.contains(from), "{from}");
            let error =
                Definition::parse("comparisons", &GOOD.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(error.contains(reason), "{to}: {error}");
        }
        let both = format!(
            "schemes = [\"bfv\"]\n{}",
            GOOD.replacen("name = \"comparisons\"", "name = \"comparisons\"\ndegrees = [4096]", 1)
        );
        assert!(Definition::parse("comparisons", &both).unwrap_err().to_string().contains("either"));
    }
}
