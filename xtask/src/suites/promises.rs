//! What the documents promise about code, proved from cargo: which program links what, that only the kernels
//! may hold unsafe code, that no program shows a raw CKKS value, and where dependencies come from and under what licence.

use super::licences;
use super::sources::{self, Source};
use crate::cargo;
use crate::ci::{Context, Outcome};
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// (package, what it must not link).
const MUST_NOT_LINK: [(&str, &[&str]); 6] = [
    ("sotto-cloud", &["sotto-keys", "sotto-decrypt", "sotto-seal"]),
    ("sotto-agent", &["sotto-decrypt", "sotto-seal"]),
    ("sotto-emulate", &["sotto-keys", "sotto-decrypt"]),
    ("sotto-cloud-client", &["sotto-keys", "sotto-decrypt", "sotto-seal"]),
    ("sotto-recryptor-client", &["sotto-keys", "sotto-decrypt", "sotto-seal"]),
    ("sotto-recryptor", &["sotto-seal", "sotto-cloud"]),
];

/// The packages that may hold unsafe code.
const MAY_BE_UNSAFE: [&str; 1] = ["sotto-kernels"];

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let mut faults = links(&context.root)?;
    let metadata: Value = serde_json::from_str(&output(&context.root, &["metadata", "--format-version=1"])?)?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    faults.extend(unsafe_code(&context.root, packages)?);
    faults.extend(origins(packages));
    faults.extend(sources::all(&context.root)?.iter().filter(|source| shows_raw_values(source)).map(
        |source| {
            format!("{} takes a raw CKKS value: programs publish (docs/concepts/publishing.md)", source.path)
        },
    ));
    Ok(Outcome::from_faults(faults))
}

/// Dependencies as cargo resolves them, for every platform and with every feature.
fn links(root: &Path) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for (package, refused) in MUST_NOT_LINK {
        let tree = [
            "tree",
            "--package",
            package,
            "--edges=normal",
            "--prefix=none",
            "--target=all",
            "--all-features",
        ];
        let text = output(root, &tree)?;
        let linked: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
        if !linked.contains(&package) {
            bail!("cargo tree does not list {package} itself");
        }
        println!("{package}: {} lines of dependencies, searched for {}", linked.len(), refused.join(" and "));
        let found = refused.iter().filter(|name| linked.contains(name));
        faults.extend(found.map(|name| format!("{package} links {name}")));
    }
    Ok(faults)
}

/// `forbid` cannot be lifted inside a crate, so it is enough that every manifest takes the workspace's lints.
fn unsafe_code(root: &Path, packages: &[Value]) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let workspace = fs::read_to_string(root.join("Cargo.toml"))?;
    if section(&workspace, "[workspace.lints.rust]").all(|line| line != r#"unsafe_code = "forbid""#) {
        faults.push("the workspace does not forbid unsafe code".to_owned());
    }
    for package in packages.iter().filter(|package| package["source"].is_null()) {
        let (name, manifest) = (text(&package["name"])?, text(&package["manifest_path"])?);
        let takes = section(&fs::read_to_string(manifest)?, "[lints]").any(|line| line == "workspace = true");
        if !takes && !MAY_BE_UNSAFE.contains(&name) {
            faults.push(format!("{name} does not take the workspace's lints, and so may hold unsafe code"));
        }
    }
    Ok(faults)
}

/// The lines of one section of a manifest.
fn section<'a>(manifest: &'a str, header: &'a str) -> impl Iterator<Item = &'a str> {
    let after = manifest.lines().map(str::trim).skip_while(move |line| *line != header).skip(1);
    after.take_while(|line| !line.starts_with('['))
}

fn origins(packages: &[Value]) -> Vec<String> {
    let mut faults = Vec::new();
    for package in packages {
        let (name, version) =
            (package["name"].as_str().unwrap_or("?"), package["version"].as_str().unwrap_or("?"));
        let licence = package["license"].as_str().unwrap_or("");
        if !licences::accepted(licence) {
            faults.push(format!("{name} {version} has the licence `{licence}`, which is not on the list"));
        }
        if package["source"].as_str().is_some_and(|source| !source.starts_with("registry+")) {
            faults.push(format!("{name} {version} does not come from a registry"));
        }
    }
    println!("{} packages: licences and origins looked at", packages.len());
    faults
}

/// A program's own code; its tests compare raw values with exact ones.
fn shows_raw_values(source: &Source) -> bool {
    let is_program = source.path.starts_with("apps/") && source.path.contains("/src/");
    let raw = ["_for_owner_only", "::decode_slots(", ".decode_complex(", "::recover("];
    is_program && raw.iter().any(|call| source.text.contains(call))
}

fn text(value: &Value) -> Result<&str> {
    value.as_str().context("cargo metadata lacks a name")
}

fn output(root: &Path, args: &[&str]) -> Result<String> {
    let output = cargo::cargo().args(args).arg("--locked").current_dir(root).output()?;
    if !output.status.success() {
        bail!("cargo {}: {}", args[0], String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::{Source, section, shows_raw_values};

    #[test]
    fn raw_values_are_found_in_programs_only() {
        let shows = |path: &str| {
            let text = "let v = decrypted.raw_values_for_owner_only();".to_owned();
            shows_raw_values(&Source { path: path.to_owned(), text })
        };
        assert!(shows("apps/sotto/src/values.rs") && !shows("apps/agent/tests/encryption.rs"));
    }

    #[test]
    fn a_section_ends_where_the_next_begins() {
        let manifest = "[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n\n[dependencies]\nb = \"1\"\n";
        assert!(section(manifest, "[lints]").any(|line| line == "workspace = true"));
        assert!(section(manifest, "[package]").all(|line| line != "workspace = true"));
        assert_eq!(section(manifest, "[missing]").count(), 0);
    }
}
