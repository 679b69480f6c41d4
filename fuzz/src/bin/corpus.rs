//! Writes the first inputs of every target with a kept corpus to `fuzz/corpus`, unless files of that name exist;
//! findings stay. With a FOLDER, writes the inputs of all targets there, large ones included, for libFuzzer.
//!
//! `cargo run --release --package sotto-fuzz --bin corpus [FOLDER]`

use std::fs;
use std::path::PathBuf;

use sotto_fuzz::{Inputs, corpus, corpus_folder, targets};

fn main() -> std::io::Result<()> {
    let elsewhere = std::env::args_os().nth(1).map(PathBuf::from);
    for target in targets() {
        let (folder, inputs) = match (&elsewhere, target.inputs) {
            (Some(folder), _) => (folder.join(target.name), corpus(&target)?),
            (None, Inputs::Kept(make)) => (corpus_folder(&target), make()),
            (None, Inputs::MadeAnew(_)) => continue,
        };
        fs::create_dir_all(&folder)?;
        for (number, input) in inputs.iter().enumerate() {
            let path = folder.join(format!("first-{number}"));
            if !path.exists() {
                fs::write(path, input)?;
                println!("{}: {} bytes", target.name, input.len());
            }
        }
    }
    Ok(())
}
