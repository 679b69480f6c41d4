//! The devices that a call is about: `mean(temperature of boiler)`.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::written::{Name, NameBehindOf};

/// The devices that a call names in place of those of the question.
///
/// ```
/// use sotto_owner::question::{Question, Scope};
///
/// let question = Question::parse("mean(heat of boiler) - mean(heat of all devices)")?;
/// let scopes: Vec<Option<&Scope>> = question.calls_of().map(|(_, of)| of).collect();
/// assert_eq!(scopes, [Some(&Scope::Device("boiler".into())), Some(&Scope::AllDevices)]);
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// `x of boiler`: this device, whether the question is about it or not.
    Device(String),
    /// `x of tag barn`: the devices and channels with a tag, whether the question is about them or not.
    Tag(String),
    /// `x of all devices`: all devices of the question, also in the row of one device or one tag.
    AllDevices,
}

impl Display for Scope {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device(name) => write!(out, "of {}", NameBehindOf(name)),
            Self::Tag(tag) => write!(out, "of tag {}", Name(tag)),
            Self::AllDevices => out.write_str("of all devices"),
        }
    }
}
