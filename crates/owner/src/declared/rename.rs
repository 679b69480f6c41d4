//! New names of channels and devices. Streams, bundles, the cloud and the folder's files go on using the first one.

use super::edit;
use super::plant::Plant;
use crate::error::OwnerError;
use crate::language::{RESERVED, Token, token, unquoted};

/// Gives a channel another name, in the questions and alarms too.
pub(crate) fn rename_channel(plant: &mut Plant, name: &str, new: &str) -> Result<(), OwnerError> {
    plant.edit(|document| {
        edit::rename_channel(document, name, new)?;
        edit::rewrite_questions(document, |text| renamed(text, Names::Channels, name, new));
        Ok(())
    })
}

/// Gives a device another name, in the questions and alarms too.
pub(crate) fn rename_device(plant: &mut Plant, name: &str, new: &str) -> Result<(), OwnerError> {
    if plant.removed().contains_key(new) {
        return Err(OwnerError::Declared { kind: "devices", name: new.to_owned() });
    }
    plant.edit(|document| {
        edit::rename_device(document, name, new)?;
        edit::rewrite_questions(document, |text| renamed(text, Names::Devices, name, new));
        Ok(())
    })
}

/// The names of a question that are replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    Channels,
    Devices,
}

/// Returns a question with each name `old` replaced.
fn renamed(text: &str, of: Names, old: &str, new: &str) -> String {
    let is_plain = |name: &str| {
        matches!(token(name, 0), Ok(found) if found.token == Token::Word(name)) && !RESERVED.contains(&name)
    };
    let written = if is_plain(new) { new.to_owned() } else { format!("\"{new}\"") };
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    let (mut before, mut in_devices, mut open) = (Token::End, false, 0u32);
    // A text that is no question stays as it is.
    while let Ok(found) = token(text, at) {
        let is_function = matches!(token(text, found.end), Ok(next) if next.token == Token::Symbol('('));
        let is_silence = matches!(token(text, found.end), Ok(next) if next.token == Token::Word("for"));
        let is_old = match found.token {
            // `silent for 3h` is about a device.
            Token::Word("silent") if is_silence => false,
            Token::Word(word) => word == old && !is_function,
            Token::Quoted(inside) => unquoted(inside) == old,
            Token::End => break,
            _ => false,
        };
        // `as NAME` is a result, `by day` a span of the clock.
        // What a comparison stands before is a limit or a state.
        let in_clause = match before {
            Token::Word(word) => RESERVED.contains(&word),
            Token::Comparison(_) => true,
            _ => false,
        };
        // `heat of boiler` in a call names a device; `by hour of day` stands outside of calls.
        let is_device = in_devices || open > 0 && before == Token::Word("of");
        let is_of = match of {
            Names::Channels => !is_device && !in_clause,
            Names::Devices => is_device,
        };
        out.push_str(&text[at..found.start]);
        out.push_str(if is_old && is_of { &written } else { &text[found.start..found.end] });
        match found.token {
            Token::Word("in") => in_devices |= before == Token::Word("device"),
            Token::Symbol('(') => open += 1,
            Token::Symbol(')') => (in_devices, open) = (false, open.saturating_sub(1)),
            _ => {}
        }
        (before, at) = (found.token, found.end);
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced_and_functions_and_results_are_not() {
        for (text, expected) in [
            ("mean(heat) by day", "mean(warmth) by day"),
            ("mean( heat ),max(\"heat\")", "mean( warmth ),max(warmth)"),
            ("mean(heat) as heat, mean(heater)", "mean(warmth) as heat, mean(heater)"),
            ("heat(heat)", "heat(warmth)"),
            ("mean(heat) ^", "mean(warmth) ^"),
            ("heat > 80 for 3 windows", "warmth > 80 for 3 windows"),
            ("heat silent for 3h", "warmth silent for 3h"),
            ("silent(heat) for 3h", "silent(warmth) for 3h"),
            ("time(heat = heat)", "time(warmth = heat)"),
            ("sum(heat) where device in (heat, pump)", "sum(warmth) where device in (heat, pump)"),
            ("covariance(heat of heat, cold of heat)", "covariance(warmth of heat, cold of heat)"),
            ("", ""),
        ] {
            assert_eq!(renamed(text, Names::Channels, "heat", "warmth"), expected, "{text}");
        }
        let text = "sum(heat) where device in (heat, pump) by day";
        let expected = "sum(heat) where device in (\"hot-water\", pump) by day";
        assert_eq!(renamed(text, Names::Devices, "heat", "hot-water"), expected);
        let text = "correlation(heat of day, cold of \"heat\") by hour of day";
        let expected = "correlation(heat of night, cold of \"heat\") by hour of day";
        assert_eq!(renamed(text, Names::Devices, "day", "night"), expected);
        for text in ["silent for 3h", "silent silent for 3h"] {
            let expected = text.replace("silent silent", "hush silent");
            assert_eq!(renamed(text, Names::Channels, "silent", "hush"), expected);
        }
        assert_eq!(renamed("mean(heat)", Names::Channels, "heat", "over"), "mean(\"over\")");
        assert_eq!(renamed("mean(day) by day", Names::Channels, "day", "light"), "mean(light) by day");
    }
}
