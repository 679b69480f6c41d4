//! The program: its exit codes and messages, refusals, and recovery.

use crate::site;

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use site::{Act, Cloud, Site, agent, files, sensed};
use sotto_keys::DeviceKeys;

/// Returns the address of a cloud that answers positions but takes no message.
fn nowhere() -> &'static str {
    static URL: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    URL.get_or_init(|| Cloud::start(&[Act::Status(503)]).url())
}

fn complaint(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(30), "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_killed_device_loses_no_message_and_repeats_no_number() {
    let site = Site::new(8, 10);
    let mut highest = Vec::new();
    for _ in 1..=3 {
        let before = if site.spool().exists() { files(&site.spool(), ".envelope").len() } else { 0 };
        let mut command = site.run(nowhere());
        let mut child = command.args(["--source", "generate"]).stderr(Stdio::null()).spawn().unwrap();
        wait_until("messages", || {
            site.spool().exists() && files(&site.spool(), ".envelope").len() > before + 12
        });
        child.kill().unwrap();
        child.wait().unwrap();
        let waiting = files(&site.spool(), ".envelope");
        let sequence = |name: &String| name.split('.').nth(2).unwrap().parse::<u64>().unwrap();
        let of_bfv = waiting.iter().filter(|name| name.contains(".bfv.")).map(sequence);
        highest.push(of_bfv.max().unwrap());
    }
    assert!(highest.is_sorted_by(|a, b| a < b), "{highest:?}");

    let waiting = files(&site.spool(), ".envelope");
    let cloud = Cloud::start(&[Act::Store]);
    assert!(site.run(&cloud.url()).args(["--source", "generate", "--once"]).status().unwrap().success());
    let keys: Vec<String> = cloud.uploads().into_iter().map(|upload| upload.key).collect();
    let expected = waiting
        .iter()
        .map(|name| format!("device-1.{}", name.split_once('.').unwrap().1.trim_end_matches(".envelope")));
    assert!(expected.eq(keys[..waiting.len()].iter().cloned()), "{keys:?}");
    assert_eq!(keys.len(), waiting.len() + 3);
    let distinct: std::collections::BTreeSet<&String> = keys.iter().collect();
    assert_eq!(distinct.len(), keys.len());
    assert!(files(&site.spool(), ".partial").is_empty());
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_cleanly() {
    let Some(sensors) = sensed() else { return };
    let (site, cloud) = (Site::with(5, 40, &sensors), Cloud::start(&[Act::Store]));
    let child = site.run(&cloud.url()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("an upload", || !cloud.uploads().is_empty());
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(!site.json("report.json")["streams"].as_array().unwrap().is_empty());

    let child = site.run(nowhere()).args(["--once"]).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("a message", || files(&site.spool(), ".envelope").len() >= 3);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let complaint = complaint(&output);
    assert!(
        complaint.contains("does not take a message yet") && complaint.contains("still in the spool"),
        "{complaint}"
    );
}

#[test]
fn it_goes_along_with_a_parent_that_dies() {
    let Some(sensors) = sensed() else { return };
    let site = Site::with(5, 40, &sensors);
    let mut command = site.run(nowhere());
    let mut child =
        command.arg("--exit-with-stdin").stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("a message", || site.spool().exists() && !files(&site.spool(), ".envelope").is_empty());
    assert!(child.try_wait().unwrap().is_none());
    drop(child.stdin.take());
    wait_until("its end", || child.try_wait().unwrap().is_some());
}

#[test]
fn what_cannot_be_sent_is_refused_before_anything_is_read() {
    let site = Site::new(8, 10);
    let run = |extra: &[&str]| {
        let mut command = site.run(nowhere());
        complaint(&command.args(["--once", "--source", "generate"]).args(extra).output().unwrap())
    };
    let profile = String::from_utf8(site.profile.to_json().unwrap()).unwrap();
    let with_profile = |from: &str, to: &str| {
        let changed = profile.replacen(from, to, 1);
        assert_ne!(changed, profile);
        site.write("other.bundle", site.secret_keys(), changed.into_bytes());
        let mut command = site.run_with("other.bundle", nowhere());
        complaint(&command.args(["--once", "--source", "generate"]).output().unwrap())
    };
    for (complaint, says) in [
        (run(&["--spool-limit", "1000"]), "raise --spool-limit"),
        (with_profile("\"ticks\": 8", "\"ticks\": 4096"), "stream bfv"),
        (with_profile("\"ticks\": 8", "\"ticks\": 0"), "number of ticks of stream bfv"),
        (with_profile("\"bits\": 12", "\"bits\": 30"), "stream bfv: a reading can become 536870911"),
        (with_profile("\"bits\": 12", "\"bits\": 17"), "hold whole numbers up to ±32768"),
        (
            with_profile("\"real\"", "{\"integer\":{\"bits\":8}}"),
            "stream ckks: CKKS does not take this encoding",
        ),
        (with_profile("\"736f7474", "\"736f7475"), "stream bfv: its parameters cannot be read"),
        (with_profile("\"device\"", "\"colour\": 1, \"device\""), "colour"),
    ] {
        assert!(complaint.contains(says), "{says}: {complaint}");
    }
    assert!(files(&site.spool(), ".envelope").is_empty());
}

#[test]
fn keys_are_checked() {
    let site = Site::new(8, 10);
    let with = |keys: DeviceKeys, profile: Vec<u8>| {
        site.write("other.bundle", keys, profile);
        let mut command = site.run_with("other.bundle", nowhere());
        complaint(&command.args(["--once", "--source", "generate"]).output().unwrap())
    };
    let [ckks, bfv, bgv] = site.public_keys();
    let mut damaged = bfv.clone();
    damaged[100] ^= 1;
    let public = |keys: &[&Vec<u8>]| DeviceKeys::Public(keys.iter().map(|key| (*key).clone()).collect());
    for (complaint, says) in [
        (with(public(&[&bfv, &bgv]), site.public_profile()), "stream ckks: the bundle has no public key"),
        (with(public(&[&ckks, &damaged, &bgv]), site.public_profile()), "digest"),
        (
            with(public(&[&ckks, &bfv, &bgv]), site.profile.to_json().unwrap()),
            "stream bfv: its windows need the device's secret",
        ),
        (with(site.secret_keys(), site.public_profile()), "stream bfv: its windows need a public key"),
    ] {
        assert!(complaint.contains(says), "{says}: {complaint}");
    }
    std::fs::write(site.path("signing.key"), site.identity.expose_secret_bytes()).unwrap();
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(site.path("signing.key"), mode).unwrap();
    }
    let complaint = complaint(&site.run_with("signing.key", nowhere()).output().unwrap());
    assert!(complaint.contains("signing.key"), "{complaint}");
}

#[test]
fn sensors_are_shown() {
    let run = |arguments: &[&str]| agent().arg("sources").args(arguments).output().unwrap();
    let json = run(&["--json"]);
    if !json.status.success() {
        eprintln!("skipped: {}", String::from_utf8_lossy(&json.stderr));
        return;
    }
    let given: Vec<serde_json::Value> = serde_json::from_slice(&json.stdout).unwrap();
    assert!(!given.is_empty() && given.iter().all(|channel| channel["name"].is_string()));
    let lines = String::from_utf8(run(&[]).stdout).unwrap();
    assert_eq!(lines.lines().count(), given.len());
}

#[test]
fn only_whoever_asks_may_read_the_clear_log() {
    let (site, cloud) = (Site::new(4, 10), Cloud::start(&[Act::Store]));
    assert!(site.run(&cloud.url()).args(["--source", "generate", "--once"]).status().unwrap().success());
    let values = &site.json("clear.json")["bfv"]["values"];
    assert_eq!((values.as_array().unwrap().len(), values[0].as_array().unwrap().len()), (4, 3));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(site.path("clear.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn pieces_are_for_sources_that_arrive_over_time() {
    let site = Site::new(8, 10);
    let run = |arguments: &[&str]| complaint(&site.run(nowhere()).args(arguments).output().unwrap());
    let said = run(&["--source", "generate", "--fresh", "5m"]);
    assert!(said.contains("--fresh sends pieces while rows arrive"), "{said}");
    for interval in ["1ms", "49h"] {
        let said = run(&["--stdin", "--fresh", interval]);
        assert!(
            said.contains("--fresh: windows of stream") && said.contains("or more, and less than"),
            "{said}"
        );
    }
    assert!(!site.spool().exists() || files(&site.spool(), ".envelope").is_empty());
}

/// A log on a full disk, and one whose reader is gone.
#[cfg(target_os = "linux")]
#[test]
fn a_lost_log_does_not_stop_it() {
    let full = || Stdio::from(std::fs::File::options().write(true).open("/dev/full").unwrap());
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Stdio::from(writer)
    };
    for lost in [&full as &dyn Fn() -> Stdio, &closed] {
        let (site, cloud) = (Site::new(8, 10), Cloud::start(&[Act::Status(503), Act::Store]));
        let mut command = site.run(&cloud.url());
        command.args(["--source", "generate", "--once", "--json"]).env("RUST_LOG", "trace");
        let done = command.stderr(lost()).stdout(Stdio::piped()).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        assert!(!cloud.uploads().is_empty() && !done.stdout.is_empty());
        // Nobody reads the result either.
        let mut command = site.run(&cloud.url());
        command.args(["--source", "generate", "--once", "--json"]);
        assert!(command.stderr(lost()).stdout(closed()).status().unwrap().success());
        // An error keeps its exit code.
        let mut command = site.run(&cloud.url());
        let refused = command.args(["--source", "generate", "--once", "--csv", "none.csv"]).stderr(lost());
        let code = refused.status().unwrap().code();
        assert!(matches!(code, Some(1 | 2)), "{code:?}");
    }
}
