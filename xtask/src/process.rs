//! Runs a program under a deadline, and finds the processes that it leaves behind.

use anyhow::{Context as _, Result, bail};
use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A temporary folder, removed when dropped.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("sotto-xtask-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A failed removal must not fail the run.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A program that has ended.
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) elapsed: Duration,
}

/// When to interrupt the whole process group, and when to give up.
pub(crate) struct Times {
    pub(crate) interrupt_after: Option<Duration>,
    pub(crate) give_up_after: Duration,
}

/// Runs a command in its own process group until it ends or its time is over. Output goes to files: a pipe would stay
/// open, and block the reader, as long as a process left behind holds it.
pub(crate) fn run(command: &mut Command, times: &Times) -> Result<Finished> {
    let scratch = Scratch::new()?;
    let [out, err] = ["stdout", "stderr"].map(|name| scratch.path().join(name));
    command.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&err)?);
    own_group(command);
    let start = Instant::now();
    let mut child =
        command.spawn().with_context(|| format!("cannot start {}", command.get_program().display()))?;
    let mut interrupt = times.interrupt_after;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if interrupt.is_some_and(|after| start.elapsed() > after) {
            interrupt = None;
            signal_group(&child, "INT")?;
        }
        if start.elapsed() > times.give_up_after {
            signal_group(&child, "KILL")?;
            child.wait()?;
            bail!("{} did not end within {:?}", command.get_program().display(), times.give_up_after);
        }
        thread::sleep(Duration::from_millis(5));
    };
    let elapsed = start.elapsed();
    let text = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(Finished { status, stdout: text(&out)?, stderr: text(&err)?, elapsed })
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

/// Sends a signal to every process of the group, as a terminal does with `INT` at Ctrl-C.
fn signal_group(child: &Child, signal: &str) -> Result<()> {
    let script = format!("kill -{signal} -{}", child.id());
    let status = Command::new("sh").args(["-c", &script]).status().context("cannot start sh")?;
    if !status.success() {
        bail!("`{script}` failed");
    }
    Ok(())
}

/// Returns true if this process inherited ignored interrupts, as from a shell that started it in the background; child
/// processes inherit this until they handle interrupts themselves. Works only on systems with /proc.
pub(crate) fn interrupts_are_ignored() -> bool {
    const INTERRUPT: u64 = 1 << 1; // signal 2
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    ignored & INTERRUPT != 0
}

/// Returns true if a process runs. A zombie does not run.
pub(crate) fn runs(pid: u64) -> bool {
    if let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) {
        return stat.rsplit(") ").next().is_some_and(|rest| !rest.starts_with(['Z', 'X']));
    }
    let probe = Command::new("sh").args(["-c", &format!("kill -0 {pid}")]).stderr(Stdio::null()).status();
    probe.is_ok_and(|status| status.success())
}

/// Returns the running processes whose environment holds `mark`. Works only on systems with /proc; elsewhere the list
/// is empty.
pub(crate) fn marked_with(mark: &str) -> Vec<u64> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u64>().ok());
    let marked = |pid: &u64| environment(*pid).windows(mark.len()).any(|window| window == mark.as_bytes());
    pids.filter(|pid| runs(*pid)).filter(marked).collect()
}

/// Returns the environment of a process; empty for a kernel thread.
///
/// `execve` gives a process its new memory, at which point a `vfork` ends and the parent continues, before it writes
/// the environment there: an empty environment of a program is read again for a while.
fn environment(pid: u64) -> Vec<u8> {
    for _ in 0..20 {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        if !environment.is_empty() || fs::read_link(format!("/proc/{pid}/exe")).is_err() {
            return environment;
        }
        thread::sleep(Duration::from_millis(5));
    }
    Vec::new()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn times(interrupt: Option<u64>, give_up: u64) -> Times {
        Times {
            interrupt_after: interrupt.map(Duration::from_millis),
            give_up_after: Duration::from_millis(give_up),
        }
    }

    #[test]
    fn output_and_status_are_kept() -> Result<()> {
        let done =
            run(Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]), &times(None, 10_000))?;
        assert_eq!(
            (done.stdout.as_str(), done.stderr.as_str(), done.status.code()),
            ("out\n", "err\n", Some(3))
        );
        Ok(())
    }

    #[test]
    fn an_interrupt_reaches_the_whole_group() -> Result<()> {
        if interrupts_are_ignored() {
            println!("skipped: interrupts are ignored here");
            return Ok(());
        }
        let done = run(Command::new("sh").args(["-c", "sleep 30; true"]), &times(Some(100), 20_000))?;
        assert!(!done.status.success());
        assert!(done.elapsed < Duration::from_secs(10));
        Ok(())
    }

    #[test]
    fn time_is_bounded() {
        assert!(run(Command::new("sleep").arg("30"), &times(None, 100)).is_err());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_is_left_behind_is_found_by_its_mark() -> Result<()> {
        let mark = format!("left-by-{}", std::process::id());
        // Many, because a process that has only just started is hard to find.
        for _ in 0..100 {
            let mut child = Command::new("sleep").arg("30").env("XTASK_MARK", &mark).spawn()?;
            let found = marked_with(&mark);
            let running = runs(u64::from(child.id()));
            child.kill()?;
            child.wait()?;
            assert_eq!(found, [u64::from(child.id())]);
            assert!(running);
            assert!(marked_with(&mark).is_empty());
            assert!(!runs(u64::from(child.id())));
        }
        Ok(())
    }
}
/// Returns a port of this machine that nothing listens at. It is below those that systems give to connections, so that none
/// takes it before a server does.
pub(crate) fn free_port() -> Result<u16> {
    const FIRST: u32 = 12_000;
    const COUNT: u32 = 20_000;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    // Suites run beside one another: each begins elsewhere.
    let start = now.subsec_nanos().wrapping_add(std::process::id().wrapping_mul(7919));
    for step in 0..COUNT {
        let port = u16::try_from(FIRST + start.wrapping_add(step.wrapping_mul(31)) % COUNT)?;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    anyhow::bail!("no port is free")
}
