//! Builds the lake with its own lock file, tests it, and runs its guide.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::compile::{passes, side_target};
use super::objects::Bucket;
use crate::cargo;
use crate::guide;
use crate::process::Scratch;
use crate::suite::{Context, Outcome};

/// The lake is no part of the workspace.
const MANIFEST: &str = "apps/lake/Cargo.toml";

/// Crates that the lake must not link: secrets, and the service whose store it reads.
const MUST_NOT_LINK: [&str; 4] = ["sotto-keys", "sotto-decrypt", "sotto-seal", "sotto-cloud"];

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let target = side_target(context, "lake")?;
    let run = |command: &str| {
        let mut cargo = cargo::cargo();
        cargo.args([command, "--profile", "release", "--locked", "--manifest-path", MANIFEST]);
        cargo.arg("--target-dir").arg(&target);
        cargo
    };
    let faults = links(&context.root)?;
    if !faults.is_empty() {
        return Ok(Outcome::Failed(faults));
    }
    let mut cost = cargo::command("python3");
    cost.args(["lab/scale/cost.py", "--check"]);
    let mut tables = cargo::command("python3");
    tables.args(["lab/scale/tables.py", "--rows", "2000", "--bin"]).arg(context.programs()?);
    // Small stores: each bench opens its sums, or decrypts them.
    let scratch = Scratch::new()?;
    let (mut sums, mut ciphertexts) = (run("bench"), run("bench"));
    sums.args("--bench lake -- --readings 1000000 --devices 20 --runs 1 --folder".split(' '))
        .arg(scratch.path());
    ciphertexts.args("--bench ciphertexts -- --windows 2 --degree 4096 --runs 1".split(' '));
    for command in [cost, tables, run("build"), run("test"), sums, ciphertexts] {
        match passes(context, command)? {
            Outcome::Passed => {}
            other => return Ok(other),
        }
    }
    let programs = target.join("release");
    // On stores of a real cloud, in folders and in a bucket whose server fails.
    let bucket = Bucket::start(context)?;
    let mut beside_a_cloud = context.built()?.target("apps/cloud", "it")?;
    beside_a_cloud.arg("lake::").env("SOTTO_LAKE", programs.join("sotto-lake"));
    bucket.tell(&mut beside_a_cloud);
    match passes(context, beside_a_cloud)? {
        Outcome::Passed => guide::of_lake(context, &programs),
        other => Ok(other),
    }
}

/// Names the crates that the lake links and must not.
fn links(root: &Path) -> Result<Vec<String>> {
    let mut tree = cargo::cargo();
    tree.args(["tree", "--locked", "--manifest-path", MANIFEST, "--edges", "normal", "--prefix", "none"]);
    let output = tree.current_dir(root).output().context("cargo tree")?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let linked: BTreeSet<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    println!("sotto-lake links {} crates", linked.len());
    let found = MUST_NOT_LINK.iter().filter(|name| linked.contains(*name));
    Ok(found.map(|name| format!("sotto-lake links {name}")).collect())
}
