//! Errors of presets.

/// A preset, a topic pattern or a path that cannot be used.
///
/// ```
/// use sotto_preset::{Preset, PresetError};
///
/// let refused: PresetError = Preset::read("name = \"mine\"\nabout = \"\"\ncolour = 3").unwrap_err();
/// assert!(refused.to_string().contains("colour"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PresetError {
    /// No preset has this name.
    #[error("there is no preset {name}: there are {}; or name a file, such as ./{name}.toml", there.join(", "))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names of the presets.
        there: Vec<String>,
    },
    /// The file is too long, is no TOML, or has an unknown key.
    #[error("the preset is refused: {0}")]
    File(String),
    /// A rule of the file.
    #[error("message {rule} of the preset: {reason}")]
    Rule {
        /// The number of the rule, from 1.
        rule: usize,
        /// The reason.
        reason: String,
    },
    /// A pattern of topics.
    #[error("the topic {pattern}: {reason}; write it as home/{{device}}/{{channel}}")]
    Topic {
        /// The pattern.
        pattern: String,
        /// The reason.
        reason: &'static str,
    },
    /// A path into JSON.
    #[error("the path {path}: {reason}; write it as $.values[0].temperature")]
    Path {
        /// The path.
        path: String,
        /// The reason.
        reason: &'static str,
    },
}
