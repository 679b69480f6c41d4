//! Sums of earlier answers: a second look asks the cloud for new windows only, and no answer differs from one without a
//! cache. A proxy counts the requests that arrive at the cloud.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::runtime::Runtime;

use crate::session::{self, sotto};

const QUESTIONS: [&str; 11] = [
    "mean(heat), stddev(flow) by day",
    "mean(heat), sum(flow) by month",
    "sum(heat), count(flow)",
    "correlation(heat, flow) by week",
    "max(heat), min(heat) by day",
    "max(heat) by month",
    "range(heat), mean(heat)",
    "weighted_sum(heat, half_life 6h)",
    "mean(heat) by hour of day",
    "mean(heat) where time 22:00-06:00 by day",
    "first(heat), last(flow)",
];

/// Questions of values that windows of an hour hold.
const OF_HOURS: [&str; 7] = [
    "max(heat), min(heat) by day",
    "range(heat), mean(heat) by month",
    "max(heat)",
    "max(heat) where time 22:00-06:00 by day",
    "increase(heat), changes(heat) by day",
    "increase(heat) since 2024-01-04",
    "max(heat) - max(heat) offset 1d by day",
];

/// The numbers of the windows in each request for sums.
type Seen = Arc<Mutex<Vec<BTreeSet<u64>>>>;

/// Forwards what a client sends, and notes requests for sums.
fn forward(mut client: TcpStream, cloud: &str, seen: &Seen) {
    let mut server = TcpStream::connect(cloud).unwrap();
    let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Both);
    });
    let (mut kept, mut buffer) = (Vec::new(), [0; 65536]);
    while let Ok(read) = client.read(&mut buffer) {
        kept.extend_from_slice(&buffer[..read]);
        // Noted before it is sent: the answer may come at once.
        while let Some((windows, used)) = request(&kept) {
            seen.lock().unwrap().extend(windows);
            kept.drain(..used);
        }
        if read == 0 || server.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Both);
}

/// Returns the first request's windows, if it is for sums, and its bytes. Returns None if it is not complete.
fn request(bytes: &[u8]) -> Option<(Option<BTreeSet<u64>>, usize)> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    let body = bytes.get(end..end + length.unwrap_or(0))?;
    let first = head.lines().next().unwrap_or_default();
    let is_of_sums = first.starts_with("post /v1/streams/") && first.contains("/sums");
    let windows = is_of_sums.then(|| {
        let asked: Value = serde_json::from_slice(body).unwrap();
        let runs = asked["windows"].as_array().unwrap().iter();
        let of = |run: &Value| (run[0].as_u64().unwrap(), run[1].as_u64().unwrap());
        runs.map(of).flat_map(|(first, count)| first..first + count).collect()
    });
    Some((windows, end + body.len()))
}

struct Plant {
    outside: tempfile::TempDir,
    seen: Seen,
    _cloud: Runtime,
}

impl Plant {
    /// A plant whose device has sent the readings of some days.
    fn new(days: u32) -> Self {
        Self::of("1h", "stddev(heat), max(heat), correlation(heat, flow) by day", 0..days)
    }

    /// A plant with channels of a period and a declared question, whose device has sent the readings of these days.
    fn of(every: &str, question: &str, days: Range<u32>) -> Self {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path();
        session::init_every(folder, every, question);
        let cloud = session::serve(folder);
        sotto(folder, &["device", "add", "boiler", "--channels", "heat,flow"]).unwrap();
        session::send_days(folder, "boiler.bundle", days, 0);
        let file = folder.join("plant/sotto.toml");
        let text = fs::read_to_string(&file).unwrap();
        let url = text.lines().find_map(|line| line.strip_prefix("url = \"http://")).unwrap();
        let (url, proxy) = (url.trim_end_matches('"').to_owned(), TcpListener::bind("127.0.0.1:0").unwrap());
        fs::write(&file, text.replace(&url, &proxy.local_addr().unwrap().to_string())).unwrap();
        let seen = Seen::default();
        let noted = Arc::clone(&seen);
        std::thread::spawn(move || {
            for client in proxy.incoming().flatten() {
                let (url, noted) = (url.clone(), Arc::clone(&noted));
                std::thread::spawn(move || forward(client, &url, &noted));
            }
        });
        Self { outside, seen, _cloud: cloud }
    }

    fn folder(&self) -> &Path {
        self.outside.path()
    }

