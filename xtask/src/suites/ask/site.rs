//! A plant with its cloud and its devices, as processes in a folder of their own.

use crate::cargo;
use crate::process::{self, Finished, Scratch, Times};
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::fs::{self, File};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The time limit of any command of these suites.
const LONGEST: Duration = Duration::from_secs(300);

/// A plant in a temporary folder. Its processes end when it is dropped.
pub(in crate::suites) struct Site {
    scratch: Scratch,
    programs: PathBuf,
    cloud: Option<Child>,
}

impl Site {
    /// Makes a plant without channels. `sotto` is the program's path; the other programs are in the same folder.
    pub(in crate::suites) fn new(sotto: &Path, zone: &str) -> Result<Self> {
        let programs = sotto.parent().context("the program has no folder")?.to_owned();
        let port = process::free_port()?;
        let site = Self { scratch: Scratch::new()?, programs, cloud: None };
        let listen = format!("127.0.0.1:{port}");
        site.sotto(&["init", "plant", "--listen", &listen, "--time-zone", zone])?;
        Ok(site)
    }

    /// Copies the folder, with another address for the cloud, which does not run.
    pub(in crate::suites) fn copy(&self) -> Result<Self> {
        let port = process::free_port()?;
        let copy = Self { scratch: Scratch::new()?, programs: self.programs.clone(), cloud: None };
        let copied = Command::new("cp").arg("-a").arg(self.folder().join(".")).arg(copy.folder()).status()?;
        if !copied.success() {
            bail!("the folder cannot be copied");
        }
        let address = self.cloud_url()?;
        let address = address.trim_start_matches("http://");
        for file in ["plant/sotto.toml", "plant/cloud.toml"] {
            let text = fs::read_to_string(copy.folder().join(file))?;
            copy.write(file, text.replace(address, &format!("127.0.0.1:{port}")))?;
        }
        Ok(copy)
    }

    /// Returns the working folder of commands; the plant is in its folder `plant`.
    pub(in crate::suites) fn folder(&self) -> &Path {
        self.scratch.path()
    }

