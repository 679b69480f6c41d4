//! The processes of the demo. None outlives the demo: each ends when its standard input closes, or is killed.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde::Serialize;

/// A process as the report lists it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Process {
    pub(super) name: String,
    pub(super) pid: u32,
}

/// All processes, and their shared folder.
pub(super) struct Processes {
    shared: Arc<Mutex<Shared>>,
    interrupted: Arc<AtomicBool>,
    list: Vec<Process>,
    folder: PathBuf,
    programs: PathBuf,
}

#[derive(Default)]
struct Shared {
    running: Vec<(String, Child)>,
    folder: Option<PathBuf>,
}

/// Exit code of an interrupted program, by the shells' convention (128 + SIGINT).
const INTERRUPTED: i32 = 130;
/// How long processes may take to end by themselves, and how long the folder's removal may be tried again.
const PATIENCE: Duration = Duration::from_secs(3);

fn locked(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn stop(&mut self) {
        for (_, child) in &mut self.running {
            drop(child.stdin.take());
        }
        let deadline = Instant::now() + PATIENCE;
        for (_, child) in &mut self.running {
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(5));
            }
            // Kills a process that has not ended yet; fails without effect for one that has.
            let _ = child.kill();
            let _ = child.wait();
        }
        self.running.clear();
        if let Some(folder) = self.folder.take()
            && let Err(error) = remove(&folder)
        {
            eprintln!("{} could not be removed: {error}", folder.display());
        }
    }
}

/// Removes the folder, even while another thread of this program still writes a file into it: after the removal,
/// writing fails.
fn remove(folder: &Path) -> std::io::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound && !folder.exists() => return Ok(()),
            Err(error) if Instant::now() >= deadline => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
            Ok(()) => return Ok(()),
        }
    }
}

impl Processes {
    pub(super) fn new() -> anyhow::Result<Self> {
        let shared = Arc::new(Mutex::new(Shared::default()));
        let interrupted = Arc::new(AtomicBool::new(false));
        let (to_stop, to_tell) = (Arc::clone(&shared), Arc::clone(&interrupted));
        // Set before the folder exists, so that no interrupt leaves a folder behind. The handler keeps the lock: no
        // process starts after the interrupt, and the main thread cannot end the program before the folder is gone.
        ctrlc::set_handler(move || {
            to_tell.store(true, Ordering::SeqCst);
            let mut shared = locked(&to_stop);
            shared.stop();
            std::process::exit(INTERRUPTED);
        })?;
        let folder = {
            let mut shared = locked(&shared);
            let folder = tempfile::Builder::new().prefix("sotto-demo-").tempdir()?.keep();
            shared.folder.insert(folder).clone()
        };
        let own = std::env::current_exe()?;
        let programs = own.parent().context("this program has no folder")?.to_owned();
        let list = vec![Process { name: "owner".into(), pid: std::process::id() }];
        Ok(Self { shared, interrupted, list, folder, programs })
    }

    /// Returns the temporary folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns every started process, this program first.
    pub(super) fn list(&self) -> Vec<Process> {
        self.list.clone()
    }

    /// Returns the path of a program in the folder of this program.
    pub(super) fn program(&self, program: &str) -> anyhow::Result<PathBuf> {
        let path = self.programs.join(format!("{program}{}", std::env::consts::EXE_SUFFIX));
        anyhow::ensure!(path.exists(), "{} is missing: run cargo demo, which builds it", path.display());
        Ok(path)
    }

    /// Starts a program that runs until its standard input closes.
    pub(super) fn start(&mut self, name: &str, program: &str, arguments: &[OsString]) -> anyhow::Result<()> {
        let child = self.spawn(name, program, arguments, Stdio::null())?;
        self.list.push(Process { name: name.to_owned(), pid: child });
        Ok(())
    }

    /// Runs a program to its end and returns its output.
    pub(super) fn output(
        &mut self,
        name: &str,
        program: &str,
        arguments: &[OsString],
    ) -> anyhow::Result<String> {
        let path = self.folder.join(format!("{name}.out"));
        let file = self.uninterrupted(|| File::create(&path))?;
        self.spawn(name, program, arguments, file.into())?;
        while !self.ended(name)? {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(fs::read_to_string(path)?)
    }

    /// Runs `work` under the lock: an interrupt removes the folder only afterwards.
    pub(super) fn uninterrupted<T>(&self, work: impl FnOnce() -> T) -> T {
        let _held = locked(&self.shared);
        work()
    }

    fn spawn(&self, name: &str, program: &str, arguments: &[OsString], stdout: Stdio) -> anyhow::Result<u32> {
        let program_file = self.program(program)?;
        // Held until the process is in the list, so that an interrupt stops every process that was started.
        let mut shared = locked(&self.shared);
        let log = File::create(self.log(name))?;
        let child = Command::new(program_file)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(stdout)
            .stderr(log)
            .spawn()
            .with_context(|| format!("{program} does not start"))?;
        let pid = child.id();
        shared.running.push((name.to_owned(), child));
        Ok(pid)
    }

    fn log(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.log"))
    }

    /// Returns true if a process ended with success, false if it still runs; an error if it failed.
    pub(super) fn ended(&mut self, name: &str) -> anyhow::Result<bool> {
        let status = {
            let mut shared = locked(&self.shared);
            let child =
                shared.running.iter_mut().find(|(n, _)| n == name).with_context(|| name.to_owned())?;
            child.1.try_wait()?
        };
        match status {
            None => Ok(false),
            Some(status) if status.success() => Ok(true),
            Some(status) => {
                let log = fs::read_to_string(self.log(name)).unwrap_or_default();
                anyhow::bail!("{name} ended with {status}:\n{}", log.trim_end())
            }
        }
    }

    /// Returns an error if a process that has to keep running has ended.
    pub(super) fn fail_if_ended(&mut self, name: &str) -> anyhow::Result<()> {
        if self.ended(name)? { anyhow::bail!("{name} ended too early") } else { Ok(()) }
    }

    /// Ends all processes and removes the folder. Exits the program if an interrupt came meanwhile.
    pub(super) fn stop(&mut self) {
        locked(&self.shared).stop();
        if self.interrupted.load(Ordering::SeqCst) {
            std::process::exit(INTERRUPTED);
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.stop();
    }
}
