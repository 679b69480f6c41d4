//! Pages of the reference that are made of the program.

use std::process::ExitCode;

use crate::output::say;
use crate::run::Run;

/// Arguments of `sotto grammar`.
#[derive(clap::Args, Debug)]
pub(crate) struct Grammar {}

impl Run for Grammar {
    fn run(self) -> anyhow::Result<ExitCode> {
        say(sotto_owner::question::grammar().trim_end());
        Ok(ExitCode::SUCCESS)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::path::Path;

    use clap::{Command, CommandFactory as _};

    use crate::Arguments;

    const HEAD: &str = r"# The command line of `sotto`

Made of the program by `SOTTO_WRITE_REFERENCE=1 cargo test --release -p sotto --bins reference`. `sotto COMMAND --help` says the
same. Every command on a plant takes `--plant DIR` (or `SOTTO_PLANT`) and `--passphrase-file FILE` (or
`SOTTO_PASSPHRASE_FILE`). [Exit codes](exit-codes.md), [the grammar of questions](grammar.md).

## Completion

    source <(sotto completions bash)                                            # in ~/.bashrc
    source <(sotto completions zsh)                                             # in ~/.zshrc, after compinit
    sotto completions fish > ~/.config/fish/completions/sotto.fish

Tab then completes commands and options, and names of the plant's folder: channels, devices, saved questions, alarms, answers, and
within a question functions, channels and clauses (`sotto ask 'mean(te`). The script asks `sotto` itself, which reads `sotto.toml` of
the plant that the command line names (`--plant`, `SOTTO_PLANT`, else this folder). It asks neither the cloud nor for a passphrase.

";

    /// Compares a page with the program; writes it if `SOTTO_WRITE_REFERENCE` is set.
    fn is_current(file: &str, made: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(file);
        if std::env::var_os("SOTTO_WRITE_REFERENCE").is_some() {
            std::fs::write(&path, made).unwrap();
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == made,
            "docs/reference/{file} differs from the program: make it again with\nSOTTO_WRITE_REFERENCE=1 cargo test --release -p sotto --bins reference"
        );
    }

    /// Adds a section for a command: its sentence, its arguments and options.
    fn add(page: &mut String, command: &Command, name: &str) {
        let about = |text: Option<&clap::builder::StyledStr>| {
            text.map(|text| text.to_string().replace('\n', " ").replace('|', "\\|")).unwrap_or_default()
        };
        let _ = writeln!(page, "## `{name}`\n\n{}\n", about(command.get_about()));
        let shown = command.get_arguments().filter(|of| !of.is_hide_set() && !of.is_global_set());
        let shown: Vec<_> = shown.filter(|of| !matches!(of.get_id().as_str(), "help" | "version")).collect();
        if !shown.is_empty() {
            page.push_str("| argument | meaning |\n| --- | --- |\n");
        }
        for of in &shown {
            let values: Vec<String> =
                of.get_value_names().into_iter().flatten().map(ToString::to_string).collect();
            let takes = of.get_action().takes_values();
            let values = if takes && !values.is_empty() { values.join(" ") } else { String::new() };
            let usage = match of.get_long() {
                Some(long) if values.is_empty() => format!("--{long}"),
                Some(long) => format!("--{long} {values}"),
                None => values,
            };
            let _ = writeln!(page, "| `{}` | {} |", usage.replace('|', "\\|"), about(of.get_help()));
        }
        if !shown.is_empty() {
            page.push('\n');
        }
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            add(page, inner, &format!("{name} {}", inner.get_name()));
        }
    }

    #[test]
    fn the_page_of_the_command_line_is_current() {
        let mut page = HEAD.to_owned();
        let mut command = Arguments::command();
        command.build();
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            add(&mut page, inner, &format!("sotto {}", inner.get_name()));
        }
        is_current("command-line.md", &format!("{}\n", page.trim_end()));
    }

    #[test]
    fn the_page_of_the_grammar_is_current() {
        is_current("grammar.md", &format!("{}\n", sotto_owner::question::grammar().trim_end()));
    }

    #[test]
    fn no_option_has_two_meanings() {
        Arguments::command().debug_assert();
    }
}
