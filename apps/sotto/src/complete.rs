//! Completion in shells: the script that a shell reads once, and the names of the plant's folder when a word is completed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap_complete::CompletionCandidate;
use clap_complete::env::Shells;
use sotto_owner::Plant;
use sotto_owner::question::{AlongGroups, functions};

use crate::output::say;
use crate::run::Run;

/// The variable that a shell's script sets when it asks for completions.
pub(crate) const VARIABLE: &str = "COMPLETE";
/// The words that may follow a selected result.
const CLAUSES: [&str; 13] = [
    "as",
    "in",
    "offset",
    "over",
    "during",
    "since",
    "until",
    "by",
    "per device",
    "per tag",
    "across devices",
    "where",
    "shared",
];
/// The words that may follow `of` behind a channel, beside names of devices.
const SCOPES: [&str; 2] = ["tag", "all devices"];
/// The words that may follow `where` and `and`.
const CONDITIONS: [&str; 6] = ["device in (", "tag in (", "time", "weekday in (", "month in (", "date in"];

/// Arguments of `sotto completions`.
#[derive(clap::Args, Debug)]
pub(crate) struct Completions {
    /// The shell that reads the script
    shell: Shell,
}

/// A shell.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

impl Run for Completions {
    fn run(self) -> anyhow::Result<ExitCode> {
        let name = match self.shell {
            Shell::Bash => "bash",
            Shell::Elvish => "elvish",
            Shell::Fish => "fish",
            Shell::Powershell => "powershell",
            Shell::Zsh => "zsh",
        };
        let shells = Shells::builtins();
        let shell = shells.completer(name).ok_or_else(|| anyhow::anyhow!("no script for {name}"))?;
        let mut script = Vec::new();
        shell.write_registration(VARIABLE, "sotto", "sotto", "sotto", &mut script)?;
        say(String::from_utf8(script)?.trim_end());
        Ok(ExitCode::SUCCESS)
    }
}

/// Opens the plant of the command line that is completed, as far as it has one. Says nothing: the shell waits for names.
fn plant() -> Option<Plant> {
    let words: Vec<_> = std::env::args_os().collect();
    let named = words.windows(2).find(|pair| pair[0] == "--plant").map(|pair| PathBuf::from(&pair[1]));
    let joined = words.iter().find_map(|word| word.to_str()?.strip_prefix("--plant=").map(PathBuf::from));
    let variable = std::env::var_os("SOTTO_PLANT").map(PathBuf::from);
    match named.or(joined).or(variable) {
        Some(folder) => Plant::open(&folder).ok(),
        None => Plant::find(&std::env::current_dir().ok()?).ok(),
    }
}

fn beginning<'n>(current: &OsStr, names: impl Iterator<Item = &'n String>) -> Vec<CompletionCandidate> {
    let Some(current) = current.to_str() else { return Vec::new() };
    names.filter(|name| name.starts_with(current)).map(CompletionCandidate::new).collect()
}

/// Completes the name of a channel.
pub(crate) fn channel(current: &OsStr) -> Vec<CompletionCandidate> {
    plant().map_or_else(Vec::new, |plant| beginning(current, plant.settings().channels.keys()))
}

/// Completes channels separated by commas.
pub(crate) fn channels(current: &OsStr) -> Vec<CompletionCandidate> {
    let (Some(plant), Some(current)) = (plant(), current.to_str()) else { return Vec::new() };
    let (before, last) = current.rfind(',').map_or(("", current), |at| current.split_at(at + 1));
    let new = |name: &&String| !before.split(',').any(|known| known == **name);
    let names = plant.settings().channels.keys().filter(|name| name.starts_with(last)).filter(new);
    names.map(|name| CompletionCandidate::new(format!("{before}{name}"))).collect()
}

/// Completes the name of a device.
pub(crate) fn device(current: &OsStr) -> Vec<CompletionCandidate> {
    plant().map_or_else(Vec::new, |plant| beginning(current, plant.settings().devices.keys()))
}

/// Completes the name of an alarm.
pub(crate) fn alarm(current: &OsStr) -> Vec<CompletionCandidate> {
    plant().map_or_else(Vec::new, |plant| beginning(current, plant.settings().alarms.keys()))
}

