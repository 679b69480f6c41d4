//! Runs the commands of a page in one shell, as a person would type them.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::page::Page;
use crate::cargo;
use crate::process::{self, Scratch, Times};

const GIVE_UP_AFTER: Duration = Duration::from_secs(300);
/// The command that follows one which may fail, to show its exit code.
const SHOWS_EXIT_CODE: &str = "echo $?";
/// The environment variable that marks the processes of a run.
const MARK: &str = "SOTTO_GUIDE_FOLDER";

/// Runs every command and returns its output, standard error included.
///
/// # Errors
/// An error if a command fails and the page does not show its exit code next.
pub(super) fn run(page: &Page, programs: &[&Path], dataset: Option<&Path>) -> Result<Vec<String>> {
    let folder = Scratch::new()?;
    if let Some(dataset) = dataset {
        let name = dataset.file_name().context("the dataset has no name")?;
        std::fs::write(folder.path().join(name), std::fs::read(dataset)?)?;
    }
    let commands = page.commands();
    let mark = format!("== end of command {}", std::process::id());
    let script: Vec<&str> = commands.iter().map(|command| command.text.as_str()).collect();
    let mut sh = cargo::command("sh");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = programs.iter().map(|folder| folder.to_path_buf());
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&path)))?;
    sh.args(["-c", &shell_script(&script, &mark)]).current_dir(folder.path());
    sh.env("PATH", path).env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8");
    sh.env(MARK, folder.path());
    for name in ["SOTTO_PLANT", "SOTTO_PASSPHRASE", "RUST_LOG", "TZ"] {
        sh.env_remove(name);
    }
    let times = Times { interrupt_after: None, give_up_after: GIVE_UP_AFTER };
    let done = process::run(&mut sh, &times)?;
    // A cloud that is still running would answer the commands of the next run.
    for pid in process::marked_with(&format!("{MARK}={}", folder.path().display())) {
        let _ = Command::new("kill").arg(pid.to_string()).status();
    }
    let outputs = outputs(&done.stdout, &mark);
    if outputs.len() != commands.len() {
        bail!("the shell ended after {} of {} commands: {}", outputs.len(), commands.len(), done.stderr);
    }
    let shown = commands.iter().skip(1).map(|next| next.text == SHOWS_EXIT_CODE).chain([false]);
    for ((command, (output, code)), shown) in commands.iter().zip(&outputs).zip(shown) {
        if *code != 0 && !shown {
            bail!("line {}: `{}` ended with {code}; it said: {}", command.line, command.text, output.trim());
        }
        if output.contains(&*folder.path().to_string_lossy()) {
            bail!("line {}: the output names the scratch folder: {}", command.line, output.trim());
        }
    }
    Ok(outputs.into_iter().map(|(output, _)| output).collect())
}

/// Returns a script with each command, then a line with the mark and the exit code, which the next command sees as
/// `$?`.
fn shell_script(commands: &[&str], mark: &str) -> String {
    let mut script = "exec 2>&1\ntrap 'test -z \"$!\" || kill $! 2>/dev/null' EXIT\n".to_owned();
    for command in commands {
        let _ =
            writeln!(script, "{command}\ncode=$?; printf '\\n%s %s\\n' '{mark}' $code{}", started(command));
        script += "(exit $code)\n";
    }
    script + "exit 0\n"
}

/// Returns the script's wait after a cloud in the background: up to 20 s, until the log says that it listens. A person
/// types more slowly.
fn started(command: &str) -> String {
    let log = command.strip_suffix(" &").and_then(|command| command.rsplit_once(" 2> "));
    log.map_or_else(String::new, |(_, log)| {
        format!("\nfor i in $(seq 200); do grep -qs listening {log} && break; sleep 0.1; done")
    })
}

/// Returns output and exit code of each command.
fn outputs(text: &str, mark: &str) -> Vec<(String, i32)> {
    let end = format!("\n{mark} ");
    let mut pieces = text.split(&end);
    let mut output = pieces.next().unwrap_or_default().to_owned();
    let mut all = Vec::new();
    for piece in pieces {
        let (code, next) = piece.split_once('\n').unwrap_or((piece, ""));
        all.push((std::mem::take(&mut output), code.parse().unwrap_or(-1)));
        next.clone_into(&mut output);
    }
    all
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn commands_run_in_one_shell() {
        let folder = Scratch::new().unwrap();
        let dataset = folder.path().join("data.csv");
        std::fs::write(&dataset, "1,2\n").unwrap();
        let run = |text: &str| run(&Page::parse(text).unwrap(), &[Path::new("/nowhere")], Some(&dataset));
        let page = "```console\n$ x=5; sleep 100 &\n$ cat data.csv\n$ false\n$ echo $?\n$ echo $x >&2\n```\n";
        let outputs = run(page).unwrap();
        assert_eq!(outputs, ["", "1,2\n", "", "1\n", "5\n"]);
        let refused = run("```console\n$ true\n$ echo no; false\n$ true\n```\n").unwrap_err().to_string();
        assert!(refused.contains("line 3") && refused.contains("no"), "{refused}");
    }
}
