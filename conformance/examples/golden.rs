//! Makes the missing files of `vectors/golden`.
//!
//! `cargo run --release --package sotto-conformance --example golden`

use std::fs;

use sotto_conformance::golden;

fn main() -> std::io::Result<()> {
    let folder = golden::folder();
    fs::create_dir_all(&folder)?;
    for made in golden::make() {
        let path = folder.join(&made.name);
        if path.exists() {
            println!("{}: exists, left unchanged", made.name);
        } else {
            fs::write(&path, &made.bytes)?;
            println!("{}: {} bytes", made.name, made.bytes.len());
        }
    }
    Ok(())
}
