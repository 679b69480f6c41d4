//! Presets: of this program, or of a file.

use crate::PresetError;
use crate::built_in::BUILT_IN;
use crate::file::{PresetFile, Role, RuleFile};
use crate::json_path::JsonPath;
use crate::rule::Rule;

/// Maximum length of a preset's file, in bytes.
pub const LONGEST_PRESET: usize = 256 << 10;
/// Maximum number of rules.
const MOST_RULES: usize = 200;

/// The topics and messages of a gateway.
///
/// ```
/// use sotto_preset::Preset;
///
/// assert!(Preset::names().contains(&"tasmota"));
/// let tasmota = Preset::named("tasmota")?;
/// assert!(tasmota.filters().contains(&"tele/+/SENSOR".to_owned()));
/// assert!(Preset::named("tasmoto").is_err());
/// # Ok::<(), sotto_preset::PresetError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Preset {
    name: String,
    about: String,
    pub(crate) rules: Vec<Rule>,
}

/// Topics and paths that a command line names, in the place of a preset.
///
/// ```
/// use sotto_preset::{Custom, Preset};
///
/// let custom = Custom { topic: "home/{device}/{channel}", values: &[], time: None };
/// assert_eq!(Preset::custom(&custom)?.filters(), ["home/+/+"]);
/// # Ok::<(), sotto_preset::PresetError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Custom<'c> {
    /// The pattern of topics.
    pub topic: &'c str,
    /// Paths to values, each with the channel that it is for; without a channel it is that of the topic.
    pub values: &'c [(Option<&'c str>, &'c str)],
    /// The path to the time.
    pub time: Option<&'c str>,
}

impl Preset {
    /// Returns the names of the presets of this program.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        BUILT_IN.iter().map(|(name, _)| *name).collect()
    }

    /// Returns a preset of this program.
    ///
    /// # Errors
    /// [`PresetError::Unknown`] if there is none of this name.
    pub fn named(name: &str) -> Result<Self, PresetError> {
        Self::based(name, None)
    }

    /// Returns a preset of this program whose topics begin with `base` in the place of their usual beginning.
    ///
    /// # Errors
    /// [`PresetError::Unknown`] if there is none of this name.
    pub fn based(name: &str, base: Option<&str>) -> Result<Self, PresetError> {
        let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) else {
            let there = Self::names().into_iter().map(str::to_owned).collect();
            return Err(PresetError::Unknown { name: name.to_owned(), there });
        };
        Self::read_based(text, base)
    }

    /// Reads the text of a preset's file.
    ///
    /// # Errors
    /// [`PresetError`] if it is too long, no TOML, has an unknown key, or a rule that cannot be used.
    pub fn read(text: &str) -> Result<Self, PresetError> {
        Self::read_based(text, None)
    }

    /// Reads the text of a preset's file, with another beginning of its topics.
    ///
    /// # Errors
    /// Those of [`Preset::read`].
    pub fn read_based(text: &str, base: Option<&str>) -> Result<Self, PresetError> {
        if text.len() > LONGEST_PRESET {
            return Err(PresetError::File(format!("it is longer than {LONGEST_PRESET} bytes")));
        }
        let file: PresetFile = toml::from_str(text).map_err(|error| PresetError::File(error.to_string()))?;
        if file.messages.is_empty() || file.messages.len() > MOST_RULES {
            return Err(PresetError::File(format!("it has to have 1 to {MOST_RULES} [[message]]")));
        }
        let base = base.or(file.base.as_deref());
        let rule = |(index, rule): (usize, &RuleFile)| {
            Rule::new(rule, base).map_err(|reason| PresetError::Rule { rule: index + 1, reason })
        };
        let rules = file.messages.iter().enumerate().map(rule).collect::<Result<_, _>>()?;
        Ok(Self { name: file.name, about: file.about, rules })
    }

    /// Returns a preset of the topics and paths that a command line names.
    ///
    /// # Errors
    /// [`PresetError`] if the topic or a path cannot be used, or no device or channel is named.
    pub fn custom(custom: &Custom<'_>) -> Result<Self, PresetError> {
        let path =
            |(channel, text): &(Option<&str>, &str)| Ok((channel.map(str::to_owned), JsonPath::parse(text)?));
        let values = custom.values.iter().map(path).collect::<Result<Vec<_>, PresetError>>()?;
        let file = RuleFile {
            topic: custom.topic.to_owned(),
            time: custom.time.map(str::to_owned),
            ..RuleFile::default()
        };
        let wrong = |reason| PresetError::Rule { rule: 1, reason };
        let rule = Rule::new(&file, None).map_err(wrong)?;
        if rule.channel.is_none() && values.iter().any(|(channel, _)| channel.is_none()) {
            return Err(wrong("no channel: put {channel} into the topic, or write CHANNEL=PATH".to_owned()));
        }
        let rules = vec![Rule { values, ..rule }];
        Ok(Self { name: "topic".to_owned(), about: custom.topic.to_owned(), rules })
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the sentence that says which gateway it is for.
    #[must_use]
    pub fn about(&self) -> &str {
        &self.about
    }

    /// Returns the filters to subscribe to, each once. A filter that another one contains is left out, and so are those of
    /// messages that have no readings.
    #[must_use]
    pub fn filters(&self) -> Vec<String> {
        let read = self.rules.iter().filter(|rule| rule.role != Role::Ignored);
        let all: Vec<String> = read.map(|rule| rule.topic.filter()).collect();
        let mut filters: Vec<String> = Vec::new();
        for filter in &all {
            let contained = all.iter().any(|other| other != filter && contains(other, filter));
            if !contained && !filters.contains(filter) {
                filters.push(filter.clone());
            }
        }
        filters
    }
}

