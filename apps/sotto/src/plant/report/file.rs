//! The file of a report: a title, and sections with questions.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, ensure};
use serde::Deserialize;

/// Largest size of the file, in bytes.
const LARGEST: u64 = 1 << 20;
/// Most sections.
const MOST_SECTIONS: usize = 200;

/// A report.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) title: String,
    /// The text under the title.
    #[serde(default)]
    pub(super) text: String,
    /// The sections, in their order.
    #[serde(default, rename = "section")]
    pub(super) sections: Vec<Section>,
}

/// A section.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    #[serde(default)]
    pub(super) heading: String,
    #[serde(default)]
    pub(super) text: String,
    /// A question, or the name of a declared one. None: text alone.
    #[serde(default)]
    pub(super) question: Option<String>,
    /// The values of the question's parameters: that of `$room` is under `room`.
    #[serde(default)]
    pub(super) with: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) chart: Shown,
}

/// The form in which an answer is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Shown {
    /// Charts, and the table folded under them.
    #[default]
    Chart,
    /// The table alone.
    Table,
    /// Charts, and the table open.
    Both,
    /// Values in large type, for answers of a few.
    Number,
}

impl File {
    /// Reads a report.
    ///
    /// # Errors
    /// The line and the reason.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let file = std::fs::File::open(path).with_context(|| format!("{shown} cannot be read"))?;
        let mut text = String::new();
        file.take(LARGEST + 1)
            .read_to_string(&mut text)
            .with_context(|| format!("{shown} cannot be read"))?;
        ensure!(text.len() as u64 <= LARGEST, "{shown} is longer than 1 MiB");
        Self::parse(&text).with_context(|| shown.to_string())
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let file: Self = toml::from_str(text)?;
        ensure!(!file.sections.is_empty(), "it has no [[section]]");
        ensure!(file.sections.len() <= MOST_SECTIONS, "it has more than {MOST_SECTIONS} sections");
        let idle =
            file.sections.iter().find(|section| section.question.is_none() && !section.with.is_empty());
        if let Some(section) = idle {
            anyhow::bail!("the section {:?} has values `with`, and no question", section.heading);
        }
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_and_its_faults_have_their_lines() {
        let text = "title = \"Barn\"\n[[section]]\nquestion = \"daily\"\n[[section]]\nheading = \"b\"\nchart = \"number\"\n";
        let file = File::parse(text).unwrap();
        assert_eq!((file.sections.len(), file.sections[1].chart), (2, Shown::Number));
        assert_eq!(file.sections[0].question.as_deref(), Some("daily"));
        for (text, reason) in [
            ("title = 1", "line 1"),
            ("title = \"a\"", "no [[section]]"),
            ("title = \"a\"\n[[section]]\nquestoin = \"x\"", "questoin"),
            ("title = \"a\"\n[[section]]\nchart = \"pie\"", "pie"),
            ("title = \"a\"\n[[section]]\nheading = \"b\"\nwith = { room = \"c\" }", "no question"),
        ] {
            let refused = format!("{:#}", File::parse(text).unwrap_err());
            assert!(refused.contains(reason), "{text}: {refused}");
        }
    }
    #[test]
    fn the_report_of_the_guide_is_read() {
        let guide = include_str!("../../../../../docs/guides/reports.md");
        let text = guide.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let file = File::parse(text).unwrap();
        let questions: Vec<&str> =
            file.sections.iter().filter_map(|section| section.question.as_deref()).collect();
        assert_eq!(questions.last(), Some(&"weekly"));
        for question in questions.iter().filter(|question| **question != "weekly") {
            sotto_owner::question::Question::parse(question).unwrap();
        }
    }
}
