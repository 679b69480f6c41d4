//! Several workers give the bits of one process; strangers get nothing from any.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::site::{Site, program};

const BY_DEVICE: &str = "select device, sotto_sum(body, tag) from windows group by device";
const BY_HOUR: &str =
    "select concat(device, to_char(date_trunc('hour', start), '%Y-%m-%dT%H')), sotto_sum(body, tag)
                       from windows group by 1";

/// A worker in a process of its own.
pub(crate) struct Worker {
    child: Child,
    pub(crate) address: String,
}

impl Worker {
    pub(crate) fn start(site: &Site, name: &str, identity: Option<&Path>) -> Self {
        let identity = identity.map(|folder| ["--identity", folder.to_str().unwrap()]);
        Self::start_with(site, name, identity.as_ref().map_or(&[], |arguments| arguments.as_slice()))
    }

    pub(crate) fn start_with(site: &Site, name: &str, arguments: &[&str]) -> Self {
        Self::over((site.folder(), &site.data()), name, arguments)
    }

    /// Starts a worker over the store of a cloud, in whose folder it writes its address.
    pub(crate) fn over((folder, data): (&Path, &Path), name: &str, arguments: &[&str]) -> Self {
        let file = folder.join(format!("worker-{name}"));
        let mut command = program().unwrap();
        command.args(["worker", "--threads", "1", "--listen", "127.0.0.1:0", "--store"]).arg(data);
        command.arg("--address-file").arg(&file).stderr(Stdio::null());
        command.args(arguments);
        let child = command.spawn().unwrap();
        let begin = Instant::now();
        while !file.exists() {
            assert!(begin.elapsed() < Duration::from_secs(20), "a worker does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        Self { child, address: std::fs::read_to_string(file).unwrap() }
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn urls(scheme: &str, workers: &[&Worker]) -> String {
    let urls: Vec<String> = workers.iter().map(|worker| format!("{scheme}://{}", worker.address)).collect();
    urls.join(",")
}

#[test]
fn two_workers_give_the_bits_of_one_process() {
    if program().is_none() {
        return;
    }
    let mut site = Site::with_windows(150);
    site.seal();
    let (one, two) = (Worker::start(&site, "one", None), Worker::start(&site, "two", None));
    let (here, urls) = (site.lake(2), urls("http", &[&one, &two]));
    let there = site.lake_with(&["--threads", "1", "--workers", &urls]);
    for sql in [BY_DEVICE, BY_HOUR, "select 'all', sotto_sum(body, tag) from windows"] {
        assert_eq!(there.frames(sql).unwrap(), here.frames(sql).unwrap(), "{sql}");
    }
    assert_eq!(there.number("select count(*) from windows where device = 'cellar'"), 150);
    // The workers read, not the coordinator.
    let stats = String::from_utf8(there.run(BY_DEVICE, &["--stats"]).stderr).unwrap();
    assert!(stats.contains(" 0 blocks"), "{stats}");
}

fn members(folder: &Path) -> [PathBuf; 2] {
    let folder = folder.join("authority");
    let mut make = program().unwrap();
    assert!(make.arg("authority").arg(&folder).args(["--members", "one,two"]).status().unwrap().success());
    ["one", "two"].map(|member| folder.join(member))
}

#[test]
fn members_alone_send_plans_and_answer_them() {
    if program().is_none() {
        return;
    }
    let site = Site::with_windows(60);
    let [one, two] = members(site.folder());
    let elsewhere = tempfile::tempdir().unwrap();
    let [stranger, _] = members(elsewhere.path());
    let workers = [Worker::start(&site, "one", Some(&one)), Worker::start(&site, "two", Some(&one))];
    let false_worker = Worker::start(&site, "false", Some(&stranger));
    let expected = site.lake(2).frames(BY_DEVICE).unwrap();
    let asked = |scheme: &str, workers: &[&Worker], identity: Option<&PathBuf>| {
        let urls = urls(scheme, workers);
        let identity = identity.map(|folder| ["--identity", folder.to_str().unwrap()]);
        let arguments =
            ["--threads", "1", "--workers", &urls].into_iter().chain(identity.into_iter().flatten());
        site.lake_with(&arguments.collect::<Vec<_>>()).frames(BY_DEVICE)
    };
    let both = [&workers[0], &workers[1]];
    assert_eq!(asked("https", &both, Some(&two)).unwrap(), expected);
    // A plan from elsewhere: another authority's member, nobody's, and without TLS.
    for (scheme, identity) in [("https", Some(&stranger)), ("https", None), ("http", None)] {
        let error = asked(scheme, &both, identity).unwrap_err();
        assert!(!error.is_empty() && !error.contains("panicked"), "{error}");
    }
    // A member that is added later.
    let authority = site.folder().join("authority");
    let add =
        || program().unwrap().arg("authority").arg(&authority).args(["--members", "three"]).output().unwrap();
    assert!(add().status.success());
    assert_eq!(asked("https", &both, Some(&authority.join("three"))).unwrap(), expected);
    let again = String::from_utf8(add().stderr).unwrap();
    assert!(again.contains("has a member `three`"), "{again}");
    // A worker from elsewhere gets no plan.
    let error = asked("https", &[&workers[0], &false_worker], Some(&two)).unwrap_err();
    assert!(error.contains("cannot be reached"), "{error}");
}

#[test]
fn ports_that_others_reach_need_certificates() {
    if program().is_none() {
        return;
    }
    let site = Site::with_windows(20);
    let mut worker = program().unwrap();
    let output =
        worker.args(["worker", "--listen", "0.0.0.0:0", "--store"]).arg(site.data()).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("--identity"), "{error}");
    for address in ["http://10.0.0.1:1", "https://10.0.0.1:1", "ftp://127.0.0.1:1"] {
        let error = site.lake_with(&["--workers", address]).frames(BY_DEVICE).unwrap_err();
        assert!(error.contains("identity") || error.contains("https://HOST:PORT"), "{error}");
    }
}