    fn run(&self, arguments: &[&str]) -> String {
        sotto(self.folder(), arguments).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.run(&[arguments, &["--json"]].concat())).unwrap()
    }

    /// Returns an answer, and the windows that it asked for in each request.
    fn ask(&self, question: &str, more: &[&str]) -> (Value, Vec<BTreeSet<u64>>) {
        self.seen.lock().unwrap().clear();
        let answer = self.json(&[&["ask", question], more].concat());
        (answer, std::mem::take(&mut *self.seen.lock().unwrap()))
    }

    /// Asks every question, and compares the answers with those without a cache. Returns the windows that they asked for.
    fn right(&self, when: &str) -> BTreeSet<u64> {
        self.right_of(&QUESTIONS, when)
    }

    fn right_of(&self, questions: &[&str], when: &str) -> BTreeSet<u64> {
        let mut all = BTreeSet::new();
        for question in questions {
            let (answer, asked) = self.ask(question, &[]);
            let (fresh, asked_fresh) = self.ask(question, &["--no-cache", "--no-keep"]);
            assert_eq!(answer["rows"], fresh["rows"], "{when}: {question}");
            for name in ["assurance", "windows", "complete", "left_out", "took_part"] {
                assert_eq!(answer[name], fresh[name], "{when}: {name} of {question}");
            }
            assert_eq!(fresh["cached"], Value::Null, "{when}: {question}");
            assert_eq!(asked_fresh.len() as u64, fresh["jobs"], "{when}: {question}");
            assert_eq!(asked.len() as u64, answer["jobs"], "{when}: {question}");
            all.extend(asked.into_iter().flatten());
        }
        all
    }

    /// Returns the only file of the cache.
    fn cached(&self) -> PathBuf {
        let folder = fs::read_dir(self.folder().join("plant/cache/boiler.d")).unwrap();
        let files: Vec<PathBuf> = folder.map(|file| file.unwrap().path()).collect();
        let [file] = &files[..] else { panic!("{files:?}") };
        file.clone()
    }
}

#[test]
fn a_second_look_asks_for_new_windows_only() {
    let plant = Plant::new(20);
    let first: Vec<Value> = QUESTIONS.iter().map(|question| plant.ask(question, &[]).0).collect();
    let verified = || plant.run(&["verify"]).split_once("  ").unwrap().1.to_owned();
    let tagged = verified();
    for (question, first) in QUESTIONS.iter().zip(&first) {
        let (again, asked) = plant.ask(question, &[]);
        assert_eq!(asked, [], "{question}");
        assert_eq!(again["rows"], first["rows"], "{question}");
        for name in ["assurance", "windows", "bytes_up", "complete", "schemes", "took_part"] {
            assert_eq!(again[name], first[name], "{name} of {question}");
        }
        assert_eq!((&again["jobs"], &again["bytes_down"]), (&0.into(), &0.into()), "{question}");
        assert!(again["cached"].as_u64().unwrap() > 0 && first["assurance"] == "authenticated", "{question}");
    }
    assert_eq!(verified(), tagged, "the same windows carried tags");
    let steps = plant.run(&["ask", QUESTIONS[0], "--steps"]);
    assert!(steps.contains("the cloud: nothing in 0 jobs on 20 windows"), "{steps}");
    assert!(steps.contains("not asked for again: 20 sums of earlier answers (`sotto cache`)"), "{steps}");

    session::send_days(plant.folder(), "boiler.bundle", 20..22, 0);
    let mut all = BTreeSet::new();
    for question in QUESTIONS.iter().filter(|question| !question.contains("half_life")) {
        let (answer, asked) = plant.ask(question, &[]);
        // Sums of a question before may be those of this one.
        let windows: BTreeSet<u64> = asked.into_iter().flatten().collect();
        assert!(windows.iter().all(|window| [20, 21].contains(window)), "{question}: {windows:?}");
        all.extend(windows);
        let fresh = plant.ask(question, &["--no-cache"]).0;
        assert_eq!(answer["rows"], fresh["rows"], "{question}");
    }
    assert_eq!(all, BTreeSet::from([20, 21]));
    plant.right("two days later");
    // As of the first answer the windows of then are asked, of which all sums are there.
    let names = plant.json(&["answers"]);
    let (then, asked) = plant.ask(QUESTIONS[0], &["--as-of", names[0].as_str().unwrap()]);
    assert_eq!((&then["rows"], asked.len()), (&first[0]["rows"], 0));
}

#[test]
fn no_sum_answers_for_windows_that_changed() {
    let plant = Plant::new(12);
    plant.right("at first");
    assert_eq!(plant.right("again"), BTreeSet::new());
    // Days 3 and 4 once more, with other values.
    session::send_days_with(plant.folder(), "boiler.bundle", 3..5, 7, &["--correct"]);
    assert!(!plant.right("corrected").is_empty());
    assert_eq!(plant.right("corrected, again"), BTreeSet::new());
    plant.run(&["forget", "--device", "boiler", "--before", "2024-01-03", "--yes"]);
    assert!(!plant.folder().join("plant/cache/boiler.d").exists(), "nothing stays of deleted windows");
    assert!(!plant.right("two days deleted").is_empty());
    assert_eq!(plant.right("two days deleted, again"), BTreeSet::new());
    // Windows of a day under new keys.
    plant.run(&["device", "renew", "boiler"]);
    session::send_days(plant.folder(), "boiler.bundle", 12..14, 3);
    plant.right("renewed");
    assert_eq!(plant.right("renewed, again"), BTreeSet::new());
}

