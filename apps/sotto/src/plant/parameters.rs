//! Values of parameters of questions: `sotto ask report --room kitchen`.

use std::collections::BTreeMap;
use std::ffi::OsString;

use sotto_owner::OwnerError;

/// Reads `room=kitchen`.
pub(crate) fn parameter(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, as in --with room=kitchen")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Returns values by name.
pub(crate) fn once(values: &[(String, String)]) -> Result<BTreeMap<String, String>, OwnerError> {
    let mut all = BTreeMap::new();
    for (name, value) in values {
        if all.insert(name.clone(), value.clone()).is_some() {
            let twice =
                format!("--{name} comes twice: give several values with commas, as in --{name} kitchen,hall");
            return Err(OwnerError::Question(twice));
        }
    }
    Ok(all)
}

/// Returns the words of a command line with each `--room kitchen` behind the question of `sotto ask` as `--with room=kitchen`.
/// `command` returns one that knows the options of `sotto`, which stay as they are.
pub(crate) fn as_options(
    words: impl Iterator<Item = OsString>,
    command: impl Fn() -> clap::Command,
) -> Vec<OsString> {
    let words: Vec<OsString> = words.collect();
    if words.get(1).is_none_or(|word| word != "ask") {
        return words;
    }
    let command = command();
    let mut new: Vec<OsString> = Vec::with_capacity(words.len());
    let (mut has_question, mut at) = (false, 0);
    while let Some(word) = words.get(at) {
        at += 1;
        let text = word.to_str().unwrap_or_default();
        let (option, inside) = match text.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (text, None),
        };
        let Some(name) = option.strip_prefix("--").filter(|name| has_question && is_free(name, &command))
        else {
            has_question |= at > 2 && !text.starts_with('-');
            new.push(word.clone());
            continue;
        };
        let behind = words.get(at).and_then(|next| next.to_str()).filter(|next| !next.starts_with("--"));
        let Some(value) = inside.or(behind) else {
            new.push(word.clone());
            continue;
        };
        at += usize::from(inside.is_none());
        new.extend(["--with".into(), format!("{name}={value}").into()]);
    }
    new
}

/// Returns true for a name of a parameter that is no option of `sotto ask`.
pub(crate) fn is_free(name: &str, command: &clap::Command) -> bool {
    let is_name = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let ask = command.get_subcommands().find(|sub| sub.get_name() == "ask");
    let mut known = ask.into_iter().flat_map(clap::Command::get_arguments).filter_map(clap::Arg::get_long);
    is_name && !matches!(name, "help" | "version") && !known.any(|long| long == name)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn only_unknown_options_behind_the_question_are_parameters() {
        let rewritten = |line: &str| {
            let words = line.split(' ').map(OsString::from);
            let words = as_options(words, crate::Arguments::command).into_iter();
            words.map(|word| word.into_string().unwrap_or_default()).collect::<Vec<_>>().join(" ")
        };
        for (line, expected) in [
            ("sotto ask report --room kitchen", "sotto ask report --with room=kitchen"),
            ("sotto ask report --room=kitchen --json", "sotto ask report --with room=kitchen --json"),
            (
                "sotto ask --json report --long 7d --since -7d",
                "sotto ask --json report --with long=7d --since -7d",
            ),
            ("sotto ask report --from -7d", "sotto ask report --with from=-7d"),
            ("sotto ask report --jsn", "sotto ask report --jsn"),
            ("sotto ask report --jsn --verify", "sotto ask report --jsn --verify"),
            ("sotto ask --jsn report", "sotto ask --jsn report"),
            ("sotto ask report --with room=kitchen", "sotto ask report --with room=kitchen"),
            ("sotto plan report --room kitchen", "sotto plan report --room kitchen"),
            ("sotto ask report --help x", "sotto ask report --help x"),
        ] {
            assert_eq!(rewritten(line), expected);
        }
    }
}
