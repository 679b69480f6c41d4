//! The two ways of windows to an answer: added with tags, or evaluated under a lattice scheme.

use super::chosen::{Alternative, Chosen, SUMS};
use crate::streams::Kind;

/// The way of a stream's windows to an answer.
///
/// Example: [`Chosen::way`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// The cloud adds windows without a key, and each sum carries a tag.
    Added,
    /// The cloud evaluates ciphertexts of BFV, BGV or CKKS.
    Evaluated,
}

impl Chosen {
    /// Returns the way of the windows.
    ///
    /// ```
    /// use sotto_owner::{Kind, Needs, StreamNeeds, Way, choose, question::ExactScheme};
    /// use sotto_pack::{Channel, Period, Span};
    ///
    /// let level = Channel { name: "level".into(), maximum: 100.0, resolution: Some(0.5), ..Channel::default() };
    /// let hourly = |scheme| StreamNeeds {
    ///     kind: Kind::Exact, period: Period::from_milliseconds(3_600_000), span: Span::Day, channels: vec!["level".into()],
    ///     needs: Needs::default(), questions: vec!["daily".into()], public: false, scheme, joined: false, part: 0,
    /// };
    /// let added = choose(&hourly(None), &[level.clone()])?.compared();
    /// let evaluated = choose(&hourly(Some(ExactScheme::Bfv)), &[level])?;
    /// assert_eq!((added.way(), evaluated.way()), (Way::Added, Way::Evaluated));
    /// // Each names the bytes of the other.
    /// let bytes = |other: &sotto_owner::Chosen| other.other_way().and_then(|other| other.window_bytes);
    /// assert_eq!((bytes(&added), bytes(&evaluated)), (Some(evaluated.window_bytes), Some(added.window_bytes)));
    /// # Ok::<(), sotto_owner::OwnerError>(())
    /// ```
    #[must_use]
    pub fn way(&self) -> Way {
        if self.spec.is_none() { Way::Added } else { Way::Evaluated }
    }

    /// Returns the reason for the way of the windows.
    #[must_use]
    pub fn why(&self) -> String {
        match (self.way(), self.stream.kind, self.stream.scheme) {
            (Way::Added, ..) => "the cloud multiplies nothing".to_owned(),
            (_, Kind::Real, _) => "the cloud multiplies, for polynomials and models".to_owned(),
            (_, Kind::Steps, _) => "the cloud multiplies, to compare with limits chosen later".to_owned(),
            (_, Kind::Exact, Some(scheme)) => format!("a question says scheme = \"{}\"", scheme.word()),
            (_, Kind::Exact, None) if self.stream.public => {
                "the device holds public keys, and tags take its secret".to_owned()
            }
            (_, Kind::Exact, None) => "sums with tags do not fit".to_owned(),
        }
    }

    /// Returns the way not taken, with its bytes. Returns None if no question of the stream can take another, and for sums
    /// before [`Chosen::compared`].
    #[must_use]
    pub fn other_way(&self) -> Option<&Alternative> {
        let mut fitting = self.alternatives.iter().filter(|other| other.window_bytes.is_some());
        match (self.way(), self.stream.kind) {
            // BFV, unless it does not fit.
            (Way::Added, _) => fitting.next(),
            (Way::Evaluated, Kind::Exact) => fitting.find(|other| other.scheme == SUMS),
            (Way::Evaluated, Kind::Real | Kind::Steps) => None,
        }
    }
}