/// Completes the name of a saved question.
pub(crate) fn saved(current: &OsStr) -> Vec<CompletionCandidate> {
    plant().map_or_else(Vec::new, |plant| beginning(current, plant.settings().questions.keys()))
}

/// Completes the name of an answer, the newest first.
pub(crate) fn answer(current: &OsStr) -> Vec<CompletionCandidate> {
    let names = plant().and_then(|plant| plant.answers().ok()).unwrap_or_default();
    beginning(current, names.iter().rev())
}

/// Completes the last word of a question, or the name of a saved one.
pub(crate) fn question(current: &OsStr) -> Vec<CompletionCandidate> {
    let (Some(current), plant) = (current.to_str(), plant()) else { return Vec::new() };
    let candidate =
        |(text, help): (String, Option<String>)| CompletionCandidate::new(text).help(help.map(Into::into));
    completed_question(current, plant.as_ref()).into_iter().map(candidate).collect()
}

/// Completes the last word of a question; each text with the arguments of the function that ends it.
pub(crate) fn completed_question(text: &str, plant: Option<&Plant>) -> Vec<(String, Option<String>)> {
    let found = completed(text, &Names::of(plant));
    found
        .into_iter()
        .map(|text| {
            let help = help(&text);
            (text, help)
        })
        .collect()
}

/// Returns the arguments of the function that ends a text.
fn help(text: &str) -> Option<String> {
    let word = text.strip_suffix('(')?.rsplit(|c: char| !in_word(c)).next()?;
    if AlongGroups::WORDS.contains(&word) {
        let decay = if word == "ewma" { ", 0.3" } else { "" };
        return Some(format!("{word}(mean(x){decay}) by day"));
    }
    let function = functions().find(|function| function.word == word)?;
    Some(format!("{word}({})", function.arguments))
}

/// The names that a question may have.
#[derive(Default)]
struct Names {
    questions: Vec<String>,
    channels: Vec<String>,
    devices: Vec<String>,
    /// Those of devices and channels.
    tags: Vec<String>,
}

impl Names {
    fn of(plant: Option<&Plant>) -> Self {
        plant.map_or_else(Self::default, |plant| {
            let settings = plant.settings();
            let of_devices = settings.devices.values().flat_map(|device| &device.tags);
            let of_channels = settings.channels.values().flat_map(|channel| &channel.tags);
            let tags: BTreeSet<&String> = of_devices.chain(of_channels).collect();
            Self {
                tags: tags.into_iter().map(|tag| quoted(tag)).collect(),
                questions: settings.questions.keys().cloned().collect(),
                channels: settings.channels.keys().map(|name| quoted(name)).collect(),
                devices: settings.devices.keys().map(|name| quoted(name)).collect(),
            }
        })
    }
}

/// Returns a name as questions write it: in double quotes if it has other characters than words do.
fn quoted(name: &str) -> String {
    let plain = name.chars().all(in_word) && !name.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if plain { name.to_owned() } else { format!("\"{name}\"") }
}

fn in_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

