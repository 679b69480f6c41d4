//! Windows that are made again, corrections, and lost readings: the program on files, and what arrives.

mod clocks;

use crate::site;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;

use serde_json::Value;
use site::{Act, Cloud, agent};
use sotto_keys::{DeviceBundle, DeviceKeys, DeviceSecret, Protection, SigningIdentity};
use sotto_pack::{
    Channel, ChannelKind, Counter, DeviceProfile, Digit, Encoding, Layout, Period, Placed, Quantity, Span,
    State, StreamProfile, SumsPart, WindowDescription,
};
use sotto_rlwe::KeyId;
use sotto_sums::StreamKeys;
use sotto_wire::{Envelope, SignedHeader, StreamHeader, WindowGroup, is_group};
use tempfile::TempDir;

/// A device with a contact and a meter, a tick a minute and a window an hour.
struct Plant {
    folder: TempDir,
    cloud: Cloud,
    header: Arc<StreamHeader>,
}

fn channels() -> Vec<Channel> {
    let channel = |name: &str, maximum, kind| Channel {
        name: name.into(),
        maximum,
        resolution: Some(1.0),
        kind,
        ..Channel::default()
    };
    vec![
        channel("door", 1.0, ChannelKind::State(State::of(["closed", "open"]))),
        channel("energy", 1000.0, ChannelKind::Counter(Counter::default())),
    ]
}

fn stream() -> StreamProfile {
    let layout = Layout::of_sums(channels(), 60).unwrap();
    let placed = |quantity| Placed::for_windows(quantity, Digit::Whole, &layout, 1 << 16).unwrap().unwrap();
    let part = |quantities| SumsPart { quantities, reasons: 0 };
    let ends = vec![placed(Quantity::First(1)), placed(Quantity::Last(1)), placed(Quantity::Increase(1))];
    StreamProfile {
        stream: "hours".into(),
        parameters: String::new(),
        encoding: Encoding::Resolution,
        ticks: 60,
        period_ms: None,
        span: Some(Span::Hour),
        channels: channels(),
        sums: vec![part(vec![placed(Quantity::Reading(0))]), part(ends)],
        rounded: false,
        compact: None,
        slots: None,
        envelope: 1,
        public: false,
        absolute: false,
    }
}

impl Plant {
    fn new() -> Self {
        Self::with(&[Act::Store])
    }

