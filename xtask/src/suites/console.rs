//! The owner's page: its kept files are those of its sources, and a browser drives `sotto console` with them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::compile::passes;
use crate::cargo;
use crate::suite::{Context, Outcome};

/// The page's folder.
const PAGE: &str = "apps/sotto/page";
/// The files that a browser loads.
const LOADED: [&str; 3] = ["index.html", "page.js", "page.css"];
/// Most bytes of them, compressed.
const LARGEST: usize = 400_000;

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let programs = context.programs()?;
    // A copy: what npm and the build write stays out of the checkout.
    let copy = programs.join("console-page");
    copied(&context.root.join(PAGE), &copy)?;
    npm(&copy, &["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).context(
        "the packages of the page's package-lock.json cannot be had: connect this machine to the registry of npm, or name a mirror with `npm config set registry URL`",
    )?;
    npm(&copy, &["run", "--silent", "build"])?;
    let mut faults = different(&context.root.join(PAGE).join("dist"), &copy.join("dist"))?;
    let bytes = compressed(&copy.join("dist"))?;
    println!("the page has {bytes} bytes, compressed");
    if bytes > LARGEST {
        faults.push(format!("the page has {bytes} bytes, compressed: more than {LARGEST}"));
    }
    let mut node = cargo::command("node");
    node.arg(copy.join("test/console.mjs")).arg("--bin").arg(programs);
    node.arg("--out").arg(programs.join("console"));
    if let Outcome::Failed(more) = passes(context, node)? {
        faults.extend(more);
    }
    Ok(Outcome::from_faults(faults))
}

/// Copies the page's sources over an earlier copy, whose packages stay.
fn copied(from: &Path, to: &Path) -> Result<()> {
    for folder in ["src", "test", "dist"] {
        if to.join(folder).exists() {
            fs::remove_dir_all(to.join(folder))?;
        }
    }
    for file in files(from)? {
        let (source, target) = (from.join(&file), to.join(&file));
        fs::create_dir_all(target.parent().context("a file is in a folder")?)?;
        fs::copy(&source, &target).with_context(|| format!("{} cannot be copied", source.display()))?;
    }
    Ok(())
}

/// Returns the files in a folder and those below it, but packages.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut left = vec![PathBuf::new()];
    while let Some(part) = left.pop() {
        for entry in fs::read_dir(folder.join(&part))? {
            let entry = entry?;
            if entry.file_name() == "node_modules" {
                continue;
            }
            let path = part.join(entry.file_name());
            if entry.file_type()?.is_dir() { left.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    Ok(found)
}

fn npm(folder: &Path, arguments: &[&str]) -> Result<()> {
    let status = cargo::command("npm").args(arguments).current_dir(folder).stdin(Stdio::null()).status()?;
    ensure!(status.success(), "npm {} failed", arguments.join(" "));
    Ok(())
}

/// Returns the files that the build makes otherwise than they are kept.
fn different(kept: &Path, made: &Path) -> Result<Vec<String>> {
    let (of_kept, of_made) = (files(kept)?, files(made)?);
    let mut names: Vec<_> = of_kept.iter().chain(&of_made).collect();
    names.sort();
    names.dedup();
    let is_other = |name: &&&PathBuf| fs::read(kept.join(name)).ok() != fs::read(made.join(name)).ok();
    let other = names.iter().filter(is_other);
    Ok(other
        .map(|name| {
            format!("{PAGE}/dist/{} is not what its sources give: `npm run build` in {PAGE}", name.display())
        })
        .collect())
}

/// Returns the bytes of the files that a browser loads, as gzip packs them.
fn compressed(folder: &Path) -> Result<usize> {
    let mut bytes = 0;
    for name in LOADED {
        let packed = Command::new("gzip").arg("-c").arg(folder.join(name)).output()?;
        ensure!(packed.status.success(), "gzip cannot read {name}");
        bytes += packed.stdout.len();
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Scratch;

    #[test]
    fn a_changed_file_and_a_missing_one_are_found() {
        let scratch = Scratch::new().unwrap();
        let (kept, made) = (scratch.path().join("kept"), scratch.path().join("made"));
        for (folder, text) in [(&kept, "a"), (&made, "b")] {
            fs::create_dir_all(folder.join("node_modules")).unwrap();
            fs::write(folder.join("node_modules/x"), text).unwrap();
            fs::write(folder.join("same"), "same").unwrap();
            fs::write(folder.join("changed"), text).unwrap();
        }
        fs::write(made.join("more"), "more").unwrap();
        let found = different(&kept, &made).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("dist/changed") && found[1].contains("dist/more"));
    }
}
