//! Counts the compilations of a run of `cargo ci --count`: cargo calls this program in place of the compiler.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};

/// The variable that names the file with one line a compilation.
const FILE: &str = "XTASK_COMPILATIONS";

/// Makes the programs that this one starts count their compilations in a file, which is emptied. cargo gets the
/// variables from its parent, so that they also reach cargo calls of other programs.
pub(crate) fn count_in(file: &Path) -> Result<Vec<(&'static str, std::ffi::OsString)>> {
    fs::write(file, "").with_context(|| format!("cannot write {}", file.display()))?;
    Ok(vec![("RUSTC_WRAPPER", std::env::current_exe()?.into()), (FILE, file.into())])
}

/// Runs the compiler if cargo called this program in its place; returns its exit code.
pub(crate) fn compile(args: &[String]) -> Option<ExitCode> {
    let file = std::env::var_os(FILE)?;
    let (compiler, rest) = args.split_first()?;
    let name = Path::new(compiler).file_stem()?.to_str()?;
    if !["rustc", "clippy-driver"].contains(&name) {
        return None;
    }
    if let Some(line) = described(rest)
        && let Ok(mut file) = OpenOptions::new().append(true).open(file)
    {
        // One write a line: several compilers run at once. A line that is lost is not counted.
        let _ = file.write_all(format!("{line}\n").as_bytes());
    }
    let status = Command::new(compiler).args(rest).status();
    let code = status.ok().and_then(|status| status.code()).and_then(|code| u8::try_from(code).ok());
    Some(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Returns the crate, its level of optimisation and its kind; None for questions that cargo asks of the compiler.
fn described(args: &[String]) -> Option<String> {
    let after = |flag: &str| args.iter().skip_while(|arg| *arg != flag).nth(1).map(String::as_str);
    let name = after("--crate-name").filter(|name| *name != "___")?;
    let level = args.iter().find_map(|arg| arg.strip_prefix("opt-level=")).unwrap_or("0");
    let emits_code = args.iter().any(|arg| arg.starts_with("--emit=") && arg.contains("link"));
    let kind = match (args.iter().any(|arg| arg == "--test"), emits_code) {
        (true, _) => "test",
        (false, true) => "code",
        (false, false) => "check",
    };
    Some(format!("{name} {level} {kind}"))
}

pub(crate) fn summary(file: &Path) -> Result<String> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let all = text.lines().count();
    let checks = text.lines().filter(|line| line.ends_with(" check")).count();
    let rlwe = text.lines().filter(|line| *line == "sotto_rlwe 3 code").count();
    Ok(format!("{all} compilations, {checks} of them checks alone; sotto-rlwe at level 3: {rlwe}"))
}

#[cfg(test)]
mod tests {
    use super::described;

    #[test]
    fn compilations_are_told_from_questions() {
        let line = |args: &str| described(&args.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(
            line("--crate-name sotto_rlwe --edition=2024 --emit=dep-info,metadata,link -C opt-level=3")
                .as_deref(),
            Some("sotto_rlwe 3 code")
        );
        assert_eq!(line("--crate-name a --emit=dep-info,metadata").as_deref(), Some("a 0 check"));
        assert_eq!(line("--crate-name it --test --emit=dep-info,link").as_deref(), Some("it 0 test"));
        assert_eq!(line("- --crate-name ___ --print=file-names"), None);
        assert_eq!(line("-vV"), None);
    }
}