    /// Writes a file into the folder; returns its name.
    pub(in crate::suites) fn write<'n>(&self, name: &'n str, bytes: impl AsRef<[u8]>) -> Result<&'n str> {
        fs::write(self.folder().join(name), bytes).with_context(|| format!("cannot write {name}"))?;
        Ok(name)
    }

    /// Returns a command of one of the programs, in the folder.
    pub(in crate::suites) fn command(&self, program: &str, args: &[&str]) -> Command {
        let beside = self.programs.join(program);
        let mut command = cargo::command(if beside.exists() { beside } else { program.into() });
        command.args(args).current_dir(self.folder()).env("TMPDIR", self.folder());
        command.env("SOTTO_PLANT", self.folder().join("plant")).env_remove("RUST_LOG");
        command.env_remove("RUST_BACKTRACE");
        command.env("SOTTO_PASSPHRASE_FILE", self.folder().join("passphrase"));
        command
    }

    /// Runs `sotto` to its end, successful or not.
    pub(in crate::suites) fn try_sotto(&self, args: &[&str]) -> Result<Finished> {
        self.to_the_end(self.command("sotto", args))
    }

    /// Runs `sotto`, which must succeed; returns its output.
    pub(in crate::suites) fn sotto(&self, args: &[&str]) -> Result<String> {
        succeeded(&format!("sotto {}", args.join(" ")), self.try_sotto(args)?)
    }

    /// Runs a program to its end, successful or not.
    pub(in crate::suites) fn try_program(&self, program: &str, args: &[&str]) -> Result<Finished> {
        self.to_the_end(self.command(program, args))
    }

    /// Runs a program, which must succeed; returns its output.
    pub(in crate::suites) fn program(&self, program: &str, args: &[&str]) -> Result<String> {
        succeeded(&format!("{program} {}", args.join(" ")), self.try_program(program, args)?)
    }

    /// Runs a device's agent to its end, successful or not.
    pub(in crate::suites) fn try_agent(&self, device: &str, args: &[&str]) -> Result<Finished> {
        let bundle = format!("{device}.bundle");
        self.to_the_end(
            self.command("sotto-agent", &[&["run", "--bundle", &bundle, "--json"], args].concat()),
        )
    }

    /// Runs a device's agent, which must read its source to the end; returns its summary.
    pub(in crate::suites) fn agent(&self, device: &str, args: &[&str]) -> Result<Value> {
        summary(&format!("sotto-agent of {device}"), self.try_agent(device, args)?)
    }

    /// Runs a device's agent with a file as its standard input; must succeed.
    pub(in crate::suites) fn agent_reading(&self, file: &str, device: &str, args: &[&str]) -> Result<Value> {
        let bundle = format!("{device}.bundle");
        let mut command = self.command("sh", &["-c", "file=$1; shift; exec \"$0\" \"$@\" < \"$file\""]);
        command.arg(self.programs.join("sotto-agent")).arg(file);
        command.args(["run", "--bundle", &bundle, "--json"]).args(args);
        summary("sotto-agent on standard input", self.to_the_end(command)?)
    }

    /// Starts a device's agent, with its output in a file.
    pub(in crate::suites) fn start_agent(&self, device: &str, args: &[&str]) -> Result<Running> {
        let bundle = format!("{device}.bundle");
        let mut command = self.command("sotto-agent", &[&["run", "--bundle", &bundle], args].concat());
        self.start_program(&mut command, "agent.log")
    }

    /// Starts a command of `sotto`, with its output in a file.
    pub(in crate::suites) fn start_sotto(&self, args: &[&str]) -> Result<Running> {
        self.start_program(&mut self.command("sotto", args), "sotto.log")
    }

    /// Starts `sotto watch`, with its output in a file.
    pub(in crate::suites) fn start_watch(&self, args: &[&str]) -> Result<Running> {
        let mut command = self.command("sotto", &[&["watch"], args].concat());
        self.start_program(&mut command, "watch.log")
    }

    /// Starts a command, with its output in a file.
    pub(in crate::suites) fn start_program(&self, command: &mut Command, log: &str) -> Result<Running> {
        Ok(Running(self.start(command, log)?))
    }

    fn start(&self, command: &mut Command, log: &str) -> Result<Child> {
        let log = File::options().create(true).append(true).open(self.folder().join(log))?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        command.spawn().with_context(|| format!("cannot start {}", command.get_program().display()))
    }

    fn to_the_end(&self, mut command: Command) -> Result<Finished> {
        process::run(&mut command, &Times { interrupt_after: None, give_up_after: LONGEST })
    }

    /// Declares a channel.
    pub(super) fn channel(&self, channel: &super::series::Channel, every: &str) -> Result<()> {
        let super::series::Channel { name, unit, low, high, resolution } = channel;
        let (range, resolution) = (format!("{low}..{high}"), resolution.to_string());
        let add = ["channel", "add", name, "--unit", unit, "--range", &range, "--resolution", &resolution];
        self.sotto(&[&add[..], &["--every", every]].concat()).map(drop)
    }

    /// Starts the cloud and waits until it has registered every device.
    pub(in crate::suites) fn start_cloud(&mut self) -> Result<()> {
        self.run_cloud()?;
        let begin = Instant::now();
        loop {
            let status = self.try_sotto(&["status", "--json"])?;
            if status.status.success() {
                return Ok(());
            }
            let ended = self.cloud.as_mut().and_then(|cloud| cloud.try_wait().ok().flatten()).is_some();
            if ended || begin.elapsed() > Duration::from_secs(30) {
                let log = fs::read_to_string(self.folder().join("cloud.log")).unwrap_or_default();
                bail!("the cloud is not there: {}{}", status.stdout.trim(), log.trim());
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Starts the cloud.
    pub(in crate::suites) fn run_cloud(&mut self) -> Result<()> {
        let mut command = self.command("sotto-cloud", &["run", "--config", "plant/cloud.toml"]);
        self.cloud = Some(self.start(&mut command, "cloud.log")?);
        Ok(())
    }

    /// Starts the cloud, and waits until it takes connections.
    pub(in crate::suites) fn run_cloud_until_it_answers(&mut self) -> Result<()> {
        self.run_cloud()?;
        let url = self.cloud_url_of_config()?;
        let (address, begin) = (url.trim_start_matches("http://"), Instant::now());
        while TcpStream::connect(address).is_err() {
            if begin.elapsed() > Duration::from_secs(30) {
                let log = fs::read_to_string(self.folder().join("cloud.log")).unwrap_or_default();
                bail!("the cloud does not listen at {address}: {}", log.lines().last().unwrap_or_default());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Ends the cloud by a signal, and waits for its end.
    pub(in crate::suites) fn stop_cloud(&mut self, name: &str) -> Result<()> {
        if let Some(mut cloud) = self.cloud.take() {
            signal(&cloud, name)?;
            cloud.wait()?;
        }
        Ok(())
    }

    /// Asks a question, which must be answered.
    pub(in crate::suites) fn ask(&self, question: &str, more: &[&str]) -> Result<Value> {
        let printed =
            self.sotto(&[&["ask", question, "--json", "--unchecked", "--no-keep"], more].concat())?;
        serde_json::from_str(&printed).context("the answer is no JSON")
    }

    /// Returns the address at which the cloud listens.
    pub(in crate::suites) fn cloud_url_of_config(&self) -> Result<String> {
        let settings = fs::read_to_string(self.folder().join("plant/cloud.toml"))?;
        let listen = settings.lines().find_map(|line| line.strip_prefix("listen = "));
        Ok(format!("http://{}", listen.context("cloud.toml has no address")?.trim_matches('"')))
    }

    /// Returns the cloud's address.
    pub(in crate::suites) fn cloud_url(&self) -> Result<String> {
        let settings = fs::read_to_string(self.folder().join("plant/sotto.toml"))?;
        let url = settings.lines().find_map(|line| line.strip_prefix("url = "));
        Ok(url.context("sotto.toml has no url")?.trim_matches('"').to_owned())
    }

    /// Writes a file that only its owner may read, like a key file.
    pub(in crate::suites) fn write_private(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.write(name, bytes)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(self.folder().join(name), fs::Permissions::from_mode(0o600))?;
        }
        Ok(())
    }

    /// Returns a device's entry in the output of `sotto status`.
    pub(in crate::suites) fn status(&self, device: &str) -> Result<Value> {
        let status: Value = serde_json::from_str(&self.sotto(&["status", "--json"])?)?;
        let of = |devices: &Vec<Value>| devices.iter().find(|found| found["device"] == device).cloned();
        status["devices"].as_array().and_then(of).context("the device is missing from `sotto status`")
    }

    /// Returns a device's entry in the output of `sotto-agent status`.
    pub(in crate::suites) fn agent_status(&self, device: &str) -> Result<Value> {
        let bundle = format!("{device}.bundle");
        let command = self.command("sotto-agent", &["status", "--json", "--bundle", &bundle]);
        Ok(serde_json::from_str(&succeeded("sotto-agent status", self.to_the_end(command)?)?)?)
    }

    /// Ends all processes; returns a line for each process left behind.
    pub(in crate::suites) fn close(mut self) -> Result<Vec<String>> {
        self.stop_cloud("TERM")?;
        let left = process::marked_with(&self.folder().to_string_lossy());
        Ok(left.into_iter().map(|pid| format!("process {pid} was left behind")).collect())
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(cloud) = &mut self.cloud {
            // The process may have ended already.
            let _ = cloud.kill();
            let _ = cloud.wait();
        }
    }
}

/// A process in the background, killed when dropped.
pub(in crate::suites) struct Running(Child);

impl Running {
    /// Ends the process by a signal; returns false if it had already ended.
    pub(in crate::suites) fn end(&mut self, name: &str) -> Result<bool> {
        if self.has_ended()? {
            return Ok(false);
        }
        signal(&self.0, name)?;
        self.wait()?;
        Ok(true)
    }

    pub(in crate::suites) fn has_ended(&mut self) -> Result<bool> {
        Ok(self.0.try_wait()?.is_some())
    }

    /// Waits until the process ends.
    pub(in crate::suites) fn wait(&mut self) -> Result<()> {
        let begin = Instant::now();
        while !self.has_ended()? {
            if begin.elapsed() > LONGEST {
                bail!("a process did not end within {LONGEST:?}");
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn signal(child: &Child, name: &str) -> Result<()> {
    Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status().context("no kill")?;
    Ok(())
}

/// The exit code of a run that was right, and lost readings, as those out of range.
const LOST: i32 = 4;

/// Returns the summary of an agent that read its source to the end.
fn summary(what: &str, done: Finished) -> Result<Value> {
    let read =
        |printed: &str| serde_json::from_str::<Value>(printed).context("the agent's summary is no JSON");
    if done.status.code() == Some(LOST) {
        let summary = read(&done.stdout)?;
        if summary["lost"]["readings"].as_u64().is_none_or(|lost| lost == 0) {
            bail!("{what}: exit code {LOST}, and nothing is lost: {}", done.stdout.trim());
        }
        return Ok(summary);
    }
    read(&succeeded(what, done)?)
}

fn succeeded(what: &str, done: Finished) -> Result<String> {
    if !done.status.success() {
        bail!("{what}: {}; it said: {}{}", done.status, done.stdout.trim(), done.stderr.trim());
    }
    Ok(done.stdout)
}
