//! A plant, its cloud and its devices: `sotto` as a process, the others in this one.

use std::fmt::Write as _;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sotto_agent::arguments::{Arguments, Command as AgentCommand};
use sotto_agent::device::Device;
use sotto_agent::stop::Stop;
use sotto_cloud::config::{Config, Settings};
use sotto_cloud::server::Server;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Hours of readings: 0.0, 0.1, … in kW.
pub(crate) const HOURS: u32 = 48;

/// Runs `sotto` in a folder.
pub(crate) fn sotto(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sotto"));
    let done = command.args(arguments).current_dir(folder).env_remove("SOTTO_PLANT").output().unwrap();
    let [said, error] = [done.stdout, done.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    if done.status.success() { Ok(said) } else { Err(error) }
}

/// Runs `sotto` in a folder; returns its exit code and its output.
pub(crate) fn output(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sotto"));
    let done = command.args(arguments).current_dir(folder).env_remove("SOTTO_PLANT").output().unwrap();
    (done.status.code().unwrap(), String::from_utf8(done.stdout).unwrap())
}

/// Makes the folder `plant` with two channels by hour, heat and flow in kW, and a question.
pub(crate) fn init(folder: &Path, question: &str) {
    init_every(folder, "1h", question);
}

/// Like [`init`], with channels of another period.
pub(crate) fn init_every(folder: &Path, every: &str, question: &str) {
    let run = |arguments: &[&str]| sotto(folder, arguments).unwrap();
    run(&["init", "plant", "--time-zone", "UTC"]);
    for name in ["heat", "flow"] {
        let channel = ["channel", "add", name, "--unit", "kW", "--range", "0..10", "--resolution", "0.1"];
        run(&[&channel[..], &["--every", every]].concat());
    }
    run(&["question", "add", "daily", question]);
}

/// Sends two days of hourly readings.
pub(crate) fn send(folder: &Path, bundle: &str) {
    send_with(folder, bundle, &[]);
}

/// Sends two days of hourly readings, with further options of the agent.
pub(crate) fn send_with(folder: &Path, bundle: &str, options: &[&str]) {
    let text = readings(0..HOURS, 0);
    send_file(folder, bundle, &text, options).unwrap();
}

/// Sends these days of hourly readings, `more` tenths above those of the hour. Messages may be refused.
pub(crate) fn send_days(folder: &Path, bundle: &str, days: Range<u32>, more: u32) {
    send_days_with(folder, bundle, days, more, &[]);
}

/// Like [`send_days`], with further options of the agent.
pub(crate) fn send_days_with(folder: &Path, bundle: &str, days: Range<u32>, more: u32, options: &[&str]) {
    let _ = send_file(folder, bundle, &readings(24 * days.start..24 * days.end, more), options);
}

/// Sends these days of hourly readings to a cloud.
pub(crate) fn send_to(folder: &Path, bundle: &str, days: Range<u32>, cloud: &str) {
    let text = readings(24 * days.start..24 * days.end, 0);
    send_file(folder, bundle, &text, &["--cloud", cloud]).unwrap();
}

fn readings(hours: Range<u32>, more: u32) -> String {
    let mut text = "time,heat,flow\n".to_owned();
    for hour in hours {
        let (day, of_day, tenths) = (1 + hour / 24, hour % 24, hour % 48 + more);
        let (whole, tenth) = (tenths / 10, tenths % 10);
        writeln!(text, "2024-01-{day:02}T{of_day:02}:00:00Z,{whole}.{tenth},{whole}.{tenth}").unwrap();
    }
    text
}

/// Sends the readings of a file with this text.
pub(crate) fn send_text(folder: &Path, bundle: &str, text: &str) {
    send_file(folder, bundle, text, &[]).unwrap();
}

/// Sends the readings of a file with this text. Messages may be refused.
pub(crate) fn try_text(folder: &Path, bundle: &str, text: &str) -> anyhow::Result<()> {
    send_file(folder, bundle, text, &[])
}

/// Sends the readings of a file with this text, with further options of the agent. Messages may be refused.
pub(crate) fn try_text_with(folder: &Path, bundle: &str, text: &str, options: &[&str]) -> anyhow::Result<()> {
    send_file(folder, bundle, text, options)
}

fn send_file(folder: &Path, bundle: &str, text: &str, options: &[&str]) -> anyhow::Result<()> {
    let csv = folder.join("days.csv");
    std::fs::write(&csv, text).unwrap();
    let (bundle, csv) = (folder.join(bundle), csv.to_str().unwrap().to_owned());
    // A cloud that was started again has another address than the bundle.
    let settings = std::fs::read_to_string(folder.join("plant/sotto.toml")).unwrap_or_default();
    let url = settings.lines().find_map(|line| line.strip_prefix("url = ")).map(|url| url.trim_matches('"'));
    let mut words = vec!["sotto-agent", "run", "--bundle", bundle.to_str().unwrap(), "--csv", &csv];
    words.extend(url.filter(|_| !options.contains(&"--cloud")).into_iter().flat_map(|url| ["--cloud", url]));
    let words = words.iter().chain(options).copied();
    run_agent(words)
}

/// Runs an agent with the words of a command line to the end of its source.
pub(crate) fn run_agent<'w>(words: impl Iterator<Item = &'w str>) -> anyhow::Result<()> {
    let AgentCommand::Run(run) = Arguments::read(words).unwrap().command else { panic!("run") };
    let mut device = Device::open(*run, &Stop::default()).unwrap();
    let sender = device.start_sending();
    while let Some(window) = device.read_and_pack().unwrap() {
        let encrypted = device.encrypt(window).unwrap();
        let message = device.sign(encrypted).unwrap();
        device.spool(message).unwrap();
    }
    device.finish(sender)
}

