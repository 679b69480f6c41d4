//! The memory layout of the boards that qemu emulates: 256 KiB of flash, 16 KiB of memory.

use std::path::PathBuf;
use std::{env, fs};

const ARM: &str =
    "MEMORY { FLASH : ORIGIN = 0x00000000, LENGTH = 256K RAM : ORIGIN = 0x20000000, LENGTH = 16K }\n";
const RISC_V: &str =
    "MEMORY { FLASH : ORIGIN = 0x80000000, LENGTH = 256K RAM : ORIGIN = 0x80100000, LENGTH = 16K }
REGION_ALIAS(\"REGION_TEXT\", FLASH);
REGION_ALIAS(\"REGION_RODATA\", FLASH);
REGION_ALIAS(\"REGION_DATA\", RAM);
REGION_ALIAS(\"REGION_BSS\", RAM);
REGION_ALIAS(\"REGION_HEAP\", RAM);
REGION_ALIAS(\"REGION_STACK\", RAM);
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(env::var("OUT_DIR")?);
    let is_arm = env::var("CARGO_CFG_TARGET_ARCH")? == "arm";
    fs::write(folder.join("memory.x"), if is_arm { ARM } else { RISC_V })?;
    println!("cargo:rustc-link-search={}", folder.display());
    if !is_arm {
        println!("cargo:rustc-link-arg=-Tmemory.x");
    }
    println!("cargo:rustc-link-arg=-Tlink.x");
    println!("cargo:rerun-if-changed=build.rs");
    Ok(())
}
