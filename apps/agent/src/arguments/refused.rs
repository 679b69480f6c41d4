//! Options of a device without a bundle: refused, with the way to a bundle.

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use super::Arguments;

/// Options that give a device's keys and profile, or a column's range, without a bundle.
const OPTIONS: [&str; 7] =
    ["--profile", "--secret-key", "--public-key", "--signing-key", "--rows", "--minimum", "--maximum"];
/// The subcommand that made a signing key without a bundle.
const ENROL: &str = "enrol";

/// Returns the error to show: if an option or subcommand needs a device without a bundle, one that says how to make a
/// bundle; else `error`.
pub(super) fn explained(error: Error) -> Error {
    let named = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.split('=').next().map(str::to_owned),
        _ => None,
    };
    let word = match error.kind() {
        ErrorKind::UnknownArgument => {
            named(ContextKind::InvalidArg).filter(|option| OPTIONS.contains(&option.as_str()))
        }
        ErrorKind::InvalidSubcommand => named(ContextKind::InvalidSubcommand).filter(|name| name == ENROL),
        _ => None,
    };
    let Some(word) = word else { return error };
    let text = format!(
        "{word} is for a device without a bundle, and every device has one. Make a bundle: sotto device add NAME\n\n  \
         On the owner's machine, in the plant's folder:  sotto device add NAME --channels CHANNEL,…\n  \
         On the device, with the file that it writes:    sotto-agent run --bundle NAME.bundle --csv FILE --column CHANNEL=COLUMN\n\n\
         The bundle holds the device's keys, its streams, and the range of each channel.\n"
    );
    Error::raw(error.kind(), text).with_cmd(&Arguments::command())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(arguments: &[&str]) -> (String, i32) {
        let error = Arguments::read(["sotto-agent"].iter().chain(arguments)).unwrap_err();
        (error.to_string(), error.exit_code())
    }

    #[test]
    fn a_device_without_a_bundle_is_told_how_to_make_one() {
        let bundle = ["run", "--bundle", "b"];
        for option in OPTIONS {
            for with in [&["run"][..], &bundle] {
                let (text, code) = refusal(&[with, &[option, "-4"]].concat());
                assert!(
                    text.contains(option) && text.contains("Make a bundle: sotto device add NAME"),
                    "{text}"
                );
                assert!(!text.contains("unexpected argument"), "{text}");
                assert_eq!(code, 2);
            }
            let (text, _) = refusal(&["run", &format!("{option}=x")]);
            assert!(text.contains("sotto device add NAME"), "{text}");
        }
        let (text, code) = refusal(&["enrol", "--signing-key", "k"]);
        assert!(text.contains("enrol is for a device without a bundle") && code == 2, "{text}");
    }

    #[test]
    fn other_mistakes_keep_their_own_words() {
        assert!(refusal(&["run"]).0.contains("--bundle"));
        assert!(refusal(&["run", "--bundle", "b", "--profiles", "x"]).0.contains("unexpected argument"));
        assert!(refusal(&["fly"]).0.contains("unrecognized subcommand"));
    }
}