/// Returns true if a filter matches every topic that `other` matches.
fn contains(filter: &str, other: &str) -> bool {
    let (mut levels, mut others) = (filter.split('/'), other.split('/'));
    loop {
        match (levels.next(), others.next()) {
            (Some("#"), _) | (None, None) => return true,
            (Some("+"), Some(level)) if level != "#" => {}
            (Some(level), Some(other)) if level == other => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_contain_others() {
        for (filter, other) in
            [("#", "a/b"), ("a/#", "a/+/c"), ("a/+", "a/b"), ("a/#", "a"), ("a/+/#", "a/b/#")]
        {
            assert!(contains(filter, other), "{filter} {other}");
        }
        for (filter, other) in [("a/+", "a/#"), ("a/b", "a/+"), ("a/+", "a/b/c"), ("a/#", "b"), ("+", "#")] {
            assert!(!contains(filter, other), "{filter} {other}");
        }
    }

    #[test]
    fn presets_of_this_program_are_read() {
        for name in Preset::names() {
            let preset = Preset::named(name).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(preset.name(), name);
            assert!(!preset.filters().is_empty() && preset.about().len() > 10);
        }
    }

    #[test]
    fn unknown_keys_and_rules_without_a_meaning_are_refused() {
        let refused = |rule: &str| {
            let text = format!("name = \"x\"\nabout = \"y\"\n[[message]]\n{rule}");
            Preset::read(&text).expect_err(rule).to_string()
        };
        for (rule, says) in [
            ("topic = \"a/{device}\"\ncolour = 1", "colour"),
            ("topic = \"a/{device}\"\nfields = [{ path = \"a\", colour = 1 }]", "colour"),
            ("topic = \"a/{device}\"\npayload = \"xml\"", "xml"),
            ("topic = \"a/+\"", "no device"),
            ("topic = \"a/{device}\"\nvalue = \"$.a\"", "no channel"),
            ("topic = \"a/{device}\"\nvalue = \"$.a\"\nchannel = \"{room}\"", "{room}"),
            ("topic = \"~/{device}\"", "base"),
            ("topic = \"a/{device}\"\nfields = [{ path = \"a\", divide = 0.0 }]", "not 0"),
            ("topic = \"a/{device}\"\ntime = \"$.t\"\ntime_format = \"iso\"", "time_format"),
            ("topic = \"a/{device}\"\nfields = [{ path = \"*\", channel = \"{2}\" }]", "{2}"),
        ] {
            let why = refused(rule);
            assert!(why.contains(says), "{why}");
        }
        assert!(Preset::read(&" ".repeat(LONGEST_PRESET + 1)).is_err());
        assert!(Preset::read("name = \"x\"\nabout = \"y\"\nmessage = []").is_err());
    }
}
