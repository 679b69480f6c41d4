//! `direction(x)`: the mean direction of angles: that of the sum of their unit vectors.

use serde::{Deserialize, Serialize};
use sotto_pack::{Angle, ChannelKind, Several};

use super::arguments::Channel;
use super::function::{Function, InAlarm, Named, OneValue, Syntax, Yields};
use super::{Call, Circumstances};
use crate::gathered::{Channels, Counted, Gathered, Need, WindowQuantity};

pub(super) const SYNTAX: Syntax = Syntax {
    names: &[Named { word: "direction", arguments: "x" }],
    synonyms: &[],
    across_groups: false,
    read: |parser, _| Ok(Direction(Channel::read(parser)?).into()),
};

/// `direction(x)`: the mean direction of angles.
///
/// Example: [`Call`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Direction(pub(super) Channel);

impl Call {
    /// Returns the call `direction(x)`.
    #[must_use]
    pub fn direction(channel: impl Into<String>) -> Self {
        Direction(Channel(channel.into())).into()
    }
}

impl Function for Direction {
    fn name(&self) -> &'static str {
        "direction"
    }

    fn cannot_work(&self, of: &Circumstances<'_>) -> Option<String> {
        let unit = of.channels.unit(&self.0.0);
        let angles = ChannelKind::Angle(Angle { several: Several::Last });
        let error = angles.rules().check(&unit, (0.0, Angle::turn(&unit)), None).err()?;
        Some(format!("{0} is in {unit}, and has no direction: {error}. Take mean({0})", self.0.0))
    }

    fn fits(&self, kind: &ChannelKind) -> bool {
        matches!(kind, ChannelKind::Angle(_))
    }

    fn needs(&self) -> Vec<Need> {
        use WindowQuantity::{Cosine, Sine};
        vec![Need::windows(&self.0.0, &[Cosine, Sine])]
    }

    fn yields(&self) -> Yields<'_> {
        Yields::One(self)
    }

    fn in_alarm(&self) -> InAlarm<'_> {
        InAlarm::Value
    }
}

impl OneValue for Direction {
    fn unit(&self, channels: &dyn Channels) -> String {
        channels.unit(&self.0.0)
    }

    fn value(&self, from: &Gathered<'_>) -> Counted {
        from.of_windows(&self.0.0, |windows| windows.direction(&from.unit(&self.0.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Of(&'static str);

    impl Channels for Of {
        fn unit(&self, _: &str) -> String {
            self.0.to_owned()
        }
    }

    #[test]
    fn only_angles_have_a_direction() {
        let refused = |unit| {
            let of = Circumstances { channels: &Of(unit), is_new: false, longest: None };
            Direction(Channel("wind".to_owned())).cannot_work(&of)
        };
        assert_eq!((refused("°"), refused("rad")), (None, None));
        assert_eq!(refused(""), None);
        assert!(refused("°C").is_some_and(|why| why.contains("is in °C, and has no direction")));
    }
}
