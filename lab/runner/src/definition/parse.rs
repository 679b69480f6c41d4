//! Parses definitions; refuses contradictory ones with the reason.

use sotto_harness::protocol::{CODECS, MODES, OBJECTS, OPERATIONS};
use sotto_harness::tasks::PREFIX;
use sotto_rlwe::{SecurityLevel, SecurityProfile};

use super::{Definition, FILES, Measurement, Parameters, Repetitions, Scheme};
use crate::error::RunnerError;
use crate::row::label;

impl Definition {
    /// Returns an embedded definition.
    ///
    /// # Errors
    /// `Unknown` if there is no definition of this name.
    pub fn named(name: &str) -> Result<Self, RunnerError> {
        let unknown = || RunnerError::Unknown {
            kind: "definition",
            name: name.to_owned(),
            known: super::names().join(", "),
        };
        let (name, text) = FILES.iter().find(|(known, _)| *known == name).ok_or_else(unknown)?;
        Self::parse(name, text)
    }

    /// Parses a definition; `file` is the required name.
    ///
    /// # Errors
    /// `Definition` with the reason.
    pub fn parse(file: &str, text: &str) -> Result<Self, RunnerError> {
        let wrong = |reason: String| RunnerError::Definition { file: file.to_owned(), reason };
        let mut definition: Self = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        definition.operations = definition.operations.iter().flat_map(Measurement::at_each_latency).collect();
        definition.check(file).map_err(wrong)?;
        Ok(definition)
    }

    fn check(&self, file: &str) -> Result<(), String> {
        if self.name != file {
            return Err(format!("its name is {}, unlike its file's", self.name));
        }
        if !self.comparisons.is_empty() {
            return self.check_comparisons();
        }
        for (what, none) in [
            ("schemes", self.schemes.is_empty()),
            ("degrees", self.degrees.is_empty()),
            ("engines", self.engines.is_empty()),
            ("parameters", self.parameters.is_empty()),
            ("operations", self.operations.is_empty()),
        ] {
            if none {
                return Err(format!("`{what}` is empty"));
            }
        }
        let is_ring = |n: &usize| {
            let schemes = self.schemes.iter().filter(|scheme| scheme.has_ring());
            schemes.into_iter().any(|scheme| self.parameters.iter().any(|p| p.covers(*scheme, *n)))
        };
        let unfit = |n: &&usize| **n == 0 || (is_ring(n) && (!n.is_power_of_two() || **n < 1024));
        if let Some(degree) = self.degrees.iter().chain(&self.quick.degrees).find(unfit) {
            return Err(format!("n = {degree} must be a power of two, at least 1024"));
        }
        if let Some(degree) = self.quick.degrees.iter().find(|n| !self.degrees.contains(n)) {
            return Err(format!("quick.degrees has {degree}, which degrees lacks"));
        }
        self.parameters.iter().try_for_each(check_parameters)?;
        for (position, parameters) in self.parameters.iter().enumerate() {
            if self.parameters[..position].iter().any(|before| before.name == parameters.name) {
                return Err(format!("two parameters have the name `{}`", parameters.name));
            }
        }
        self.operations.iter().try_for_each(check_measurement)?;
        for (position, measurement) in self.operations.iter().enumerate() {
            if self.operations[..position].iter().any(|before| before.same_row(measurement)) {
                return Err(format!("{} is listed twice: its row would be too", measurement.operation));
            }
        }
        let known: Vec<&str> = self.operations.iter().map(|one| one.operation.as_str()).collect();
        for name in self.parameters.iter().flat_map(|parameters| &parameters.operations) {
            if !known.contains(&name.as_str()) {
                return Err(format!("parameters have the operation {name}, which is not measured"));
            }
        }
        let own = self.parameters.iter().any(|parameters| !parameters.operations.is_empty());
        let partial = own || self.operations.iter().any(|one| one.is_exchange() || !one.schemes.is_empty());
        if self.together && (partial || !self.sums.is_empty()) {
            return Err(
                "together: every parameter set and scheme has all operations, without round trips and sums"
                    .into(),
            );
        }
        for sum in &self.sums {
            if let Some(part) = sum.parts.iter().find(|part| !known.contains(&part.as_str())) {
                return Err(format!("the sum {} has the part {part}, which is not measured", sum.name));
            }
        }
        check_repetitions("repetitions", &self.repetitions)?;
        check_repetitions("quick.repetitions", &self.quick.repetitions)
    }
}

