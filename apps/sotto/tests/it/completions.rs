//! Completion as a shell asks for it.

use std::process::Command;

use crate::plant::Plant;

/// Returns the completions of the last word, as bash gets them.
fn completed(plant: &Plant, words: &[&str]) -> Vec<String> {
    let script = "source <(sotto completions bash) && COMP_WORDS=(\"$@\") && COMP_CWORD=$(($# - 1)) && COMP_TYPE=9 && \
                  _clap_complete_sotto sotto \"${@: -1}\" && printf '%s\\n' \"${COMPREPLY[@]}\"";
    let programs = std::path::Path::new(env!("CARGO_BIN_EXE_sotto")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.args(["-c", script, "bash"]).args(words).current_dir(plant.folder());
    let done = command.env("PATH", path).env_remove("SOTTO_PLANT").output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(said.is_empty(), "{words:?}: {said}");
    String::from_utf8(done.stdout).unwrap().lines().map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn bash_completes_names_of_the_plant() {
    let plant = Plant::new();
    for (words, expected) in [
        (&["sotto", "as"][..], &["ask"][..]),
        (&["sotto", "ask", "dai"], &["daily"]),
        (&["sotto", "ask", "mean(h"], &["mean(heat"]),
        (&["sotto", "device", "renew", "b"], &["boiler"]),
        (&["sotto", "channel", "remove", ""], &["flow", "heat"]),
        (&["sotto", "device", "add", "x", "--channels", "heat,f"], &["heat,flow"]),
        (&["sotto", "question", "remove", "x"], &[]),
    ] {
        let mut found = completed(&plant, words);
        found.retain(|name| !name.is_empty() && !name.starts_with('-'));
        assert_eq!(found, expected, "{words:?}");
    }
    assert!(completed(&plant, &["sotto", "ask", "x", "--par"]).contains(&"--parquet".to_owned()));
}

#[test]
fn each_shell_has_its_script() {
    let plant = Plant::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = crate::session::sotto(plant.folder(), &["completions", shell]).unwrap();
        assert!(script.contains("sotto") && script.contains("COMPLETE"), "{shell}: {script}");
    }
}