/// Returns the texts that a question may go on to. A shell's own quote before it stays with the shell.
fn completed(current: &str, names: &Names) -> Vec<String> {
    let text = current.strip_prefix(['\'', '"']).unwrap_or(current);
    let at = text
        .rfind(|c: char| !in_word(c))
        .map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8));
    let (before, word) = text.split_at(at);
    let open = before.rfind('(').filter(|open| !before[*open..].contains(')'));
    let before_open = open.map(|open| before[..open].trim_end());
    let mut found: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if name.starts_with(word) || name.strip_prefix('"').is_some_and(|name| name.starts_with(word)) {
            found.push(format!("{before}{name}"));
        }
    };
    let trimmed = before.trim_end();
    let follows = |words: &str| before.ends_with(' ') && ends_with_word(trimmed, words);
    match before_open {
        Some(call) if call.ends_with("device in") => names.devices.iter().for_each(|name| add(name)),
        Some(call) if call.ends_with("tag in") => names.tags.iter().for_each(|name| add(name)),
        Some(call) if call.ends_with(" in") => {}
        Some(call) if AlongGroups::WORDS.iter().any(|word| ends_with_word(call, word)) => {
            functions().for_each(|function| add(&format!("{}(", function.word)));
        }
        Some(call) if call.ends_with(in_word) => {
            if follows("of tag") {
                names.tags.iter().for_each(|name| add(name));
            } else if follows("of") {
                names.devices.iter().for_each(|name| add(name));
                SCOPES.iter().for_each(|scope| add(scope));
            } else if before.ends_with(' ') && trimmed.ends_with(|c: char| in_word(c) || c == '"') {
                add("of");
            } else {
                names.channels.iter().for_each(|name| add(name));
            }
        }
        _ => {
            if before.is_empty() {
                names.questions.iter().for_each(|name| add(name));
            }
            if trimmed.is_empty()
                || trimmed.ends_with([',', '+', '-', '*', '/', '('])
                || follows("devices of")
            {
                functions().for_each(|function| add(&format!("{}(", function.word)));
                let along = AlongGroups::WORDS.iter().filter(|word| functions().all(|of| of.word != **word));
                along.for_each(|word| add(&format!("{word}(")));
            } else if follows("per") {
                ["device", "tag"].iter().for_each(|word| add(word));
            } else if follows("where") || (follows("and") && before.contains(" where ")) {
                CONDITIONS.iter().for_each(|condition| add(condition));
            } else if before.ends_with(' ') {
                CLAUSES.iter().for_each(|clause| add(clause));
            }
        }
    }
    found
}

/// Returns true if a text ends with this word.
fn ends_with_word(text: &str, word: &str) -> bool {
    text.strip_suffix(word).is_some_and(|rest| !rest.ends_with(in_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_a_question_is_completed() {
        let names = Names {
            questions: vec!["daily".to_owned()],
            channels: vec!["temperature".to_owned(), quoted("t-in")],
            devices: vec!["boiler".to_owned()],
            tags: vec!["barn".to_owned(), quoted("2nd")],
        };
        for (text, expected) in [
            ("da", vec!["daily"]),
            ("me", vec!["mean("]),
            ("'mean(te", vec!["mean(temperature"]),
            ("mean(t", vec!["mean(temperature", "mean(\"t-in\""]),
            ("mean(temperature) - ma", vec!["mean(temperature) - max("]),
            ("mean(temperature) b", vec!["mean(temperature) by"]),
            ("mean(x) where device in (b", vec!["mean(x) where device in (boiler"]),
            ("mean(x) where weekday in (", vec![]),
            ("cum", vec!["cumulative("]),
            ("mean(x) - cum", vec!["mean(x) - cumulative("]),
            ("cumulative(ene", vec!["cumulative(energy("]),
            ("cumulative(energy(te", vec!["cumulative(energy(temperature"]),
            ("mean(x) sh", vec!["mean(x) shared"]),
            ("mean(x) per", vec!["mean(x) per device", "mean(x) per tag"]),
            ("mean(x) per t", vec!["mean(x) per tag"]),
            ("mean(x o", vec!["mean(x of"]),
            ("mean(x of b", vec!["mean(x of boiler"]),
            ("mean(x of ", vec!["mean(x of boiler", "mean(x of tag", "mean(x of all devices"]),
            ("correlation(x of boiler, y of b", vec!["correlation(x of boiler, y of boiler"]),
            ("mean(x of tag b", vec!["mean(x of tag barn"]),
            ("mean(x) where tag in (", vec!["mean(x) where tag in (barn", "mean(x) where tag in (\"2nd\""]),
            ("mean(x) where ta", vec!["mean(x) where tag in ("]),
            ("mean(x) where tag in (barn) and ti", vec!["mean(x) where tag in (barn) and time"]),
            ("top 3 devices of ma", vec!["top 3 devices of max("]),
            ("é", vec![]),
        ] {
            assert_eq!(completed(text, &names), expected, "{text}");
        }
        assert!(completed("", &names).len() > 20);
        assert_eq!(help("sum(x), quantile(").as_deref(), Some("quantile(x, 0.95)"));
        assert_eq!(help("ewma(").as_deref(), Some("ewma(mean(x), 0.3) by day"));
    }
}
