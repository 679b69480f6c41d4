//! The file `NAME.toml` beside `NAME.bundle`: which points are for the device, and which fields are its channels.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::source::FileOptions;

/// Maximum bytes of the file.
const LARGEST: u64 = 64 << 10;

/// The contents of the file. All of it may be left out.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mapping {
    /// Tags, and the text that each of them has in points for the device; `measurement` stands for the measurement.
    #[serde(default, rename = "where")]
    pub(crate) conditions: BTreeMap<String, String>,
    /// For a channel, the field that is read: `value`, or `value[entity_id=boiler_flow]` for points with that tag alone.
    #[serde(default)]
    columns: BTreeMap<String, String>,
    /// Factors of the numbers of a channel.
    #[serde(default)]
    scale: BTreeMap<String, f64>,
    /// Numbers that are added to those of a channel, after its factor.
    #[serde(default)]
    offset: BTreeMap<String, f64>,
    /// Units of the numbers of a channel, which are converted to the channel's.
    #[serde(default)]
    unit: BTreeMap<String, String>,
    /// Texts and numbers of a channel that stand for no reading.
    #[serde(default)]
    missing: BTreeMap<String, OneOrMore>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

/// Reason why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MappingError {
    #[error("{path} cannot be read: {error}")]
    Io { path: PathBuf, error: io::Error },
    #[error("{path} is too long: it may have {LARGEST} bytes")]
    TooLong { path: PathBuf },
    #[error("{path}: {reason}")]
    Refused { path: PathBuf, reason: String },
}

impl Mapping {
    /// Reads the file beside a bundle. Without one, nothing is said.
    ///
    /// # Errors
    /// [`MappingError`] names the file and the reason.
    pub(crate) fn beside(bundle: &Path, channels: &[String]) -> Result<Self, MappingError> {
        let path = path_of(bundle);
        let text = match read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(MappingError::Io { path, error }),
            Ok(text) if text.len() as u64 > LARGEST => return Err(MappingError::TooLong { path }),
            Ok(text) => text,
        };
        let parsed = toml::from_str(&text).map_err(|error| error.to_string());
        parsed
            .and_then(|mapping: Self| mapping.checked(channels))
            .map_err(|reason| MappingError::Refused { path, reason })
    }

    /// Refuses channels that the device does not have.
    fn checked(self, channels: &[String]) -> Result<Self, String> {
        let numbers = self.scale.keys().chain(self.offset.keys());
        let texts = self.columns.keys().chain(self.unit.keys()).chain(self.missing.keys());
        match numbers.chain(texts).find(|name| !channels.contains(name)) {
            Some(name) => Err(format!("the device has no channel {name}; there are {}", channels.join(", "))),
            None if self.scale.values().any(|scale| !scale.is_finite() || *scale == 0.0) => {
                Err("scale: give a number other than 0".to_owned())
            }
            None if self.offset.values().any(|offset| !offset.is_finite()) => {
                Err("offset: give a number".to_owned())
            }
            None => Ok(self),
        }
    }

    /// Returns the options with which files are read that say the same.
    pub(crate) fn options(&self) -> FileOptions {
        let of = |(channel, text): (&String, &String)| (Some(channel.clone()), text.clone());
        let number = |(channel, number): (&String, &f64)| (Some(channel.clone()), *number);
        let missing = self.missing.iter().flat_map(|(channel, texts)| {
            let texts = match texts {
                OneOrMore::One(text) => std::slice::from_ref(text),
                OneOrMore::More(texts) => texts,
            };
            texts.iter().map(|text| (Some(channel.clone()), text.clone()))
        });
        FileOptions {
            columns: self.columns.iter().map(|(channel, column)| (channel.clone(), column.clone())).collect(),
            missing: missing.collect(),
            scale: self.scale.iter().map(number).collect(),
            offset: self.offset.iter().map(number).collect(),
            from_unit: self.unit.iter().map(of).collect(),
            ..FileOptions::default()
        }
    }
}

/// Returns the path of the file beside a bundle.
pub(crate) fn path_of(bundle: &Path) -> PathBuf {
    bundle.with_extension("toml")
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LARGEST + 1).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Mapping, String> {
        let folder = tempfile::tempdir().unwrap();
        let bundle = folder.path().join("boiler.bundle");
        std::fs::write(folder.path().join("boiler.toml"), text).unwrap();
        Mapping::beside(&bundle, &["flow".to_owned(), "back".to_owned()]).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_says_which_fields_are_channels() {
        let mapping = read(
            "where = { host = \"cellar\" }\ncolumns = { flow = \"value[entity_id=flow]\" }\nscale = { flow = 0.1 }\n\
             unit = { back = \"°F\" }\nmissing = { flow = [\"-127\", \"85\"], back = \"x\" }",
        )
        .unwrap();
        let options = mapping.options();
        assert_eq!(mapping.conditions["host"], "cellar");
        assert_eq!(options.columns, [("flow".to_owned(), "value[entity_id=flow]".to_owned())]);
        assert_eq!((options.scale.len(), options.missing.len(), options.from_unit.len()), (1, 3, 1));
        let none = Mapping::beside(Path::new("nowhere/boiler.bundle"), &[]).unwrap();
        assert!(none.conditions.is_empty() && none.options().columns.is_empty());
    }

    #[test]
    fn a_fault_names_the_file_and_the_way_out() {
        for (text, says) in [
            ("columns = { flwo = \"x\" }", "the device has no channel flwo; there are flow, back"),
            ("scale = { flow = 0 }", "other than 0"),
            ("wher = {}", "unknown field"),
            ("where = ", "boiler.toml"),
        ] {
            let why = read(text).unwrap_err();
            assert!(why.contains(says) && why.contains("boiler.toml"), "{why}");
        }
        let long = format!("# {}", "x".repeat(LARGEST as usize));
        assert!(read(&long).unwrap_err().contains("too long"));
    }
}