impl Definition {
    fn check_comparisons(&self) -> Result<(), String> {
        let parts = [self.schemes.len(), self.degrees.len(), self.parameters.len(), self.operations.len()];
        if parts.iter().any(|length| *length > 0) {
            return Err(
                "it has either comparisons, or schemes, degrees, parameters and operations".to_owned()
            );
        }
        super::comparison::check(&self.comparisons, &self.engines)?;
        check_repetitions("repetitions", &self.repetitions)?;
        check_repetitions("quick.repetitions", &self.quick.repetitions)
    }
}

impl Measurement {
    /// Returns the operation with object and codec, for people.
    pub fn label(&self) -> String {
        label(
            [Some(&self.operation), self.object.as_ref(), self.codec.as_ref(), self.mode.as_ref()],
            self.latency_ms,
        )
    }

    /// Returns true for a whole task.
    pub fn is_task(&self) -> bool {
        self.operation.starts_with(PREFIX)
    }

    /// Returns one measurement for each latency; a copy of itself if it has none.
    fn at_each_latency(&self) -> Vec<Self> {
        let at = |latency: &u32| Self { latency_ms: Some(*latency), latencies: Vec::new(), ..self.clone() };
        if self.latencies.is_empty() { vec![self.clone()] } else { self.latencies.iter().map(at).collect() }
    }

    /// Returns true for a step of a round trip between two processes.
    pub fn is_exchange(&self) -> bool {
        self.operation.starts_with("edge_") || self.operation.starts_with("cloud_")
    }

    /// Returns true for keys that may take gigabytes.
    pub fn is_large(&self) -> bool {
        self.operation == "galois_keys" || self.object.as_deref() == Some("galois_keys")
    }

    fn same_row(&self, other: &Self) -> bool {
        let shared = |scheme: &Scheme| other.schemes.is_empty() || other.schemes.contains(scheme);
        // Tasks with and without a re-encryption agent have different schemes.
        let apart = self.is_task() && !self.schemes.is_empty() && !self.schemes.iter().any(shared);
        self.label() == other.label() && !apart
    }
}

fn check_parameters(parameters: &Parameters) -> Result<(), String> {
    parameters.profile.parse::<SecurityProfile>().map_err(|error| error.to_string())?;
    let may_be_insecure = parameters.primes.is_some() && parameters.security_bits == 0;
    if SecurityLevel::from_bits(parameters.security_bits).is_none() && !may_be_insecure {
        return Err(format!("security_bits = {}: 128, 192 or 256", parameters.security_bits));
    }
    let outside = |value: &u32| u64::from(*value) >= parameters.plain_modulus;
    match &parameters.values {
        Some(_) if !parameters.scalar => Err("values need plaintexts of one value: scalar = true".to_owned()),
        Some(values) if values.iter().any(outside) => Err(format!("values = {values:?} are not below t")),
        _ => Ok(()),
    }
}

fn check_measurement(measurement: &Measurement) -> Result<(), String> {
    let one_of = |what: &str, name: &str, known: &[&str]| {
        let reason = || format!("the {what} `{name}` is none of {}", known.join(", "));
        known.contains(&name).then_some(()).ok_or_else(reason)
    };
    one_of("operation", &measurement.operation, &OPERATIONS)?;
    if let Some(instead) = &measurement.instead {
        one_of("operation", instead, &OPERATIONS)?;
    }
    if let Some(mode) = &measurement.mode {
        one_of("mode", mode, &MODES)?;
    }
    if !measurement.is_task() && (measurement.mode.is_some() || measurement.latency_ms.is_some()) {
        return Err(format!(
            "{} uses no re-encryption agent: leave mode and latencies out",
            measurement.operation
        ));
    }
    for codec in measurement.codec.iter().chain(&measurement.instead_codec) {
        one_of("codec", codec, &CODECS)?;
    }
    if let Some(object) = &measurement.object {
        one_of("object", object, &OBJECTS)?;
    }
    let written =
        ["serialise", "parse"].contains(&measurement.operation.as_str()) || measurement.is_exchange();
    if !written && (measurement.codec.is_some() || measurement.object.is_some()) {
        return Err(format!("{} has no codec and no object", measurement.operation));
    }
    if measurement.expected.trim().is_empty() {
        return Err(format!("{} does not say what is expected", measurement.operation));
    }
    Ok(())
}

