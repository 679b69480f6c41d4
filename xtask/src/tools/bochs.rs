//! The emulator of a processor with AVX-512, and the files of a CD that boots in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{at_least, first_line};

/// The kernel to boot, in place of the newest one in /boot.
const LINUX: &str = "SOTTO_LINUX";
/// The shell on the CD.
pub(crate) const BUSYBOX: &str = "/bin/busybox";
/// Starts the kernel: names on the CD, and the files.
pub(crate) const LOADER: [(&str, &str); 2] = [
    ("isolinux.bin", "/usr/lib/ISOLINUX/isolinux.bin"),
    ("ldlinux.c32", "/usr/lib/syslinux/modules/bios/ldlinux.c32"),
];

/// Returns true if this processor has every instruction of the targets with AVX-512.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx512() -> bool {
    use std::arch::is_x86_feature_detected as has;
    let words = has!("avx512f") && has!("avx512dq") && has!("avx512vl") && has!("avx512ifma");
    words && has!("avx512bw") && has!("avx512vbmi") && has!("avx512vpopcntdq") && has!("vaes")
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn has_avx512() -> bool {
    false
}

/// Returns the processor that runs the tests, or None if something for the emulated one is missing.
pub(super) fn processor() -> Option<String> {
    if has_avx512() {
        return Some("this machine's processor".to_owned());
    }
    first_line(Command::new("xorriso").arg("-version"))?;
    let mut files = LOADER.iter().map(|(_, file)| *file).chain([BUSYBOX]);
    let all =
        cfg!(all(target_os = "linux", target_arch = "x86_64")) && files.all(|file| Path::new(file).is_file());
    linux().filter(|_| all)?;
    let help = Command::new("bochs").args(["--help", "cpu"]).stdin(Stdio::null()).output().ok()?;
    let help = [help.stdout, help.stderr].concat();
    let help = String::from_utf8_lossy(&help);
    let version = help.lines().find_map(|line| line.trim().strip_prefix("Bochs x86 Emulator "))?;
    // Earlier ones lose the result of one in a thousand fused products.
    at_least(&format!("Bochs {version}"), (3, 0))
}

/// Returns the kernel to boot.
pub(crate) fn linux() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(LINUX) {
        return Some(named.into());
    }
    let names = fs::read_dir("/boot").ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    // Kernels for virtual machines have few drivers and start sooner.
    let kernels = names.filter(|name| name.starts_with("vmlinuz"));
    let newest = kernels.max_by_key(|name| (name.contains("cloud"), name.clone()))?;
    Some(Path::new("/boot").join(newest))
}
