//! The emulated machine: Bochs boots Linux from a CD whose first program is a script of tests, which writes to a serial
//! port.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use super::archive::Archive;
use crate::process::{self, Scratch, Times};
use crate::tools::bochs::{BUSYBOX, LOADER, linux};

const LIMIT: Duration = Duration::from_secs(3 * 3600);

/// The last line of the script.
const END: &str = "all programs have ended";

/// Bochs announces fast copies of short strings (`fsrm`) without those of long ones (`erms`), upon which Linux copies a few
/// bytes by a loop that does not end. A panic of Linux ends the machine by a triple fault.
const LOADER_SETTINGS: &str = "\
DEFAULT tests
LABEL tests
 KERNEL linux
 INITRD tests
 APPEND console=ttyS0 loglevel=1 nokaslr mitigations=off clearcpuid=fsrm panic=-1 reboot=t
";

/// Bochs 3.0 restores registers wrongly with the excluded features. Instructions a second (`ips`) set the clock, not the
/// speed: few of them shorten the pauses of firmware and Linux.
const SETTINGS: &str = r#"
display_library: term
cpu: model=tigerlake, exclude_features="xsavec, xsaves, pku", ips=20000000, reset_on_triple_fault=0
memory: guest=512, host=512
romimage: file=$BXSHARE/BIOS-bochs-latest
vgaromimage: file=$BXSHARE/VGABIOS-lgpl-latest
ata0-master: type=cdrom, path=cd, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=serial
log: log
error: action=ignore
panic: action=fatal
"#;

/// Runs a script with programs at their own paths; returns the text on the serial port.
pub(super) fn run(script: &str, programs: Vec<&Path>) -> Result<String> {
    let scratch = Scratch::new()?;
    let folder = scratch.path();
    write_cd(folder, &first_program(script, programs)?)?;
    fs::write(folder.join("settings"), SETTINGS)?;
    let mut bochs = Command::new("bochs");
    bochs.args(["-q", "-f", "settings"]).current_dir(folder);
    // A terminal that curses knows; nothing is shown on it.
    bochs.env("TERM", "vt100");
    let ended = process::run(&mut bochs, &Times { interrupt_after: None, give_up_after: LIMIT });
    let printed = fs::read(folder.join("serial")).unwrap_or_default();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    println!("{printed}");
    let ended = ended?;
    // A machine that powers off ends as one that fails.
    if !printed.contains(END) {
        let log = fs::read(folder.join("log")).unwrap_or_default();
        println!("{}\n{}", ended.stdout, String::from_utf8_lossy(&log));
        bail!("Bochs ended before the tests ({}); its log is above", ended.status);
    }
    Ok(printed)
}

/// Returns the archive with the script, the programs and their libraries.
fn first_program(script: &str, programs: Vec<&Path>) -> Result<Vec<u8>> {
    let script = format!(
        "#!{BUSYBOX} sh\n{BUSYBOX} mount -t proc proc /proc\nexport RUST_MIN_STACK=8388608\n{script}\
         # The serial port sends its last bytes.\necho {END}\n{BUSYBOX} sleep 1\n{BUSYBOX} poweroff -f\n"
    );
    let mut archive = Archive::default();
    ["proc", "dev", "tmp"].iter().for_each(|folder| archive.folder(folder));
    archive.program("init", script.as_bytes());
    let mut files: BTreeSet<PathBuf> = programs.into_iter().map(Path::to_path_buf).collect();
    files.insert(BUSYBOX.into());
    for program in files.clone() {
        files.extend(libraries(&program)?);
    }
    for path in files {
        let content = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        archive.program(path.to_str().context("a path is not UTF-8")?, &content);
    }
    Ok(archive.finish())
}

/// Returns the libraries that a program links, and the program that loads them; none for a static program.
fn libraries(program: &Path) -> Result<Vec<PathBuf>> {
    let linked = Command::new("ldd").arg(program).output().context("cannot start ldd")?;
    let linked = String::from_utf8_lossy(&linked.stdout).into_owned();
    Ok(linked.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect())
}

fn write_cd(folder: &Path, first_program: &[u8]) -> Result<()> {
    let content = folder.join("content");
    fs::create_dir(&content)?;
    fs::write(content.join("tests"), first_program)?;
    fs::write(content.join("isolinux.cfg"), LOADER_SETTINGS)?;
    let linux = linux().context("no kernel")?;
    fs::copy(&linux, content.join("linux")).with_context(|| format!("cannot copy {}", linux.display()))?;
    for (name, place) in LOADER {
        fs::copy(place, content.join(name)).with_context(|| format!("cannot copy {place}"))?;
    }
    let mut xorriso = Command::new("xorriso");
    xorriso.args(["-as", "mkisofs", "-quiet", "-o"]).arg(folder.join("cd"));
    xorriso.args(["-b", "isolinux.bin", "-no-emul-boot", "-boot-load-size", "4", "-boot-info-table"]);
    let made = xorriso.arg(&content).output().context("cannot start xorriso")?;
    ensure!(made.status.success(), "xorriso made no CD: {}", String::from_utf8_lossy(&made.stderr));
    Ok(())
}