fn check_repetitions(what: &str, repetitions: &Repetitions) -> Result<(), String> {
    let Repetitions { rounds, least, most, seconds, minutes, .. } = *repetitions;
    if rounds == 0 || most == 0 || least == 0 {
        return Err(format!("{what}: 1 ≤ rounds, 1 ≤ most and 1 ≤ least are needed"));
    }
    if !(seconds > 0.0 && seconds.is_finite() && minutes > 0.0 && minutes.is_finite()) {
        return Err(format!("{what}: seconds = {seconds} and minutes = {minutes} must be positive"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const SMALL: &str = include_str!("../../tests/small.toml");

    fn refusal(from: &str, to: &str) -> String {
        assert!(SMALL.contains(from), "{from}");
        Definition::parse("small", &SMALL.replacen(from, to, 1)).unwrap_err().to_string()
    }

    #[test]
    fn every_definition_in_the_program_is_read() {
        for name in crate::definition::names() {
            let definition = Definition::named(name).unwrap_or_else(|error| panic!("{error}"));
            assert!(!definition.about.trim().is_empty());
            assert!(definition.engines.contains(&"sotto".to_owned()), "{name}");
        }
        let of = |minutes: fn(&Definition) -> f64| {
            crate::definition::names()
                .iter()
                .map(|name| minutes(&Definition::named(name).unwrap()))
                .sum::<f64>()
        };
        assert!(of(|definition| definition.repetitions.minutes) <= 91.0, "all in full");
        let quick = |name: &&str| Definition::named(name).unwrap().quick.repetitions.minutes < 10.0;
        assert!(crate::definition::names().iter().all(quick), "any quick one");
        let error = Definition::named("nothing").unwrap_err().to_string();
        assert!(error.contains("there is no definition nothing; there are operations,"), "{error}");
    }

    #[test]
    fn the_yardstick_has_the_operations_that_were_agreed() {
        let agreed = "keygen relin_keys galois_keys encode decode encrypt_public encrypt_secret encode_encrypt_public \
                      encode_encrypt_secret decrypt decrypt_decode add add_in_place add_plain encode_add_plain multiply \
                      multiply_relin square multiply_plain rotate rotate_hoisted switch_keys rescale modswitch \
                      serialise parse";
        let definition = Definition::named("operations").unwrap();
        let names: Vec<&str> = definition.operations.iter().map(|one| one.operation.as_str()).collect();
        assert_eq!(names, agreed.split_whitespace().collect::<Vec<_>>());
        assert_eq!(names.len(), 26);
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(Definition::parse("small", SMALL).is_ok());
        assert!(Definition::parse("other", SMALL).unwrap_err().to_string().contains("its name is small"));
        assert!(refusal("degrees = [4096, 8192]", "degrees = [5000]").contains("n = 5000"));
        assert!(refusal("degrees = [4096]", "degrees = [16384]").contains("which degrees lacks"));
        assert!(refusal("degrees = [4096, 8192]", "degrees = []").contains("`degrees` is empty"));
        assert!(refusal("\"add\"", "\"ad\"").contains("the operation `ad` is none of keygen"));
        assert!(refusal("\"multiply_relin\"", "\"add\"").contains("add is listed twice"));
        assert!(refusal("rounds = 3", "rounds = 0").contains("1 ≤ rounds"));
        assert!(refusal("seconds = 0.1", "seconds = -1.0").contains("must be positive"));
        assert!(refusal("minutes = 1.0", "minutes = 0.0").contains("minutes = 0"));
        assert!(refusal("guidelines-2024", "guidelines-1999").contains("guidelines-1999"));
        assert!(refusal("security_bits = 128", "security_bits = 100").contains("128, 192 or 256"));
        assert!(refusal("\"bfv\"", "\"bfw\"").contains("bfw"));
        assert!(
            refusal("expected = \"a + b\"", "expected = \" \"").contains("does not say what is expected")
        );
        let set = "plain_modulus = 65537";
        let with = |more: &str| refusal(set, &format!("{set}\n{more}"));
        assert!(with("values = [3, 4]").contains("scalar = true"));
        assert!(with("scalar = true\nvalues = [3, 65537]").contains("are not below t"));
        assert!(with("operations = [\"decode\"]").contains("decode, which is not measured"));
        assert!(refusal("expected = \"a + b\"", "expected = \"x\", codec = \"zlib\"").contains("no codec"));
        assert!(
            refusal("expected = \"a + b\"", "expected = \"x\", latencies = [1]")
                .contains("uses no re-encryption agent")
        );
        let title = "title = \"A definition for tests\"";
        let named = refusal(
            title,
            &format!("{title}\ntogether = true\nsums = [{{ name = \"x\", parts = [\"add\"] }}]"),
        );
        assert!(named.contains("has all operations"), "{named}");
        let line = refusal("rounds = 3", "round = 3");
        assert!(line.contains("line") && line.contains("unknown field"), "{line}");
    }
}