#[test]
fn no_extreme_of_a_stretch_answers_for_windows_that_changed() {
    let plant = Plant::of("30m", "max(heat), min(heat), increase(heat), changes(heat) by hour", 0..8);
    let right = |when: &str| plant.right_of(&OF_HOURS, when);
    assert_eq!(right("at first").len(), 8 * 24);
    assert_eq!(right("again"), BTreeSet::new());
    let send = |days: Range<u32>, more: u32, options: &[&str]| {
        session::send_days_with(plant.folder(), "boiler.bundle", days, more, options);
    };
    send(9..10, 0, &[]);
    assert!(right("a day later").iter().all(|window| *window >= 8 * 24));
    // The day between comes late, one is corrected, and two are deleted.
    send(8..9, 0, &[]);
    assert!(!right("late").is_empty());
    assert_eq!(right("late, again"), BTreeSet::new());
    let before = plant.ask(OF_HOURS[0], &[]).0["rows"].clone();
    send(3..4, 7, &["--correct"]);
    assert!(!right("corrected").is_empty());
    assert_ne!(plant.ask(OF_HOURS[0], &[]).0["rows"], before);
    assert_eq!(right("corrected, again"), BTreeSet::new());
    plant.run(&["forget", "--device", "boiler", "--before", "2024-01-03", "--yes"]);
    assert!(!plant.folder().join("plant/cache/boiler.d").exists(), "nothing stays of deleted windows");
    assert!(!right("deleted").is_empty());
    assert_eq!(right("deleted, again"), BTreeSet::new());
    // Those of windows that are added up stay, but earlier groups ask for windows one by one.
    let kept = &OF_HOURS[..OF_HOURS.len() - 1];
    let rows = |more: &[&str]| -> Vec<Value> {
        kept.iter().map(|question| plant.ask(question, more).0["rows"].clone()).collect()
    };
    let before = rows(&[]);
    plant.run(&["retain", "heat", "90d", "--roll-up", "month:forever", "--yes"]);
    assert_eq!(rows(&["--no-cache"]), before);
    assert_eq!(rows(&[]), before);
    let of_sums = sotto(plant.folder(), &["ask", "mean(heat) by day"]).unwrap_err();
    assert!(of_sums.contains("the cloud keeps one sum of the windows of boiler"), "{of_sums}");
}

#[test]
fn a_damaged_or_foreign_file_is_written_anew() {
    let [plant, other] = [3, 4].map(Plant::new);
    plant.right("at first");
    other.right("at first");
    let (file, whole) = (plant.cached(), fs::read(plant.cached()).unwrap());
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 4;
    for (name, bytes) in [
        ("another plant's", fs::read(other.cached()).unwrap()),
        ("a bit", flipped),
        ("half", whole[..whole.len() / 2].to_vec()),
        ("nothing", Vec::new()),
        ("zeros", vec![0; 4096]),
    ] {
        fs::write(&file, bytes).unwrap();
        assert!(!plant.right(name).is_empty(), "{name}");
        assert_eq!(plant.right(name), BTreeSet::new(), "{name}");
    }
    fs::remove_dir_all(plant.folder().join("plant/cache")).unwrap();
    fs::write(plant.folder().join("plant/cache"), "no folder").unwrap();
    plant.right("no folder");
}

#[test]
fn the_cache_is_shown_deleted_and_in_no_backup() {
    let plant = Plant::new(5);
    assert_eq!(plant.run(&["cache"]), "0 sums of 0 streams, 0 bytes of at most 64.0 MB\n");
    let asked = plant.right("at first");
    assert_eq!(asked.len(), 5);
    let shown = plant.json(&["cache"]);
    assert!(shown["sums"].as_u64().unwrap() > 10 && shown["streams"] == 1, "{shown}");
    assert_eq!(shown["bytes"].as_u64(), Some(fs::metadata(plant.cached()).unwrap().len()));
    assert!(shown["oldest"].as_str() <= shown["newest"].as_str() && shown["newest"].is_string(), "{shown}");
    let text = plant.run(&["cache"]);
    assert!(text.contains("of 1 stream, ") && text.contains("oldest of 20"), "{text}");
    let bytes = fs::read(plant.cached()).unwrap();
    for word in ["heat", "boiler", "mean"] {
        assert!(!bytes.windows(word.len()).any(|part| part == word.as_bytes()), "{word}");
    }

    fs::write(plant.folder().join("passphrase"), "correct horse").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(plant.folder().join("passphrase"), private).unwrap();
    }
    let given = ["--passphrase-file", "passphrase"];
    plant.run(&[&["backup", "--to", "plant.backup"], &given[..]].concat());
    plant.run(&[&["restore", "plant.backup", "--to", "other/restored"], &given[..]].concat());
    assert!(!plant.folder().join("other/restored/cache").exists());

    let cleared = plant.json(&["cache", "clear"]);
    assert_eq!((&cleared["cleared"], &cleared["sums"]), (&true.into(), &shown["sums"]));
    assert!(!plant.folder().join("plant/cache").exists());
    assert_eq!(plant.right("cleared"), asked, "all are asked for again");
    assert!(plant.run(&["cache", "clear"]).contains(": deleted"));
    plant.ask(QUESTIONS[0], &["--no-cache"]);
    assert!(!plant.folder().join("plant/cache").exists(), "nothing is kept");
}
