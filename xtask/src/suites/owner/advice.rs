//! The advice on the screen, followed literally.

use std::process::Command;

use anyhow::{Result, bail};
use serde_json::Value;

use super::world::{BACKUP, World};
use crate::process::Finished;

/// Rounds of looking and mending after which a plant is not mended.
const ROUNDS: usize = 16;

/// Words that stand for others in a text for people.
const PLACEHOLDERS: [&str; 6] = ["NAME", "DEVICE", "FILE", "DATE", "DIR", "…"];

/// Returns the commands of a text in the order of the text: those in backquotes.
pub(super) fn commands(text: &str) -> Vec<Vec<String>> {
    let quoted = text.split('`').skip(1).step_by(2);
    let is_literal = |command: &&str| !PLACEHOLDERS.iter().any(|word| command.contains(word));
    let words = |command: &str| command.split_whitespace().skip(1).map(str::to_owned).collect();
    quoted.filter(|command| command.starts_with("sotto ")).filter(is_literal).map(words).collect()
}

/// Returns the output and the errors of a program.
pub(super) fn said(done: &Finished) -> String {
    format!("{}{}", done.stdout.trim(), done.stderr.trim())
}

impl World {
    /// Follows the advice of `sotto check` and of a question until neither gives any, then checks the answer.
    pub(super) fn recover(&mut self) -> Result<()> {
        let mut followed = Vec::new();
        for _ in 0..ROUNDS {
            if self.mend(&mut followed)? {
                continue;
            }
            if self.ask_again(&mut followed)? {
                continue;
            }
            self.is_whole(&followed)?;
            return Ok(());
        }
        self.faults.push(format!("not mended by {followed:?}"));
        Ok(())
    }

    /// Follows the advice about the first fault that `sotto check` shows and that can be mended. Returns false if there is
    /// none.
    fn mend(&mut self, followed: &mut Vec<String>) -> Result<bool> {
        let checked = self.sotto(&["check", "--json"])?;
        let Ok(found) = serde_json::from_str::<Value>(&checked.stdout) else {
            // Without sotto.toml nothing can be checked.
            return self.take_from_copy("sotto.toml", followed, &said(&checked));
        };
        for fault in found["faults"].as_array().into_iter().flatten() {
            let (file, cure) =
                (fault["file"].as_str().unwrap_or_default(), fault["cure"].as_str().unwrap_or_default());
            let words: Vec<&str> = cure.split(' ').collect();
            let done = match words[..] {
                ["sotto", ref rest @ ..] => {
                    let done = self.sotto(rest)?;
                    if done.status.success() {
                        // It says: start the cloud again.
                        if rest == ["cloud", "secrets"] {
                            self.site.stop_cloud("TERM")?;
                            self.site.run_cloud_until_it_answers()?;
                        }
                        true
                    } else {
                        self.follow(&said(&done), followed)?
                    }
                }
                ["chmod", mode, path] => {
                    let mut chmod = Command::new("chmod");
                    chmod.args([mode, path]).current_dir(self.site.folder()).status()?.success()
                }
                _ => false,
            };
            // "from a backup", or "a copy of it elsewhere".
            if (done && !followed.contains(&cure.to_owned())) || self.take_from_copy(file, followed, cure)? {
                followed.push(cure.to_owned());
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Restores missing files from the backup, once. Returns false if there is none.
    fn restore_backup(&mut self, followed: &mut Vec<String>) -> Result<bool> {
        let done = format!("sotto restore {BACKUP}");
        if followed.contains(&done) || !self.site.folder().join(BACKUP).exists() {
            return Ok(false);
        }
        followed.push(done);
        Ok(self.sotto(&["restore", BACKUP])?.status.success())
    }

    /// Takes a file from the latest copy that has it. Returns false if there is none, or it was taken already.
    fn take_from_copy(&mut self, file: &str, followed: &mut Vec<String>, why: &str) -> Result<bool> {
        let has = |copy: &&String| self.site.folder().join(copy).join(file).exists();
        let Some(copy) = self.copies.iter().rev().find(has).cloned() else {
            return self.restore_backup(followed);
        };
        let done = format!("{file} of {copy}, for {why}");
        if followed.contains(&done) {
            return Ok(false);
        }
        self.bring_back(&copy, file)?;
        followed.push(done);
        Ok(true)
    }

    /// Runs the commands of a text. Returns true if one of them succeeded that was not run before.
    fn follow(&mut self, text: &str, followed: &mut Vec<String>) -> Result<bool> {
        for command in commands(text) {
            let words: Vec<&str> = command.iter().map(String::as_str).collect();
            let line = format!("sotto {}", words.join(" "));
            if !followed.contains(&line) && self.sotto(&words)?.status.success() {
                followed.push(line);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Asks the question, and follows the advice of its error or its notes. Returns false if there is none.
    fn ask_again(&mut self, followed: &mut Vec<String>) -> Result<bool> {
        let Some(question) = self.question() else { bail!("no channel is left in sotto.toml") };
        let asked = self.sotto(&["ask", &question, "--json", "--no-keep"])?;
        if !asked.status.success() {
            return self.follow(&said(&asked), followed);
        }
        let answer: Value = serde_json::from_str(&asked.stdout)?;
        for note in answer["notes"].as_array().into_iter().flatten() {
            if self.follow(note.as_str().unwrap_or_default(), followed)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
