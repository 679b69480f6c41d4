//! Options of `sotto ask` that are parameters of the question: `sotto ask report --room kitchen`.

use std::ffi::OsString;

use clap::Args as _;

use super::ask::Ask;

/// Returns the words of a command line with each `--room kitchen` behind the question of `sotto ask` as `--with room=kitchen`.
/// Options of `sotto ask` stay as they are.
pub(crate) fn as_options(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let words: Vec<OsString> = words.collect();
    if words.get(1).is_none_or(|word| word != "ask") {
        return words;
    }
    let options = options();
    let mut new: Vec<OsString> = Vec::with_capacity(words.len());
    let (mut has_question, mut at) = (false, 0);
    while let Some(word) = words.get(at) {
        at += 1;
        let text = word.to_str().unwrap_or_default();
        let (option, inside) = match text.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (text, None),
        };
        let Some(name) = option.strip_prefix("--").filter(|name| has_question && is_free(name, &options))
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

/// Returns the options of `sotto ask`.
pub(crate) fn options() -> Vec<String> {
    let ask = Ask::augment_args(clap::Command::new("ask"));
    let own = ask.get_arguments().filter_map(clap::Arg::get_long).map(str::to_owned);
    own.chain(["help".to_owned(), "version".to_owned()]).collect()
}

/// Returns true for a name of a parameter that is none of these options.
pub(crate) fn is_free(name: &str, options: &[String]) -> bool {
    let is_name = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    is_name && !options.iter().any(|option| option == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unknown_options_behind_the_question_are_parameters() {
        let rewritten = |line: &str| {
            let words = line.split(' ').map(OsString::from);
            let words = as_options(words).into_iter();
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
