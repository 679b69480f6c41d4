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
    // Lists behind `device in` have devices, others tags and times; `of` has a device behind it.
    let (mut before, mut in_devices, mut in_list) = (Token::End, false, false);
    let (mut behind_of, mut open) = (false, 0u32);
    while at < text.len() {
        // Times and parameters are no tokens.
        let Ok(found) = token(text, at) else {
            let next = text[at..].chars().next().map_or(1, char::len_utf8);
            out.push_str(&text[at..at + next]);
            (before, at) = (Token::End, at + next);
            continue;
        };
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
            Token::Word("offset") => found.token == Token::Word("previous"),
            Token::Word(word) => RESERVED.contains(&word),
            // Between two comparisons stands a channel.
            Token::Comparison(_) => {
                !matches!(token(text, found.end), Ok(next) if matches!(next.token, Token::Comparison(_)))
            }
            _ => false,
        };
        let is_of = match of {
            Names::Channels => !in_list && !behind_of && !in_clause,
            Names::Devices => in_devices || behind_of,
        };
        out.push_str(&text[at..found.start]);
        out.push_str(if is_old && is_of { &written } else { &text[found.start..found.end] });
        match found.token {
            Token::Word("in") => {
                in_devices |= before == Token::Word("device");
                in_list |= matches!(before, Token::Word("device" | "tag" | "weekday" | "month" | "date"));
            }
            Token::Symbol('(') => open += 1,
            Token::Symbol(')') => (in_devices, in_list, open) = (false, false, open.saturating_sub(1)),
            _ => {}
        }
        // `of tag barn`, `of all devices`: no device; nor in `by hour of day`, which stands outside of calls.
        let is_name = matches!(found.token, Token::Word(_) | Token::Quoted(_));
        let ends_name = matches!(before, Token::Word(_) | Token::Quoted(_));
        let next_is =
            |word: &str| matches!(token(text, found.end), Ok(next) if next.token == Token::Word(word));
        behind_of = open > 0
            && found.token == Token::Word("of")
            && ends_name
            && is_name
            && !next_is("tag")
            && !next_is("all");
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
            ("count(60 <= heat <= 79)", "count(60 <= warmth <= 79)"),
            ("share(1 < \"heat\" < 2)", "share(1 < warmth < 2)"),
            ("cumulative(energy(heat)) by day", "cumulative(energy(warmth)) by day"),
            ("time(heat = heat)", "time(warmth = heat)"),
            ("sum(heat) where device in (heat, pump)", "sum(warmth) where device in (heat, pump)"),
            ("max(heat of heat) where tag in (heat)", "max(warmth of heat) where tag in (heat)"),
            (
                "mean(heat) where time 22:00-06:00 by day, mean(heat)",
                "mean(warmth) where time 22:00-06:00 by day, mean(warmth)",
            ),
            ("covariance(heat of heat, cold of heat)", "covariance(warmth of heat, cold of heat)"),
            ("", ""),
        ] {
            assert_eq!(renamed(text, Names::Channels, "heat", "warmth"), expected, "{text}");
        }
        let text = "sum(heat) where device in (heat, pump) by day";
        let expected = "sum(heat) where device in (\"hot-water\", pump) by day";
        assert_eq!(renamed(text, Names::Devices, "heat", "hot-water"), expected);
        let text = "mean(heat of heat) - mean(heat of tag heat) + max(heat of all devices)";
        let expected = text.replacen("of heat", "of \"hot-water\"", 1);
        assert_eq!(renamed(text, Names::Devices, "heat", "hot-water"), expected);
        let text = "correlation(heat of day, cold of \"heat\") by hour of day";
        let expected = "correlation(heat of night, cold of \"heat\") by hour of day";
        assert_eq!(renamed(text, Names::Devices, "day", "night"), expected);
        for text in ["silent for 3h", "silent silent for 3h"] {
            let expected = text.replace("silent silent", "hush silent");
            assert_eq!(renamed(text, Names::Channels, "silent", "hush"), expected);
        }
        let offset = "mean(previous) offset previous by day";
        let expected = "mean(last) offset previous by day";
        assert_eq!(renamed(offset, Names::Channels, "previous", "last"), expected);
        assert_eq!(renamed("mean(heat)", Names::Channels, "heat", "over"), "mean(\"over\")");
        assert_eq!(renamed("mean(day) by day", Names::Channels, "day", "light"), "mean(light) by day");
    }
}
