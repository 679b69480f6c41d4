//! Mosquitto as a process: a broker that others have written.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sotto_mqtt::{Broker, Connection, MqttError, Options};

use super::farm::wait_until;

/// Debian puts it where users do not look.
const PLACES: [&str; 2] = ["mosquitto", "/usr/sbin/mosquitto"];

/// Returns the program; `None` if it is not installed, which is a failure if `CI` is set.
pub(super) fn program() -> Option<&'static str> {
    let is_there = |place: &&str| Command::new(place).arg("-h").stdout(Stdio::null()).status().is_ok();
    let found = PLACES.iter().find(|place| is_there(place)).copied();
    if found.is_none() {
        assert!(std::env::var("CI").is_err(), "mosquitto is missing: apt-get install mosquitto");
        println!("mosquitto is missing: not tested");
    }
    found
}

/// A broker that keeps sessions and messages in a folder.
pub(super) struct Mosquitto {
    program: &'static str,
    folder: PathBuf,
    pub(super) port: u16,
    child: Option<Child>,
}

impl Mosquitto {
    /// Starts a broker on a free port.
    pub(super) fn start(program: &'static str, folder: &Path) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let text = format!(
            "listener {port} 127.0.0.1\nallow_anonymous true\npersistence true\npersistence_location {}/\n\
             max_queued_messages 0\nmax_inflight_messages 50\nuser root\nlog_type error\n",
            folder.display()
        );
        std::fs::write(folder.join("mosquitto.conf"), text).unwrap();
        let mut broker = Self { program, folder: folder.to_owned(), port, child: None };
        broker.again();
        broker
    }

    /// Starts it again, with the sessions that it has kept.
    pub(super) fn again(&mut self) {
        let mut command = Command::new(self.program);
        command.arg("-c").arg(self.folder.join("mosquitto.conf")).stdout(Stdio::null()).stderr(Stdio::null());
        self.child = Some(command.spawn().unwrap());
        wait_until("the broker", || std::net::TcpStream::connect(("127.0.0.1", self.port)).is_ok());
    }

    /// Stops it in order: it writes sessions and messages to its disk.
    pub(super) fn stop(&mut self) {
        self.signal("-TERM");
    }

    /// Kills it.
    pub(super) fn kill(&mut self) {
        self.signal("-KILL");
    }

    fn signal(&mut self, signal: &str) {
        let Some(mut child) = self.child.take() else { return };
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        child.wait().unwrap();
    }

    pub(super) fn url(&self) -> String {
        format!("mqtt://127.0.0.1:{}", self.port)
    }

    /// Connects a sender.
    pub(super) fn sender(&self, name: &str) -> Result<Connection, MqttError> {
        let broker: Broker = self.url().parse().unwrap();
        Connection::open(&Options { limit: Duration::from_secs(10), ..Options::new(broker, name) })
    }
}

impl Drop for Mosquitto {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A process whose words can be waited for.
pub(super) struct Talker {
    pub(super) child: Child,
    said: Arc<Mutex<String>>,
}

impl Talker {
    pub(super) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let said: Arc<Mutex<String>> = Arc::default();
        let (stderr, kept) = (child.stderr.take().unwrap(), Arc::clone(&said));
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let mut kept = kept.lock().unwrap();
                kept.push_str(&line);
                kept.push('\n');
            }
        });
        Self { child, said }
    }

    pub(super) fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    /// Waits until it has said something.
    pub(super) fn wait_for(&self, words: &str) {
        self.wait_for_times(words, 1);
    }

    pub(super) fn wait_for_times(&self, words: &str, times: usize) {
        wait_until(words, || self.said().matches(words).count() >= times);
    }

    /// Stops it in order, and returns its words.
    pub(super) fn stop(mut self) -> String {
        assert!(
            Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap().success()
        );
        wait_until("its end", || self.child.try_wait().unwrap().is_some());
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{}", self.said());
        self.said()
    }

    /// Waits for its end and returns its output.
    pub(super) fn output(mut self) -> String {
        wait_until("its end", || self.child.try_wait().unwrap().is_some());
        let mut text = String::new();
        std::io::Read::read_to_string(&mut self.child.stdout.take().unwrap(), &mut text).unwrap();
        assert!(self.child.wait().unwrap().success(), "{}", self.said());
        text
    }

    pub(super) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Talker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
