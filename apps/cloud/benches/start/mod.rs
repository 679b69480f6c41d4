//! The start of the program on a store that is there.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The start of a program.
pub(crate) struct Started {
    /// Until it accepts connections.
    pub(crate) time: Duration,
    /// Memory at its highest, in bytes; 0 where the system does not tell.
    pub(crate) memory: u64,
}

/// Starts the program on a store, and ends it.
pub(crate) fn started(folder: &TempDir) -> anyhow::Result<Started> {
    let address = folder.path().join("address");
    let mut command = Command::new(env!("CARGO_BIN_EXE_sotto-cloud"));
    command.args(["run", "--listen", "127.0.0.1:0", "--data"]).arg(folder.path().join("data"));
    command.arg("--owner-token-file").arg(folder.path().join("token")).arg("--address-file").arg(&address);
    let begin = Instant::now();
    let mut program = command.stderr(Stdio::null()).spawn()?;
    while !address.exists() {
        anyhow::ensure!(program.try_wait()?.is_none(), "the program ended");
        std::thread::sleep(Duration::from_millis(1));
    }
    let time = begin.elapsed();
    let status = fs::read_to_string(format!("/proc/{}/status", program.id())).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    let memory = peak.and_then(|kib| kib.trim().parse::<u64>().ok()).unwrap_or_default() << 10;
    program.kill()?;
    program.wait()?;
    Ok(Started { time, memory })
}