/// Returns the configuration of the cloud of the folder `plant`.
pub(crate) fn config(folder: &Path) -> Config {
    let settings = Settings::read(&folder.join("plant/cloud.toml")).unwrap();
    Config::new(Settings { listen: Some("127.0.0.1:0".parse().unwrap()), ..settings }).unwrap()
}

/// Starts the cloud of the folder `plant`, and writes its address into `sotto.toml`. It ends with the runtime.
pub(crate) fn serve(folder: &Path) -> Runtime {
    let runtime = Runtime::new().unwrap();
    let server = open(folder, &runtime);
    runtime.spawn(server.serve(std::future::pending()));
    runtime
}

/// Opens the store, once the threads of a cloud that was stopped before have let go of it.
fn opened(folder: &Path, runtime: &Runtime) -> Server {
    let begin = std::time::Instant::now();
    loop {
        match runtime.block_on(Server::open(&config(folder))) {
            Ok(server) => return server,
            Err(error) if format!("{error:#}").contains("another process has this store open") => {
                assert!(begin.elapsed() < std::time::Duration::from_secs(60), "{error:#}");
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            Err(error) => panic!("{error:#}"),
        }
    }
}

fn open(folder: &Path, runtime: &Runtime) -> Server {
    let server = opened(folder, runtime);
    let file = folder.join("plant/sotto.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let address = format!("url = \"http://{}\"", server.address());
    let lines = text.lines().map(|line| if line.starts_with("url = ") { &address } else { line });
    std::fs::write(&file, lines.collect::<Vec<_>>().join("\n") + "\n").unwrap();
    server
}

/// A cloud that can be stopped and started again.
pub(crate) struct Cloud {
    runtime: Runtime,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<anyhow::Result<()>>,
    lock: PathBuf,
}

impl Cloud {
    /// Starts the cloud of the folder `plant`, and writes its address into `sotto.toml`.
    pub(crate) fn start(folder: &Path) -> Self {
        let runtime = Runtime::new().unwrap();
        let server = open(folder, &runtime);
        let (stop, stopped) = oneshot::channel::<()>();
        let ended = runtime.spawn(server.serve(async { drop(stopped.await) }));
        Self { runtime, stop, ended, lock: folder.join("plant/cloud/lock") }
    }

    pub(crate) fn stop(self) {
        let Self { runtime, stop, ended, lock } = self;
        stop.send(()).unwrap();
        runtime.block_on(ended).unwrap().unwrap();
        drop(runtime);
        // A child that another test forks holds its parent's files until it runs its program, the store's lock among them.
        let lock = File::open(lock).unwrap();
        lock.lock().unwrap();
        lock.unlock().unwrap();
    }
}

/// Returns the values of a question's only row, by the name of the result.
pub(crate) fn ask(folder: &Path, question: &str) -> Vec<f64> {
    let span = ["--since", "2024-01-01", "--until", "2024-01-03"];
    let said = sotto(folder, &[&["ask", question, "--json", "--unchecked"], &span[..]].concat()).unwrap();
    let answer: Value = serde_json::from_str(&said).unwrap();
    let rows = answer["rows"].as_array().unwrap();
    rows.iter().map(|row| row["value"].as_f64().unwrap_or_else(|| panic!("{question}: {row}"))).collect()
}
