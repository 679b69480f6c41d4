//! A page with blocks of commands and their output.
//!
//! In a block that begins with ```` ```console ````, a line `$ …` is a command; it continues while its lines end with a
//! backslash, and up to the end of a document that begins with `<< 'END'`. The lines after it are its output. A line `…` in an output stands for any number of lines.

use anyhow::{Result, bail};

use super::compare::{self, CUT};

/// A parsed page.
pub(super) struct Page {
    parts: Vec<Part>,
}

enum Part {
    /// A line outside of outputs.
    Line(String),
    Command(Command),
}

/// A command and its output in the page.
pub(super) struct Command {
    /// Line of the page, from 1.
    pub(super) line: usize,
    /// The command, without `$ `.
    pub(super) text: String,
    /// Lines of its output.
    pub(super) output: Vec<String>,
}

impl Page {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let (mut parts, mut inside) = (Vec::new(), false);
        let mut lines = (1..).zip(text.lines()).peekable();
        while let Some((number, line)) = lines.next() {
            let Some(first) = line.strip_prefix("$ ").filter(|_| inside) else {
                if inside && line != "```" {
                    bail!("line {number}: a console block begins with a command, `$ …`");
                }
                inside = line == "```console";
                parts.push(Part::Line(line.to_owned()));
                continue;
            };
            let mut text = first.to_owned();
            while text.ends_with('\\') {
                let Some((_, more)) = lines.next() else { break };
                text = format!("{text}\n{more}");
            }
            if let Some(end) = end_of_document(first) {
                for (_, more) in lines.by_ref() {
                    text = format!("{text}\n{more}");
                    if more == end {
                        break;
                    }
                }
            }
            let mut output = Vec::new();
            while let Some((_, line)) = lines.next_if(|(_, line)| *line != "```" && !line.starts_with("$ ")) {
                output.push(line.to_owned());
            }
            parts.push(Part::Command(Command { line: number, text, output }));
        }
        if inside {
            bail!("the last console block is not closed");
        }
        Ok(Self { parts })
    }

    pub(super) fn commands(&self) -> Vec<&Command> {
        let commands = self.parts.iter().filter_map(|part| match part {
            Part::Command(command) => Some(command),
            Part::Line(_) => None,
        });
        commands.collect()
    }

    /// Returns one line for each command whose output differs from the page.
    pub(super) fn faults(&self, outputs: &[String]) -> Vec<String> {
        let mut faults = Vec::new();
        for (command, output) in self.commands().into_iter().zip(outputs) {
            if let Some((shown, found)) = compare::difference(&command.output, output) {
                faults.push(format!(
                    "line {}: `{}` printed {found:?} where the page has {shown:?}; `cargo xtask guide` writes the page again",
                    command.line, command.text
                ));
            }
        }
        faults
    }

    /// Returns the page with new outputs, cut in the same places.
    pub(super) fn with_outputs(&self, outputs: &[String]) -> String {
        let mut outputs = outputs.iter();
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Line(line) => text += &format!("{line}\n"),
                Part::Command(command) => {
                    text += &format!("$ {}\n", command.text);
                    let output = outputs.next().map_or("", String::as_str);
                    // An output that differs only in times keeps its old text.
                    let same = compare::difference(&command.output, output).is_none();
                    let shown = || command.output.iter().map(String::as_str).collect();
                    for line in if same { shown() } else { cut_like(&command.output, output) } {
                        text += &format!("{line}\n");
                    }
                }
            }
        }
        text
    }
}

/// Returns the line that ends a document behind a command, if one begins in it.
fn end_of_document(command: &str) -> Option<&str> {
    let (_, begin) = command.split_once("<< '")?;
    begin.split_once('\'').map(|(end, _)| end)
}

/// Returns the lines of `output`: as many from its beginning and its end as `shown` has before and after its cut, or
/// all if there is no cut.
fn cut_like<'o>(shown: &[String], output: &'o str) -> Vec<&'o str> {
    let lines: Vec<&str> = output.lines().collect();
    let Some(before) = shown.iter().position(|line| line == CUT) else { return lines };
    let after = shown.len() - before - 1;
    if before + after >= lines.len() {
        return lines;
    }
    [&lines[..before], &[CUT], &lines[lines.len() - after..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str =
        "# Title\n\n```console\n$ first \\\n    --more\na\n…\nz\n$ second\n```\n\n```sh\n$ not run\n```\n";

    #[test]
    fn commands_and_outputs_are_found() {
        let page = Page::parse(PAGE).unwrap();
        let commands = page.commands();
        let texts: Vec<&str> = commands.iter().map(|command| command.text.as_str()).collect();
        assert_eq!(texts, ["first \\\n    --more", "second"]);
        assert_eq!(commands[0].output, ["a", "…", "z"]);
        assert_eq!((commands[0].line, commands[1].line), (4, 9));
        assert_eq!(page.with_outputs(&["a\n…\nz".to_owned(), String::new()]), PAGE);
    }

    #[test]
    fn a_document_belongs_to_its_command() {
        let page = "```console\n$ cat > a << 'END'\n$ b\nEND\n$ cat a\n$ b\n```\n";
        let texts: Vec<String> =
            Page::parse(page).unwrap().commands().iter().map(|command| command.text.clone()).collect();
        assert_eq!(texts, ["cat > a << 'END'\n$ b\nEND", "cat a", "b"]);
    }

    #[test]
    fn outputs_are_cut_where_they_were() {
        let page = Page::parse(PAGE).unwrap();
        let text = page.with_outputs(&["1\n2\n3\n4".to_owned(), "5\n".to_owned()]);
        assert!(text.contains("    --more\n1\n…\n4\n$ second\n5\n```\n"), "{text}");
    }

    #[test]
    fn pages_with_loose_lines_are_refused() {
        assert!(Page::parse("```console\nno command\n```\n").is_err());
        assert!(Page::parse("```console\n$ open\n").is_err());
    }
}