    /// Creates a device, and a cloud that follows a script.
    fn with(script: &[Act]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = sotto_ring::secure_rng().unwrap();
        let secret = DeviceSecret::generate(&mut rng);
        let profile = DeviceProfile {
            device: "gateway".into(),
            period_ms: Period::from_milliseconds(60_000),
            zone: None,
            cloud_keys: Vec::new(),
            owner_key: None,
            streams: vec![stream()],
            derived: Vec::new(),
            record: None,
        };
        let key = |id: &[u8; 32]| KeyId(StreamKeys::derive(secret.expose_secret_bytes(), id).id());
        let header =
            StreamHeader::of_sums_profile("gateway", Period::from_milliseconds(60_000), &stream(), key)
                .unwrap()
                .unwrap();
        let header = Arc::new(header);
        let cloud = Cloud::start_with(script, Some(Arc::clone(&header)));
        let bundle = DeviceBundle {
            keys: DeviceKeys::Secret(secret),
            identity: SigningIdentity::generate(&mut rng),
            cloud: cloud.url(),
            authority: None,
            profile: profile.to_json().unwrap(),
        };
        bundle.write(&folder.path().join("gateway.bundle"), &Protection::FileMode, &mut rng).unwrap();
        Self { folder, cloud, header }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Reads a file with these rows: `time,door,energy`, a time of day alone on 1 January 2020.
    fn command(&self, command: &str, rows: &[&str], more: &[&str]) -> Output {
        let day = |row: &str| if row.contains('T') { "" } else { "2020-01-01T" };
        let rows: Vec<String> = rows.iter().map(|row| format!("{}{row}\n", day(row))).collect();
        std::fs::write(self.path("a.csv"), format!("time,door,energy\n{}", rows.concat())).unwrap();
        let mut agent = agent();
        agent.arg(command).arg("--bundle").arg(self.path("gateway.bundle"));
        agent.arg("--csv").arg(self.path("a.csv")).args(more).output().unwrap()
    }

    #[track_caller]
    fn run(&self, rows: &[&str], more: &[&str], code: i32) -> String {
        let output = self.command("run", rows, more);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        said
    }

    /// Returns all windows that were sent, refused or not.
    fn envelopes(&self) -> Vec<Envelope> {
        let read = |upload: site::Upload| {
            if is_group(&upload.body) {
                return WindowGroup::read(&upload.body, &self.header).unwrap().windows().to_vec();
            }
            vec![Envelope::read_window(&upload.body, &self.header).unwrap()]
        };
        self.cloud.uploads().into_iter().flat_map(read).collect()
    }

    /// Returns the descriptions of all windows by number.
    fn windows(&self) -> BTreeMap<u64, WindowDescription> {
        let described =
            |window: Envelope| (window.header().sequence, window.signed_header().description().unwrap());
        self.envelopes().into_iter().map(described).collect()
    }

    /// Returns the windows that the ones from a number on name.
    fn named(&self, from: u64) -> Vec<Vec<u64>> {
        let names = |window: &WindowDescription| {
            window.replaces.as_ref().map(|replaces| replaces.windows.clone()).unwrap_or_default()
        };
        self.windows().range(from..).map(|(_, window)| names(window)).collect()
    }
}

const FIRST: [&str; 4] = ["00:05:30,closed,10", "02:10:00,,25", "03:20:00,CLOSED,40", "23:59:00,,41"];

#[test]
fn late_reports_change_what_was_sent() {
    let plant = Plant::new();
    plant.run(&FIRST, &[], 0);
    let windows = plant.windows();
    assert_eq!(windows.len(), 24);
    let presence =
        |window: &WindowDescription, channel| window.presence(channel).unwrap().iter().collect::<Vec<_>>();
    assert_eq!(presence(&windows[&0], 0), (5..60).collect::<Vec<_>>());
    assert_eq!((presence(&windows[&2], 0).len(), presence(&windows[&2], 1)), (60, vec![10]));
    // The door was open from 1:00 to 3:20, told late; heads say only that windows come again.
    plant.run(&["01:00:00,true,"], &[], 0);
    assert_eq!(plant.named(24), [[1], [2], [3]]);
    for (again, before) in [(24, 1), (25, 2), (26, 3)] {
        let [again, before] = [again, before].map(|number| plant.windows()[&number].clone());
        assert_eq!(WindowDescription { replaces: None, ..again }, before);
    }
    // A late reading of the meter: its window alone.
    plant.run(&["02:05:00,,20"], &[], 0);
    assert_eq!(plant.named(27), [[2, 25]]);
    // Nothing new.
    plant.run(&FIRST, &[], 0);
    assert_eq!(plant.windows().len(), 28);
    // No reading is to be read in the spool.
    let kept = std::fs::read_dir(plant.path("gateway.spool/kept")).unwrap().count();
    assert_eq!(kept, 24);
}

#[test]
fn a_stream_takes_the_channels_that_a_file_has() {
    let plant = Plant::new();
    let run = |columns: &str, rows: &[&str]| {
        let rows: String = rows.iter().map(|row| format!("2020-01-01T{row}\n")).collect();
        std::fs::write(plant.path("b.csv"), format!("time,{columns}\n{rows}")).unwrap();
        let mut agent = agent();
        agent.args(["run", "--bundle"]).arg(plant.path("gateway.bundle"));
        let output = agent.arg("--csv").arg(plant.path("b.csv")).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = run("energy", &["00:05:00,10", "00:06:00,11"]);
    assert!(code == Some(0) && said.contains("sent without door"), "{said}");
    let presence = |number: u64, channel| plant.windows()[&number].presence(channel).unwrap().count();
    assert_eq!((presence(0, 0), presence(0, 1)), (0, 2));
    // The readings of the contact come later, from a file of their own.
    let (code, said) = run("door", &["00:05:00,open"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!((presence(1, 0), presence(1, 1), plant.named(1)[0].clone()), (2, 2, vec![0]));
    // A column of empty cells loses nothing.
    let (code, said) = run("door,energy", &["02:05:00,,12", "02:06:00,,13"]);
    assert!(code == Some(0) && !said.contains("--decimal"), "{said}");
}

#[test]
fn lost_readings_end_a_run_with_code_4() {
    let plant = Plant::new();
    let rows = ["00:05:30,closed,10", "00:06:00,tilted,1001", "00:07:00,open,11", "00:08:00,unavailable,"];
    let said = plant.run(&rows, &[], 4);
    for part in [
        "2 readings are lost",
        "sotto-agent: lost readings, and the way out:",
        "line 3: door, of no declared state",
        "line 3: energy, out of range",
        "\"tilted\" is none of the states of channel door, closed, open",
        "sotto device renew",
    ] {
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(said.matches("2 readings are lost").count(), 1, "{said}");
    // The same time with another value.
    let output = plant.command("run", &["00:07:00,closed,12"], &["--json"]);
    assert_eq!(output.status.code(), Some(4));
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["lost"]["by_reason"]["already-sent"], 2, "{summary}");
    assert_eq!(summary["lost"]["first"][0]["line"], 2);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("line 2: door, already sent with another value") && said.contains("--correct"),
        "{said}"
    );
    // Longer ago than readings are kept.
    std::thread::sleep(std::time::Duration::from_millis(20));
    let said = plant.run(&["00:10:00,closed,"], &["--late", "1ms"], 4);
    assert!(said.contains("line 2: door, too late") && said.contains("--late"), "{said}");
    // A repeated reading is not lost, and the last one still holds.
    plant.run(&["00:07:00,open,11"], &[], 0);
    let output = plant.command("check", &["00:10:00,closed,"], &[]);
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("1 reading is lost: 1 too late"), "{said}");
}

#[test]
fn check_counts_the_reports_of_each_state_and_tells_the_phase() {
    let plant = Plant::new();
    let check = |options: &[&str]| {
        let rows = ["00:10:00,closed,7", "00:11:00,open,", "00:12:00,CLOSED,"];
        let output = plant.command("check", &rows, options);
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let said = check(&[]);
    assert!(said.contains("\ndoor: 3 reports: 2 closed, 1 open\n"), "{said}");
    assert!(!said.contains("later"), "{said}");
    let said = check(&["--phase", "20s"]);
    assert!(said.contains("; ticks 20 s later (`--phase`)\n"), "{said}");
    let facts: serde_json::Value = serde_json::from_str(&check(&["--json"])).unwrap();
    let states = serde_json::json!([{"state": "closed", "reports": 2}, {"state": "open", "reports": 1}]);
    assert_eq!(facts["numbers"][0]["states"], states);
}

#[test]
fn a_correction_replaces_what_was_sent() {
    let plant = Plant::new();
    plant.run(&FIRST, &[], 0);
    let mended = ["00:05:30,open,10", "02:10:00,,26", "03:20:00,CLOSED,40", "23:59:00,,41"];
    // A reading is missing: nothing is sent.
    let said = plant.run(&[mended[0], mended[2]], &["--correct"], 1);
    assert!(
        said.contains("energy: 1 tick, 2020-01-01T02:10:00") && said.contains("--allow-missing"),
        "{said}"
    );
    assert_eq!(plant.windows().len(), 24);
    plant.run(&mended, &["--correct"], 0);
    let named = plant.named(24);
    assert_eq!(named, (0..24).map(|window| vec![window]).collect::<Vec<_>>());
    // A correction of a correction names both, and windows behind it come again if they hold another state.
    plant.run(&["00:05:30,closed,11"], &["--correct"], 0);
    let named: Vec<Vec<u64>> = plant.named(48).into_iter().take(3).collect();
    assert_eq!(named, [[0, 24], [1, 25], [2, 26]]);
    assert_eq!(plant.named(48).len(), 4, "up to the next report");
    let said = plant.run(&["02:10:00,,27"], &["--allow-missing"], 2);
    assert!(said.contains("--correct"), "{said}");
}

/// Copies the files of a folder, and those of its folders.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// The spool is an old copy: another one has sent windows since, whose readings this one did not keep.
#[test]
fn readings_that_another_copy_of_the_spool_has_sent_are_not_lost() {
    let plant = Plant::new();
    plant.run(&FIRST, &[], 0);
    let (spool, old) = (plant.path("gateway.spool"), plant.path("old.spool"));
    copy(&spool, &old);
    let second = ["2020-01-02T00:05:30,open,42", "2020-01-02T03:00:00,closed,43"];
    plant.run(&second, &[], 0);
    let windows = plant.windows().len();
    std::fs::remove_dir_all(&spool).unwrap();
    copy(&old, &spool);
    std::fs::write(spool.join("in-doubt"), b"").unwrap();
    let mut heads: Vec<SignedHeader> =
        plant.envelopes().iter().map(|window| window.signed_header().clone()).collect();
    heads.sort_by_key(|head| head.header().sequence);
    plant.cloud.tell(heads);
    plant.run(&second, &[], 0);
    assert_eq!(plant.windows().len(), windows, "nothing is sent again");
    assert!(!spool.join("in-doubt").exists());
}

/// The cloud has another window under the number of the first: the one that comes in its place must not name that.
#[test]
fn a_window_waits_for_the_number_of_the_one_that_it_replaces() {
    let plant = Plant::with(&[Act::FirstTaken]);
    let said = plant.run(&FIRST, &[], 1);
    assert!(said.contains("refused 1 message"), "{said}");
    let sent = plant.envelopes().len();
    let said = plant.run(&["00:10:00,open,"], &[], 1);
    assert!(said.contains("comes in the place of window 0"), "{said}");
    let names = |from: usize| -> Vec<(u64, Vec<u64>)> {
        let of = |window: &Envelope| {
            let replaces = window.signed_header().description().unwrap().replaces;
            (window.header().sequence, replaces.map(|replaces| replaces.windows).unwrap_or_default())
        };
        plant.envelopes()[from..].iter().map(of).collect()
    };
    // The windows behind it, up to the next report, come in the place of their own.
    assert_eq!(names(sent), [(25, vec![1]), (26, vec![2]), (27, vec![3])]);
    let sent = plant.envelopes().len();
    let mut agent = agent();
    agent.arg("requeue").arg("--bundle").arg(plant.path("gateway.bundle"));
    let output = agent.output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("2 messages sent again") && said.contains("2 of them with other"), "{said}");
    assert_eq!(names(sent), [(28, vec![]), (29, vec![28])]);
    // A later one names the new numbers.
    let sent = plant.envelopes().len();
    plant.run(&["00:20:00,closed,"], &[], 0);
    assert_eq!(names(sent)[0], (30, vec![28, 29]));
}
